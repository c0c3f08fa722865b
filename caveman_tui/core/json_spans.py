"""Where each JSON value lies in the bytes of a document.

The value of a document is parsed at once; positions are found only along the paths that someone asks for, one level at a time.
msgspec finds the extent of every value of a level in C; members and items stand one after the other, so their offsets follow from
their lengths, and each is compared with the bytes at that offset: no pointers, nothing that could lie outside the body. Whatever
does not fit (a repeated key) or is refused by msgspec although servers take it (lone surrogate escapes, NaN) is read by the standard
library's scanner over the body as latin-1, where a string index is a byte offset. Both ways give the same spans.
"""

import gc
import json
import re
from typing import Any, NamedTuple

import msgspec

SPACE = b" \t\n\r"
"""What JSON allows between values."""

DEPTH_LIMIT = 500
"""Levels of nesting that are read. Half the interpreter's recursion limit, so that the answer never depends on the caller's stack."""


class JsonRefused(ValueError):
    """A body in which nothing may be edited. `code` is a reason code: `byte-order-mark`, `invalid-utf-8`, `not-json`, `too-deep`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Span(NamedTuple):
    """A value's stretch of the body, without the white space around it."""

    start: int
    end: int
    """One past the last byte."""


class Members(NamedTuple):
    """The members of one object."""

    spans: dict[str, Span]
    """Key, escapes decoded, to the span of its value. Of a repeated key the last one, which is what most parsers take."""
    repeats: bool
    """Whether any key stands there twice. Which of the two counts is the reader's choice, so nothing below it may be edited."""


class Located(NamedTuple):
    """Where a path leads."""

    span: Span
    repeats: bool
    """Whether an object on the way to it, or the object itself, has a repeated key."""


class Read(NamedTuple):
    """What a document's bytes say, as far as someone has looked."""

    value: Any
    strict: bool
    root: Span
    objects: dict[Span, Members]
    """The objects that were opened."""
    arrays: dict[Span, list[Span]]


def parse_value(body: bytes) -> Any:
    """What `JsonDocument(body).value` is, however deep it nests. Raises JsonRefused for everything else that JsonDocument refuses."""
    return _parse(body, fast=True)[0]


def _parse(body: bytes, *, fast: bool) -> tuple[Any, bool]:
    """The value, and whether the strict reader took it."""
    if body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise JsonRefused("byte-order-mark")
    if fast:
        try:
            # It refuses what is not UTF-8, so only what it refuses needs a closer look.
            return msgspec.json.decode(body), True
        except (msgspec.DecodeError, RecursionError):
            pass
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise JsonRefused("invalid-utf-8") from error
    try:
        return _scanner.decode(text), False
    except RecursionError as error:
        raise JsonRefused("too-deep") from error
    except ValueError as error:
        raise JsonRefused("not-json") from error


