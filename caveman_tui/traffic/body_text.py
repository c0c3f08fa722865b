"""A body as rows of text: split, indented on wish, wrapped or cut to a width; only the rows that are asked for are made."""

import json as lenient
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

import msgspec
from msgspec import json

from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.safe_text import may_be_wide, safe

_MATCHES_AT_MOST = 5_000
_INDENT = 2
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
    """

    def __init__(self, data: bytes, *, wrapped: bool = True) -> None:
        self._text = data.decode("utf-8", "surrogateescape")
        self._lines = self._text.split("\n")
        if len(self._lines) > 1 and not self._lines[-1]:
            self._lines.pop()
        self._offsets: list[int] = []
        """Where each line begins in the text; made by the first search."""
        self._wide = [may_be_wide(text) for text in self._lines]
        self._wrapped = wrapped
        self._width = 0
        self._first_rows: list[int] = []
        self._depths: list[int] | None = None
        self._folds: dict[int, int] = {}
        """Lines whose inside is hidden, with how many lines that are."""
        self._hidden = bytearray()
        """1 for each hidden line; empty where nothing is folded."""

    @property
    def folded(self) -> int:
        """How many objects and arrays are folded, those inside others included."""
        return len(self._folds)

    def fold_to(self, depth: int) -> int:
        """Hide what lies deeper than `depth` levels; 0 hides all but the outermost brackets. How many lines that hid."""
        depths = self._depth_of_lines()
        self._refold({number for number, found in enumerate(depths) if found == depth and self._opens(number)})
        return sum(self._hidden)

    def unfold(self) -> None:
        """Show everything."""
        self._refold(set())

    def toggle_fold(self, row: int) -> bool:
        """Fold or unfold what opens on the line of `row`; False where nothing does."""
        number = self._chunk(row)[0]
        if not self._opens(number):
            return False
        self._refold(set(self._folds) ^ {number})
        return True

    def line_of(self, row: int) -> int:
        """The number of the line of a row."""
        return self._chunk(row)[0]

    def row_of_line(self, number: int) -> int:
        """The first row of a line; where it is hidden, the row that hides it."""
        return self._first_rows[number] - (1 if self._hidden and self._hidden[number] else 0)

    @property
    def depth(self) -> int:
        """Of the deepest line."""
        return max(self._depth_of_lines(), default=0)

    @property
    def line_count(self) -> int:
        """Lines of the text, before wrapping."""
        return len(self._lines)

    def lay_out(self, width: int) -> int:
        """Arrange for `width` columns; at once where that was done before.

        A line that may hold wide characters gets half as many a row, so that it fits for certain.
        """
        if self._first_rows and self._width == max(2, width):
            return self._first_rows[-1]
        self._width = max(2, width)
        if self._hidden:
            shown = zip(self._lines, self._hidden, strict=True)
            heights = (0 if hidden else max(1, -(-len(text) // self._step(n))) for n, (text, hidden) in enumerate(shown))
            self._first_rows = list(accumulate(heights if self._wrapped else (1 - hidden for hidden in self._hidden), initial=0))
        elif not self._wrapped:
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
        tail: Line = (Span("…", Role.MUTED),) if cut else ()
        if number in self._folds and start + len(text) == len(self._lines[number]):
            closer = self._lines[number + self._folds[number]].strip()
            note = f" … {self._folds[number]:,} lines {closer}"
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
        if not self._offsets:
            self._offsets = list(accumulate((len(text) + 1 for text in self._lines), initial=0))
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
        if self._hidden and self._hidden[number]:
            return self._first_rows[number] - 1
        if not self._wrapped:
            return self._first_rows[number]
        return self._first_rows[number] + (offset - self._offsets[number]) // self._step(number)

    def _depth_of_lines(self) -> list[int]:
        if self._depths is None:
            self._depths = [(len(text) - len(text.lstrip(" "))) // _INDENT for text in self._lines]
        return self._depths

    def _opens(self, number: int) -> bool:
        text = self._lines[number]
        return text.endswith(("{", "[")) and text.lstrip(" ")[:1] in ('"', "{", "[") and number + 1 < len(self._lines)

    def _refold(self, wanted: set[int]) -> None:
        depths = self._depth_of_lines()
        hidden = bytearray(len(depths))
        folds: dict[int, int] = {}
        outermost = -1
        for number, depth in enumerate(depths):
            if outermost >= 0:
                hidden[number] = 1
                if depth <= depths[outermost]:
                    folds[outermost] = number - outermost
                    outermost = -1
            elif number in wanted:
                outermost = number
        if outermost >= 0:
            folds[outermost] = len(depths) - 1 - outermost
        inside = {number: 0 for number in wanted if hidden[number]}
        self._folds = {**inside, **folds}
        self._hidden = hidden if folds else bytearray()
        if self._first_rows:
            self._first_rows = []
            self.lay_out(self._width)

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
