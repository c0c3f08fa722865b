"""The block structure of a tidied description: which line is what, and which line is whose parent."""

import re
from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.core.shrink.layout import LineKind, line_kind, verbatim_spans


class Section(StrEnum):
    """What a heading or label announces, as far as it decides about the lines below it."""

    NONE = ""
    RETURNS = "returns"
    EXAMPLES = "examples"
    PARAMETERS = "parameters"
    BENEFITS = "benefits"
    DIALOGUE = "dialogue"


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


_DECORATION = re.compile(r"^[\s#*_=\-•·>|✅❌⚠️🚨🔴🟢📌💡\d.)(<]+|[\s#*_=:：>]+$")
_SECTIONS = re.compile(
    r"(?P<returns>(?:expected |the |tool )?(?:returns?|responses?|outputs?|results?)"
    r"(?: (?:values?|formats?|types?|shapes?|structures?|schemas?|fields|objects?|includes?|contains?|data))*"
    r"|(?:response|return|output|result)s? (?:format|value|structure|schema|shape|field)s? .{0,30}"
    r"|返回(?:值|结果|格式|内容|数据|字段|说明)*|输出(?:格式|结果|内容|说明)*|响应(?:格式)?|반환(?: ?값)?|출력|戻り値|返り値|出力"
    r"|devuelve|retorna|respuesta|salida|valor de retorno|renvoie|retourne|retour|sortie|rückgabe(?:wert)?|ausgabe|restituisce|retorno|saída)$"
    r"|(?P<dialogue>(?:example|sample) (?:interactions?|conversations?|dialogu?e?s?|scenarios?|prompts?|queries|questions)s?)$"
    r"|(?P<examples>(?:(?:more |some |common |domain selection |usage |query |code |quick |simple |basic |advanced )*(?:examples?|samples?)\b.{0,40}"
    r"|e\.g\.?|for (?:example|instance)|.{0,24}\bexamples?|示例|例子|举例|例如|使用示例|调用示例|예시|예제|예|例|使用例|ejemplos?(?: .{0,20})?|exemples?|beispiele?|esempi[o]?|exemplos?))$"
    r"|(?P<parameters>(?:input )?(?:args|arguments|parameters|params|inputs?|takes|options|fields|properties)|参数(?:说明)?|输入(?:参数)?"
    r"|매개변수|파라미터|引数|パラメータ|parámetros|argumentos|paramètres|parameter|argumente|parametri|parâmetros)$"
    r"|(?P<benefits>(?:(?:key|main|core|performance|advanced) )*(?:benefits|advantages|highlights|optimi[sz]ations)"
    r"|.{0,60}\b(?:will result in|results in|leads to|ensures you|helps you|lets you)|(?:smart|automatic|intelligent|built-in) \w+|capabilities|best suited (?:for )?use cases?.{0,20}"
    r"|why (?:use )?(?:this|it).{0,20}|(?:this (?:tool )?is )?(?:particularly|especially|very|also )*(?:useful|helpful|valuable|handy) (?:for|in)\b.{0,30}"
    r"|(?:perfect|ideal|great|best suited|excellent) (?:for|use cases?)\b.{0,30}|优势|特点|优点)$",
    re.IGNORECASE,
)
_HASHES = re.compile(r"#+")
_COLON = (":", "：")
_REMARK = re.compile(
    r"[*_]{0,3}(?:note|notes|important|warning|caution|tip|hint|critical|attention|remark|nb|注意|说明|备注|참고|주의|nota|hinweis|achtung)\b",
    re.IGNORECASE,
)
"""Labels of a remark: such a line stands for itself and is no item of an argument list."""
_EXAMPLE_ITEM = re.compile(r"[-*•]\s+(?:examples?|e\.g\.|示例|例如|예시)\s*[:：]", re.IGNORECASE)
_UTTERANCE = re.compile(r"[-*•]\s+(?:\w+: )?(?:\"[^\"]*\"|“[^”]*”)(?: (?:->|→) .*)?$")


def section_of(line: str) -> Section:
    """Return what a heading or label line announces; its text before the colon counts where more text follows."""
    text = line
    if not text.endswith(_COLON):
        cut = min((at for at in (text.find(":"), text.find("：")) if at >= 0), default=-1)
        if 0 <= cut <= 40:
            text = text[:cut]
        elif len(text) > 60:
            return Section.NONE
    text = _DECORATION.sub("", text).strip()
    if not text or len(text) > 80:
        return Section.NONE
    found = _SECTIONS.match(text)
    return Section(found.lastgroup) if found and found.lastgroup else Section.NONE


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
            block.is_head = kind is LineKind.HEADING or (stripped.endswith(_COLON))
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
