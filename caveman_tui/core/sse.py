"""Server-sent events out of bytes that may be split anywhere.

Source of the format: WHATWG HTML, "Server-sent events", parsing an event stream. `id` and `retry` are not needed here.
"""

import re

import msgspec

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""An event longer than this is skipped; the closing event of a long agent response stays well below it."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class SseEvent(msgspec.Struct, frozen=True):
    """One dispatched event."""

    name: bytes
    """Value of the `event` field, empty without one."""
    data: bytes
    """Its `data` lines, joined by newlines."""


class SseReader:
    """Takes a stream's bytes as they come and gives the events that became whole.

    Lines end in CRLF, LF or CR. Holds at most one event of `max_event_bytes`; of a longer one nothing is kept and nothing given.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._line = bytearray()
        self._line_empty = True
        self._after_cr = False
        self._at_start = True
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that end within `chunk`."""
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        events: list[SseEvent] = []
        *ended, rest = _LINE_END.split(chunk)
        for piece in ended:
            self._extend(piece)
            self._end_line(events)
        self._extend(rest)
        return events

    def close(self) -> list[SseEvent]:
        """The event that the stream broke off after, if its last line, or the blank line after it, is all that is missing."""
        events: list[SseEvent] = []
        if not self._line_empty:
            self._end_line(events)
        self._dispatch(events)
        return events

    def _extend(self, piece: bytes) -> None:
        if not piece:
            return
        self._line_empty = False
        if self._skipping:
            return
        if self._size + len(self._line) + len(piece) > self._limit:
            self._skipping = True
            self._line.clear()
            self._data.clear()
            return
        self._line += piece

    def _end_line(self, events: list[SseEvent]) -> None:
        line = bytes(self._line)
        empty = self._line_empty
        self._line.clear()
        self._line_empty = True
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if empty:
            self._dispatch(events)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._size += len(value) + 1
        elif field == b"event":
            self._name = value

    def _dispatch(self, events: list[SseEvent]) -> None:
        if self._data and not self._skipping:
            events.append(SseEvent(self._name, b"\n".join(self._data)))
        self._name = b""
        self._data = []
        self._size = 0
        self._skipping = False
