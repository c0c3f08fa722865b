"""A tidied description taken apart: sentences and blocks that are no prose, each with the decision about it."""

from dataclasses import dataclass, field

from caveman_tui.core.shrink.blocks import Block, parse
from caveman_tui.core.shrink.layout import LineKind
from caveman_tui.core.shrink.sections import announces
from caveman_tui.core.shrink.sentences import sentence_ends

VERBATIM = (LineKind.FENCE, LineKind.CODE, LineKind.TABLE)
"""Blocks that are decided on as a whole."""
SENTENCE_ENDS = ".!?。！？"
SHORT = 25
"""Characters below which a stretch is a fragment and no sentence."""
_LONGEST_LEAD = 4
PLAIN = "plain"
NOTHING_SHOWS = "nothing shows that it can go"


@dataclass(slots=True)
class Piece:
    """A sentence, or a block that is no prose, with the decision about it."""

    start: int
    end: int
    block: int
    text: str
    """Without the blanks around it."""
    kept: bool = True
    kind: str = PLAIN
    why: str = NOTHING_SHOWS
    bare: bool = False
    """Says nothing itself: it goes when everything below it goes."""
    lead: bool = False
    by_signs: bool = False
    """Kept for what its words say; `explain` finds out what that is."""

    def keep(self, kind: str, why: str) -> None:
        """Decide that it stays."""
        self.kept, self.kind, self.why = True, kind, why

    def keep_by_signs(self) -> None:
        """Decide that it stays with or without anything below it, for what its words say."""
        self.by_signs, self.bare, self.kind, self.why = True, False, PLAIN, NOTHING_SHOWS

    def drop(self, kind: str, why: str) -> None:
        """Decide that it goes."""
        self.kept, self.kind, self.why = False, kind, why


@dataclass(slots=True)
class Plan:
    """A tidied description, taken apart and decided on."""

    text: str
    blocks: list[Block]
    pieces: list[Piece]
    dangling: set[int] = field(default_factory=set)
    """Blocks that end with a colon and stay although nothing below them does."""


def take_apart(text: str) -> Plan:
    """Return the pieces of a tidied description, all of them kept, the lead marked."""
    made = Plan(text, parse(text), [])
    for index, block in enumerate(made.blocks):
        at = block.start
        ends = [block.end] if block.kind in VERBATIM else sentence_ends(text, block.start, block.end)
        for end in ends:
            made.pieces.append(Piece(at, end, index, text[at:end].strip()))
            at = end
    _mark_lead(made)
    return made


def _mark_lead(made: Plan) -> None:
    """Mark the first sentence, and the headings and fragments that stand before it."""
    for index, piece in enumerate(made.pieces):
        block = made.blocks[piece.block]
        piece.lead = True
        piece.kind, piece.why = "purpose", "the lead"
        text = piece.text
        fragment = len(text) < SHORT and text[-1] not in SENTENCE_ENDS
        heads = block.kind == LineKind.HEADING or announces(text) or (block.is_head and piece.end == block.end)
        if index >= _LONGEST_LEAD or not (fragment or heads):
            break
