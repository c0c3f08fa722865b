"""Whether what was left of a description would be left alone: seen from its blocks, without deciding about each piece again."""

from itertools import pairwise

from caveman_tui.core.shrink.blocks import Block, parse
from caveman_tui.core.shrink.judge import is_plain, may_be_restated
from caveman_tui.core.shrink.line import Line, LineKind, line_of
from caveman_tui.core.shrink.pieces import CUT_SIGN, PLAIN, SHORT, Piece, Plan, is_label
from caveman_tui.core.shrink.repetition import LOOK_BACK
from caveman_tui.core.shrink.sections import Section, announces
from caveman_tui.core.shrink.sentences import sentence_ends

_WHERE_LINES_MAY_SHRINK = (Section.NONE, Section.PARAMETERS)


def is_settled(made: Plan, left: str) -> bool:
    """Whether a plan for `left`, the tidied text of the kept pieces of `made`, is sure to keep everything. False where in doubt.

    It is sure where every kept piece stands as it stood: in a line of the same kind, under the same head, in the same section and list.
    Then each is judged as it was, since nothing that a piece is compared with has become more, and less around a piece never makes the
    judge drop it. What was kept for the sake of others is kept again where one of these others was kept for itself.
    """
    if len(made.pieces) > LOOK_BACK or any(piece.lead and not piece.kept for piece in made.pieces):
        return False
    if len(made.blocks) == 1 and "\n" not in left and (line := made.blocks[0].line) is not None and _is_plain_line(line):
        alone = line_of(left)
        return _is_plain_line(alone) and _has_same_pieces(made.blocks[0], [piece for piece in made.pieces if piece.kept], alone)
    pieces: dict[int, list[Piece]] = {}
    for piece in made.pieces:
        if piece.kept:
            pieces.setdefault(piece.block, []).append(piece)
    if not (_are_rescued_again(made, pieces) and _are_lists_alike(made, pieces)):
        return False
    after = parse(left)
    if len(after) != len(pieces):
        return False
    blocks = made.blocks
    number = {-1: -1} | {index: at for at, index in enumerate(pieces)}
    lists: dict[int, int] = {}
    heads_before, heads_after = {block.head for block in blocks}, {block.head for block in after}
    for at, (index, block) in enumerate(zip(pieces, after, strict=True)):
        old = blocks[index]
        if (
            number.get(old.head) != block.head
            or number.get(old.closes) != block.closes
            or lists.setdefault(old.group, block.group) != block.group
            or (block.kind == LineKind.HEADING and (index in heads_before) != (at in heads_after))
            or not _is_alike(old, block)
            or (old.is_head != block.is_head and (block.is_head or old.kind != LineKind.TEXT or old.own_section))
            or (old.goes_on != block.goes_on and (block.goes_on or may_be_restated(pieces[index][0].sentence)))
            or not (
                _is_same_text(made.text, old, left, block) or (block.line is not None and _has_same_pieces(old, pieces[index], block.line))
            )
        ):
            return False
    return len(set(lists.values())) == len(lists)


def _are_rescued_again(made: Plan, pieces: dict[int, list[Piece]]) -> bool:
    """Whether each kept piece that others saved is sure to be saved again.

    That is an item by another one that was kept for itself, a head by what is below it, a label by the code that it stands above, and
    a list by the line that announces it and has nothing else below it.
    """
    rescued = [piece for piece in made.pieces if piece.rescued and piece.kept]
    if not rescued:
        return True
    blocks = made.blocks
    sure = [piece.block for piece in made.pieces if piece.kept and not piece.rescued]
    heads = {blocks[index].head for index in sure if blocks[index].closes < 0} - {-1}
    lists = {blocks[index].group for index in (*sure, *heads)} - {-1}
    lists_below: dict[int, set[int]] = {}
    for index in pieces:
        lists_below.setdefault(blocks[index].head, set()).add(blocks[index].group)
    for head in set(sure) & lists_below.keys():
        own = [piece for piece in pieces[head] if not piece.rescued]
        last = own[-1]
        says_anything = any(piece.lead or not piece.bare for piece in own)
        if len(lists_below[head]) == 1 and says_anything and last.end == blocks[head].end and announces(last.text):
            lists |= lists_below[head] - {-1}
    labels = {index - 1 for index in sure if is_label(made, index - 1)}
    return all(
        index in labels
        or (blocks[index].group in lists and _is_item_rescued_again(blocks[index], pieces[index]))
        or (index in heads and _is_head_rescued_again(pieces[index]))
        for index in {piece.block for piece in rescued}
    )


