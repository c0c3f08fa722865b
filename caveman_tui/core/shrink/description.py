"""One description, shorter: what is kept of it at each level, with the decision about each unit."""

import re

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.decide import plan, plan_all
from caveman_tui.core.shrink.judge import explain
from caveman_tui.core.shrink.layout import tidy
from caveman_tui.core.shrink.line import LineKind
from caveman_tui.core.shrink.model import ToolContext, Unit
from caveman_tui.core.shrink.pieces import CUT_SIGN, Plan
from caveman_tui.core.shrink.repetition import says_anything_twice
from caveman_tui.core.shrink.settled import is_settled

WHOLE_BYTES = 160
"""Descriptions of at most this many UTF-8 bytes stay whole at every level (caveman-shrink's budget, kept)."""
_PASSES = 6
_ENDED = ".!?:;。！？：；…"
_WORD = re.compile(r"\S+")


def describe(text: str, context: ToolContext, level: Level) -> tuple[str, tuple[Unit, ...]]:
    """Return the description as `level` leaves it, and the units of `text` that say why; they cover `text` without gaps."""
    if not text:
        return text, ()
    tidied = tidy(text)
    if is_short(tidied):
        return tidied, (Unit(start=0, end=len(text), kept=True, kind="short", why="short enough to stay whole"),)
    first = plan(tidied, context, level)
    out = _shortened([(first, context)], level)[0]
    if out is None:
        return text, (Unit(start=0, end=len(text), kept=True, kind="unsettled", why="shrinking it came to no end, so it stays"),)
    explain(first)
    return out, _units(text, first, out)


def shorten_all(described: list[tuple[str, ToolContext]], level: Level) -> list[str]:
    """Return what `describe` returns first, of many descriptions and without the work of saying why.

    All are taken through one step before the next begins: a processor that has the code of one step at hand takes less time for it.
    """
    left = [tidy(text) for text, _ in described]
    long = [index for index, text in enumerate(left) if not is_short(text) and (level is not Level.CAREFUL or says_anything_twice(text))]
    plans = plan_all([(left[index], described[index][1]) for index in long], level)
    shortened = _shortened([(made, described[index][1]) for index, made in zip(long, plans, strict=True)], level)
    for index, out in zip(long, shortened, strict=True):
        left[index] = described[index][0] if out is None else out
    return left


def is_short(text: str) -> bool:
    """Whether a description is short enough to stay whole."""
    if len(text) > WHOLE_BYTES:
        return False
    return text.isascii() or len(text.encode("utf-8", "surrogatepass")) <= WHOLE_BYTES


def _shortened(plans: list[tuple[Plan, ToolContext]], level: Level) -> list[str | None]:
    """Shrink until shrinking again changes nothing, so that running twice equals running once; None where that doesn't come."""
    left: list[str | None] = [None] * len(plans)
    going = list(enumerate(plans))
    for _ in range(_PASSES):
        for index, (made, _) in going:
            left[index] = made.text
        cut = [(index, made, context) for index, (made, context) in going if not all(piece.kept for piece in made.pieces)]
        texts = list(map(tidy, [joined(made) for _, made, _ in cut]))
        again = []
        for (index, made, context), text in zip(cut, texts, strict=True):
            left[index] = text
            if text != made.text and not is_short(text) and not is_settled(made, text):
                left[index] = None
                again.append((index, text, context))
        if not again:
            break
        more = plan_all([(text, context) for _, text, context in again], level)
        going = [(index, (made, context)) for (index, _, context), made in zip(again, more, strict=True)]
    return left


def joined(made: Plan) -> str:
    """Return the kept pieces as text."""
    text, blocks = made.text, made.blocks
    out: list[str] = []
    last_block = last_piece = last_end = -1
    for at, piece in enumerate(made.pieces):
        if not piece.kept:
            continue
        said, index = text[piece.start : piece.end].rstrip(), piece.block
        if index == last_block:
            # Between neighbours stands what stood there: nothing, between sentences of Chinese.
            out += (text[last_end : piece.start] if at == last_piece + 1 else f" {CUT_SIGN} ", said)
        else:
            block = blocks[index]
            if out:
                if last_block in made.dangling:
                    out.append(f" {CUT_SIGN}")
                cut = index > last_block + 1 and block.kind == LineKind.TEXT and out[-1][-1] not in _ENDED
                out.append("\n\n" if cut or any(between.after_blank for between in blocks[last_block + 1 : index + 1]) else "\n")
            if block.indent and said[0] != " ":
                out.append(" " * block.indent)
            out.append(said)
        last_block, last_piece, last_end = index, at, piece.start + len(said)
    if last_block in made.dangling:
        out.append(f" {CUT_SIGN}")
    return "".join(out)


def _units(source: str, made: Plan, out: str) -> tuple[Unit, ...]:
    """Return the pieces as units of the source text; adjacent pieces of one decision stay apart.

    `out` may have lost more than `made` says, where shrinking it again dropped more. It is the kept pieces in order, so they are
    found by going along it, blanks aside.
    """
    units: list[Unit] = []
    left = "".join(out.split())
    start = at = 0
    for piece, end in zip(made.pieces, _source_offsets(source, made), strict=True):
        bare = "".join(piece.text.split())
        kept = piece.kept
        if kept:
            if not left.startswith(bare, at) and left.startswith(CUT_SIGN, at):
                at += len(CUT_SIGN)
            kept = left.startswith(bare, at)
            at += len(bare) if kept else 0
        why = piece.why if kept == piece.kept else "went with what was dropped around it"
        units.append(Unit(start=start, end=end, kept=kept, kind=piece.kind, why=why))
        start = end
    return tuple(units)


def _source_offsets(source: str, made: Plan) -> list[int]:
    """Return where each piece ends in the source: at the same word, white space after it included."""
    starts = [piece.start for piece in made.pieces[1:]]
    offsets: list[int] = []
    words = iter(_WORD.finditer(source))
    word = next(words)
    passed, at = 0, 0
    for start in starts:
        passed += len("".join(made.text[at:start].split()))
        at = start
        while passed >= word.end() - word.start():
            passed -= word.end() - word.start()
            following = next(words, None)
            if following is None:
                break
            word = following
        offsets.append(word.start() + passed)
    offsets.append(len(source))
    return offsets
