"""A tidied description taken apart: sentences and blocks that are no prose, each with the decision about it."""

import msgspec

from caveman_tui.core.shrink.blocks import Block
from caveman_tui.core.shrink.line import LineKind
from caveman_tui.core.shrink.reading import Reading, read
from caveman_tui.core.shrink.sections import announces
from caveman_tui.core.shrink.sentences import sentence_ends

VERBATIM = (LineKind.FENCE, LineKind.CODE, LineKind.TABLE)
"""Blocks that are decided on as a whole."""
SENTENCE_ENDS = ".!?。！？"
SHORT = 25
"""Characters below which a stretch is a fragment and no sentence."""
CUT_SIGN = "…"
"""Stands where something was dropped inside a line. Where whole lines were dropped, the line end is the sign."""
_LONGEST_LEAD = 4
PLAIN = "plain"
NOTHING_SHOWS = "nothing shows that it can go"


class Piece(msgspec.Struct, eq=False, gc=False):
    """A sentence, or a block that is no prose, with the decision about it."""

    start: int
    end: int
    block: int
    text: str
    """Without the blanks around it."""
    sentence: Reading
    """The text read."""
    kept: bool = True
    kind: str = PLAIN
    why: str = NOTHING_SHOWS
    bare: bool = False
    """Says nothing itself: it goes when everything below it goes."""
    lead: bool = False
    rescued: bool = False
    """Was dropped on its own, and is kept for something else that is kept."""
    by_signs: bool = False
    """Kept for what its words say; `explain` finds out what that is."""

    def keep(self, kind: str, why: str) -> None:
        """Decide that it stays."""
        self.rescued = self.rescued or not self.kept
        self.kept, self.kind, self.why = True, kind, why

    def keep_by_signs(self) -> None:
        """Decide that it stays with or without anything below it, for what its words say."""
        self.by_signs, self.bare, self.kind, self.why = True, False, PLAIN, NOTHING_SHOWS

    def drop(self, kind: str, why: str) -> None:
        """Decide that it goes."""
        self.kept, self.kind, self.why = False, kind, why


class Plan(msgspec.Struct, eq=False):
    """A tidied description, taken apart and decided on."""

    text: str
    blocks: list[Block]
    pieces: list[Piece]
    repeated: list[tuple[int, Reading]] = []
    """The pieces that went as repetitions, by their index, and what each repeats."""
    dangling: set[int] = set()
    """Blocks that end with a colon and stay although nothing below them does."""


def take_apart(text: str, blocks: list[Block]) -> Plan:
    """Return the pieces of a tidied description, whose blocks `parse` found, all of them kept and the lead marked."""
    made = Plan(text, blocks, [])
    pieces = made.pieces
    for index, block in enumerate(made.blocks):
        start = block.start
        if block.line is not None and block.kind not in VERBATIM:
            offset = start + block.indent
            for end, sentence in block.line.sentences():
                pieces.append(Piece(start, offset + end, index, sentence.text, sentence))
                start = offset + end
            continue
        for end in [block.end] if block.kind in VERBATIM else sentence_ends(text, start, block.end):
            sentence = read(text[start:end].strip())
            pieces.append(Piece(start, end, index, sentence.text, sentence))
            start = end
    _mark_lead(made)
    return made


def is_label(made: Plan, index: int) -> bool:
    """Whether a block is a line of a list right above code or a table."""
    below = made.blocks[index + 1] if index + 1 < len(made.blocks) else None
    return below is not None and below.kind in VERBATIM and not below.after_blank and made.blocks[index].kind == LineKind.BULLET


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
