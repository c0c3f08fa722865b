"""Changes of cache markers as byte edits: only a lifetime's value, or one added member, ever changes."""

import msgspec

from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.core.json_spans import JsonDocument, Span
from caveman_tui.core.json_tree import Path, json_pointer


class MarkerChange(msgspec.Struct, frozen=True, kw_only=True):
    """What should stand in a marker."""

    path: Path
    """The block that carries it, empty for the automatic marker."""
    ttl: str
    reason: str
    adds: bool = False
    """Whether the block carries no marker yet (`cache_control: null` is none)."""


class RepeatedKey(ValueError):
    """A key stands twice on the way to a marker. `pointer` is the marker's."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.pointer = pointer


def marker_edit(document: JsonDocument, change: MarkerChange) -> Edit:
    """The byte edit that makes a change.

    A lifetime is replaced in place, or added at the end of a bare marker; a whole marker is added at the end of its block, or takes
    the place of a null. Raises RepeatedKey where a key on the way repeats.
    """
    control = (*change.path, "cache_control")
    if change.adds:
        return _put(
            document, change, change.path, "cache_control", b'{"type":"ephemeral","ttl":"%b"}' % change.ttl.encode(), EditKind.MARKER
        )
    return _put(document, change, control, "ttl", b'"%b"' % change.ttl.encode(), EditKind.TTL)


def _put(document: JsonDocument, change: MarkerChange, owner: Path, key: str, value: bytes, kind: EditKind) -> Edit:
    """Set member `key` of the object at `owner`: its value where the key stands there, else a new last member."""
    pointer = json_pointer((*owner, key))
    place = document.locate(owner)
    if place.repeats:
        raise RepeatedKey(pointer)
    spans = document.members_of(place.span).spans
    if key in spans:
        span, after = spans[key], value
    else:
        last = max((member.end for member in spans.values()), default=place.span.start + 1)
        span, after = Span(last, last), b'%b"%b":%b' % (b"," if spans else b"", key.encode(), value)
    return Edit(
        pointer=pointer,
        start=span.start,
        end=span.end,
        kind=kind,
        before=document.body[span.start : span.end],
        after=after,
        reason=change.reason,
    )
