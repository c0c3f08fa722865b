"""What pauses cost a conversation against what short lifetimes saved in its loops, and what follows from that."""

from caveman_tui.core.amounts import Label
from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.traffic import format
from caveman_tui.traffic.lines import Line, Role, Span, line, wrap

_ADVICE = {
    "": ("Nothing was written by shortened loops yet, so there is nothing to advise.", Role.MUTED),
    "keep": ("Keep 5 minutes in loops: that saved more than these pauses cost.", Role.GOOD),
    "an-hour": ("An hour would have been cheaper here: pauses cost more than short lifetimes saved. t turns loop TTL off.", Role.WARN),
}


def pause_lines(statistics: PauseStatistics | None, width: int) -> list[Line]:
    """The worker's record of one conversation; None where it gave none."""
    if statistics is None:
        return [line(f"{format.UNKNOWN}  the worker has not said", Role.MUTED)]
    lines = [_counts(statistics)]
    if statistics.rewritten_tokens:
        how_many = "all" if statistics.lost_tokens == statistics.rewritten_tokens else f"{format.exact(statistics.lost_tokens)} of them"
        shortened = f", {how_many} by our shortening" if statistics.lost_tokens else ""
        lines += _wrapped(f"{format.exact(statistics.rewritten_tokens)} tokens written again after them{shortened} ({_LABEL})", width)
    if statistics.loop_tokens:
        lines += _wrapped(f"{format.exact(statistics.loop_tokens)} tokens written by shortened loops ({Label.PROVIDER.value})", width)
        lines += _wrapped(f"balance {_signed(statistics.balance)} input tokens ({_LABEL})", width)
    says, role = _ADVICE[statistics.advice]
    return lines + [line(part, role) for part in wrap(says, width)]


_LABEL = Label.INFERRED.value


def _counts(statistics: PauseStatistics) -> Line:
    if not statistics.pauses:
        return line("None of 5 to 60 minutes.", Role.MUTED)
    longest = f", longest {format.duration((statistics.longest_seconds or 0.0) * 1000)}"
    stalls = f", {statistics.stalls:,} inside a loop" if statistics.stalls else ""
    return (Span(f"{statistics.pauses:,} of 5 to 60 minutes", Role.STRONG), Span(f"{stalls}{longest}", Role.MUTED))


def _wrapped(text: str, width: int) -> list[Line]:
    return [line(part, Role.MUTED) for part in wrap(text, width)]


def _signed(number: float) -> str:
    return f"{'+' if number > 0 else ''}{format.count(number)}"
