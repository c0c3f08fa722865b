"""Styled text without a screen: lines of spans, each with a role that the screen gives a colour to."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.safe_text import safe


class Role(StrEnum):
    """What a stretch of text is; the sign or word in it says the same without colour."""

    TEXT = "text"
    STRONG = "strong"
    MUTED = "muted"
    HEADING = "heading"
    ACCENT = "accent"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    ADDED = "added"
    REMOVED = "removed"


class Span(NamedTuple):
    """A stretch of text in one role. Text that came from outside has been through `safe`."""

    text: str
    role: Role = Role.TEXT


Line = tuple[Span, ...]
BLANK: Line = ()


def line(text: str, role: Role = Role.TEXT) -> Line:
    """A line in one role."""
    return (Span(text, role),)


def plain(spans: Line) -> str:
    """The text of a line."""
    return "".join(span.text for span in spans)


class Document(Protocol):
    """Something to show by lines. Rows are numbered from 0 and exist once it has been laid out for a width."""

    def lay_out(self, width: int) -> int:
        """Arrange for `width` columns; the number of rows."""
        ...

    def row(self, index: int) -> Line:
        """One row, drawn."""
        ...

    def find(self, needle: str) -> list[int]:
        """Rows on which `needle` begins, case ignored, ascending. May take long: for a thread."""
        ...

    def source(self, index: int) -> str:
        """The text of a row as it came, for the clipboard."""
        ...

    def continues(self, index: int) -> bool:
        """Whether the line of this row goes on in the next one."""
        ...


@dataclass(slots=True)
class BuiltDocument:
    """A document of few lines that a function builds for a width."""

    build: Callable[[int], list[Line]]
    rows: list[Line] | None = None

    def lay_out(self, width: int) -> int:
        """Build all rows; a line that is wider than `width` after all is continued on the next."""
        self.rows = [part for spans in self.build(width) for part in fold(spans, width)]
        return len(self.rows)

    def row(self, index: int) -> Line:
        """One row."""
        return self.rows[index] if self.rows else BLANK

    def find(self, needle: str) -> list[int]:
        """Rows that contain `needle`."""
        wanted = needle.casefold()
        return [index for index, spans in enumerate(self.rows or []) if wanted in plain(spans).casefold()]

    def source(self, index: int) -> str:
        """The text of a row."""
        return plain(self.row(index)).rstrip()

    def continues(self, index: int) -> bool:
        """Never: each row is a line."""
        return False


def fold(spans: Line, width: int) -> list[Line]:
    """`spans` in lines of at most `width` columns, broken at blanks where there are any in the second half."""
    text = plain(spans)
    if width < 2 or columns_of(text) <= width:
        return [spans]
    room = width if text.isascii() else _fitting(text, width)
    blank = text.rfind(" ", room // 2, room + 1)
    end, start = (blank, blank + 1) if blank > 0 else (room, room)
    return [_slice(spans, 0, end), *fold(_slice(spans, start, len(text)), width)]


def _fitting(text: str, width: int) -> int:
    """How many characters of `text` fit."""
    count = 0
    while count < len(text) and columns_of(text[: count + 1]) <= width:
        count += 1
    return max(1, count)


def _slice(spans: Line, start: int, end: int) -> Line:
    pieces: list[Span] = []
    position = 0
    for span in spans:
        piece = span.text[max(0, start - position) : max(0, end - position)]
        if piece:
            pieces.append(Span(piece, span.role))
        position += len(span.text)
    return tuple(pieces)


def message(text: str, role: Role = Role.MUTED) -> BuiltDocument:
    """A document of one paragraph, wrapped to the width."""
    return BuiltDocument(lambda width: [line(part, role) for part in wrap(safe(text), width)])


def wrap(text: str, width: int) -> list[str]:
    """Words of `text` in lines of at most `width` characters; line breaks in it stay; longer words are cut."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        current = ""
        for word in paragraph.split(" "):
            while len(word) > width > 0:
                if current:
                    lines.append(current)
                    current = ""
                lines.append(word[:width])
                word = word[width:]
            if not current:
                current = word
            elif len(current) + 1 + len(word) <= width:
                current = f"{current} {word}"
            else:
                lines.append(current)
                current = word
        lines.append(current)
    return lines
