"""Bodies of the last exchanges, in memory, compressed, within a budget."""

from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from caveman_tui.core.body_growth import Shared
from caveman_tui.core.edits import Edit
from caveman_tui.protocol.control import HeaderField
from caveman_tui.proxy import blobs
from caveman_tui.proxy.blobs import Blob, BlobMemory, Text

_LONG = 512
"""Texts of edits from here on are looked for among those of other exchanges."""
_MOST_PARTS = 64
"""A body that would be put together from more is kept whole again."""


class KeptHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """Headers of one direction, and what was changed in them."""

    headers: tuple[HeaderField, ...] = ()
    edits: tuple[str, ...] = ()


class Likeness(NamedTuple):
    """What a request has in common with that of an earlier exchange."""

    exchange: str
    shared: Shared


class _Replaced(NamedTuple):
    """What an edit made of a stretch of the request."""

    start: int
    end: int
    after: Text


@dataclass(slots=True)
class _Entry:
    request: Text | None = None
    replaced: tuple[_Replaced, ...] = ()
    request_headers: bytes = b""
    response: Text | None = None
    response_encoding: str = ""
    response_headers: bytes = b""

    def blobs(self) -> set[Blob]:
        texts = (self.request or (), self.response or (), *(replaced.after for replaced in self.replaced))
        return {part.blob for text in texts for part in text}

    @property
    def headers_size(self) -> int:
        return len(self.request_headers) + len(self.response_headers)


@dataclass(frozen=True, slots=True)
class KeptBody:
    """A body out of memory; `content_encoding` is the coding it still carries, empty for none."""

    data: bytes
    content_encoding: str = ""


class BodyUnavailable(LookupError):
    """A body that is not, or no longer, in memory."""


class Bodies:
    """What travelled in the last exchanges. Of a request only the body as it came and the edits are kept; what went out is
    made from them again. What a request has in common with the one before it in its conversation is kept once.

    `put_*`, `settle` and `drop` run on the event loop's thread; `read` may run in any.
    """

    def __init__(self, budget_bytes: int, executor: Executor) -> None:
        self.budget_bytes = budget_bytes
        self.memory = BlobMemory(executor)
        self._headers_size = 0
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.memory.size + self._headers_size

    def put_request(self, id: str, body: bytes, edits: tuple[Edit, ...], headers: KeptHeaders, like: Likeness | None = None) -> None:
        """Keep a request: `body` as it came, decoded from its content coding."""
        entry = self._taken_out(id)
        entry.request = self._text(body, like)
        entry.replaced = tuple(_Replaced(edit.start, edit.end, self._short_or_shared(edit.after)) for edit in edits)
        entry.request_headers = msgspec.msgpack.encode(headers)
        self._put_back(entry)

    def put_request_headers(self, id: str, headers: KeptHeaders) -> None:
        """Keep the headers of a request whose body is not kept."""
        entry = self._taken_out(id)
        entry.request_headers = msgspec.msgpack.encode(headers)
        self._put_back(entry)

    def put_response(self, id: str, body: bytes, content_encoding: str, headers: KeptHeaders) -> None:
        """Keep a response as it was received, content coding and all."""
        entry = self._taken_out(id)
        entry.response = blobs.whole(Blob(body, settled=content_encoding not in {"", "identity"}))
        entry.response_encoding = content_encoding
        entry.response_headers = msgspec.msgpack.encode(headers)
        self._put_back(entry)

    def settle(self, id: str) -> None:
        """Compress in a thread what exchange `id` holds; called when it has ended, so that it takes no time from its stream."""
        if entry := self._entries.get(id):
            self.memory.settle(entry.blobs())

    def close(self) -> None:
        """Compress nothing any more."""
        self.memory.close()

    def drop(self, id: str) -> None:
        """Forget what exchange `id` holds."""
        if entry := self._entries.pop(id, None):
            self._release(entry)

    def available(self, id: str) -> tuple[str, ...]:
        """Which bodies of exchange `id` can be read, as the control API names them."""
        entry = self._entries.get(id)
        if entry is None:
            return ()
        request = () if entry.request is None else ("request-before", "request-after")
        return request + (() if entry.response is None else ("response",))

    def headers(self, id: str) -> tuple[KeptHeaders, KeptHeaders]:
        """Request and response headers of exchange `id`, empty where unknown."""
        entry = self._entries.get(id) or _Entry()
        return _headers(entry.request_headers), _headers(entry.response_headers)

    def read(self, id: str, which: str) -> KeptBody:
        """One body, `which` as in `available`. Raises BodyUnavailable."""
        entry = self._entries.get(id)
        if entry is not None and which == "response" and entry.response is not None:
            return KeptBody(blobs.read(entry.response), entry.response_encoding)
        if entry is not None and which in {"request-before", "request-after"} and entry.request is not None:
            return KeptBody(blobs.read(entry.request if which == "request-before" else _edited(entry.request, entry.replaced)))
        raise BodyUnavailable(f"{which} of exchange {id}")

    def _text(self, body: bytes, like: Likeness | None) -> Text:
        """What of `body` another exchange holds, and one new blob for the rest."""
        other = self._entries.get(like.exchange) if like else None
        if like is None or other is None or other.request is None or len(other.request) >= _MOST_PARTS:
            return blobs.whole(Blob(body))
        start, tail = like.shared.size, like.shared.tail
        known = blobs.length(other.request)
        return (
            *blobs.stretch(other.request, 0, start),
            *blobs.whole(Blob(body[start : len(body) - tail])),
            *blobs.stretch(other.request, known - tail, known),
        )

    def _short_or_shared(self, text: bytes) -> Text:
        return blobs.whole(Blob(text) if len(text) < _LONG else self.memory.same(text))

    def _taken_out(self, id: str) -> _Entry:
        entry = self._entries.setdefault(id, _Entry())
        self._release(entry)
        return entry

    def _put_back(self, entry: _Entry) -> None:
        self.memory.hold(entry.blobs())
        self._headers_size += entry.headers_size
        while self.size > self.budget_bytes and self._entries:
            self._release(self._entries.popitem(last=False)[1])

    def _release(self, entry: _Entry) -> None:
        self.memory.release(entry.blobs())
        self._headers_size -= entry.headers_size


def _edited(body: Text, replaced: Iterable[_Replaced]) -> Text:
    edited: list[blobs.Part] = []
    position = 0
    for start, end, after in sorted(replaced, key=lambda one: one[:2]):
        edited += (*blobs.stretch(body, position, start), *after)
        position = end
    return (*edited, *blobs.stretch(body, position, blobs.length(body)))


def _headers(packed: bytes) -> KeptHeaders:
    return msgspec.msgpack.decode(packed, type=KeptHeaders) if packed else KeptHeaders()
