"""Stretches of bytes in memory that bodies are made of: shared where bodies have them in common, compressed once they settled."""

import asyncio
import hashlib
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import lru_cache
from typing import NamedTuple

import zstandard

_SMALL = 512
"""Below so many bytes compressing gains nothing."""
_BATCH_BYTES = 1024 * 1024
_BATCH_SECONDS = 0.2
"""Handing work to a thread and back costs more than compressing a small body, so bodies wait for each other, this long or to this size."""


class Blob:
    """Bytes that a thread may replace by their compressed form."""

    __slots__ = ("_compressed", "_data", "digest", "length", "settled", "size", "users")

    def __init__(self, data: bytes, *, settled: bool = False, digest: bytes = b"") -> None:
        self._data: bytes | None = data
        self._compressed: bytes | None = None
        self.length = len(data)
        self.size = len(data)
        """Bytes that it takes."""
        self.settled = settled or self.size < _SMALL
        """Whether compressing was tried, or is not worth it."""
        self.users = 0
        """How many bodies hold it."""
        self.digest = digest
        """Of one that is looked for by its content."""

    def read(self) -> bytes:
        """The bytes. May run in any thread."""
        # In this order: another thread takes the data away after it has set the other.
        data, compressed = self._data, self._compressed
        return data if compressed is None and data is not None else zstandard.ZstdDecompressor().decompress(compressed or b"")

    def replace(self, compressed: bytes) -> None:
        """Keep this form instead."""
        self._compressed = compressed
        self._data = None
        self.size = len(compressed)


class Part(NamedTuple):
    """A stretch of a blob."""

    blob: Blob
    start: int
    stop: int


Text = tuple[Part, ...]
"""A body: its parts one after the other."""


def whole(blob: Blob) -> Text:
    """All of a blob."""
    return (Part(blob, 0, blob.length),)


def length(text: Text) -> int:
    """Bytes of a text."""
    return sum(part.stop - part.start for part in text)


def stretch(text: Text, start: int, stop: int) -> Text:
    """The parts that make up these bytes of a text."""
    found = []
    position = 0
    for part in text:
        end = position + part.stop - part.start
        first, last = max(start, position), min(stop, end)
        if first < last:
            found.append(
                part if (first, last) == (position, end) else Part(part.blob, part.start + first - position, part.start + last - position)
            )
        position = end
    return tuple(found)


def read(text: Text) -> bytes:
    """The bytes of a text, put together. May run in any thread."""
    opened: dict[int, bytes] = {}
    pieces = []
    for blob, start, stop in text:
        data = opened.get(id(blob))
        if data is None:
            data = opened[id(blob)] = blob.read()
        pieces.append(data[start:stop])
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class BlobMemory:
    """Counts what the blobs in use take, and compresses them in a thread. For the event loop's thread."""

    def __init__(self, executor: Executor) -> None:
        self.size = 0
        """Bytes of all blobs that a body holds."""
        self._executor = executor
        self._by_content: dict[bytes, Blob] = {}
        self._waiting: list[Blob] = []
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._compressing: set[asyncio.Future[list[bytes]]] = set()

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be compressed."""
        return not self._waiting and not self._compressing

    def same(self, data: bytes) -> Blob:
        """The blob of this content: the one that some body holds, or a new one."""
        digest = _digest(data)
        return self._by_content.get(digest) or Blob(data, digest=digest)

    def hold(self, blobs: Iterable[Blob]) -> None:
        """One more body holds each of these; each once."""
        for blob in blobs:
            blob.users += 1
            if blob.users == 1:
                self.size += blob.size
                if blob.digest:
                    self._by_content[blob.digest] = blob

    def release(self, blobs: Iterable[Blob]) -> None:
        """One body less does."""
        for blob in blobs:
            blob.users -= 1
            if blob.users == 0:
                self.size -= blob.size
                if blob.digest:
                    del self._by_content[blob.digest]

    def settle(self, blobs: Iterable[Blob]) -> None:
        """Compress these soon, in a thread."""
        for blob in blobs:
            if not blob.settled:
                blob.settled = True
                self._waiting.append(blob)
                self._waiting_bytes += blob.size
        if self._waiting_bytes >= _BATCH_BYTES:
            self._compress()
        elif self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_BATCH_SECONDS, self._compress)

    def close(self) -> None:
        """Compress nothing any more."""
        self._take_waiting()

    def _compress(self) -> None:
        waiting = [blob for blob in self._take_waiting() if blob.users]
        if not waiting:
            return
        future = asyncio.get_running_loop().run_in_executor(self._executor, _compressed, waiting)
        self._compressing.add(future)

        def replace(done: asyncio.Future[list[bytes]]) -> None:
            self._compressing.discard(done)
            if done.cancelled() or done.exception() is not None:
                return
            for blob, compressed in zip(waiting, done.result(), strict=True):
                self._replace(blob, compressed)

        future.add_done_callback(replace)

    def _replace(self, blob: Blob, compressed: bytes) -> None:
        saved = blob.size - len(compressed)
        if saved > 0:
            blob.replace(compressed)
            self.size -= saved if blob.users else 0

    def _take_waiting(self) -> list[Blob]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        return waiting


def _compressed(blobs: list[Blob]) -> list[bytes]:
    return [_compress(blob.read()) for blob in blobs]


def _compress(data: bytes) -> bytes:
    # Compressing in one go would take as much memory again for its result, however short that becomes.
    compressor = zstandard.ZstdCompressor(level=3).compressobj(size=len(data))
    return b"".join((compressor.compress(data), compressor.flush()))


@lru_cache(maxsize=32)
def _digest(data: bytes) -> bytes:
    """Remembered, since agents send the same catalog all day."""
    return hashlib.sha256(data).digest()
