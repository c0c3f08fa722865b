"""The standard level's judgement of each piece: recognised as filler, or bearing on nothing, or kept."""

import re

from caveman_tui.core.shrink import examples
from caveman_tui.core.shrink.blocks import Block
from caveman_tui.core.shrink.filler import FillerRule, filler_of
from caveman_tui.core.shrink.layout import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import SENTENCE_ENDS, SHORT, VERBATIM, Piece, Plan
from caveman_tui.core.shrink.repetition import Earlier
from caveman_tui.core.shrink.restated import Known
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.signals import STRONG, is_english, signals_of
from caveman_tui.core.shrink.vocabulary import Signal

_RULES_AMONG_EXAMPLES = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT})
_RULES_IN_HEADINGS = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY})
_OUTWEIGH_RESTATED = frozenset(
    {Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.BOUND, Signal.QUANTITY, Signal.LITERAL}
)
_OUTWEIGH_BENEFITS = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.DEFAULT, Signal.PREREQUISITE})
_ELABORATION = frozenset({Signal.ARGUMENT, Signal.ENUMERATION})
_ABOUT_THE_TOOL = frozenset({"marketing", "restated-purpose", "background"})
"""Filler that may still be the sentence which says what the tool is for."""
_USES = re.compile(r"(?:[-*•]\s+)?(?:use|pass|call|give)\b", re.IGNORECASE)
_LEAST_BLANKS_OF_PLAIN = 2
_ANNOUNCED = {"return-shape": Section.RETURNS, "marketing": Section.BENEFITS, "rationale": Section.BENEFITS}
"""What the lines below a dropped line with a colon are."""


