"""Bodies of the last exchanges, in memory, compressed, within a budget."""

import asyncio
from collections import OrderedDict
from concurrent.futures import Executor
from dataclasses import dataclass

import msgspec
import zstandard

from caveman_tui.core.edits import Edit, apply_edits
from caveman_tui.protocol.control import HeaderField

_SMALL = 512
"""Below so many bytes compressing gains nothing."""
_BATCH_BYTES = 1024 * 1024
_BATCH_SECONDS = 0.2
"""Handing work to a thread and back costs more than compressing a small body, so bodies wait for each other, this long or to this size."""


class KeptHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """Headers of one direction, and what was changed in them."""

    headers: tuple[HeaderField, ...] = ()
    edits: tuple[str, ...] = ()


class _Blob:
    """Bytes, in pieces that are not put together as long as nobody asks, that a thread may replace by their compressed form."""

    __slots__ = ("_compressed", "_pieces", "settled", "size")

    def __init__(self, *pieces: bytes, settled: bool = False) -> None:
        self._pieces = pieces
        self._compressed: bytes | None = None
        self.size = sum(map(len, pieces))
        self.settled = settled or self.size < _SMALL
        """Whether compressing was tried, or is not worth it."""

    @property
    def pieces(self) -> tuple[bytes, ...]:
        return self._pieces

    def read(self) -> bytes:
        # In this order: another thread takes the pieces away after it has set the other.
        pieces, compressed = self._pieces, self._compressed
        return b"".join(pieces) if compressed is None else zstandard.ZstdDecompressor().decompress(compressed)

    def replace(self, compressed: bytes) -> None:
        self._compressed = compressed
        self._pieces = ()
        self.size = len(compressed)


@dataclass(slots=True)
class _Entry:
    request: _Blob | None = None
    request_headers: bytes = b""
    response: _Blob | None = None
    response_encoding: str = ""
    response_headers: bytes = b""

    @property
    def size(self) -> int:
        blobs = sum(blob.size for blob in (self.request, self.response) if blob)
        return blobs + len(self.request_headers) + len(self.response_headers)


@dataclass(frozen=True, slots=True)
class _Waiting:
    id: str
    entry: _Entry
    blob: _Blob


@dataclass(frozen=True, slots=True)
class KeptBody:
    """A body out of memory; `content_encoding` is the coding it still carries, empty for none."""

    data: bytes
    content_encoding: str = ""


class BodyUnavailable(LookupError):
    """A body that is not, or no longer, in memory."""


