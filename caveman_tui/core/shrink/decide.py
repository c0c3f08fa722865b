"""Which pieces of a tidied description stay at a level: the judgement of each, then lists as wholes and heads with what is below."""

from collections.abc import Iterable

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.blocks import nest, parse_lines
from caveman_tui.core.shrink.judge import Judge, stands_for_itself
from caveman_tui.core.shrink.line import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import VERBATIM, Piece, Plan, is_label, take_apart
from caveman_tui.core.shrink.repetition import LEAST_CHARACTERS, exact_key, uncut
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.vocabulary import Signal

_TERSE = Signal.MARKER | Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY | Signal.DEFAULT | Signal.BOUND | Signal.QUANTITY
"""What states a rule: the constraint markers, and what says the same in other words, numbers or languages."""
_DROPPED_SECTIONS = (Section.RETURNS, Section.DIALOGUE)
_SETTLING_ROUNDS = 2
"""A head that is kept for what is below it brings the list along that it is an item of."""


def plan(text: str, context: ToolContext, level: Level) -> Plan:
    """Take a tidied description apart and decide about every piece of it."""
    return plan_all([(text, context)], level)[0]


def plan_all(described: Iterable[tuple[str, ToolContext]], level: Level) -> list[Plan]:
    """Return what `plan` makes of each of many descriptions, one step of all after the other: see `shorten_all`."""
    parsed = [(text, parse_lines(text), context) for text, context in described]
    for text, blocks, _ in parsed:
        nest(text, blocks)
    for _, blocks, _ in parsed:
        for block in blocks:
            if block.line is not None and block.kind not in VERBATIM:
                block.line.sentences()  # remembered by the line
    plans = [(take_apart(text, blocks), context) for text, blocks, context in parsed]
    if level is Level.CAREFUL:
        for made, _ in plans:
            _drop_exact_repetitions(made)
            _keep_lists_whole(made)
        return [made for made, _ in plans]
    for made, context in plans:
        Judge(made, context).judge()
    if level is Level.TERSE:
        for made, _ in plans:
            _keep_rules_only(made)
    for made, _ in plans:
        if made.repeated:
            _keep_unsaid(made, level)
    for made, _ in plans:
        if not all(piece.kept and not piece.bare for piece in made.pieces):
            _settle(made)
    return [made for made, _ in plans]


def _settle(made: Plan) -> None:
    _keep_labels(made)
    family = _Family(made)
    for _ in range(_SETTLING_ROUNDS):
        _keep_lists_whole(made)
        if not _settle_heads(made, family):
            break


def _drop_exact_repetitions(made: Plan) -> None:
    earlier: set[str] = set()
    for piece in made.pieces:
        if len(uncut(piece.sentence)) < LEAST_CHARACTERS:
            continue
        block, key = made.blocks[piece.block], exact_key(piece.text)
        may_go = block.kind == LineKind.TEXT and not block.is_head and not piece.lead and stands_for_itself(block, made.blocks)
        if key and key in earlier and may_go:
            piece.drop("repetition", "the same words stand above")
        else:
            earlier.add(key)


def _keep_rules_only(made: Plan) -> None:
    """Of what the standard level keeps, keep the lead and what states a rule, by a constraint marker or in other words."""
    for piece in made.pieces:
        if piece.kept and not piece.lead and not piece.bare and not piece.sentence.states(_TERSE):
            piece.drop(piece.kind, "states no rule")


def _keep_unsaid(made: Plan, level: Level) -> None:
    """Keep a repetition where what it repeats has gone after it."""
    said = {id(piece.sentence) for piece in made.pieces if piece.kept}
    for index, earlier in made.repeated:
        piece = made.pieces[index]
        if id(earlier) not in said and (level is not Level.TERSE or piece.sentence.states(_TERSE)):
            piece.keep("repetition", "what it repeats is dropped")


def _keep_lists_whole(made: Plan) -> None:
    """Keep every item of a list of which anything is kept."""
    blocks = made.blocks
    dropped = [piece for piece in made.pieces if not piece.kept and blocks[piece.block].group >= 0]
    if not dropped:
        return
    kept_blocks = {piece.block for piece in made.pieces if piece.kept}
    kept_groups = {blocks[index].group for index in kept_blocks}
    for piece in dropped:
        block = blocks[piece.block]
        if block.group in kept_groups and (piece.start == block.start or piece.block not in kept_blocks):
            piece.keep(piece.kind, "belongs to a list that is kept")


def _keep_labels(made: Plan) -> None:
    """Keep the line that stands right above code that is kept: without it the code would be taken for what the line before it announces."""
    kept = {piece.block for piece in made.pieces if piece.kept}
    for piece in made.pieces:
        if not piece.kept and is_label(made, piece.block) and piece.block + 1 in kept:
            piece.keep(piece.kind, "labels the code below it")


class _Family:
    """Which blocks stand below which, and the pieces of each."""

    __slots__ = ("below", "closers", "heads", "pieces")

    def __init__(self, made: Plan) -> None:
        self.below: dict[int, list[int]] = {}
        self.closers: list[int] = []
        """The closing tags."""
        headings: list[int] = []
        for index, block in enumerate(made.blocks):
            if block.kind == LineKind.HEADING:
                headings.append(index)
            if block.closes >= 0:
                self.closers.append(index)
            elif block.head >= 0:
                self.below.setdefault(block.head, []).append(index)
        self.heads = sorted({*headings, *self.below}, reverse=True)
        """All that have blocks below them or should have, the last first."""
        self.pieces: list[list[Piece]] = [[] for _ in made.blocks] if self.heads else []
        if self.heads:
            for piece in made.pieces:
                self.pieces[piece.block].append(piece)

    def alive(self, blocks: Iterable[int]) -> bool:
        """Whether anything of these blocks is kept."""
        return any(piece.kept for block in blocks for piece in self.pieces[block])


def _settle_heads(made: Plan, family: _Family) -> bool:
    """Drop heads with nothing left below, keep what a kept line with a colon announces. Return whether anything was decided anew."""
    changed = False
    for index in family.heads:
        if below := family.below.get(index):
            changed |= _settle_head(made, family, index, below)
            continue
        last = family.pieces[index][-1]
        if last.bare and not last.lead:
            changed |= last.kept
            last.drop("heading", "nothing stands below it")
    for index in family.closers:
        kept = family.alive([made.blocks[index].closes])
        for piece in family.pieces[index]:
            changed |= piece.kept != kept
            piece.kept, piece.kind, piece.why = kept, "heading", "goes with the tag that it closes"
    return changed


def _settle_head(made: Plan, family: _Family, index: int, below: list[int]) -> bool:
    own = family.pieces[index]
    last = own[-1]
    if family.alive(below):
        if not family.alive([index]):
            for piece in own:
                piece.keep("heading", "what is kept stands below it")
            return True
        if not last.kept and announces(last.text):
            last.keep("heading", "what is kept stands below it")
            return True
    elif all(piece.bare and not piece.lead for piece in own if piece.kept):
        kept = [piece for piece in own if piece.kept]
        for piece in kept:
            piece.drop("heading", "nothing is left below it")
        return bool(kept)
    elif last.kept and announces(last.text):
        for child in below:
            if made.blocks[child].section not in _DROPPED_SECTIONS or last.lead:
                for piece in family.pieces[child]:
                    piece.keep(piece.kind, "announced by the line above")
        if family.alive(below):
            return True
        made.dangling.add(index)
    return False
