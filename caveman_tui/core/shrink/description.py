"""One description, shorter: what is kept of it at each level, with the decision about each unit."""

import re

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.decide import plan
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
    if _is_short(tidied):
        return tidied, (Unit(start=0, end=len(text), kept=True, kind="short", why="short enough to stay whole"),)
    first = plan(tidied, context, level)
    out = _shortened(tidied, first, context, level)
    if out is None:
        return text, (Unit(start=0, end=len(text), kept=True, kind="unsettled", why="shrinking it came to no end, so it stays"),)
    explain(first)
    return out, _units(text, first, out)


def shorten(text: str, context: ToolContext, level: Level) -> str:
    """Return what `describe` returns first, without the work of saying why."""
    if not text:
        return text
    tidied = tidy(text)
    if _is_short(tidied) or (level is Level.CAREFUL and not says_anything_twice(tidied)):
        return tidied
    out = _shortened(tidied, plan(tidied, context, level), context, level)
    return text if out is None else out


def _is_short(text: str) -> bool:
    if len(text) > WHOLE_BYTES:
        return False
    return text.isascii() or len(text.encode("utf-8", "surrogatepass")) <= WHOLE_BYTES


def _shortened(tidied: str, first: Plan, context: ToolContext, level: Level) -> str | None:
    """Shrink until shrinking again changes nothing, so that running twice equals running once; None where that doesn't come."""
    text, made = tidied, first
    for _ in range(_PASSES):
        if all(piece.kept for piece in made.pieces):
            return text
        out = tidy(joined(made))
        if out == text:
            return text
        if _is_short(out):
            return out
        if is_settled(made, out):
            return out
        text, made = out, plan(out, context, level)
    return None


def joined(made: Plan) -> str:
    """Return the kept pieces as text."""
    text, blocks = made.text, made.blocks
    out: list[str] = []
    last_block = last_piece = -1
    for at, piece in enumerate(made.pieces):
        if not piece.kept:
            continue
        said, index = text[piece.start : piece.end].rstrip(), piece.block
        if index == last_block:
            out += (" " if at == last_piece + 1 else f" {CUT_SIGN} ", said)
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
        last_block, last_piece = index, at
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
