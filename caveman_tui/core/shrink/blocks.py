"""The block structure of a tidied description: which line is what, and which line is whose parent."""

import re
from dataclasses import dataclass

from caveman_tui.core.shrink.layout import LineKind, line_kind, verbatim_spans
from caveman_tui.core.shrink.sections import COLONS, Section, section_of


@dataclass(slots=True)
class Block:
    """A line, or a run of lines that only makes sense together (fence, table, code)."""

    kind: LineKind
    start: int
    end: int
    """End of the text, before the line end."""
    indent: int
    head: int = -1
    """Index of the block that this one belongs under."""
    group: int = -1
    """Number shared by the items of one list."""
    section: Section = Section.NONE
    own_section: Section = Section.NONE
    is_head: bool = False
    """Announces the blocks below it: a heading, or a line that ends with a colon."""
    after_blank: bool = False


_HASHES = re.compile(r"#+")
_REMARK = re.compile(
    r"[*_]{0,3}(?:note|notes|important|warning|caution|tip|hint|critical|attention|remark|nb|注意|说明|备注|참고|주의|nota|hinweis|achtung)\b",
    re.IGNORECASE,
)
"""Labels of a remark: such a line stands for itself and is no item of an argument list."""
_EXAMPLE_ITEM = re.compile(r"[-*•]\s+(?:examples?|e\.g\.|示例|例如|예시)\s*[:：]", re.IGNORECASE)
_UTTERANCE = re.compile(r"[-*•]\s+(?:\w+: )?(?:\"[^\"]*\"|“[^”]*”)(?: (?:->|→) .*)?$")


def parse(text: str) -> list[Block]:
    """Return the blocks of a tidied description in order; they leave only line ends between them."""
    blocks: list[Block] = []
    lines = text.split("\n")
    verbatim = verbatim_spans(lines)
    at, index, blank = 0, 0, False
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            blank = True
            at += len(line) + 1
            index += 1
            continue
        last, kind = verbatim.get(index, (index + 1, LineKind.TEXT))
        stripped = line.lstrip(" ")
        indent = len(line) - len(stripped)
        if index not in verbatim:
            kind = line_kind(stripped)
        size = sum(len(lines[i]) + 1 for i in range(index, last)) - 1
        block = Block(kind, at, at + size, indent, after_blank=blank)
        if kind in (LineKind.TEXT, LineKind.BULLET, LineKind.FIELD, LineKind.HEADING):
            block.is_head = kind is LineKind.HEADING or (stripped.endswith(COLONS))
            if block.is_head or kind is LineKind.FIELD:
                block.own_section = section_of(stripped)
                block.is_head = block.is_head or block.own_section in (Section.RETURNS, Section.EXAMPLES)
        if kind is LineKind.BULLET and not block.is_head:
            if _EXAMPLE_ITEM.match(stripped):
                block.own_section = Section.EXAMPLES
            elif stripped.count(" ") > 3 and _UTTERANCE.match(stripped):
                block.own_section = Section.DIALOGUE
        blocks.append(block)
        at += size + 1
        index = last
        blank = False
    _nest(text, blocks)
    return blocks


def _level_of_heading(text: str, block: Block) -> int:
    hashes = _HASHES.match(text, block.start + block.indent, block.end)
    return len(hashes.group()) if hashes else 7


def _nest(text: str, blocks: list[Block]) -> None:
    """Give every block its head, its list and its section."""
    headings: list[tuple[int, int]] = []
    heads: list[int] = []
    groups = 0
    last_of: dict[tuple[int, int, LineKind], int] = {}
    for index, block in enumerate(blocks):
        if block.kind is LineKind.HEADING:
            level = _level_of_heading(text, block)
            while headings and headings[-1][0] >= level:
                headings.pop()
            block.head = headings[-1][1] if headings else -1
            heads.clear()
            headings.append((level, index))
        else:
            while heads and not _governs(text, blocks, heads[-1], index):
                heads.pop()
            block.head = heads[-1] if heads else (headings[-1][1] if headings else -1)
            heads.append(index)
        block.section = block.own_section
        if block.section is Section.NONE and block.head >= 0:
            block.section = blocks[block.head].section
        if block.kind in (LineKind.BULLET, LineKind.TABLE, LineKind.SETTING) or (
            block.kind is LineKind.FIELD and not block.is_head and not _REMARK.match(text, block.start + block.indent)
        ):
            key = (block.head, block.indent, block.kind)
            before = last_of.get(key, -1)
            if before >= 0 and _same_list(blocks, before, index):
                block.group = blocks[before].group
            else:
                groups += 1
                block.group = groups
            last_of[key] = index


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


_LOOSE = (LineKind.BULLET, LineKind.CODE, LineKind.FENCE, LineKind.TABLE)


def _governs(text: str, blocks: list[Block], head: int, index: int) -> bool:
    """Whether the block at `head` is a parent of the block at `index`."""
    above, block = blocks[head], blocks[index]
    if block.indent > above.indent:
        return True
    if block.indent < above.indent or not above.is_head:
        return False
    if above.kind is block.kind and above.kind in (LineKind.BULLET, LineKind.FIELD):
        return False
    if block.is_head and block.kind is not LineKind.BULLET:
        return False
    if index == head + 1:
        return block.kind in _LOOSE or not block.after_blank
    if blocks[index - 1].kind in _LOOSE and block.kind in (LineKind.BULLET, LineKind.CODE):
        return True
    return not block.after_blank
