"""Edits of a request body: byte spans, never re-serialised documents."""

from enum import StrEnum

import msgspec


class EditKind(StrEnum):
    """What an edit touches."""

    TTL = "ttl"
    """The lifetime inside an existing marker."""
    MARKER = "marker"
    """A whole `cache_control` member, added."""
    TOOLS = "tools"
    """The value of a tools array."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One replaced stretch of a body."""

    pointer: str
    """JSON pointer (RFC 6901) of the value that was replaced or added."""
    start: int
    """First byte of the replaced stretch in the body as it came."""
    end: int
    """One past its last byte; equal to `start` for an insertion."""
    kind: EditKind
    before: bytes
    """The bytes that stood there."""
    after: bytes
    """The bytes that stand there now."""
    reason: str
    """Reason code, see `core.reasons`."""


def apply_edits(body: bytes, edits: tuple[Edit, ...]) -> bytes:
    """Return `body` with every edit made; bytes outside the spans are copied as they are.

    Raises ValueError where two edits overlap, or where `before` is not what stands in the body.
    """
    if not edits:
        return body
    # A body may be megabytes long: its stretches are copied once, into the result.
    view = memoryview(body)
    pieces: list[bytes | memoryview] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < position or edit.end < edit.start or edit.end > len(body):
            raise ValueError(f"edit of {edit.pointer} at {edit.start}:{edit.end} overlaps another or leaves the body")
        if body[edit.start : edit.end] != edit.before:
            raise ValueError(f"edit of {edit.pointer}: the body does not hold the expected bytes at {edit.start}:{edit.end}")
        pieces.append(view[position : edit.start])
        pieces.append(edit.after)
        position = edit.end
    pieces.append(view[position:])
    return b"".join(pieces)
