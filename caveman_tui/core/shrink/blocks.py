"""The block structure of a tidied description: which line is what, and which line is whose parent."""

import re
from itertools import pairwise, repeat

import msgspec

from caveman_tui.core.shrink.layout import verbatim_spans
from caveman_tui.core.shrink.line import Line, LineKind, line_of
from caveman_tui.core.shrink.sections import Section, announces, section_of


class Block(msgspec.Struct, eq=False, gc=False):
    """A line, or a run of lines that only makes sense together (fence, table, code)."""

    kind: int
    start: int
    end: int
    """End of the text, before the line end."""
    indent: int
    line: Line | None = None
    """The line that it is, None for a run of lines."""
    own_section: str = Section.NONE
    is_head: bool = False
    """Announces the blocks below it: a heading, or a line that ends with a colon."""
    after_blank: bool = False
    head: int = -1
    """Index of the block that this one belongs under."""
    group: int = -1
    """Number shared by the items of one list."""
    section: str = Section.NONE
    runs_on: bool = False
    """Its last sentence has no end, and a line of text follows that may go on with it."""
    goes_on: bool = False
    """The line above runs on into it."""
    closes: int = -1
    """Index of the block with the opening tag, for a closing tag."""


_HASHES = re.compile(r"#+")
_REMARK = re.compile(
    r"[*_]{0,3}(?:N(?:ote|OTE)S?s?|I(?:mportant|MPORTANT)|W(?:arning|ARNING)|C(?:aution|AUTION|ritical|RITICAL)|T(?:ip|IP)|H(?:int|INT)"
    r"|A(?:ttention|TTENTION)|R(?:emark|EMARK)|NB|注意|说明|备注|참고|주의|Nota|NOTA|Hinweis|HINWEIS|Achtung|ACHTUNG)\b"
)
"""Labels of a remark: such a line stands for itself and is no item of an argument list. In capitals, since arguments may be named so."""
_SPEAKER = re.compile(
    r"[-*• ]*[*_]{0,2}(?:user|human|person|customer|assistant|claude|model|ai|agent|bot|system)[*_]{0,2}\s*[:：]", re.IGNORECASE
)
_CLOSING_TAG = re.compile(r"</([A-Za-z][\w-]*)>")
_OPENING_TAG = re.compile(r"<([A-Za-z][\w-]*)>")
_UNDERLINE = re.compile(r"[=\-]{3,}\s*")
_LONGEST_UNDERLINED = 40
"""Characters of a line that dashes below it make a heading; below a longer one they are a line between paragraphs."""
_TAG = re.compile(r"[:@][a-z]+\b")
"""What a line of a docstring's tags begins with; it goes on with nothing."""
_OTHER_HEADING_LEVEL = 7
_DEEPEST_TAGS = 50
_TAG_LEVEL = 100
"""Level of a tag among headings: a heading of hashes inside it doesn't close it."""


def parse(text: str) -> list[Block]:
    """Return the blocks of a tidied description in order; they leave only line ends between them."""
    blocks = parse_lines(text)
    nest(text, blocks)
    return blocks


def parse_lines(text: str) -> list[Block]:
    """Return the blocks as `parse` does, but for what one block is to another."""
    blocks: list[Block] = []
    lines = text.split("\n")
    bodies = list(map(str.lstrip, lines, repeat(" ")))
    verbatim = verbatim_spans(lines, bodies) if len(lines) > 1 else {}
    start = after_run = 0
    blank = False
    for index, body in enumerate(bodies):
        if index < after_run:
            continue
        length = len(lines[index])
        if not body or body.isspace():
            blank = True
            start += length + 1
            continue
        indent = length - len(body)
        if verbatim and index in verbatim:
            after_run, kind = verbatim[index]
            end = start + sum(map(len, lines[index:after_run])) + after_run - index - 1
            blocks.append(Block(kind, start, end, indent, after_blank=blank))
            blank = False
            start = end + 1
            continue
        end = start + length
        line = line_of(body)
        if line.kind == LineKind.HEADING and not blank and blocks and _underlines(text, blocks[-1], body, indent):
            _make_heading(text, blocks[-1], end)
        else:
            blocks.append(Block(line.kind, start, end, indent, line, line.section, line.is_head, blank))
            blank = False
        start = end + 1
    return blocks


def nest(text: str, blocks: list[Block]) -> None:
    """Find what the blocks that `parse_lines` returned are to one another: heads, lists, sections."""
    if len(blocks) > 1:
        _find_wrapped(text, blocks)
    _nest(text, blocks)


def _underlines(text: str, above: Block, line: str, indent: int) -> bool:
    """Whether a line of dashes makes a heading of the line above it, as docstrings write `Returns` over `-------`."""
    if above.kind not in (LineKind.TEXT, LineKind.FIELD) or above.indent != indent or above.end - above.start > _LONGEST_UNDERLINED:
        return False
    return _UNDERLINE.fullmatch(line) is not None and text[above.end - 1] not in ".!?。！？"


def _make_heading(text: str, block: Block, end: int) -> None:
    block.kind, block.is_head = LineKind.HEADING, True
    block.own_section = section_of(text[block.start : block.end].strip())
    block.end, block.line = end, None