class Bodies:
    """What travelled in the last exchanges. Of a request only the body as it came and the edits are kept; what went out is
    made from them again.

    `put_*`, `settle` and `drop` run on the event loop's thread; `read` may run in any.
    """

    def __init__(self, budget_bytes: int, executor: Executor) -> None:
        self.size = 0
        """Bytes held."""
        self.budget_bytes = budget_bytes
        self._executor = executor
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._waiting: list[_Waiting] = []
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._compressing: set[asyncio.Future[list[bytes]]] = set()

    def put_request(self, id: str, body: bytes, edits: tuple[Edit, ...], headers: KeptHeaders) -> None:
        """Keep a request: `body` as it came, decoded from its content coding."""
        entry = self._entries.setdefault(id, _Entry())
        self.size -= entry.size
        # One value, so that the edits, whose text mostly stands in the body too, compress to almost nothing.
        packed = msgspec.msgpack.encode(edits)
        entry.request = _Blob(len(packed).to_bytes(8, "big"), packed, body)
        entry.request_headers = msgspec.msgpack.encode(headers)
        self._account(entry)

    def put_request_headers(self, id: str, headers: KeptHeaders) -> None:
        """Keep the headers of a request whose body is not kept."""
        entry = self._entries.setdefault(id, _Entry())
        self.size -= entry.size
        entry.request_headers = msgspec.msgpack.encode(headers)
        self._account(entry)

    def put_response(self, id: str, body: bytes, content_encoding: str, headers: KeptHeaders) -> None:
        """Keep a response as it was received, content coding and all."""
        entry = self._entries.setdefault(id, _Entry())
        self.size -= entry.size
        entry.response = _Blob(body, settled=content_encoding not in {"", "identity"})
        entry.response_encoding = content_encoding
        entry.response_headers = msgspec.msgpack.encode(headers)
        self._account(entry)

    def settle(self, id: str) -> None:
        """Compress in a thread what exchange `id` holds; called when it has ended, so that it takes no time from its stream."""
        entry = self._entries.get(id)
        if entry is None:
            return
        for blob in (entry.request, entry.response):
            if blob and not blob.settled:
                blob.settled = True
                self._waiting.append(_Waiting(id, entry, blob))
                self._waiting_bytes += blob.size
        if self._waiting_bytes >= _BATCH_BYTES:
            self._compress()
        elif self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_BATCH_SECONDS, self._compress)

    def close(self) -> None:
        """Compress nothing any more."""
        self._take_waiting()

    def drop(self, id: str) -> None:
        """Forget what exchange `id` holds."""
        if entry := self._entries.pop(id, None):
            self.size -= entry.size

    def available(self, id: str) -> tuple[str, ...]:
        """Which bodies of exchange `id` can be read, as the control API names them."""
        entry = self._entries.get(id)
        if entry is None:
            return ()
        request = ("request-before", "request-after") if entry.request else ()
        return request + (("response",) if entry.response else ())

    def headers(self, id: str) -> tuple[KeptHeaders, KeptHeaders]:
        """Request and response headers of exchange `id`, empty where unknown."""
        entry = self._entries.get(id) or _Entry()
        return _headers(entry.request_headers), _headers(entry.response_headers)

    def read(self, id: str, which: str) -> KeptBody:
        """One body, `which` as in `available`. Raises BodyUnavailable."""
        entry = self._entries.get(id)
        if entry is not None and which == "response" and entry.response:
            return KeptBody(entry.response.read(), entry.response_encoding)
        if entry is not None and which in {"request-before", "request-after"} and entry.request:
            kept = entry.request.read()
            start = 8 + int.from_bytes(kept[:8], "big")
            body = kept[start:]
            return KeptBody(body if which == "request-before" else apply_edits(body, _decode_edits(kept[8:start])))
        raise BodyUnavailable(f"{which} of exchange {id}")

    def _compress(self) -> None:
        waiting = self._take_waiting()
        future = asyncio.get_running_loop().run_in_executor(self._executor, _compressed, [one.blob.pieces for one in waiting])
        self._compressing.add(future)

        def replace(done: asyncio.Future[list[bytes]]) -> None:
            self._compressing.discard(done)
            if done.cancelled() or done.exception() is not None:
                return
            for one, compressed in zip(waiting, done.result(), strict=True):
                self._replace(one, compressed)

        future.add_done_callback(replace)

    def _replace(self, one: _Waiting, compressed: bytes) -> None:
        saved = one.blob.size - len(compressed)
        if saved <= 0:
            return
        one.blob.replace(compressed)
        if self._entries.get(one.id) is one.entry and one.blob in (one.entry.request, one.entry.response):
            self.size -= saved

    def _take_waiting(self) -> list[_Waiting]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        return waiting

    def _account(self, entry: _Entry) -> None:
        self.size += entry.size
        while self.size > self.budget_bytes and self._entries:
            _, oldest = self._entries.popitem(last=False)
            self.size -= oldest.size


def _compressed(bodies: list[tuple[bytes, ...]]) -> list[bytes]:
    return [_compress_pieces(pieces) for pieces in bodies]


def _compress_pieces(pieces: tuple[bytes, ...]) -> bytes:
    compressor = zstandard.ZstdCompressor(level=3).compressobj(size=sum(map(len, pieces)))
    return b"".join([*map(compressor.compress, pieces), compressor.flush()])


_decode_edits = msgspec.msgpack.Decoder(tuple[Edit, ...]).decode


def _headers(packed: bytes) -> KeptHeaders:
    return msgspec.msgpack.decode(packed, type=KeptHeaders) if packed else KeptHeaders()
