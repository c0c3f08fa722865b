"""Whether what no rule takes for filler may go all the same, since next to nothing in it speaks for its bearing on the call."""

import re

from caveman_tui.core.shrink.blocks import Block
from caveman_tui.core.shrink.line import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import CUT_SIGN, PLAIN, Piece, Plan
from caveman_tui.core.shrink.restated import Known
from caveman_tui.core.shrink.score import LEAST_OF_CONTENT, content_signs, telling_words, weight_of_heading, weight_of_signs
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.signals import is_english
from caveman_tui.core.shrink.vocabulary import ENGLISH, Signal

_KIND = "aside"
STATES_A_RULE = (
    Signal.MARKER
    | Signal.PROHIBITION
    | Signal.EXCLUSIVE
    | Signal.ONLY
    | Signal.DEFAULT
    | Signal.BOUND
    | Signal.QUANTITY
    | Signal.DESTRUCTIVE
    | Signal.CHOICES
    | Signal.CHAIN
    | Signal.EMPHASIS
    | Signal.PREREQUISITE
    | Signal.UNIT
    | Signal.FORMAT
)
"""Signs that no sum of weights outweighs."""
_EXACT = re.compile(r"[`\"“]|[A-Za-z]_[A-Za-z]|\w=\w|\b[a-z]+[A-Z]")
_LINK = re.compile(r"https?://\S+")
_PROSE = {LineKind.TEXT: "text", LineKind.BULLET: "item", LineKind.FIELD: "field"}
_SECTIONS = (Section.NONE, Section.BENEFITS)
_LEAST_WORDS = 4
"""Shorter lines are values and names as often as prose."""
_WHEN = "when"
"""A line with this word announces what the tool is to be chosen for."""
_MOST_WORDS = 3
_LEARNED = re.compile(r"[\x00-\u024f\u2000-\u2bff\ufe0f\U0001f000-\U0001faff]*")
"""Letters of the scripts that the weights were learned from, signs and pictures."""
_SAYS_A_VALUE = re.compile(r"(?:[-*•+]\s+|\d{1,2}[.)]\s+)?[*`\"'@$_]*([\w.\-]+)[`\"'*_]*\s*(?:\([^()]*\))?\s*(?::|-|–|—|=)")
_FUNCTION_WORDS = ENGLISH.union(("a", "an", "as", "at", "be", "by", "can", "if", "in", "not", "of", "on", "or", "to", "use", "when", "you"))


class Bearing:
    """Weighs the pieces of one plan. A list goes as a whole, by the sum of what its items begin with, or not at all."""

    __slots__ = ("_context", "_headings", "_known", "_lists", "_made")

    def __init__(self, made: Plan, context: ToolContext, known: Known) -> None:
        self._made = made
        self._context = context
        self._known = known
        self._headings: dict[int, int] = {}
        self._lists: dict[int, list[Piece] | None] = {}

    def see(self, piece: Piece, block: Block) -> None:
        """Drop a piece that may go by itself; note one that stands in a list."""
        if block.group < 0:
            if self._may_be_weighed(piece, block) and self._weighs_too_little(piece, block) and not self._is_rule(piece):
                piece.drop(_KIND, _why(self.score(piece, block), piece))
            return
        noted = self._lists.get(block.group, _NONE)
        if noted is None:
            return
        if piece.kept and not self._may_be_weighed(piece, block):
            self._lists[block.group] = None
        elif noted:
            noted.append(piece)
        else:
            self._lists[block.group] = [piece]

    def see_lists(self) -> None:
        """Drop the lists that weigh too little in all and of which no kept piece has to stay."""
        blocks = self._made.blocks
        for pieces in self._lists.values():
            if pieces is None:
                continue
            firsts = [(piece, blocks[piece.block]) for piece in pieces if piece.start == blocks[piece.block].start]
            kept = [piece for piece in pieces if piece.kept]
            weight = sum(self.score(*first) for first in firsts)
            if kept and weight < 0 and not any(map(self._is_rule, kept)):
                for piece in kept:
                    piece.drop(_KIND, _why(weight // len(firsts), piece))

    def may_go(self, piece: Piece, block: Block) -> bool:
        """Whether a piece is kept for no stated reason, is prose in a language that the weights know, and shows no sign of a rule."""
        return self._may_be_weighed(piece, block) and not self._is_rule(piece)

    def score(self, piece: Piece, block: Block) -> int:
        """Return how much speaks for keeping a piece, in hundredths of a logit."""
        return self._without_content(piece, block) + weight_of_signs(self._content_signs(piece))

    def signs(self, piece: Piece, block: Block) -> list[str]:
        """Return the signs of a piece that are not its own."""
        return self._place_signs(block) + self._content_signs(piece)

    def heading(self, block: Block) -> str:
        """Return the line that announces a block, empty where none does."""
        head = self._made.blocks[block.head] if block.head >= 0 else None
        return self._made.text[head.start : head.end] if head is not None and head.is_head else ""

    def _may_be_weighed(self, piece: Piece, block: Block) -> bool:
        sentence = piece.sentence
        if not piece.kept or piece.lead or piece.bare or piece.kind != PLAIN or block.is_head or sentence.bits & STATES_A_RULE:
            return False
        if block.kind not in _PROSE or block.section not in _SECTIONS or len(sentence.words) < _LEAST_WORDS:
            return False
        if (block.runs_on and piece.end == block.end) or (block.goes_on and piece.start == block.start):
            return False
        text = piece.text
        if announces(text) or text.endswith(CUT_SIGN) or _WHEN in self.heading(block).lower():
            return False
        if text.isascii():
            return block.kind != LineKind.TEXT or not _FUNCTION_WORDS.isdisjoint(sentence.words)
        return is_english(text) and _LEARNED.fullmatch(text) is not None

    def _is_rule(self, piece: Piece) -> bool:
        """Whether a piece shows a sign of a rule, or says what a parameter or one of its values means."""
        text = piece.text
        if piece.sentence.signals() & STATES_A_RULE or _EXACT.search(_LINK.sub("", text)) or "description:" in text.lower():
            return True
        named = _SAYS_A_VALUE.match(text)
        return named is not None and (named[1] in self._context.parameters or named[1] in self._context.enum_values)

    def _weighs_too_little(self, piece: Piece, block: Block) -> bool:
        """Whether the score is below zero; most pieces are too heavy for what their content could take away."""
        weight = self._without_content(piece, block)
        return weight + LEAST_OF_CONTENT < 0 and weight + weight_of_signs(self._content_signs(piece)) < 0

    def _without_content(self, piece: Piece, block: Block) -> int:
        if block.head not in self._headings:
            self._headings[block.head] = weight_of_heading(self.heading(block))
        return piece.sentence.weight() + self._headings[block.head] + weight_of_signs(self._place_signs(block))

    def _place_signs(self, block: Block) -> list[str]:
        signs = [_PROSE.get(block.kind, "text"), "of a parameter" if self._context.parameter else "of the tool"]
        if block.group >= 0:
            signs.append("listed")
        if self.heading(block):
            signs.append("under a heading")
        return signs

    def _content_signs(self, piece: Piece) -> list[str]:
        return content_signs(*self._known.content(piece.text))


def _why(weight: int, piece: Piece) -> str:
    words = ", ".join(telling_words(piece.sentence.words, _MOST_WORDS))
    return f"nothing in it bears on the call (score {weight / 100:.2f}{words and ': ' + words})"


_NONE: list[Piece] = []
"""Stands for a list of which nothing was seen yet; never written to."""