def _find_wrapped(text: str, blocks: list[Block]) -> None:
    """Mark lines of text that may be the two halves of a sentence, although they were not joined."""
    for above, block in pairwise(blocks):
        if not block.after_blank and block.kind == LineKind.TEXT and not above.is_head and above.kind in _PROSE:
            above.runs_on = block.goes_on = text[above.end - 1] not in _ENDED and not _TAG.match(text, block.start + block.indent)


def _level_of_heading(text: str, block: Block) -> int:
    at = block.start + block.indent
    hashes = _HASHES.match(text, at, block.end)
    if hashes:
        return len(hashes.group())
    return _TAG_LEVEL if _OPENING_TAG.match(text, at, block.end) else _OTHER_HEADING_LEVEL


def _nest(text: str, blocks: list[Block]) -> None:
    """Give every block its head, its list and its section."""
    headings: list[tuple[int, int]] = []
    heads: list[int] = []
    groups = 0
    last_of: dict[tuple[int, int, int], int] = {}
    for index, block in enumerate(blocks):
        kind, indent = block.kind, block.indent
        if kind == LineKind.HEADING:
            head = _head_of_heading(text, blocks, index, headings)
            heads.clear()
        else:
            while heads:
                above = blocks[heads[-1]]
                if indent > above.indent or (indent == above.indent and above.is_head and _governs(blocks, heads[-1], index)):
                    break
                heads.pop()
            head = heads[-1] if heads else (headings[-1][1] if headings else -1)
            heads.append(index)
        section = ""
        if head >= 0:
            block.head = head
            section = blocks[head].section
        if section or block.own_section:
            _set_section(text, block, blocks[head] if head >= 0 else None)
        if kind in (LineKind.TEXT, LineKind.HEADING):
            continue
        if kind in _LISTED or (kind == LineKind.FIELD and not block.is_head and not _REMARK.match(text, block.start + indent)):
            key = (head, indent, kind)
            before = last_of.get(key, -1)
            if before >= 0 and _same_list(blocks, before, index):
                block.group = blocks[before].group
            else:
                groups += 1
                block.group = groups
            last_of[key] = index


def _head_of_heading(text: str, blocks: list[Block], index: int, headings: list[tuple[int, int]]) -> int:
    """Return what a heading or a tag stands under, and bring the open ones up to date."""
    block = blocks[index]
    if tag := _CLOSING_TAG.match(text, block.start + block.indent, block.end):
        block.closes = _close(text, blocks, headings, tag.group(1))
        return block.closes
    level = _level_of_heading(text, block)
    while level < _TAG_LEVEL and headings and _TAG_LEVEL > headings[-1][0] >= level:
        headings.pop()
    head = headings[-1][1] if headings else -1
    headings.append((level, index))
    return head


def _set_section(text: str, block: Block, above: Block | None) -> None:
    """Give a block the section that it names, or that of the block that it stands under."""
    if block.own_section and _is_argument(text, block, above.section if above else Section.NONE):
        block.own_section = Section.NONE
        block.is_head = announces(text[block.start : block.end])
    block.section = block.own_section
    if above and above.section and not block.section:
        if above.section == Section.EXAMPLES and _SPEAKER.match(text, block.start + block.indent, block.end):
            above.section = Section.DIALOGUE
        block.section = above.section


def _is_argument(text: str, block: Block, above: str) -> bool:
    """Whether what looks like a section's label names an argument: `output`, `example` and `result` are popular names."""
    if above == Section.PARAMETERS:
        return True
    first = text[block.start + block.indent]
    if block.kind == LineKind.BULLET:
        return block.own_section == Section.RETURNS
    return block.kind == LineKind.FIELD and first.islower() and not announces(text[block.start : block.end])


def _close(text: str, blocks: list[Block], headings: list[tuple[int, int]], tag: str) -> int:
    """Take the headings inside a tag away with it and return the block that opened it, -1 where none did."""
    for depth in range(len(headings) - 1, max(len(headings) - 1 - _DEEPEST_TAGS, -1), -1):
        level, opener = headings[depth]
        if level == _TAG_LEVEL:
            opening = _OPENING_TAG.match(text, blocks[opener].start + blocks[opener].indent, blocks[opener].end)
            if opening and opening.group(1) == tag:
                del headings[depth:]
                return opener
    return -1


def _same_list(blocks: list[Block], before: int, index: int) -> bool:
    """Whether only deeper lines stand between two items."""
    indent = blocks[index].indent
    between = index - 1
    steps = 0
    while between > before:
        if blocks[between].indent <= indent or steps > 100:
            return False
        between -= 1
        steps += 1
    return True


_LISTED = (LineKind.BULLET, LineKind.TABLE, LineKind.SETTING)
_PROSE = (LineKind.TEXT, LineKind.BULLET, LineKind.FIELD)
_ENDED = ".!?:;。！？：；…)]}>|"
_LOOSE = (LineKind.BULLET, LineKind.CODE, LineKind.FENCE, LineKind.TABLE)


def _governs(blocks: list[Block], head: int, index: int) -> bool:
    """Whether the block at `head`, which announces something, is a parent of the block at `index`, which is no further to the right."""
    above, block = blocks[head], blocks[index]
    if above.kind == block.kind and above.kind in (LineKind.BULLET, LineKind.FIELD):
        return False
    if block.is_head and block.kind != LineKind.BULLET:
        return False
    if index == head + 1:
        return block.kind in _LOOSE or not block.after_blank
    if blocks[index - 1].kind in _LOOSE and block.kind in (LineKind.BULLET, LineKind.CODE):
        return True
    return not block.after_blank
