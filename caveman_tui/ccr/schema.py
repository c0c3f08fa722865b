"""The tables of the store, a format shared with other tools: nothing is added to it that they would not ignore."""

import sqlite3

from caveman_tui.ccr.errors import StoreForeign

_RECOVERIES = """
CREATE TABLE IF NOT EXISTS recoveries (
    handle TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    content_type TEXT NOT NULL,
    compressor TEXT NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    original BLOB NOT NULL,
    metadata BLOB
)
"""

_REQUIRED = frozenset({"handle", "created_at", "content_type", "compressor", "tokens_before", "tokens_after", "original"})

_SHOWN = 5
_REMEDY = "name another file, with --store or CAVEMAN_CCR_DB"


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Names of the columns of `table`, empty where there is no such table."""
    return frozenset(row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def ensure(connection: sqlite3.Connection) -> None:
    """Make the table of originals, and the metadata column that older files lack; write only where something is missing.

    Raises StoreForeign where a table of that name lacks what the format asks for, sqlite3.Error as it comes.
    """
    if "metadata" not in columns(connection, "recoveries"):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(_RECOVERIES)
            # Asked again under the lock: another process may have been quicker.
            if "metadata" not in columns(connection, "recoveries"):
                connection.execute("ALTER TABLE recoveries ADD COLUMN metadata BLOB")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    check(connection)


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise StoreForeign for a database that is something else, before anything in it is changed. An empty file may become a store."""
    tables = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    if ("recoveries", "table") in tables:
        check(connection)
    elif tables and ("typed_objects", "table") not in tables:
        names = ", ".join(sorted(name for name, _ in tables)[:_SHOWN])
        raise StoreForeign(f"the file is a database of something else (it holds {names}), no recovery store", _REMEDY)


def check(connection: sqlite3.Connection) -> None:
    """Raise StoreForeign where the file has no table of originals in the shared format."""
    if lacking := _REQUIRED - columns(connection, "recoveries"):
        raise StoreForeign(f"the table 'recoveries' lacks {', '.join(sorted(lacking))}: this is no recovery store", _REMEDY)
