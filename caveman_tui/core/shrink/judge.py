"""The standard level's judgement of each piece: recognised as filler, or bearing on nothing, or kept."""

import re
from itertools import takewhile

from caveman_tui.core.shrink import examples
from caveman_tui.core.shrink.blocks import Block
from caveman_tui.core.shrink.filler import FillerRule
from caveman_tui.core.shrink.line import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import NOTHING_SHOWS, PLAIN, SENTENCE_ENDS, SHORT, VERBATIM, Piece, Plan
from caveman_tui.core.shrink.reading import Reading, read
from caveman_tui.core.shrink.repetition import Earlier
from caveman_tui.core.shrink.restated import Known, Restated
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.signals import STRONG, is_english
from caveman_tui.core.shrink.vocabulary import LABELS, Signal

_RULES_AMONG_EXAMPLES = Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY | Signal.DEFAULT
_RULES_IN_HEADINGS = Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY
_OUTWEIGH_RESTATED = Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY | Signal.DEFAULT | Signal.BOUND | Signal.QUANTITY
_NEVER_RESTATED = _OUTWEIGH_RESTATED | Signal.MARKER
_OUTWEIGH_BENEFITS = _OUTWEIGH_RESTATED | Signal.UNIT | Signal.DESTRUCTIVE | Signal.LITERAL | Signal.CHAIN
_ELABORATION = Signal.ARGUMENT | Signal.ENUMERATION
_JUDGED_APART = frozenset({Section.DIALOGUE, Section.RETURNS, Section.EXAMPLES})
_SHOWING = (Section.RETURNS, Section.EXAMPLES)
_ABOUT_THE_TOOL = frozenset({"marketing", "restated-purpose", "background"})
"""Filler that may still be the sentence which says what the tool is for."""
_USES = re.compile(r"(?:…\s*)?(?:[-*•]\s+)?(?:use|pass|call|give)\b", re.IGNORECASE)
_USELESS = re.compile(
    r"\b(?:not (?:yet |currently )?(?:supported|implemented|available|possible)|unsupported|deprecated"
    r"|nicht (?:unterstützt|verfügbar|möglich)|no (?:está )?(?:soportad|disponible|implementad)"
    r"|non (?:disponible|pris en charge|supportat))|不支持|未实现|未実装|サポートされていません|지원되지 않",
    re.IGNORECASE,
)
_LEAST_BLANKS_OF_PLAIN = 2
_ANNOUNCED = {"return-shape": Section.RETURNS, "marketing": Section.BENEFITS, "rationale": Section.BENEFITS}
"""What the lines below a dropped line with a colon are."""


