"""Whether a server-sent event stream came to its end, and whether it carried an error: read from a copy, as it passes."""

import re

from caveman_tui.core.policy import Dialect

_HEAD = 400
"""Bytes of a line that are looked at; the type of an event stands at its beginning."""
_TYPE = re.compile(rb'\A\s*\{\s*"type"\s*:\s*"([^"]{1,80})"')
_ERROR_OBJECT = re.compile(rb'\A\s*\{\s*"error"\s*:\s*[{"]')
_MESSAGE = re.compile(rb'"message"\s*:\s*"((?:[^"\\]|\\.){1,200})')
_ERRORS = frozenset({"error", "response.failed"})
_LAST = {
    Dialect.ANTHROPIC_MESSAGES: frozenset({"message_stop"}),
    Dialect.OPENAI_RESPONSES: frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"}),
    Dialect.OPENAI_CHAT: frozenset({"[DONE]"}),
}


class StreamWatch:
    """Reads an event stream's lines, LF or CRLF, split anywhere; remembers the beginning of the current line only.

    Sources: WHATWG HTML, server-sent events; Anthropic streaming messages; OpenAI streaming responses and chat completions.
    """

    def __init__(self, dialect: Dialect | None) -> None:
        self._dialect = dialect
        self._last = _LAST.get(dialect, frozenset()) if dialect else frozenset()
        self._line = bytearray()
        self._line_open = False
        self._event_open = False
        self._event_named = ""
        self._ended = False
        self.events = 0
        """Events with data so far."""
        self.error = ""
        """What an error event said, its type where it said nothing."""

    def feed(self, data: bytes) -> None:
        """Decoded bytes of the stream."""
        first, *others = data.split(b"\n")
        self._extend(first)
        for piece in others:
            self._end_line()
            self._extend(piece)

    @property
    def complete(self) -> bool:
        """Whether what the dialect ends with was there; for chat completions an end between two events will do."""
        if self._ended or self.error:
            return True
        if self._dialect is Dialect.OPENAI_CHAT or not self._last:
            return self.events > 0 and not self.inside_event
        return False

    @property
    def inside_event(self) -> bool:
        """Whether the last event is not whole."""
        if self._ended or self.error:
            return False
        return self._line_open or (self._event_open and self._dialect is not Dialect.OPENAI_CHAT)

    def _extend(self, piece: bytes) -> None:
        if piece:
            self._line_open = True
            if len(self._line) < _HEAD:
                self._line += piece[: _HEAD - len(self._line)]

    def _end_line(self) -> None:
        line = bytes(self._line).removesuffix(b"\r")
        self._line.clear()
        self._line_open = False
        if not line:
            self._event_open = False
            self._event_named = ""
        elif line.startswith(b"event:"):
            self._event_open = True
            self._event_named = line[6:].strip().decode("utf-8", "replace")
            self._note(self._event_named, b"")
        elif line.startswith(b"data:"):
            self._event_open = True
            self.events += 1
            self._data(line[5:].strip())

    def _data(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._note("[DONE]", b"")
        elif _ERROR_OBJECT.match(data):
            self._note("error", data)
        elif found := _TYPE.match(data):
            self._note(found[1].decode("utf-8", "replace"), data)
        elif self._event_named in _ERRORS:
            self._note(self._event_named, data)

    def _note(self, kind: str, data: bytes) -> None:
        if kind in self._last:
            self._ended = True
        if kind in _ERRORS:
            found = _MESSAGE.search(data)
            said = found[1].decode("utf-8", "replace") if found else kind
            if not self.error or self.error in _ERRORS:
                self.error = said
