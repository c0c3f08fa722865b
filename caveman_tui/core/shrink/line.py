"""What one line shows by itself: its kind, what it announces, its sentences. Remembered, since passes and catalogs repeat lines."""

import functools
import re

from caveman_tui.core.shrink.reading import Reading, read
from caveman_tui.core.shrink.sections import Section, announces, section_of
from caveman_tui.core.shrink.sentences import sentence_ends

_BULLET = re.compile(r"(?:[-*•·●▪◦‣–+]\s|[•●▪◦‣]|\(?\d{1,3}[.)]\s|\(?[a-z]\)\s|[①-⑳]|\d{1,2}、)\s*\S")
_FIELD = re.compile(r"[*`\"'@$]{0,3}[^\W\d][\w.\-\[\]/*]{0,60}[`\"'*]{0,3} ?(?:\([^()]{0,80}\))? ?[:：](?:\s|(?=[^\x00-\x7f])|$)")
_HEADING = re.compile(r"#{1,6}\s|[=\-_*]{3,}\s*$|</?[A-Za-z][\w-]{0,40}>\s*$")
_CODE_START = re.compile(r">>>? |\$ |(?:[{\[]\s*$|[}\])]+[,;]?\s*$|\"[^\"]{1,60}\"\s*:)")
SETTING = re.compile(r"[A-Za-z_]\w*=[^=\s]")
_EXAMPLE_ITEM = re.compile(r"[-*•]\s+(?:examples?|e\.g\.|示例|例如|예시)\s*[:：]", re.IGNORECASE)
_UTTERANCE = re.compile(r"[-*•]\s+(?:\w+: )?(?:\"[^\"]*\"|“[^”]*”)(?: (?:->|→) .*)?$")
_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 500
"""Characters of the longest line that is remembered; with the number of lines this bounds the memory."""


class LineKind:
    """What a line is by its first characters. Plain numbers: the members of an enumeration take twenty times as long to name."""

    TEXT = 0
    BULLET = 1
    FIELD = 2
    HEADING = 3
    TABLE = 4
    CODE = 5
    FENCE = 6
    BLANK = 7
    SETTING = 8
    """`name=value`, as examples write arguments."""


_ANNOUNCERS = (LineKind.TEXT, LineKind.BULLET, LineKind.FIELD, LineKind.HEADING)


class Line:
    """A line without its indentation. Remembered ones are shared by all threads."""

    __slots__ = ("_sentences", "is_head", "kind", "section", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = line_kind(text)
        self.section, self.is_head = _announcement(text, self.kind)
        self._sentences: tuple[tuple[int, Reading], ...] | None = None

    def sentences(self) -> tuple[tuple[int, Reading], ...]:
        """Return its sentences, each with where it ends, white space after it included."""
        if self._sentences is None:
            text, start = self.text, 0
            found = []
            for end in sentence_ends(text, 0, len(text)):
                found.append((end, read(text[start:end].strip())))
                start = end
            # Threads share a line: what one of them has not finished must not be seen by another.
            self._sentences = tuple(found)
        return self._sentences


def _announcement(text: str, kind: int) -> tuple[str, bool]:
    if kind not in _ANNOUNCERS:
        return Section.NONE, False
    section = Section.NONE
    is_head = kind == LineKind.HEADING or announces(text)
    if kind == LineKind.FIELD or (is_head and not text.startswith("</")):
        section = section_of(text)
        is_head = is_head or section in (Section.RETURNS, Section.EXAMPLES)
    if kind == LineKind.BULLET and not is_head:
        if (":" in text or "：" in text) and _EXAMPLE_ITEM.match(text):
            section = Section.EXAMPLES
        elif ('"' in text or "“" in text) and text.count(" ") > 3 and _UTTERANCE.match(text):
            section = Section.DIALOGUE
    return section, is_head


def line_of(text: str) -> Line:
    """Return what a line without its indentation shows."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else Line(text)


_remembered = functools.lru_cache(maxsize=_MOST_REMEMBERED)(Line)


def line_kind(stripped: str) -> int:
    """Return what a line without its indentation is, as far as the line alone shows it; never FENCE."""
    if not stripped:
        return LineKind.BLANK
    first = stripped[0]
    if first in "-*•" and stripped[1:2] == " " and stripped[2:3].isalnum():
        return LineKind.BULLET
    if not first.isalpha() or stripped[1:2] == ")":
        if first == "|":
            return LineKind.TABLE
        if first in "#=-_*<" and (first == "#" or stripped[1:2] != " ") and _HEADING.match(stripped):
            return LineKind.HEADING
        if _BULLET.match(stripped):
            return LineKind.BULLET
        if first in '>${}[])"' and _CODE_START.match(stripped):
            return LineKind.CODE
    if (":" in stripped or "：" in stripped) and _FIELD.match(stripped):
        return LineKind.FIELD
    if "=" in stripped and SETTING.match(stripped):
        return LineKind.SETTING
    return LineKind.TEXT
