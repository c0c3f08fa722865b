"""The cache of each conversation as rows, and one of them in full."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from caveman_tui.core.amounts import Label
from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.cache_miss import LIFETIMES, Cause, Miss
from caveman_tui.traffic.cache_state import CachedPrefix, CacheState, Pause
from caveman_tui.traffic.columns import short_model
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.pause_rows import pause_lines
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.status_line import Part

_NAME, _MODEL, _TOKENS, _LEFT, _AGE = 9, 13, 6, 6, 6
_MODEL_FROM, _AGE_FROM = 60, 74
_BAR = 20
_HURRY_SECONDS = 60.0
_LAPSED = "lapsed"
_NAMES = {"1h": "1 hour", "5m": "5 minutes"}


@dataclass(frozen=True, slots=True)
class _Columns:
    model: bool
    age: bool
    miss: int


def countdown(seconds: float) -> str:
    """Time that is left as `57:03` or `4:12`; `lapsed` once there is none."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}" if seconds > 0 else _LAPSED


def header(width: int) -> Line:
    """Column titles over the rows."""
    chosen = _columns(width)
    text = f"   {'CONV':<{_NAME}}"
    text += f"  {'MODEL':<{_MODEL}}" if chosen.model else ""
    text += f"  {'CACHED':>{_TOKENS}}  {'1H':>{_LEFT}}  {'5M':>{_LEFT}}"
    text += f"  {'AGO':>{_AGE}}" if chosen.age else ""
    return (Span(text + "  LAST MISS", Role.HEADING),)


def row_line(state: CacheState, now: float, width: int) -> Line:
    """One conversation: sign, name, model, cached tokens, time left for each lifetime, age, why the last miss happened."""
    chosen = _columns(width)
    sign, role = _sign(state, now)
    spans = [Span(f" {sign} ", role), Span(fit(name(state.last), _NAME))]
    if chosen.model:
        spans.append(Span("  " + fit(one_line(short_model(state.last.model)), _MODEL), Role.STRONG))
    spans.append(Span(f"  {format.count(state.prefix):>{_TOKENS}}"))
    for ttl in LIFETIMES_LONGEST_FIRST:
        entry = next((entry for entry in state.entries if entry.ttl == ttl), None)
        spans += [Span("  "), _left(entry, state, now)]
    if chosen.age:
        spans.append(Span(f"  {format.duration(max(0.0, now - state.last.started_at) * 1000):>{_AGE}}", Role.MUTED))
    says, miss_role = _miss_words(state.miss)
    return (*spans, Span("  " + fit(says, chosen.miss), miss_role))


def name(exchange: Exchange) -> str:
    """`3f2a9c›b1`: conversation and sub-agent, as in the traffic list."""
    agent = f"›{format.short_id(one_line(exchange.agent), 2)}" if exchange.agent else ""
    return format.short_id(one_line(exchange.conversation)) + agent


def detail(state: CacheState, pauses: PauseStatistics | None, now: float, width: int, zone: tzinfo | None) -> list[Line]:
    """One conversation in full: what is cached and how long still, why the last miss happened, the last pauses and what they cost.

    `pauses` is what the worker recorded of the conversation, with all its models; None where that is not known.
    """
    lines = [line("CACHED NOW, AS FAR AS WE KNOW", Role.HEADING), *_cached(state, now, width)]
    lines += [BLANK, line("LAST MISS", Role.HEADING), *_miss(state.miss, width, zone)]
    lines += [BLANK, line("LAST PAUSES", Role.HEADING)]
    lines += [_pause(pause, zone) for pause in state.pauses] or [line("None of a minute or more.", Role.MUTED)]
    lines += [BLANK, line("WHAT PAUSES COST", Role.HEADING), *pause_lines(pauses, width)]
    lines += [BLANK, line("CONVERSATION", Role.HEADING)]
    lines += _pairs(width, ("id", one_line(state.last.conversation)), ("agent", one_line(state.last.agent)))
    lines += _pairs(width, ("model", one_line(state.last.model)), ("last request", _last(state, now, zone)))
    return lines


def summary_parts(states: Sequence[CacheState], now: float) -> list[Part]:
    """How many conversations there are, how many are still warm, and when the next one lapses."""
    lefts = [left for state in states if (left := state.left(now)) is not None]
    warm = [left for left in lefts if left > 0]
    parts = [Part(0, (Span(format.plural(len(states), "conversation"), Role.STRONG),))]
    if lefts:
        parts.append(Part(1, (Span(f"{len(warm):,} warm", Role.GOOD if warm else Role.MUTED),)))
    if warm:
        parts.append(Part(2, (Span("next lapses in ", Role.MUTED), Span(countdown(min(warm))))))
    parts.append(Part(3, (Span("tokens by the provider, times inferred", Role.MUTED),)))
    return parts


LIFETIMES_LONGEST_FIRST = tuple(sorted(LIFETIMES, key=lambda ttl: -LIFETIMES[ttl]))


def _columns(width: int) -> _Columns:
    model, age = width >= _MODEL_FROM, width >= _AGE_FROM
    used = 3 + _NAME + 2 + _TOKENS + 2 * (2 + _LEFT) + (2 + _MODEL if model else 0) + (2 + _AGE if age else 0)
    return _Columns(model, age, max(0, width - used - 2))


