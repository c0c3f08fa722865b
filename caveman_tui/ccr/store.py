"""The store itself: put, get, list, search, count and delete, each call a short transaction of its own."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from caveman_tui.ccr import damage, location, objects, permissions, schema
from caveman_tui.ccr.connections import Connections
from caveman_tui.ccr.errors import (
    HandleUnknown,
    NotOurs,
    OriginalDamaged,
    OverBudget,
    StoreDiskFull,
    StoreError,
    StoreLocked,
    StoreReadOnly,
    StoreUnreachable,
)
from caveman_tui.ccr.handles import handle_of, is_object, parse_handle
from caveman_tui.ccr.records import Record, Recovered, StoreStats

BUSY_SECONDS = 5.0
"""How long a call waits for another process before it gives up."""

_RECORD_COLUMNS = (
    "CAST(handle AS TEXT), CAST(created_at AS TEXT), CAST(content_type AS TEXT), CAST(compressor AS TEXT), CAST(tokens_before AS INTEGER),"
    " CAST(tokens_after AS INTEGER), LENGTH(original), 0, '', 1"
)
"""SQLite takes any value in any column, and other tools write this table too."""


def open_store(path: Path | str | None = None, *, create: bool = True, busy_seconds: float = BUSY_SECONDS) -> "Store":
    """Open the recovery store at `path`, the shared default where it is None, and make it if it is missing and `create`.

    A file that can only be read is opened for reading; its puts raise StoreReadOnly. Raises a StoreError that says why it cannot
    be opened: StoreMissing, StoreUnsafe, StoreUnreachable, StoreLocked, StoreCorrupt, StoreForeign. A damaged file is left as it is.
    """
    asked = location.expanded(location.default_path() if path is None else Path(path))
    limit = location.budget()
    real = permissions.prepare(asked, create=create)
    writable = os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)
    connections = Connections(real, writable=writable, busy_seconds=busy_seconds)
    try:
        with connections.use() as connection:
            (schema.ensure if writable else schema.check)(connection)
    except BaseException:
        connections.close()
        raise
    return Store(connections, budget_bytes=limit)


class Store:
    """An open recovery store. Calls may come from any thread; `close` it, or use it in a `with`."""

    def __init__(self, connections: Connections, *, budget_bytes: int) -> None:
        self._connections = connections
        self._budget_bytes = budget_bytes

    @property
    def path(self) -> Path:
        """The database file, its directory resolved."""
        return self._connections.path

    @property
    def writable(self) -> bool:
        """False where the file could only be opened for reading."""
        return self._connections.writable

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connections.close()

    def put(
        self,
        original: bytes,
        *,
        content_type: str,
        compressor: str,
        tokens_before: int,
        tokens_after: int,
        metadata: bytes | None = None,
    ) -> str:
        """Store `original` and return its handle once it is committed and synced to disk. 0 tokens means not measured.

        Storing the same bytes again keeps one row and moves its time; the first metadata that is not empty stays, and counts that
        nobody measured never replace measured ones. Where the row cannot be touched, the original that lies there is good enough.

        Raises OverBudget for a new original past the budget, StoreLocked after 5 seconds, StoreDiskFull, StoreReadOnly,
        StoreUnreachable, StoreCorrupt; in each case nothing was stored.
        """
        handle = handle_of(original)
        row = (_now(), content_type, compressor, tokens_before, tokens_after, metadata or None)
        try:
            with self._connections.write() as connection:
                self._put(connection, handle, original, row)
        except (StoreLocked, StoreDiskFull, StoreReadOnly, StoreUnreachable):
            if not self._holds(handle, original):
                raise
        return handle

    def set_tokens(self, handle: str, before: int, after: int) -> None:
        """Note the measured tokens of an original and of its shrunk form. Stores nothing: raises HandleUnknown where it is gone.

        Raises StoreLocked, StoreDiskFull, StoreReadOnly, StoreUnreachable and StoreCorrupt as `put` does.
        """
        handle = parse_handle(handle)
        with self._connections.write() as connection:
            update = "UPDATE recoveries SET tokens_before = ?, tokens_after = ? WHERE handle = ?"
            if connection.execute(update, (before, after, handle)).rowcount == 0:
                raise HandleUnknown(f"the store {self.path} holds nothing under {handle}")

    def get(self, handle: str) -> Recovered:
        """The original under `handle`, which may be written as people paste it, with its record.

        Raises HandleMalformed, HandleUnknown, and OriginalDamaged where the stored bytes do not have the right hash.
        """
        handle = parse_handle(handle)
        with self._connections.use() as connection:
            record = self._record(connection, handle)
            if record.is_object:
                return objects.recover(connection, handle, record)
            row = connection.execute("SELECT CAST(original AS BLOB) FROM recoveries WHERE handle = ?", (handle,)).fetchone()
            if row is None:
                raise HandleUnknown(f"{handle} was deleted just now")
            if handle_of(row[0]) != handle:
                raise OriginalDamaged(
                    f"{handle} is damaged: the {len(row[0])} bytes stored under it have another hash",
                    "run 'caveman-tui ccr check'; storing the same original again repairs it",
                )
            return Recovered(original=row[0], record=record, metadata=self._metadata(connection, handle))

    def record(self, handle: str) -> Record:
        """The record under `handle` without its bytes. Raises HandleMalformed and HandleUnknown."""
        with self._connections.use() as connection:
            return self._record(connection, parse_handle(handle))

    def list(self, search: str = "", *, limit: int = 100, offset: int = 0) -> tuple[Record, ...]:
        """Records, newest first, of originals and session objects. Reads no original unless `search` is given.

        `search` is looked for in handle, type, compressor and session, and inside the originals, as it stands and as JSON spells
        it; upper and lower case of ASCII letters are the same.
        """
        with self._connections.use() as connection:
            sources = [f"SELECT {_RECORD_COLUMNS} FROM recoveries{_matching('handle', 'content_type', 'compressor', blob='original')}"]
            if objects.present(connection):
                where = _matching("object_id", "object_type", "source", "session_id", blob="data")
                sources.append(f"SELECT {objects.RECORD_COLUMNS} FROM typed_objects{where}")
            if not search:
                sources = [source.partition(" WHERE ")[0] for source in sources]
            connection.create_function("ccr_holds", 1, _holder(search), deterministic=True)
            rows = connection.execute(f"{' UNION ALL '.join(sources)} ORDER BY 2 DESC, 1 LIMIT ? OFFSET ?", (max(limit, 0), max(offset, 0)))
            return tuple(_to_record(row) for row in rows)

    def stats(self) -> StoreStats:
        """Counts and sizes. Reads no original."""
        with self._connections.use() as connection:
            (originals,) = connection.execute("SELECT COUNT(*) FROM recoveries").fetchone()
            found = 0
            if objects.present(connection):
                (found,) = connection.execute("SELECT COUNT(*) FROM typed_objects").fetchone()
            return StoreStats(
                path=str(self.path),
                originals=originals,
                objects=found,
                payload_bytes=self._payload(connection),
                budget_bytes=self._budget_bytes,
            )

    def delete(self, handle: str) -> int:
        """Delete an original for good, a person's act: requests that name it can no longer be undone. Returns the bytes freed.

        The budget gets them back at once; the file keeps its size and fills the room again. Raises HandleUnknown, and NotOurs for
        a session object.
        """
        handle = parse_handle(handle)
        if is_object(handle):
            raise NotOurs(f"{handle} is a session object of another tool", "delete it with the tool that wrote it")
        with self._connections.write() as connection:
            extra = " + COALESCE(LENGTH(metadata), 0)" if "metadata" in schema.columns(connection, "recoveries") else ""
            row = connection.execute(f"SELECT LENGTH(original){extra} FROM recoveries WHERE handle = ?", (handle,)).fetchone()
            if row is None:
                raise HandleUnknown(f"the store {self.path} holds nothing under {handle}")
            connection.execute("DELETE FROM recoveries WHERE handle = ?", (handle,))
        # The journal still holds the deleted pages; where it can't be emptied now, a later checkpoint does it.
        with contextlib.suppress(StoreError), self._connections.use() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return int(row[0])

    def check(self, progress: Callable[[int, int], object] = lambda done, of: None) -> damage.CheckReport:
        """Read every original and compare its hash; ask SQLite about the file. Changes nothing.

        `progress` is called before each original with how many are done, of how many; what it raises ends the check.
        """
        return damage.check(self, self._connections, progress)

    def _put(self, connection: sqlite3.Connection, handle: str, original: bytes, row: tuple[Any, ...]) -> None:
        found = connection.execute("SELECT CAST(original AS BLOB) FROM recoveries WHERE handle = ?", (handle,)).fetchone()
        if found is None:
            self._check_budget(connection, len(original) + len(row[-1] or b""))
            connection.execute(
                "INSERT INTO recoveries (handle, original, created_at, content_type, compressor, tokens_before, tokens_after, metadata)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (handle, original, *row),
            )
            return
        if found[0] != original:
            if handle_of(found[0]) == handle:
                raise StoreError(f"two different originals share the handle {handle}; the first one stays")
            # The row was damaged, and here are the bytes that its handle promises.
            connection.execute("UPDATE recoveries SET original = ? WHERE handle = ?", (original, handle))
        created_at, content_type, compressor, tokens_before, tokens_after, metadata = row
        connection.execute("UPDATE recoveries SET created_at = ? WHERE handle = ?", (created_at, handle))
        connection.execute(
            "UPDATE recoveries SET content_type = ?, compressor = ?, tokens_before = ?, tokens_after = ?"
            " WHERE handle = ? AND (? > 0 OR tokens_before = 0)",
            (content_type, compressor, tokens_before, tokens_after, handle, tokens_before),
        )
        connection.execute("UPDATE recoveries SET metadata = ? WHERE handle = ? AND COALESCE(LENGTH(metadata), 0) = 0", (metadata, handle))

    def _check_budget(self, connection: sqlite3.Connection, added: int) -> None:
        used = self._payload(connection)
        if used + added > self._budget_bytes:
            raise OverBudget(
                f"the recovery store {self.path} holds {used} bytes, and {added} more would pass its budget of {self._budget_bytes}",
                "delete originals you no longer need ('caveman-tui ccr delete') or raise CAVEMAN_CCR_MAX_BYTES",
            )

    def _payload(self, connection: sqlite3.Connection) -> int:
        extra = " + COALESCE(LENGTH(metadata), 0)" if "metadata" in schema.columns(connection, "recoveries") else ""
        (used,) = connection.execute(f"SELECT COALESCE(SUM(LENGTH(original){extra}), 0) FROM recoveries").fetchone()
        if objects.present(connection):
            (more,) = connection.execute("SELECT COALESCE(SUM(LENGTH(data) + LENGTH(dependencies_json)), 0) FROM typed_objects").fetchone()
            used += more
        return int(used)

    def _holds(self, handle: str, original: bytes) -> bool:
        try:
            return self.get(handle).original == original
        except StoreError:
            return False

    def _record(self, connection: sqlite3.Connection, handle: str) -> Record:
        row = None
        if not is_object(handle):
            row = connection.execute(f"SELECT {_RECORD_COLUMNS} FROM recoveries WHERE handle = ?", (handle,)).fetchone()
        elif objects.present(connection):
            row = connection.execute(f"SELECT {objects.RECORD_COLUMNS} FROM typed_objects WHERE object_id = ?", (handle,)).fetchone()
        if row is None:
            raise HandleUnknown(
                f"the store {self.path} holds nothing under {handle}", "'caveman-tui ccr list' shows what it holds; --store names another"
            )
        return _to_record(row)

    def _metadata(self, connection: sqlite3.Connection, handle: str) -> bytes:
        if "metadata" not in schema.columns(connection, "recoveries"):
            return b""
        (found,) = connection.execute("SELECT CAST(metadata AS BLOB) FROM recoveries WHERE handle = ?", (handle,)).fetchone()
        return found or b""


def _to_record(row: tuple[Any, ...]) -> Record:
    handle, created_at, content_type, compressor, before, after, size, is_obj, session, verified = row
    measured = bool(before and before > 0)
    return Record(
        handle=handle,
        created_at=created_at,
        content_type=content_type,
        compressor=compressor,
        tokens_before=before if measured else None,
        tokens_after=after if measured else None,
        original_bytes=size,
        is_object=bool(is_obj),
        session=session,
        verified=bool(verified),
    )


def _matching(*names: str, blob: str) -> str:
    return " WHERE " + " OR ".join(f"ccr_holds({name})" for name in (*names, blob))


def _holder(search: str) -> Callable[[Any], bool]:
    """Whether a column's value holds the text, as UTF-8 or as ASCII-only JSON spells it."""
    spellings = {text.lower().encode("utf-8", "surrogatepass") for text in (search, json.dumps(search)[1:-1])}

    def holds(value: bytes | str | None) -> bool:
        if value is None:
            return False
        found = (value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)).lower()
        return any(spelling in found for spelling in spellings)

    return holds


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