class Judge:
    """Goes through a plan once, from the first piece to the last, and decides about each."""

    def __init__(self, made: Plan, context: ToolContext) -> None:
        self._made = made
        self._context = context
        self._known = Known(context, " ".join(piece.text for piece in made.pieces if piece.lead))
        self._earlier = Earlier()
        self._waiting: list[int] = []
        self._announced: dict[int, Section] = {}

    def judge(self) -> None:
        """Decide about every piece of the plan on its own; lists and heads are seen to afterwards."""
        for index, piece in enumerate(self._made.pieces):
            block = self._made.blocks[piece.block]
            text = piece.text
            if block.section is Section.NONE and block.head in self._announced:
                block.section = self._announced[piece.block] = self._announced[block.head]
            if piece.lead:
                pass
            elif block.kind in VERBATIM:
                self._verbatim(index, piece, block, text)
            else:
                self._sentence(index, piece, block, text)
            if piece.kept:
                self._earlier.add(text)
            elif announces(text) and piece.kind in _ANNOUNCED:
                self._announced[piece.block] = _ANNOUNCED[piece.kind]
        self._examples()
        self._elaborations()

    def _verbatim(self, index: int, piece: Piece, block: Block, text: str) -> None:
        if block.section is Section.RETURNS:
            if block.kind is LineKind.CODE and "(" in text and "\n" not in text:
                piece.keep("example", "shows the call")
            else:
                piece.drop("return-shape", "shows what comes back")
        elif block.section is Section.DIALOGUE:
            piece.drop("dialogue", "example of a conversation")
        elif block.section is Section.EXAMPLES and not (block.kind is LineKind.CODE and examples.is_template(text)):
            self._waiting.append(index)
        else:
            piece.keep("literal", "a table or code that may be the contract")

    def _sentence(self, index: int, piece: Piece, block: Block, text: str) -> None:
        if block.kind is LineKind.HEADING or (block.is_head and block.own_section):
            piece.bare, piece.kind, piece.why = True, "heading", "heads what is below it"
            if announces(text):
                return
            if block.kind is LineKind.HEADING and text[-1] not in SENTENCE_ENDS:
                piece.bare = signals_of(text).isdisjoint(_RULES_IN_HEADINGS)
                return
        if self._earlier.repeats(text):
            piece.drop("repetition", "says again what stands above")
            return
        if block.section is Section.DIALOGUE:
            piece.drop("dialogue", "example of a conversation")
            return
        signals = signals_of(text)
        if Signal.MARKER in signals:
            piece.keep(Signal.MARKER.value, "carries a constraint marker")
            piece.bare = False
        elif block.section is Section.RETURNS:
            if Signal.CHAIN in signals or (Signal.LITERAL in signals and _USES.match(text)):
                piece.keep("chain", "says where the result is used")
            else:
                piece.drop("return-shape", "describes what comes back")
        elif block.section is Section.EXAMPLES:
            if signals & _RULES_AMONG_EXAMPLES or (Signal.BOUND in signals and Signal.EMPHASIS not in signals):
                piece.keep("prohibition", "says a rule among the examples")
            elif self._context.parameter and block.own_section and not announces(text):
                piece.keep("format", "examples of the parameter's values")
            else:
                self._waiting.append(index)
        elif (block.runs_on and piece.end == block.end) or not self._dropped(piece, block, text, signals):
            piece.bare = piece.bare or (announces(text) and not signals & STRONG)
            sign = next((signal for signal in Signal if signal in signals), None)
            if sign is not None and piece.kind == "plain":
                piece.keep(sign.value, f"shows signs of {sign.value}")

    def _dropped(self, piece: Piece, block: Block, text: str, signals: frozenset[Signal]) -> bool:
        """Drop a full sentence or a line that is filler or says only what the lead and the schema say; return whether it was."""
        prose = _is_prose(piece, block, text)
        rule = self._filler(block, text)
        if prose and not signals & _OUTWEIGH_RESTATED and self._known.holds_all_of(text):
            piece.drop("restated-purpose", "says only what the lead and the parameters' names say")
        elif (Signal.DEFAULT in signals and self._known.holds_default(text)) or (
            block.kind is LineKind.FIELD and block.section is Section.PARAMETERS and self._known.holds_field(text)
        ):
            piece.drop("restated-schema", "says only what the schema says")
        elif block.section is Section.BENEFITS and not signals & _OUTWEIGH_BENEFITS:
            piece.drop("marketing", "says what it is good for, not how to call it")
        elif rule is not None and not signals & rule.unless:
            piece.drop(rule.kind, rule.why)
        return not piece.kept

    def _filler(self, block: Block, text: str) -> FillerRule | None:
        """Return what a sentence is filler as, unless what the tool's own schema or the place of the sentence speaks against it."""
        rule = filler_of(text)
        if rule is None:
            return None
        if rule.kind == "return-shape" and (self._context.parameter or block.section is Section.PARAMETERS):
            return None  # there it says what the argument does or what its parts are
        if rule.kind in _ABOUT_THE_TOOL and self._known.names_tool_anew(text):
            return None
        if rule.kind == "restated-schema" and not (self._known.names_argument(text) and self._known.holds_half_of(text)):
            return None
        if rule.kind == "restated-purpose" and not self._known.holds_half_of(text):
            return None
        return rule

    def _examples(self) -> None:
        """Drop the examples that show no name and no shape of value which the rest of the text doesn't."""
        if not self._waiting:
            return
        made, waiting = self._made, set(self._waiting)
        rest = "\n".join(piece.text for index, piece in enumerate(made.pieces) if piece.kept and index not in waiting)
        shapes, known = examples.value_shapes(rest), examples.words(rest) | self._context.parameters
        for index in self._waiting:
            piece = made.pieces[index]
            text = piece.text
            new_shapes = examples.value_shapes(text) - shapes
            new_names = (examples.names(text) | examples.bare_values(text, self._context.parameter)) - known
            if new_shapes or new_names:
                piece.keep("format", "the only example of its form")
                shapes |= new_shapes
                known |= new_names
            else:
                piece.drop("example", "shows nothing that isn't said elsewhere")

    def _elaborations(self) -> None:
        """Drop the lists below a full item of a list which only put it in other words."""
        made = self._made
        lists: dict[int, list[Piece]] = {}
        for piece in made.pieces:
            block = made.blocks[piece.block]
            if block.kind is LineKind.BULLET and block.head >= 0:
                above = made.blocks[block.head]
                if above.kind is LineKind.BULLET and above.indent < block.indent and not above.is_head:
                    lists.setdefault(block.group, []).append(piece)
        if not lists or not is_english(made.text):
            return
        for pieces in lists.values():
            if all(_is_plain(piece.text) for piece in pieces):
                for piece in pieces:
                    if piece.kept:
                        piece.drop("elaboration", "puts the line above in other words")


def _is_prose(piece: Piece, block: Block, text: str) -> bool:
    """Whether a piece is a full sentence that stands for itself: no heading, no item of a list, no end of a wrapped line."""
    if text[-1] not in SENTENCE_ENDS or len(text) < SHORT or (block.goes_on and piece.start == block.start):
        return False
    return block.kind is LineKind.TEXT or piece.start > block.start or (block.kind is LineKind.FIELD and block.group < 0)


def _is_plain(text: str) -> bool:
    return text.isascii() and ":" not in text and text.count(" ") >= _LEAST_BLANKS_OF_PLAIN and signals_of(text) <= _ELABORATION
