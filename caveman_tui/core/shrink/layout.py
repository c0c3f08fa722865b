"""White space that is only layout goes; line structure, fences, tables and code stay as they are.

`tidy` is the whole of it: it moves no word, joins no words and splits none, so text differs from its source in white space alone.
"""

import re
from collections.abc import Iterator
from itertools import repeat
from operator import sub

from caveman_tui.core.shrink.line import LineKind, line_of

MAX_INDENT = 200
"""Columns of indentation that are looked at; anything deeper counts as this deep."""

_SPACES = re.compile(r"(`[^`]*`|\"[^\"]*\")|[ \t\r]{2,}|[\t\r]")
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[^`]*+$")
_COLUMNS = re.compile(r"\S[ \t]{2,}\S.*\S[ \t]{2,}\S")
_ENDED = ".!?:;。！？：；…)]}>|"
_GOING_ON = (
    *("the", "a", "an", "of", "to", "and", "or", "in", "on", "at", "by", "for", "from", "with"),
    *("is", "are", "as", "that", "which", "than", "your", "its", "this"),
)
_GOES_ON = re.compile(rf"\b(?:{'|'.join(_GOING_ON)})$")
_JOINTS = (",", "/", "–", "—")
_UNENDED = re.compile(rf"\n(?<![\n{re.escape(_ENDED)}]\n)(?!\n)")
_TAIL = 8
"""Characters of a line's end that `_GOES_ON` looks at."""
_LAYOUT = ("  ", "\n ", " \n", "\n\n\n", "\t", "\r")
_SIGNS_OF_RUNS = (("`", "```"), ("{", "{\n"), ("[", "[\n"), ("(", "(\n"), ("~", "~~~"))
"""Each after its rarest character, which is looked for in a fraction of the time."""
_LONGEST_CODE = 400
"""Lines that braces may span; keeps the work linear where they are never closed."""
_LEAST_ROWS = 2
_ALIGNED = (LineKind.TABLE, LineKind.CODE)
_JOINABLE = (LineKind.TEXT, LineKind.BULLET, LineKind.FIELD)
_PASSES = 6


def fence_of(line: str) -> str:
    """Return the fence characters that a line opens or closes a fence with, or an empty string."""
    if "```" not in line and "~~~" not in line:
        return ""
    found = _FENCE.match(line)
    return found.group(1) if found else ""


def verbatim_spans(lines: list[str], bodies: list[str]) -> dict[int, tuple[int, int]]:
    """Return the runs of lines whose inner white space is content: first line index to (index after the last, kind).

    `bodies` are the lines without the blanks around them.
    """
    spans: dict[int, tuple[int, int]] = {}
    if not _may_have_runs(bodies):
        return spans
    unclosed: dict[str, int] = {}
    braces_from = 0
    index, count = 0, len(lines)
    while index < count:
        body = bodies[index]
        end, kind = index, LineKind.FENCE
        if (fence := fence_of(lines[index])) and len(fence) < unclosed.get(fence[0], len(fence) + 1):
            end = _closing_fence(lines, index, fence)
            if end == index:
                unclosed[fence[0]] = len(fence)
        if end == index and index >= braces_from and _opens(body):
            end, seen = _closing_brace(lines, index)
            kind = LineKind.CODE
            if end == index:
                braces_from = seen
        if end == index and _has_columns(body):
            end, kind = index + 1, LineKind.TABLE
            while end < count and _has_columns(bodies[end]):
                end += 1
            if end - index < _LEAST_ROWS:
                end = index
        if end > index:
            spans[index] = (end, kind)
            index = end
        else:
            index += 1
    return spans


def _may_have_runs(bodies: list[str]) -> bool:
    """Whether lines have anything that a fence, braces over several lines or columns can't do without."""
    text = "\n".join(bodies)
    for character, sign in _SIGNS_OF_RUNS:
        if character in text and sign in text:
            return True
    return "  " in text or text.endswith(("{", "[", "("))


def _opens(body: str) -> bool:
    """Whether braces are opened at the end of a line, or a call's parentheses."""
    last = body[-1:]
    return last == "{" or last == "[" or (last == "(" and (body[-2:-1].isalnum() or body[-2:-1] == "_"))


def _has_columns(body: str) -> bool:
    return "  " in body and _COLUMNS.search(body) is not None


def _closing_fence(lines: list[str], index: int, fence: str) -> int:
    """Return the index after the line that closes the fence, or `index` where none does."""
    for at in range(index + 1, len(lines)):
        closing = fence_of(lines[at])
        if closing.startswith(fence) and lines[at].strip() == closing:
            return at + 1
    return index


def _closing_brace(lines: list[str], index: int) -> tuple[int, int]:
    """Return the index after the line that closes the braces, `index` where none does, and up to which line was looked."""
    depth = 0
    last = min(len(lines), index + _LONGEST_CODE)
    for at in range(index, last):
        line = lines[at]
        depth += line.count("{") + line.count("[") + line.count("(") - line.count("}") - line.count("]") - line.count(")")
        if depth <= 0:
            return (at + 1 if at > index else index), at + 1
    return index, last


def indent_of(line: str) -> int:
    """Return the number of blanks before the first word, a tab counted as one so that no line ever grows."""
    return min(len(line) - len(line.lstrip(" \t")), MAX_INDENT)


def collapse(line: str) -> str:
    """Return a stripped line with runs of blanks as one, except inside quotes and backticks."""
    return _SPACES.sub(lambda found: found.group(1) or " ", line) if _is_loose(line) else line


def _is_loose(text: str) -> bool:
    """Whether a text has blanks that may be more than the one between two words."""
    return "  " in text or "\t" in text or "\r" in text


def tidy(text: str) -> str:
    """Return `text` without layout white space: common indentation, trailing blanks, wrapped prose lines, repeated blank lines."""
    if "\n" not in text:
        return _tidy_line(text)
    if _is_tidy(text):
        return text
    for _ in range(_PASSES):
        lines = text.split("\n")
        said = [index for index, line in enumerate(lines) if line.strip()]
        lines = lines[said[0] : said[-1] + 1] if said else []
        made = _Tidying(text, lines)
        tidied = "\n".join(made.out)
        if made.settled or tidied == text or "\n" not in tidied:
            return tidied
        text = tidied
    return text


def _is_tidy(text: str) -> bool:
    """Whether lines are seen at once to be tidy: no blanks but single ones inside them, no two empty ones, and none that goes on."""
    for blanks in _LAYOUT:
        if blanks in text:
            return False
    if text[0].isspace() or text[-1].isspace():
        return False
    for found in _UNENDED.finditer(text):
        end = found.start()
        start = text.rfind("\n", 0, end) + 1
        if _continues(text[start:end], text[end + 1], 0, 0):
            return False
    return True


def _tidy_line(text: str) -> str:
    stripped = text.strip(" \t\r")
    collapsed = collapse(stripped)
    return stripped if collapsed != stripped and line_of(stripped).kind in _ALIGNED else collapsed


class _Tidying:
    """One pass over the lines of a text."""

    def __init__(self, text: str, lines: list[str]) -> None:
        self.out: list[str] = []
        self.settled = True
        """Another pass would change nothing. It might where lines were joined beside braces, or the only line at the margin was joined
        to another, or two indentations became one."""
        self._levels: list[tuple[int, int]] = []
        self._tidy(text, lines)

    def _tidy(self, text: str, lines: list[str]) -> None:
        out = self.out
        bodies = list(map(str.strip, lines, repeat(" \t\r")))
        verbatim = verbatim_spans(lines, bodies)
        loose = _is_loose(text)
        margin, indents = 0, [0] * len(lines)
        if "\n " in text or "\n\t" in text:
            indents = list(map(sub, map(len, lines), map(len, map(str.lstrip, lines, repeat(" \t")))))
            if max(indents, default=0) > MAX_INDENT:
                indents = [min(indent, MAX_INDENT) for indent in indents]
            margin = min([indent for indent, body in zip(indents[1:], bodies[1:], strict=True) if body and not body.isspace()], default=0)
        joined = False
        before, before_indent, level, after_run = "", 0, -1, 0
        for index, body in enumerate(bodies):
            if index < after_run:
                continue
            if not body:
                if out and out[-1]:
                    out.append("")
                before = ""
                continue
            if verbatim and index in verbatim:
                after_run = verbatim[index][0]
                self._keep_run(lines[index:after_run], index == 0, margin)
                before, level = "", -1
                continue
            indent = indents[index] - margin if index and indents[index] > margin else 0
            line = collapse(body) if loose and _is_loose(body) and line_of(body).kind not in _ALIGNED else body
            if before and before[-1] not in _ENDED and _continues(out[-1], line[0], before_indent, indent) and _is_wrapped(before, body):
                out[-1] = f"{out[-1]} {line}"
                joined = True
            else:
                if level < 0 or indent != before_indent:
                    level = self._level(indent)
                out.append(" " * level + line if level else line)
                before_indent = indent
            before = body
        if joined and (_may_have_runs(bodies) or all(line[0] == " " for line in out[1:] if line)):
            self.settled = False

    def _keep_run(self, run: list[str], first: bool, margin: int) -> None:
        least = min(indent_of(part) for part in (run[1:] if first else run) if part.strip())
        if first:
            self.out.append(run[0].strip(" \t\r"))
            del run[0]
        self.out.extend(_shifted(run, least, self._level(max(least - margin, 0))))

    def _level(self, indent: int) -> int:
        """Return the columns that a line of this indentation gets, at most two more than the line that it stands under."""
        levels = self._levels
        if levels and levels[-1][0] == indent:
            return levels[-1][1]
        left = -1
        while levels and levels[-1][0] > indent:
            left = levels.pop()[1]
        if not levels:
            levels.append((indent, 0))
        elif levels[-1][0] < indent:
            above = levels[-1]
            levels.append((indent, above[1] + min(2, indent - above[0])))
        if left >= 0 and levels[-1][1] >= left:
            self.settled = False
        return levels[-1][1]


def _continues(before: str, first: str, indent_before: int, indent: int) -> bool:
    """Whether a line may go on with the line before it, whose sentence has no end; `first` is its own first character."""
    if indent < indent_before:
        return False
    length = len(before.lstrip(" "))
    if indent > indent_before:
        return length >= 25
    if length < 50:
        return False
    return first.islower() or before.endswith(_JOINTS) or (before.endswith(_GOING_ON) and _GOES_ON.search(before[-_TAIL:]) is not None)


def _is_wrapped(before: str, line: str) -> bool:
    """Whether two lines, without the blanks around them, are of kinds of which the second may go on with the first."""
    return line_of(line).kind == LineKind.TEXT and line_of(before).kind in _JOINABLE


def _shifted(run: list[str], margin: int, indent: int) -> Iterator[str]:
    """Yield the lines of a run moved from `margin` to `indent` as one."""
    for line in run:
        body = line.rstrip(" \t\r")
        yield " " * indent + body[min(margin, indent_of(body)) :] if body else ""
