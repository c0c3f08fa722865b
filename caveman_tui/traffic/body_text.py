"""A body as rows of text: split, indented on wish, wrapped or cut to a width; only the rows that are asked for are made."""

import json as lenient
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import msgspec
from msgspec import json

from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.line_index import LineIndex
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.row_map import RowMap
from caveman_tui.traffic.safe_text import may_be_wide, safe

_MATCHES_AT_MOST = 5_000
_INDENT = 2
_DEEPEST = 1_000
"""Levels of JSON; parsers refuse what is deeper."""
_MEMBER = re.compile(r'(\s*)("(?:[^"\\]|\\.){0,120}":)')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_EVENT_FIELD = re.compile(r"(event|data|id|retry)(:)")


def indented(data: bytes) -> bytes | None:
    """`data` as indented JSON with every token spelled as it was; None where it is no JSON document."""
    if data[:1] not in (b"{", b"["):
        return None
    try:
        return json.format(data, indent=_INDENT)
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
    """A body to read. With `wrapped` off, lines are cut at the width instead of continued on the next row.

    Indented JSON folds: everything between a line that opens an object or an array and the line that closes it, that one included.
    No line is cut out of the text before it is drawn.
    """

    def __init__(self, data: bytes, *, wrapped: bool = True) -> None:
        self._text = data.decode("utf-8", "surrogateescape")
        self._lines = LineIndex(self._text)
        self._wrapped = wrapped
        self._width = 0
        self._wide: set[int] = set()
        """Lines with wide characters, of those that are longer than half a row."""
        self._rows: RowMap | None = None
        self._folds: dict[int, int] = {}
        """Lines whose inside is hidden, with how many lines that are."""

    @property
    def line_count(self) -> int:
        """Lines of the text, before wrapping."""
        return self._lines.count

    @property
    def folded(self) -> int:
        """How many objects and arrays are folded, those inside others included."""
        return len(self._folds)

    def fold_to(self, depth: int) -> None:
        """Hide what lies deeper than `depth` levels; 0 hides all but the outermost brackets."""
        self._folds = dict(self._foldable_at(depth))
        self._rows = None

    def unfold(self) -> None:
        """Show everything."""
        self._folds = {}
        self._rows = None

    def toggle_fold(self, row: int) -> bool:
        """Fold or unfold what opens on the line of `row`; False where nothing does."""
        number = self.line_of(row)
        if number in self._folds:
            del self._folds[number]
        elif inside := self._inside(number):
            self._folds[number] = inside
        else:
            return False
        self._rows = None
        return True

    def line_of(self, row: int) -> int:
        """The number of the line of a row."""
        return self._map.line_at(row)[0]

    def row_of_line(self, number: int) -> int:
        """The first row of a line; where it is hidden, the row that hides it."""
        return self._map.first_row(number)

    @property
    def depth(self) -> int:
        """Of the deepest line."""
        deeper = range(1, _DEEPEST)
        return next((level - 1 for level in deeper if "\n" + " " * (level * _INDENT) not in self._text), _DEEPEST)

    def lay_out(self, width: int) -> int:
        """Arrange for `width` columns; at once where that was done before.

        A line that may hold wide characters gets half as many a row, so that it fits for certain.
        """
        if self._rows is None or self._width != max(2, width):
            self._width = max(2, width)
            self._rows = RowMap(self._lines.count, self._other_lines())
        return self._rows.count

    def row(self, index: int) -> Line:
        """One row, made safe, with member names and event fields told apart."""
        number, start, text = self._chunk(index)
        size = self._lines.size(number)
        shown = safe(text)
        tail: Line = (Span("…", Role.MUTED),) if not self._wrapped and size > len(text) else ()
        if number in self._folds and start + len(text) == size:
            hidden = self._folds[number]
            note = f" … {hidden:,} lines {self._lines.line(number + hidden).strip()}"
            tail = (Span(note[: max(0, self._width - columns_of(shown))], Role.MUTED),)
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
        return self._wrapped and index + 1 < self._map.count and self.line_of(index + 1) == self.line_of(index)

    @property
    def _map(self) -> RowMap:
        self.lay_out(self._width)
        assert self._rows is not None
        return self._rows

    def _chunk(self, index: int) -> tuple[int, int, str]:
        """The line of a row, where in it the row begins, and the row's text."""
        number, part = self._map.line_at(index)
        first, size = self._lines.start(number), self._lines.size(number)
        if not self._wrapped:
            room = self._width // 2 if may_be_wide(self._text[first : first + min(size, self._width)]) else self._width
            return number, 0, self._text[first : first + (size if size <= room else room - 1)]
        start = part * self._step(number)
        return number, start, self._text[first + start : first + min(size, start + self._step(number))]

    def _row_of(self, offset: int) -> int:
        number = self._lines.at(offset)
        row = self._map.first_row(number)
        if not self._wrapped or self._map.line_at(row)[0] != number:
            return row
        return row + (offset - self._lines.start(number)) // self._step(number)

    def _step(self, number: int) -> int:
        return self._width // 2 if number in self._wide else self._width

    def _other_lines(self) -> Iterator[tuple[int, int, int]]:
        """The lines that take more rows than one or hide others, for a RowMap."""
        heights = dict(self._tall_lines()) if self._wrapped else {}
        shown_from = 0
        for number in sorted(heights.keys() | self._folds.keys()):
            if number >= shown_from:
                hidden = self._folds.get(number, 0)
                shown_from = number + 1 + hidden
                yield number, heights.get(number, 1), hidden

    def _tall_lines(self) -> Iterator[tuple[int, int]]:
        """Lines that are wrapped, with the rows that they take."""
        self._wide = set()
        may_be_any = may_be_wide(self._text)
        for number, start, size in self._lines.longer_than(self._width // 2 if may_be_any else self._width):
            if may_be_any and may_be_wide(self._text[start : start + size]):
                self._wide.add(number)
            rows = -(-size // self._step(number))
            if rows > 1:
                yield number, rows

    def _inside(self, number: int) -> int:
        """How many lines a fold at this line hides; 0 where nothing opens on it."""
        text = self._lines.line(number)
        blanks = len(text) - len(text.lstrip(" "))
        if not text.endswith(("{", "[")) or text[blanks : blanks + 1] not in ('"', "{", "["):
            return 0
        closer = self._text.find("\n" + " " * blanks + ("}" if text.endswith("{") else "]"), self._lines.start(number))
        return self._lines.at(closer + 1) - number if closer >= 0 else 0

    def _foldable_at(self, depth: int) -> Iterator[tuple[int, int]]:
        """The lines that open something `depth` levels deep, with how many lines are inside."""
        if depth == 0:
            yield from [(0, inside)] if (inside := self._inside(0)) else []
            return
        number, at, opened = 0, 0, -1
        for bracket in re.finditer(rf"\n {{{depth * _INDENT}}}(?:([\]}}])|[\"{{\[](?:[^\n]*[{{\[])?(?=\n))", self._text):
            number += self._text.count("\n", at, bracket.end())
            at = bracket.end()
            if not bracket.group(1):
                opened = number
            elif opened >= 0:
                yield opened, number - opened
                opened = -1


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