class JsonDocument:
    """A request body: its value, and the span of any part of it.

    `fast=False` reads everything with the standard library; the result is the same. Raises JsonRefused where the body is not
    exactly one JSON value in plain UTF-8, or nests deeper than DEPTH_LIMIT.
    """

    def __init__(self, body: bytes, *, fast: bool = True, read: Read | None = None) -> None:
        """`read` is what is known of the body already, where that is so."""
        self.body = body
        if read is None:
            read = _read(body, fast)
        self.value: Any = read.value
        """The whole document. Of a repeated key the last value; None for an integer longer than Python converts."""
        self.strict = read.strict
        """Whether the strict reader took it; false where only the lenient one did (lone surrogate escapes, NaN)."""
        self.root = read.root
        self._fast = fast
        self._view = memoryview(body)
        self._latin_text: str | None = None
        self._opened_objects = read.objects
        self._opened_arrays = read.arrays

    def locate(self, path: tuple[str | int, ...]) -> Located:
        """The span of the value at `path`, member names and item indexes from the root on.

        Raises KeyError where nothing stands there.
        """
        span = self.root
        repeats = False
        for step in path:
            if isinstance(step, str):
                members = self.members_of(span)
                repeats = repeats or members.repeats
                span = members.spans[step]
            else:
                items = self.items_of(span)
                if step >= len(items):
                    raise KeyError(step)
                span = items[step]
        if self.body[span.start] == _OPEN_OBJECT:
            repeats = repeats or self.members_of(span).repeats
        return Located(span, repeats)

    def members_of(self, span: Span) -> Members:
        """The members of the object that stands there. Raises KeyError where no object does."""
        if self.body[span.start] != _OPEN_OBJECT:
            raise KeyError(span)
        members = self._opened_objects.get(span)
        if members is None:
            members = self._opened_objects[span] = self._walked_members(span) or self._scan_members(span)
        return members

    def items_of(self, span: Span) -> list[Span]:
        """The items of the array that stands there. Raises KeyError where no array does."""
        if self.body[span.start] != _OPEN_ARRAY:
            raise KeyError(span)
        items = self._opened_arrays.get(span)
        if items is None:
            walked = self._walked_items(span)
            items = self._opened_arrays[span] = self._scan_items(span) if walked is None else walked
        return items

    def _walked_members(self, span: Span) -> Members | None:
        """The members as msgspec sees them, None where it can't or where a key repeats."""
        if not self._fast:
            return None
        try:
            decoded = _object_decoder.decode(self._view[span.start : span.end])
            return _walk_members(self.body, span, decoded)
        except (_Mismatch, msgspec.DecodeError, RecursionError):
            return None

    def _walked_items(self, span: Span) -> list[Span] | None:
        if not self._fast:
            return None
        try:
            decoded = _array_decoder.decode(self._view[span.start : span.end])
            return _walk_items(self.body, span, decoded)
        except (_Mismatch, msgspec.DecodeError, RecursionError):
            return None

    def _scan_value(self, start: int) -> int:
        """The end of the value that starts there."""
        try:
            return _scanner.raw_decode(self._text, start)[1]
        except RecursionError as error:
            raise JsonRefused("too-deep") from error
        except ValueError as error:
            raise JsonRefused("not-json") from error

    def _scan_members(self, span: Span) -> Members:
        spans: dict[str, Span] = {}
        repeats = False
        position = _skip_space(self.body, span.start + 1)
        delimiter = self.body[position : position + 1] == b"}"
        while not delimiter:
            key_end = self._scan_value(position) if self.body[position : position + 1] == b'"' else -1
            colon = _COLON.match(self.body, key_end) if key_end > 0 else None
            if colon is None:
                raise JsonRefused("not-json")
            key = _decode_string(self.body[position:key_end])
            end = self._scan_value(colon.end())
            repeats = repeats or key in spans
            spans[key] = Span(colon.end(), end)
            position, delimiter = self._step(end, b"}")
        if position + 1 != span.end:
            raise JsonRefused("not-json")
        return Members(spans, repeats)

    def _scan_items(self, span: Span) -> list[Span]:
        items: list[Span] = []
        position = _skip_space(self.body, span.start + 1)
        delimiter = self.body[position : position + 1] == b"]"
        while not delimiter:
            end = self._scan_value(position)
            items.append(Span(position, end))
            position, delimiter = self._step(end, b"]")
        if position + 1 != span.end:
            raise JsonRefused("not-json")
        return items

    def _step(self, end: int, closing: bytes) -> tuple[int, bool]:
        """From the end of a value to the next one, or to the closing bracket; says which."""
        position = _skip_space(self.body, end)
        found = self.body[position : position + 1]
        if found == closing:
            return position, True
        if found != b",":
            raise JsonRefused("not-json")
        return _skip_space(self.body, position + 1), False

    @property
    def _text(self) -> str:
        if self._latin_text is None:
            self._latin_text = self.body.decode("latin-1")
        return self._latin_text