def _is_item_rescued_again(block: Block, kept: list[Piece]) -> bool:
    """Whether the item of a list that is kept would have the same pieces again: all, if none stays by itself, or else its first."""
    if len(kept) == 1 or all(map(_states_no_rule, kept)):
        return True
    return kept[0].start == block.start and not any(piece.rescued for piece in kept[1:])


def _is_head_rescued_again(kept: list[Piece]) -> bool:
    """Whether a head of what is kept would have the same pieces again: all, if none stays by itself, or else its last."""
    if len(kept) == 1 or all(map(_states_no_rule, kept)):
        return True
    return announces(kept[-1].text) and not any(piece.rescued for piece in kept[:-1])


def _states_no_rule(piece: Piece) -> bool:
    """Whether a rescued piece had gone for that, and so goes again whatever stands around it. What went for another reason may not."""
    return piece.rescued and piece.kind == PLAIN


def _are_lists_alike(made: Plan, pieces: dict[int, list[Piece]]) -> bool:
    """Whether every kept list below another item has more to say than that item, if it lost a sentence or an item."""
    blocks = made.blocks
    kept_lists = {blocks[index].group for index in pieces} - {-1}
    shorter: set[int] = set()
    for piece in made.pieces:
        block = blocks[piece.block]
        if piece.kept or block.group not in kept_lists:
            continue
        if block.head >= 0 and blocks[block.head].kind == LineKind.BULLET:
            shorter.add(block.group)
    for group in shorter:
        if all(is_plain(piece.sentence) for index, kept in pieces.items() if blocks[index].group == group for piece in kept):
            return False
    return True


def _is_alike(old: Block, new: Block) -> bool:
    return old.kind == new.kind and old.section == new.section and old.own_section == new.own_section and old.runs_on <= new.runs_on


def _is_same_text(text: str, old: Block, left: str, new: Block) -> bool:
    return text[old.start + old.indent : old.end] == left[new.start + new.indent : new.end]


def _is_plain_line(line: Line) -> bool:
    return line.kind == LineKind.TEXT and not line.is_head and not line.section


def _has_same_pieces(old: Block, kept: list[Piece], new: Line) -> bool:
    """Whether a line that lost some of its sentences falls into the others; an item of a list has its first, which shows what it is."""
    if old.own_section or old.kind == LineKind.HEADING or old.section not in _WHERE_LINES_MAY_SHRINK:
        return False
    if kept[0].start != old.start and old.kind != LineKind.TEXT:
        return False
    text = new.text
    if kept[0].start == old.start and all(piece.end == after.start for piece, after in pairwise(kept)):
        # It lost what stood at its end. A sentence ends where it ended, whatever came after the next one.
        return old.line is not None and old.line.text.startswith(text)
    ends = sentence_ends(text, 0, len(text))
    if len(ends) != len(kept):
        return False
    at, cut_from = 0, kept[0].start
    for piece, end in zip(kept, ends, strict=True):
        expected = piece.text
        if piece.start != cut_from:
            expected = f"{CUT_SIGN} {piece.text}"
            if len(piece.text) < SHORT <= len(expected):
                return False  # the sign makes a sentence of the fragment
        if text[at:end].strip() != expected:
            return False
        at, cut_from = end, piece.end
    return True
