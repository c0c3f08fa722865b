"""Session objects, which other tools write beside the originals. They are listed and recovered here, never written."""

import hashlib
import sqlite3

from caveman_tui.ccr.errors import HandleUnknown, OriginalDamaged
from caveman_tui.ccr.records import Record, Recovered
from caveman_tui.ccr.schema import columns

NEEDED = frozenset(
    {
        "object_id",
        "object_type",
        "content_hash",
        "source",
        "created_at",
        "session_id",
        "dependencies_json",
        "original_byte_length",
        "stored_byte_length",
        "data",
    }
)
"""Columns that are read; a table without them is left alone as unknown."""

RECORD_COLUMNS = (
    "COALESCE(CAST(object_id AS TEXT), ''), COALESCE(CAST(created_at AS TEXT), ''), COALESCE(CAST(object_type AS TEXT), ''),"
    " COALESCE(CAST(source AS TEXT), ''), NULL, NULL, COALESCE(LENGTH(data), 0), 1, COALESCE(CAST(session_id AS TEXT), ''),"
    " COALESCE(original_byte_length = stored_byte_length, 0)"
)
"""What a record of an object is made of, in the order in which the store selects the columns of an original's record. Any of it may
be missing in what another tool wrote."""


def present(connection: sqlite3.Connection) -> bool:
    """Whether the file holds session objects in the shared format."""
    return columns(connection, "typed_objects") >= NEEDED


def recover(connection: sqlite3.Connection, handle: str, record: Record) -> Recovered:
    """The data of an object whose record was read. Raises OriginalDamaged where length or hash is not the recorded one."""
    row = connection.execute(
        "SELECT COALESCE(CAST(data AS BLOB), x''), COALESCE(CAST(content_hash AS TEXT), ''), stored_byte_length FROM typed_objects"
        " WHERE object_id = ?",
        (handle,),
    ).fetchone()
    if row is None:
        raise HandleUnknown(f"the store holds nothing under {handle}")
    data, content_hash, stored_length = row
    if len(data) != stored_length:
        raise OriginalDamaged(
            f"{handle} is damaged: {len(data)} bytes where {stored_length or 'an unknown number'} were stored",
            "recover it from its session",
        )
    if record.verified and content_hash.lower() != "sha256:" + hashlib.sha256(data).hexdigest():
        raise OriginalDamaged(f"{handle} is damaged: its bytes do not have the recorded hash", "recover it from its session")
    return Recovered(original=data, record=record)