_QUOTE, _OPEN_OBJECT, _OPEN_ARRAY = b'"{['
_NOT_SPACE = re.compile(rb"[^ \t\n\r]|\Z")
_COLON = re.compile(rb"[ \t\n\r]*:[ \t\n\r]*")
_KEY = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"[ \t\n\r]*:[ \t\n\r]*', re.DOTALL)
_DELIMITER = re.compile(rb"[ \t\n\r]*([,\]}])[ \t\n\r]*")

_object_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_array_decoder = msgspec.json.Decoder(list[msgspec.Raw])


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


_scanner = json.JSONDecoder(parse_int=_integer)


class _Mismatch(Exception):
    """The bytes are not what the decoded level says, as with a repeated key."""


def _read(body: bytes, fast: bool) -> Read:
    value, strict = _parse(body, fast=fast)
    if is_deeper(value, DEPTH_LIMIT):
        raise JsonRefused("too-deep")
    return Read(value, strict, Span(_skip_space(body, 0), len(body.rstrip(SPACE))), {}, {})


def is_deeper(value: Any, limit: int) -> bool:
    """Whether objects and arrays in `value` nest in more than `limit` levels."""
    if not isinstance(value, dict | list):
        return False
    return not _is_seen_to_be_shallow(value, limit) and _is_deeper(value, limit)


def _is_seen_to_be_shallow(value: Any, limit: int) -> bool:
    """Whether the collector shows that nothing nests deeper, in a third of the time that looking at each value takes.

    It need not track what holds no containers, so the last level may be missing.
    """
    level = [value]
    for _ in range(limit - 1):
        level = list(filter(gc.is_tracked, gc.get_referents(*level)))
        if not level:
            return True
    return False


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        if not level:
            return False
        below: list[Any] = []
        for container in level:
            for item in container.values() if type(container) is dict else container:
                kind = type(item)
                if kind is dict or kind is list:
                    below.append(item)
        level = below
    return bool(level)


def _skip_space(body: bytes, position: int) -> int:
    found = _NOT_SPACE.search(body, position)
    return found.start() if found else len(body)


def _decode_string(literal: bytes) -> str:
    try:
        return msgspec.json.decode(literal, type=str)
    except msgspec.DecodeError:
        text: str = json.loads(literal.decode())
        return text


def _value_end(body: bytes, start: int, raw: Any) -> int:
    """The end of `raw`, which must be what stands at `start`.

    JSON values are prefix-free but for numbers, which a delimiter must follow, so equal bytes are the same value.
    """
    value = bytes(raw)
    if not body.startswith(value, start):
        raise _Mismatch
    return start + len(value)


def _is_key(literal: bytes, key: str) -> bool:
    if b"\\" in literal:
        return _decode_string(b'"%b"' % literal) == key
    return literal == key.encode()


def _walk_members(body: bytes, span: Span, decoded: dict[str, Any]) -> Members:
    spans: dict[str, Span] = {}
    position = _skip_space(body, span.start + 1)
    end = position + 1
    for key, raw in decoded.items():
        head = _KEY.match(body, position)
        if head is None or not _is_key(head[1], key):
            raise _Mismatch
        value_end = _value_end(body, head.end(), raw)
        delimiter = _DELIMITER.match(body, value_end)
        if delimiter is None:
            raise _Mismatch
        spans[key] = Span(head.end(), value_end)
        end, position = delimiter.end(1), delimiter.end()
    if end != span.end:
        raise _Mismatch
    return Members(spans, False)


def _walk_items(body: bytes, span: Span, decoded: list[Any]) -> list[Span]:
    items: list[Span] = []
    position = _skip_space(body, span.start + 1)
    end = position + 1
    for raw in decoded:
        value_end = _value_end(body, position, raw)
        delimiter = _DELIMITER.match(body, value_end)
        if delimiter is None:
            raise _Mismatch
        items.append(Span(position, value_end))
        end, position = delimiter.end(1), delimiter.end()
    if end != span.end:
        raise _Mismatch
    return items
