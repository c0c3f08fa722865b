"""What is undone after a 400."""

import pytest

from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.proxy.refusals import to_undo

TTL, MARKER, TOOLS = EditKind.TTL, EditKind.MARKER, EditKind.TOOLS


def _edits(*kinds: EditKind) -> list[Edit]:
    return [Edit(pointer="/x", start=0, end=0, kind=kind, before=b"", after=b"", reason="") for kind in kinds]


@pytest.mark.parametrize(
    ("made", "error", "first", "undone"),
    [
        ((TTL, MARKER, TOOLS), b"cache_control after `tools`", True, {TTL, MARKER}),
        ((TTL, TOOLS), b"tools.0: bad", True, {TTL, TOOLS}),
        ((TOOLS,), b"tools.0.cache_control", True, {TOOLS}),
        ((TOOLS,), b"messages.1.cache_control", True, set()),
        ((TTL,), b"prompt is too long", True, set()),
        ((TOOLS,), b"prompt is too long", False, {TOOLS}),
        ((), b"tools cache_control", True, set()),
        ((), b"tools", False, set()),
    ],
)
def test_to_undo(made: tuple[EditKind, ...], error: bytes, first: bool, undone: set[EditKind]) -> None:
    assert to_undo(_edits(*made), error, first=first) == undone
