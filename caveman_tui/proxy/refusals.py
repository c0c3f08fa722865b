"""What is sent again, and in which form, when a provider refuses an edited request with a 400."""

from collections.abc import Sequence

from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.core.rewrite import MARKER_EDITS

REFUSED = 400
BODY_LIMIT = 1024 * 1024
"""Bytes of an error's body that are read to find out what it names; a longer one passes to the client as it is."""


def to_undo(edits: Sequence[Edit], error: bytes, *, first: bool) -> frozenset[EditKind]:
    """Which kinds of edits to undo after a 400 whose decoded body is `error`; empty where it is none of our edits' doing.

    Only the first refusal is read: one that names `cache_control` costs the marker edits, one that names `tools` all edits. The
    second costs all edits, whatever it says. An error about the order of lifetimes names `tools` too, in passing, so markers
    come first.
    """
    made = frozenset(edit.kind for edit in edits)
    if first and made & MARKER_EDITS and b"cache_control" in error:
        return made & MARKER_EDITS
    return made if not first or b"tools" in error else frozenset()
