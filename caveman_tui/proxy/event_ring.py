"""The newest events as NDJSON lines, for replay and for everyone who follows."""

import asyncio

RING_BYTES = 4 * 1024 * 1024
"""How much is kept, and so how far a follower may fall behind before it is cut off."""

_BATCH_BYTES = 256 * 1024


class EventsForgotten(Exception):
    """The events after a position are no longer in memory, or never were of this worker; the follower has to resync."""


class EventRing:
    """Lines with consecutive numbers, from `first` up to `seq`, within a budget of bytes.

    A follower is no more than a position in the ring, so one that is suspended costs nothing, and falling behind by more than
    the budget is the same thing as asking for something that was forgotten. Used from the event loop's thread only.
    """

    def __init__(self, budget_bytes: int = RING_BYTES) -> None:
        self.seq = 0
        self._budget = budget_bytes
        self._lines: list[bytes] = []
        self._head = 0
        self._bytes = 0
        self._newest_of: dict[str, int] = {}
        self._grown = asyncio.Event()
        self._closed = False

    def append(self, line: bytes, replaces: str = "") -> None:
        """Add the line of event `seq + 1`. A non-empty `replaces` names a series of which only the newest line is worth reading."""
        self.seq += 1
        self._lines.append(line)
        self._bytes += len(line)
        if replaces:
            if (older := self._newest_of.get(replaces)) is not None:
                self._blank(older)
            self._newest_of[replaces] = self.seq
        while self._bytes > self._budget and self._head < len(self._lines) - 1:
            self._forget_oldest()
        self._grown.set()
        self._grown = asyncio.Event()

    def end_series(self, name: str) -> None:
        """No further line of this series will come."""
        self._newest_of.pop(name, None)

    def check(self, after: int) -> None:
        """Raise EventsForgotten unless every event after `after` is here."""
        if not self._forgotten <= after <= self.seq:
            raise EventsForgotten(after)

    async def follow(self, after: int) -> tuple[bytes, int]:
        """Wait for events after `after`; return some hundred KB of their lines at most, and the number of the last one.

        No lines at all mean that the ring was closed. Raises EventsForgotten.
        """
        self.check(after)
        while after == self.seq and not self._closed:
            await self._grown.wait()
            self.check(after)
        pieces: list[bytes] = []
        size = 0
        while after < self.seq and size < _BATCH_BYTES:
            line = self._lines[self._index(after + 1)]
            pieces.append(line)
            size += len(line)
            after += 1
        return b"".join(pieces), after

    def close(self) -> None:
        """No further event will come; followers get what is left, then nothing."""
        self._closed = True
        self._grown.set()

    @property
    def _forgotten(self) -> int:
        """Number of the newest event that is no longer here."""
        return self.seq - (len(self._lines) - self._head)

    def _index(self, seq: int) -> int:
        return len(self._lines) - 1 - (self.seq - seq)

    def _blank(self, seq: int) -> None:
        index = self._index(seq)
        if index >= self._head:
            self._bytes -= len(self._lines[index])
            self._lines[index] = b""

    def _forget_oldest(self) -> None:
        self._bytes -= len(self._lines[self._head])
        self._lines[self._head] = b""
        self._head += 1
        # Deleting the head moves the rest; doing it for half of the list at a time keeps that cheap.
        if self._head * 2 > len(self._lines):
            del self._lines[: self._head]
            self._head = 0
