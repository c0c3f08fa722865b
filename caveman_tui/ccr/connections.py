"""Connections to the store's file: opened when needed, lent to one thread at a time, dropped when the file is another one."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from caveman_tui.ccr import schema
from caveman_tui.ccr.errors import NO_ROOM_FOR_SHARED_MEMORY, StoreError, StoreMissing, StoreReadOnly, from_sqlite
from caveman_tui.ccr.permissions import identity

_WAL_RETRY_SECONDS = 0.02


def _text(value: bytes) -> str:
    """Text of another tool may be anything; one odd row must not hide the others."""
    return value.decode(errors="replace")


class Connections:
    """A small pool over one file. Every use is lent a connection of its own, so a writer that waits never keeps a reader waiting."""

    def __init__(self, path: Path, *, writable: bool, busy_seconds: float) -> None:
        self.path = path
        self.writable = writable
        self._busy_seconds = busy_seconds
        self._idle: list[tuple[sqlite3.Connection, tuple[int, int] | None]] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """A connection in autocommit mode for the length of a `with`. SQLite's errors come out as StoreError."""
        try:
            connection, at = self._take()
            try:
                yield connection
            except sqlite3.Error:
                connection.close()
                raise
            except BaseException:
                self._give_back(connection, at)
                raise
            self._give_back(connection, at)
        except sqlite3.Error as error:
            raise from_sqlite(error, self.path) from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A connection inside `BEGIN IMMEDIATE`, committed and synced at the end of the `with`, rolled back on an exception."""
        if not self.writable:
            raise StoreReadOnly(f"the recovery store {self.path} cannot be written", "check the permissions of the file and its directory")
        with self.use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close what is idle; what is lent out is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _take(self) -> tuple[sqlite3.Connection, tuple[int, int] | None]:
        """A connection and the file it was opened on; None for the file where it is not to be kept for the next use."""
        now_at = identity(self.path)
        if now_at is None:
            raise StoreMissing(f"the recovery store {self.path} is gone", "restart this program to begin a new one")
        stale = []
        found = None
        with self._lock:
            if self._closed:
                raise StoreError("the recovery store was closed by this program")
            while self._idle and found is None:
                connection, at = self._idle.pop()
                if at == now_at:
                    found = connection
                else:
                    stale.append(connection)
        for connection in stale:
            connection.close()
        if found is not None:
            return found, now_at
        try:
            return self._open(), now_at
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in NO_ROOM_FOR_SHARED_MEMORY:
                raise
            return self._open(alone=True), None

    def _give_back(self, connection: sqlite3.Connection, at: tuple[int, int] | None) -> None:
        with self._lock:
            if not self._closed and at is not None:
                self._idle.append((connection, at))
                return
        connection.close()

    def _open(self, *, alone: bool = False) -> sqlite3.Connection:
        """A new connection. One that is `alone` keeps all others out, and needs no room on the disk for the memory shared with them."""
        if not self.writable:
            return self._open_read_only()
        connection = self._connect("mode=rw")
        try:
            if alone:
                connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchone()
            schema.refuse_foreign(connection)
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self) -> sqlite3.Connection:
        connection = self._connect("mode=ro")
        try:
            connection.execute("PRAGMA schema_version").fetchone()
            return connection
        except sqlite3.OperationalError:
            connection.close()
            # WAL wants its -shm file, which nobody can make in a read-only directory. Without a journal the file is all there is.
            journal = self.path.with_name(self.path.name + "-wal")
            if journal.exists() and journal.stat().st_size:
                raise
        return self._connect("mode=ro&immutable=1")

    def _connect(self, query: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?{query}", uri=True, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = _text
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # SQLite does not wait for its lock when it changes the journal mode, so two first openers need a loop.
        deadline = time.monotonic() + self._busy_seconds
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode=WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_WAL_RETRY_SECONDS)
