"""Pauses inside a conversation: what they made be written again, against what short lifetimes saved in its loops.

Per token of a loop, 5 minutes instead of an hour saves 2 - 1.25 = 0.75 of the input price. A gap between 5 and 60 minutes that makes
the token be written again costs 1.25 - 0.1 = 1.15 more than reading the hour's entry, or 2 - 0.1 = 1.9 where it is then written for
an hour. So the advice weighs tokens, not turns, and counts gaps as they were, stalls inside a loop (a permission prompt, a long build)
included.
"""

from typing import Literal

import msgspec

from caveman_tui.core.savings import lapsed_tokens
from caveman_tui.core.usage import Usage

SAVED_PER_TOKEN = 0.75
LOST_PER_TOKEN = 1.15
LOST_PER_HOUR_TOKEN = 1.9

_FIVE_MINUTES = 300.0
_ONE_HOUR = 3600.0

Advice = Literal["", "keep", "an-hour"]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange of a conversation, as far as pauses go."""

    at: float
    """When its request came, in seconds since the epoch: a clock that stands still while the machine sleeps would hide the pause."""
    usage: Usage | None = None
    shortened: bool = False
    """Whether markers of it were shortened by us, so that what it wrote lives 5 minutes."""
    in_loop: bool = False
    """Whether its request is known to have ended in tool results."""


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """A gap between 5 and 60 minutes, and what it cost."""

    seconds: float
    rewritten_tokens: int
    """Tokens that the entries before the gap held and that were written again after it. Inferred from the two usages."""
    in_loop: bool
    """Whether the loop stood still, rather than the person being away."""


class PauseStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """All that is recorded of one conversation. Tokens are the provider's counts; what they are attributed to is inferred."""

    pauses: int = 0
    """Gaps between 5 and 60 minutes."""
    stalls: int = 0
    """Those of them inside a loop."""
    longest_seconds: float | None = None
    """Of these gaps; None without any."""
    loop_tokens: int = 0
    """Written for 5 minutes in exchanges whose markers we had shortened, what was written again left out."""
    rewritten_tokens: int = 0
    """Written again after such gaps, whoever chose the lifetime."""
    lost_tokens: int = 0
    """Those of them whose lifetime we had shortened."""
    lost_hour_tokens: int = 0
    """Those of them that were then written for an hour."""

    @property
    def balance(self) -> float:
        """What shortening saved in this conversation, in tokens at the input price. Negative where it cost more."""
        lost = (self.lost_tokens - self.lost_hour_tokens) * LOST_PER_TOKEN + self.lost_hour_tokens * LOST_PER_HOUR_TOKEN
        return self.loop_tokens * SAVED_PER_TOKEN - lost

    @property
    def advice(self) -> Advice:
        """`keep` where shortening pays, `an-hour` where pauses ate more than it saved, empty where nothing says anything yet."""
        if not self.loop_tokens:
            return ""
        return "keep" if self.balance >= 0 else "an-hour"


def pause_between(before: Turn, after: Turn) -> Pause | None:
    """The pause between two turns that follow each other, None where the gap was shorter or longer."""
    gap = after.at - before.at
    if not _FIVE_MINUTES < gap <= _ONE_HOUR:
        return None
    return Pause(seconds=gap, rewritten_tokens=lapsed_tokens(before.usage, after.usage, gap), in_loop=after.in_loop)


def add_turn(statistics: PauseStatistics, before: Turn | None, after: Turn) -> PauseStatistics:
    """`statistics` with one more turn; `before` is the one it follows."""
    written = (after.usage.cache_write_5m_tokens or 0) if after.usage and after.shortened else 0
    pause = pause_between(before, after) if before is not None else None
    if pause is None or before is None:
        return msgspec.structs.replace(statistics, loop_tokens=statistics.loop_tokens + written)
    lost = pause.rewritten_tokens if before.shortened else 0
    for_minutes = min(lost, (after.usage.cache_write_5m_tokens or 0) if after.usage else 0)
    return PauseStatistics(
        pauses=statistics.pauses + 1,
        stalls=statistics.stalls + pause.in_loop,
        longest_seconds=max(statistics.longest_seconds or 0.0, pause.seconds),
        loop_tokens=statistics.loop_tokens + written - min(written, for_minutes),
        rewritten_tokens=statistics.rewritten_tokens + pause.rewritten_tokens,
        lost_tokens=statistics.lost_tokens + lost,
        lost_hour_tokens=statistics.lost_hour_tokens + lost - for_minutes,
    )


def pause_note(pause: Pause) -> str:
    """One sentence for the exchange that came after the pause; empty where nothing was written again."""
    if not pause.rewritten_tokens:
        return ""
    return f"After a pause of {pause.seconds / 60:.0f} minutes {pause.rewritten_tokens:,} tokens were written to the cache again."
