"""A body as rows of text: split, indented on wish, wrapped or cut to a width; only the rows that are asked for are made."""

import json as lenient
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

import msgspec
from msgspec import json

from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.safe_text import may_be_wide, safe

_MATCHES_AT_MOST = 5_000
_MEMBER = re.compile(r'(\s*)("(?:[^"\\]|\\.){0,120}":)')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_EVENT_FIELD = re.compile(r"(event|data|id|retry)(:)")


def indented(data: bytes) -> bytes | None:
    """`data` as indented JSON with every token spelled as it was; None where it is no JSON document."""
    if data[:1] not in (b"{", b"["):
        return None
    try:
        return json.format(data, indent=2)
    except RecursionError:
        return None
    except msgspec.DecodeError:
        return _indented_slowly(data)


def _indented_slowly(data: bytes) -> bytes | None:
    """For what the fast way rejects and lenient parsers take: lone surrogate escapes, NaN."""
    try:
        lenient.loads(data)
    except (ValueError, RecursionError):
        return None
    pieces: list[bytes] = []
    depth = 0
    before = b""
    for token in _TOKEN.findall(data):
        opened = before in (b"{", b"[")
        if token in (b"}", b"]"):
            depth -= 1
            pieces.append(b"" if opened else b"\n" + b"  " * depth)
        elif opened or before == b",":
            pieces.append(b"\n" + b"  " * depth)
        elif before == b":":
            pieces.append(b" ")
        pieces.append(token)
        if token in (b"{", b"["):
            depth += 1
        before = token
    return b"".join(pieces)


class BodyDocument:
    """A body to read. With `wrapped` off, lines are cut at the width instead of continued on the next row."""

    def __init__(self, data: bytes, *, wrapped: bool = True) -> None:
        self._text = data.decode("utf-8", "surrogateescape")
        self._lines = self._text.split("\n")
        if len(self._lines) > 1 and not self._lines[-1]:
            self._lines.pop()
        self._offsets = list(accumulate((len(text) + 1 for text in self._lines), initial=0))
        self._wide = [may_be_wide(text) for text in self._lines]
        self._wrapped = wrapped
        self._width = 80
        self._first_rows: list[int] = []

    @property
    def line_count(self) -> int:
        """Lines of the text, before wrapping."""
        return len(self._lines)

    def lay_out(self, width: int) -> int:
        """Arrange for `width` columns. A line that may hold wide characters gets half as many a row, so that it fits for certain."""
        self._width = max(2, width)
        if not self._wrapped:
            self._first_rows = list(range(len(self._lines) + 1))
        else:
            heights = (max(1, -(-len(text) // self._step(number))) for number, text in enumerate(self._lines))
            self._first_rows = list(accumulate(heights, initial=0))
        return self._first_rows[-1]

    def row(self, index: int) -> Line:
        """One row, made safe, with member names and event fields told apart."""
        number, start, text = self._chunk(index)
        shown = safe(text)
        cut = not self._wrapped and len(self._lines[number]) > len(text)
        tail = (Span("…", Role.MUTED),) if cut else ()
        if start == 0:
            if member := _MEMBER.match(shown):
                return (Span(member.group(1)), Span(member.group(2), Role.ACCENT), Span(shown[member.end() :]), *tail)
            if event := _EVENT_FIELD.match(shown):
                return (Span(event.group(), Role.MUTED), Span(shown[event.end() :]), *tail)
        return (Span(shown), *tail)

    def find(self, needle: str) -> list[int]:
        """Rows on which `needle` begins, ascending, at most 5,000 of them."""
        rows: list[int] = []
        for offset in _occurrences(self._text, needle):
            row = self._row_of(offset)
            if not rows or rows[-1] != row:
                rows.append(row)
                if len(rows) >= _MATCHES_AT_MOST:
                    break
        return rows

    def source(self, index: int) -> str:
        """The characters of a row as they came; undecodable bytes as U+FFFD."""
        return self._chunk(index)[2].encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def continues(self, index: int) -> bool:
        """Whether the line of this row goes on in the next one."""
        return self._wrapped and index + 1 < self._first_rows[-1] and index + 1 not in self._starts(index)

    def _starts(self, index: int) -> tuple[int, int]:
        place = bisect_right(self._first_rows, index) - 1
        return self._first_rows[place], self._first_rows[place + 1]

    def _chunk(self, index: int) -> tuple[int, int, str]:
        number = bisect_right(self._first_rows, index) - 1
        text = self._lines[number]
        step = self._step(number)
        if not self._wrapped:
            return number, 0, text if len(text) <= step else text[: step - 1]
        start = (index - self._first_rows[number]) * step
        return number, start, text[start : start + step]

    def _row_of(self, offset: int) -> int:
        number = bisect_right(self._offsets, offset) - 1
        number = min(number, len(self._lines) - 1)
        if not self._wrapped:
            return number
        return self._first_rows[number] + (offset - self._offsets[number]) // self._step(number)

    def _step(self, number: int) -> int:
        return self._width // 2 if self._wide[number] else self._width


def _occurrences(text: str, needle: str) -> Iterator[int]:
    """Offsets at which `needle` begins, case ignored."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # Few characters have a longer lower case; offsets in the lowered text would be off behind one of them.
        yield from (match.start() for match in re.finditer(re.escape(needle), text, re.IGNORECASE))
        return
    wanted = needle.lower()
    offset = lowered.find(wanted)
    while offset >= 0:
        yield offset
        offset = lowered.find(wanted, offset + max(1, len(wanted)))


def next_match(rows: list[int], current: int, *, backwards: bool = False) -> int | None:
    """The match after (or before) the row `current`, around the end."""
    if not rows:
        return None
    if backwards:
        return rows[bisect_left(rows, current) - 1]
    place = bisect_right(rows, current)
    return rows[place % len(rows)]