class Judge:
    """Goes through a plan once, from the first piece to the last, and decides about each."""

    def __init__(self, made: Plan, context: ToolContext) -> None:
        self._made = made
        self._context = context
        self._known = Known(context, " ".join([piece.text for piece in takewhile(_is_lead, made.pieces)]))
        self._earlier = Earlier()
        self._waiting: list[int] = []
        self._announced: dict[int, str] = {}

    def judge(self) -> None:
        """Decide about every piece of the plan on its own; lists and heads are seen to afterwards."""
        blocks, last = self._made.blocks, len(self._made.pieces) - 1
        for index, piece in enumerate(self._made.pieces):
            block = blocks[piece.block]
            if self._announced and block.section == Section.NONE and block.head in self._announced:
                block.section = self._announced[piece.block] = self._announced[block.head]
            sentence = piece.sentence
            if piece.lead:
                pass
            elif block.kind in VERBATIM:
                self._verbatim(index, piece, block, piece.text)
            else:
                self._sentence(index, piece, block, sentence)
            if piece.kept:
                if index < last and not piece.bare and index not in self._waiting[-1:]:
                    self._earlier.add(sentence)
            elif piece.kind in _ANNOUNCED and announces(piece.text):
                self._announced[piece.block] = _ANNOUNCED[piece.kind]
        self._examples()
        self._elaborations()

    def _verbatim(self, index: int, piece: Piece, block: Block, text: str) -> None:
        if block.kind == LineKind.CODE and block.section in _SHOWING and _opens_with_rule(text):
            piece.keep(LABELS[Signal.MARKER], "carries a constraint marker")
        elif block.section == Section.RETURNS:
            if block.kind == LineKind.CODE and "(" in text and "\n" not in text:
                piece.keep("example", "shows the call")
            else:
                piece.drop("return-shape", "shows what comes back")
        elif block.section == Section.DIALOGUE:
            piece.drop("dialogue", "example of a conversation")
        elif block.section == Section.EXAMPLES and not (block.kind == LineKind.CODE and examples.is_template(text)):
            self._waiting.append(index)
        else:
            piece.keep("literal", "a table or code that may be the contract")

    def _sentence(self, index: int, piece: Piece, block: Block, sentence: Reading) -> None:
        text = sentence.text
        if block.kind == LineKind.HEADING or (block.is_head and block.own_section):
            piece.bare, piece.kind, piece.why = True, "heading", "heads what is below it"
            if announces(text):
                return
            if block.kind == LineKind.HEADING and text[-1] not in SENTENCE_ENDS:
                piece.bare = not sentence.signals() & _RULES_IN_HEADINGS
                return
        if stands_for_itself(block, self._made.blocks) and (earlier := self._earlier.repeated(sentence)):
            piece.drop("repetition", "says again what stands above")
            self._made.repeated.append((index, earlier))
        elif block.section in _JUDGED_APART:
            self._by_section(index, piece, block, sentence)
        elif (block.runs_on and piece.end == block.end) or not self._dropped(piece, block, sentence):
            if not (piece.bare or announces(text)):
                piece.by_signs = True
            elif sentence.signals() & Signal.MARKER:
                piece.keep_by_signs()
            else:
                piece.by_signs, piece.bare = True, piece.bare or not sentence.signals() & STRONG

    def _by_section(self, index: int, piece: Piece, block: Block, sentence: Reading) -> None:
        if block.section == Section.DIALOGUE:
            piece.drop("dialogue", "example of a conversation")
        elif block.section == Section.RETURNS:
            self._among_results(piece, sentence)
        else:
            self._among_examples(index, piece, block, sentence)

    def _among_results(self, piece: Piece, sentence: Reading) -> None:
        signals = sentence.signals()
        if signals & Signal.MARKER:
            piece.keep_by_signs()
        elif signals & Signal.CHAIN or (signals & Signal.LITERAL and _USES.match(sentence.text)):
            piece.keep("chain", "says where the result is used")
        elif signals & Signal.PROHIBITION and _USELESS.search(sentence.text):
            piece.keep("prohibition", "says that the tool does not do it")
        else:
            piece.drop("return-shape", "describes what comes back")

    def _among_examples(self, index: int, piece: Piece, block: Block, sentence: Reading) -> None:
        signals = sentence.signals()
        if signals & Signal.MARKER:
            piece.keep_by_signs()
        elif signals & _RULES_AMONG_EXAMPLES or (signals & Signal.BOUND and not signals & Signal.EMPHASIS):
            piece.keep("prohibition", "says a rule among the examples")
        elif self._context.parameter and block.own_section and not announces(sentence.text):
            piece.keep("format", "examples of the parameter's values")
        else:
            self._waiting.append(index)

    def _dropped(self, piece: Piece, block: Block, sentence: Reading) -> bool:
        """Drop a full sentence or a line that is filler or says only what the lead and the schema say; return whether it was.

        All signals are looked for only where something speaks for dropping it, after those that single words give.
        """
        bits, kind = sentence.bits, block.kind
        if bits & Signal.MARKER:
            return False
        restated = Restated.NOWHERE
        if may_be_restated(sentence) and _stands_alone(piece, block):
            restated = self._known.restated_in(sentence)
        default = bits & Signal.DEFAULT and self._known.holds_default(sentence.text)
        field = (
            (kind == LineKind.FIELD or kind == LineKind.BULLET) and self._is_field(block, piece) and self._known.holds_field(sentence.text)
        )
        benefits = block.section == Section.BENEFITS
        rule = sentence.filler()
        if rule is not None and self._is_needed(rule, block, sentence):
            rule = None
        if not (restated or default or field or benefits or rule):
            return False
        signals = sentence.signals()
        if signals & Signal.MARKER:
            return False
        if restated == Restated.LEAD and not signals & _OUTWEIGH_RESTATED:
            piece.drop("restated-purpose", "says only what the lead and the parameters' names say")
        elif default or field or (restated == Restated.SCHEMA and not signals & (_OUTWEIGH_RESTATED | Signal.LITERAL)):
            piece.drop("restated-schema", "says only what the schema says")
        elif benefits and not signals & _OUTWEIGH_BENEFITS:
            piece.drop("marketing", "says what it is good for, not how to call it")
        elif rule is not None and not signals & rule.unless:
            piece.drop(rule.kind, rule.why)
        return not piece.kept

    def _is_field(self, block: Block, piece: Piece) -> bool:
        """Whether a field or an item of a list is all that a line says of a parameter."""
        if block.kind == LineKind.FIELD:
            return block.section == Section.PARAMETERS
        return bool(self._context.described) and piece.start == block.start and ":" in piece.text

    def _is_needed(self, rule: FillerRule, block: Block, sentence: Reading) -> bool:
        """Whether the tool's own schema or the place of a sentence speaks against taking it for the filler that `rule` takes it for."""
        kind = rule.kind
        if kind == "return-shape" and (self._context.parameter or block.section == Section.PARAMETERS):
            return True  # there it says what the argument does or what its parts are
        if kind in _ABOUT_THE_TOOL and self._known.names_tool_anew(sentence):
            return True
        if kind == "restated-schema" and not (self._known.names_argument(sentence) and self._known.holds_half_of(sentence)):
            return True
        return kind == "restated-purpose" and not self._known.holds_half_of(sentence)

    def _examples(self) -> None:
        """Drop the examples that show no name and no shape of value which the rest of the text doesn't."""
        if not self._waiting:
            return
        made, waiting = self._made, set(self._waiting)
        rest = [piece.text for index, piece in enumerate(made.pieces) if piece.kept and index not in waiting]
        if not self._context.parameter:
            rest += self._context.described.values()
        shown = examples.Shown("\n".join(rest), self._context)
        for index in self._waiting:
            piece = made.pieces[index]
            if shown.adds(piece.text):
                piece.keep("format", "the only example of its form")
            else:
                piece.drop("example", "shows nothing that isn't said elsewhere")

    def _elaborations(self) -> None:
        """Drop the lists below a full item of a list which only put it in other words."""
        made = self._made
        blocks = made.blocks
        nested = {
            block.group for block in blocks if block.kind == LineKind.BULLET and block.head >= 0 and _is_item(blocks[block.head], block)
        }
        if not nested or not is_english(made.text):
            return
        lists: dict[int, list[Piece]] = {}
        for piece in made.pieces:
            group = blocks[piece.block].group
            if group in nested:
                lists.setdefault(group, []).append(piece)
        for pieces in lists.values():
            if all(is_plain(piece.sentence) for piece in pieces):
                for piece in pieces:
                    if piece.kept:
                        piece.drop("elaboration", "puts the line above in other words")


