"""Which pieces of a tidied description stay at a level: the judgement of each, then lists as wholes and heads with what is below."""

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.judge import Judge
from caveman_tui.core.shrink.layout import LineKind
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import Piece, Plan, take_apart
from caveman_tui.core.shrink.reading import read
from caveman_tui.core.shrink.repetition import LEAST_CHARACTERS, exact_key
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.vocabulary import Signal

_TERSE = Signal.MARKER | Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY | Signal.DEFAULT | Signal.BOUND | Signal.QUANTITY
"""What states a rule: the constraint markers, and what says the same in other words, numbers or languages."""
_DROPPED_SECTIONS = (Section.RETURNS, Section.DIALOGUE)
_SETTLING_ROUNDS = 2
"""A head that is kept for what is below it brings the list along that it is an item of."""


def plan(text: str, context: ToolContext, level: Level) -> Plan:
    """Take a tidied description apart and decide about every piece of it."""
    made = take_apart(text)
    if level is Level.CAREFUL:
        _drop_exact_repetitions(made)
        _keep_lists_whole(made)
        return made
    Judge(made, context).judge()
    if level is Level.TERSE:
        _keep_rules_only(made)
    for _ in range(_SETTLING_ROUNDS):
        before = [piece.kept for piece in made.pieces]
        _keep_lists_whole(made)
        _settle_heads(made)
        if before == [piece.kept for piece in made.pieces]:
            break
    return made


def _drop_exact_repetitions(made: Plan) -> None:
    earlier: set[str] = set()
    for piece in made.pieces:
        if len(piece.text) < LEAST_CHARACTERS:
            continue
        block, key = made.blocks[piece.block], exact_key(piece.text)
        if block.kind == LineKind.TEXT and not block.is_head and not piece.lead and key in earlier:
            piece.drop("repetition", "the same words stand above")
        else:
            earlier.add(key)


def _keep_rules_only(made: Plan) -> None:
    """Of what the standard level keeps, keep the lead and what states a rule, by a constraint marker or in other words."""
    for piece in made.pieces:
        if piece.kept and not piece.lead and not piece.bare:
            sentence = read(piece.text)
            if not (sentence.bits & _TERSE or sentence.signals() & _TERSE):
                piece.drop(piece.kind, "states no rule")


def _keep_lists_whole(made: Plan) -> None:
    """Keep every item of a list of which anything is kept."""
    kept_groups = {made.blocks[piece.block].group for piece in made.pieces if piece.kept}
    kept_blocks = {piece.block for piece in made.pieces if piece.kept}
    for piece in made.pieces:
        block = made.blocks[piece.block]
        if piece.kept or block.group < 0 or block.group not in kept_groups:
            continue
        first = piece.start == block.start
        if first or piece.block not in kept_blocks:
            piece.keep(piece.kind, "belongs to a list that is kept")


def _settle_heads(made: Plan) -> None:
    """Drop heads with nothing left below, keep what a kept line with a colon announces."""
    blocks = made.blocks
    children: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        if block.head >= 0 and block.closes < 0:
            children.setdefault(block.head, []).append(index)
    by_block: dict[int, list[Piece]] = {}
    for piece in made.pieces:
        by_block.setdefault(piece.block, []).append(piece)

    def alive(index: int) -> bool:
        return any(piece.kept for piece in by_block[index])

    for index in range(len(blocks) - 1, -1, -1):
        own, below = by_block[index], children.get(index, [])
        any_below = any(alive(child) for child in below)
        last = own[-1]
        if any_below:
            if not alive(index):
                for piece in own:
                    piece.keep("heading", "what is kept stands below it")
            elif not last.kept and announces(last.text):
                last.keep("heading", "what is kept stands below it")
            continue
        if not below:
            if blocks[index].kind == LineKind.HEADING and last.bare and not last.lead:
                last.drop("heading", "nothing stands below it")
            continue
        if all(piece.bare and not piece.lead for piece in own if piece.kept):
            for piece in own:
                if piece.kept:
                    piece.drop("heading", "nothing is left below it")
        elif last.kept and announces(last.text):
            for child in below:
                if blocks[child].section not in _DROPPED_SECTIONS or last.lead:
                    for piece in by_block[child]:
                        piece.keep(piece.kind, "announced by the line above")
            if not any(alive(child) for child in below):
                made.dangling.add(index)
    for index, block in enumerate(blocks):
        if block.closes >= 0:
            for piece in by_block[index]:
                piece.kept, piece.kind, piece.why = alive(block.closes), "heading", "goes with the tag that it closes"
