"""How much of all bodies may be held at once, and reading a body within it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from aiohttp import StreamReader

CHUNK = 256 * 1024
"""Bytes handed to a transport at a time."""


class InFlightBudget:
    """Counts the bytes of bodies held for editing; over the budget further ones stream through."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0

    def take(self, size: int) -> bool:
        """Reserve `size` bytes; False, and nothing reserved, where they don't fit."""
        if self.used + size > self.total:
            return False
        self.used += size
        return True

    def give_back(self, size: int) -> None:
        """Return what was taken."""
        self.used -= size


class Holding:
    """What one exchange holds of the budget; `release` returns all of it, once."""

    def __init__(self, budget: InFlightBudget) -> None:
        self._budget = budget
        self._held = 0

    def take(self, size: int) -> bool:
        """Reserve `size` more bytes."""
        if not self._budget.take(size):
            return False
        self._held += size
        return True

    def release(self) -> None:
        """Return everything; calling it again does nothing."""
        self._budget.give_back(self._held)
        self._held = 0


@dataclass(frozen=True, slots=True)
class WholeBody:
    """A body that was read to its end."""

    data: bytes


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A body that passed a limit: what was read of it goes out first, then the rest as it comes."""

    read: tuple[bytes, ...]
    rest: StreamReader
    why: str
    """`over-limit` or `over-budget`."""

    async def pieces(self) -> AsyncIterator[bytes]:
        """The whole body, in order."""
        for piece in self.read:
            yield piece
        async for piece in stream(self.rest):
            yield piece


async def read_whole(content: StreamReader, length: int | None, limit: int, holding: Holding) -> WholeBody | TooMuch:
    """Read a body of at most `limit` bytes; `length` is what the client announced, None where it did not.

    Raises what the connection raises when the client breaks off.
    """
    if length is not None and length > limit:
        return TooMuch((), content, "over-limit")
    if length is not None and not holding.take(length):
        return TooMuch((), content, "over-budget")
    pieces: list[bytes] = []
    size = 0
    async for piece in stream(content):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            return TooMuch(tuple(pieces), content, "over-limit")
        if length is None and not holding.take(len(piece)):
            return TooMuch(tuple(pieces), content, "over-budget")
    return WholeBody(pieces[0] if len(pieces) == 1 else b"".join(pieces))


async def stream(content: StreamReader) -> AsyncIterator[bytes]:
    """Bytes as they come."""
    while piece := await content.readany():
        yield piece


async def cut(data: bytes, sent: Callable[[], None]) -> AsyncIterator[bytes | memoryview]:
    """A held body in pieces, so that one large write never holds up the event loop; `sent` is called after the last."""
    if len(data) <= CHUNK:
        yield data
    else:
        view = memoryview(data)
        for start in range(0, len(data), CHUNK):
            yield view[start : start + CHUNK]
    sent()
