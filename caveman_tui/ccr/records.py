"""What the store says about what it holds."""

import msgspec

TOOLSCHEMA = "toolschema"
"""Content type of a shrunk tool catalog."""

COMPRESSOR = "caveman-tui"
"""What we call ourselves in the records of catalogs that we shrank."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a stored original except its bytes."""

    handle: str
    created_at: str
    """UTC, RFC 3339 with a fraction; moves when the same original is stored again."""
    content_type: str
    """For a session object, its type."""
    compressor: str = ""
    """What shortened it; for a session object, its source."""
    tokens_before: int | None = None
    """Inferred, None where nobody measured."""
    tokens_after: int | None = None
    original_bytes: int
    """Length of the bytes the store holds."""
    is_object: bool = False
    """A session object of another tool: it can be recovered, not stored or deleted from here."""
    session: str = ""
    verified: bool = True
    """False for a session object that was stored shorter than its original: no hash of ours can vouch for it."""


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """An original with its record. `original` has the hash that the handle, or the object's record, promises."""

    original: bytes
    record: Record
    metadata: bytes = b""


class StoreStats(msgspec.Struct, frozen=True, kw_only=True):
    """How full the store is."""

    path: str
    originals: int
    objects: int
    payload_bytes: int
    """Originals, metadata and session objects of all tools: what the budget counts."""
    budget_bytes: int