def _sign(state: CacheState, now: float) -> tuple[str, Role]:
    """`●` a request runs, `✓` something is cached, `-` all of it lapsed, `–` unknown."""
    if state.running:
        return "●", Role.ACCENT
    left = state.left(now)
    if left is None:
        return format.UNKNOWN, Role.MUTED
    return ("✓", Role.GOOD) if left > 0 else ("-", Role.MUTED)


def _left(entry: CachedPrefix | None, state: CacheState, now: float) -> Span:
    if entry is None:
        return Span((format.UNKNOWN if not state.entries else "·").rjust(_LEFT), Role.MUTED)
    left = entry.left(now)
    return Span(countdown(left).rjust(_LEFT), _left_role(left))


def _left_role(left: float) -> Role:
    if left <= 0:
        return Role.MUTED
    return Role.WARN if left < _HURRY_SECONDS else Role.GOOD


def _miss_words(miss: Miss | None) -> tuple[str, Role]:
    if miss is None:
        return "none seen", Role.MUTED
    if miss.cause is Cause.NEW:
        return miss.says, Role.MUTED
    return miss.says, Role.WARN


def _last(state: CacheState, now: float, zone: tzinfo | None) -> str:
    ago = format.duration(max(0.0, now - state.last.started_at) * 1000)
    running = ", still running" if state.running else ""
    return f"{format.clock(state.last.started_at, zone)}, {ago} ago{running}; {format.plural(state.requests, 'request')} seen"


def _cached(state: CacheState, now: float, width: int) -> list[Line]:
    if state.prefix is None:
        return [line("–  the provider has not said yet", Role.MUTED)]
    if state.prefix == 0:
        words = "Nothing: the provider reported neither reads nor writes, as it does below the shortest prefix that it caches."
        return [line(part, Role.MUTED) for part in wrap(words, width)]
    lines: list[Line] = []
    for entry in state.entries:
        lines += _entry(entry, now, width)
    if not state.entries:
        size = (Span(f"{format.exact(state.prefix)} tokens", Role.STRONG), Span(f" ({Label.PROVIDER.value})", Role.MUTED))
        words = "read by the last request. The requests carry no markers with a lifetime, so how long it lives is unknown."
        return [size, *(line(part, Role.MUTED) for part in wrap(words, width))]
    return lines


def _entry(entry: CachedPrefix, now: float, width: int) -> list[Line]:
    left, whole = entry.left(now), LIFETIMES[entry.ttl]
    time = f"{countdown(left)} left" if left > 0 else f"lapsed {format.duration(-left * 1000)} ago"
    spans = [Span(f"{_NAMES[entry.ttl]:<11}", Role.STRONG), Span(time, _left_role(left))]
    if left > 0 and width >= 11 + len(time) + 2 + _BAR:
        spans.append(Span("  "))
        full = max(1, min(_BAR, round(_BAR * left / whole)))
        spans += [Span("█" * full, _left_role(left)), Span("░" * (_BAR - full), Role.MUTED)]
    tokens = f"{format.exact(entry.tokens)} tokens ({Label.PROVIDER.value})" if entry.tokens is not None else "length unknown"
    place = f"up to {one_line(entry.pointer)}" if entry.pointer else "up to the automatic marker"
    if columns_of(tokens) + 2 + columns_of(place) + 2 <= width:
        return [tuple(spans), (Span(f"  {tokens}"), Span(f"  {place}", Role.MUTED))]
    return [tuple(spans), line(f"  {tokens}"), *(line(f"  {part}", Role.MUTED) for part in wrap(place, max(10, width - 2)))]


def _miss(miss: Miss | None, width: int, zone: tzinfo | None) -> list[Line]:
    if miss is None:
        return [line("None was seen.", Role.MUTED)]
    role = Role.TEXT if miss.cause is Cause.NEW else Role.WARN
    lines: list[Line] = [(Span(f"{format.clock(miss.at, zone)}  ", Role.MUTED), Span(miss.says, role))]
    lines += [line(part) for part in wrap(one_line(miss.because), width)]
    read = f"{format.exact(miss.read)} tokens were read"
    if miss.cached is not None:
        read = f"{format.exact(miss.cached)} tokens were cached, {format.exact(miss.read)} of them read"
    lines += [line(part, Role.MUTED) for part in wrap(f"{read} ({Label.PROVIDER.value}); exchange {one_line(miss.exchange)}", width)]
    return lines


def _pause(pause: Pause, zone: tzinfo | None) -> Line:
    read = f"{format.percent(pause.share)} read from cache after it"
    until = f"until {format.clock(pause.ended_at, zone)}  "
    return (Span(f"{format.duration(pause.seconds * 1000):>6}  "), Span(until, Role.MUTED), Span(read, Role.MUTED))


def _pairs(width: int, *pairs: tuple[str, str]) -> list[Line]:
    lines: list[Line] = []
    for title, value in pairs:
        if value:
            first, *rest = wrap(value, max(10, width - 14))
            lines += [(Span(title.ljust(14), Role.MUTED), Span(first)), *(line(" " * 14 + part) for part in rest)]
    return lines
