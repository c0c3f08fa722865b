"""One description, shorter: what is kept of it at each level, with the decision about each unit."""

import re

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ToolContext, Unit

WHOLE_BYTES = 160
"""Descriptions of at most this many UTF-8 bytes stay whole at every level (caveman-shrink's budget, kept)."""

_TRAILING = re.compile(r"[ \t]+(?=\n)|\s+\Z|\A(?:[ \t]*\n)+|(?<=\n\n)\n+")


def describe(text: str, context: ToolContext, level: Level) -> tuple[str, tuple[Unit, ...]]:
    """Return the description as `level` leaves it, and the units of `text` that say why; they cover `text` without gaps."""
    del context, level
    if not text:
        return text, ()
    out = _TRAILING.sub("", text)
    out = _TRAILING.sub("", out)
    return out, (Unit(start=0, end=len(text), kept=True, kind="whole", why="kept whole"),)