def _is_item(above: Block, block: Block) -> bool:
    """Whether an item of a list stands below a full item."""
    return above.kind == LineKind.BULLET and above.indent < block.indent and not above.is_head


def _is_lead(piece: Piece) -> bool:
    return piece.lead


def may_be_restated(sentence: Reading) -> bool:
    """Whether what is said may be what the lead and the schema say: it is a full sentence and has no word of a rule."""
    text = sentence.text
    return not sentence.bits & _NEVER_RESTATED and text[-1] in SENTENCE_ENDS and len(text) >= SHORT


def stands_for_itself(block: Block, blocks: list[Block]) -> bool:
    """Whether a line means the same wherever it stands: no item of a list and nothing that is said of the line above."""
    return block.group < 0 and (block.head < 0 or blocks[block.head].kind == LineKind.HEADING)


def _stands_alone(piece: Piece, block: Block) -> bool:
    """Whether a sentence is no heading, no item of a list and no end of a wrapped line."""
    if block.goes_on and piece.start == block.start:
        return False
    return block.kind == LineKind.TEXT or piece.start > block.start or (block.kind == LineKind.FIELD and block.group < 0)


def _opens_with_rule(code: str) -> bool:
    """Whether braces are opened at the end of a sentence that carries a constraint marker."""
    line = code.partition("\n")[0]
    return line[0].isalpha() and read(line).signals() & Signal.MARKER != 0


def is_plain(sentence: Reading) -> bool:
    """Whether an item of a list below another item says nothing that the other can't have said."""
    text = sentence.text
    return text.isascii() and ":" not in text and text.count(" ") >= _LEAST_BLANKS_OF_PLAIN and not sentence.signals() & ~_ELABORATION


def explain(made: Plan) -> None:
    """Say of each piece that the judge kept for its words which sign it shows. Apart from `judge`, since most callers never ask."""
    for piece in made.pieces:
        if not piece.by_signs:
            continue
        signals = piece.sentence.signals()
        if signals & Signal.MARKER:
            kind, why = LABELS[Signal.MARKER], "carries a constraint marker"
        elif signals and piece.kind == PLAIN:
            kind = LABELS[signals & -signals]
            why = f"shows signs of {kind}"
        else:
            continue
        piece.kind = kind
        if piece.why == NOTHING_SHOWS:
            piece.why = why
