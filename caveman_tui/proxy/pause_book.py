"""The pauses of the conversations that pass, as their exchanges end."""

from collections import OrderedDict

from caveman_tui.core.pauses import PauseStatistics, Turn, add_turn, pause_between, pause_note
from caveman_tui.protocol.exchanges import Exchange

_LIMIT = 2_000
_LOOP_REASONS = frozenset(
    {"loop-shortened", "nested-shortened", "automatic-shortened", "prompt-anchored", "prompt-raised", "anchor-kept", "anchor-elsewhere"}
    | {"loop-without-hour", "prompt-is-text", "prompt-without-block", "no-eligible-block", "no-free-slot", "malformed-marker"}
)
"""Codes that only a request which ends in tool results gets."""
_NOTHING = PauseStatistics()


class PauseBook:
    """Bounded, in memory, and used on the event loop's thread only."""

    def __init__(self) -> None:
        self._statistics: OrderedDict[str, PauseStatistics] = OrderedDict()
        self._last: OrderedDict[tuple[str, str], Turn] = OrderedDict()

    def of(self, conversation: str) -> PauseStatistics:
        """What is recorded of a conversation."""
        return self._statistics.get(conversation, _NOTHING)

    def take(self, exchange: Exchange) -> str:
        """Record an exchange that is about to end; a sentence where the pause before it cost a rewrite, else an empty string.

        Exchanges without a conversation or usage say nothing. A conversation's caches are told apart by model: a title that a small
        model makes in between neither ends nor begins a pause of the large one.
        """
        if not exchange.conversation or exchange.usage is None or exchange.usage.total_input_tokens is None:
            return ""
        turn = Turn(
            at=exchange.started_at,
            usage=exchange.usage,
            shortened=any(edit.after == '"5m"' for edit in exchange.marker_edits),
            in_loop=any(reason.code in _LOOP_REASONS for reason in exchange.reasons),
        )
        key = (exchange.conversation, exchange.model)
        before = self._last.get(key)
        if before is not None and turn.at < before.at:
            # It ran beside a later one, whose request has used the cache since.
            before = None
        else:
            self._last[key] = turn
            self._last.move_to_end(key)
        self._statistics[exchange.conversation] = add_turn(self.of(exchange.conversation), before, turn)
        self._statistics.move_to_end(exchange.conversation)
        for remembered in (self._statistics, self._last):
            while len(remembered) > _LIMIT:
                remembered.popitem(last=False)
        pause = pause_between(before, turn) if before is not None else None
        return pause_note(pause) if pause is not None else ""
