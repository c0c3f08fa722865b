"""What can go wrong with the recovery store, each with a stable code and the next step."""

import sqlite3
from pathlib import Path
from typing import ClassVar


class StoreError(Exception):
    """Base of the store's errors. `str()` is what happened and what to do next, in one line."""

    code: ClassVar[str] = "store-failed"
    """Stable name for events, reports and scripts."""

    def __init__(self, what: str, todo: str = "") -> None:
        super().__init__(what, todo)
        self.what = what
        """What happened, with the value that was wrong."""
        self.todo = todo
        """What a person can do about it."""

    def __str__(self) -> str:
        return f"{self.what}; {self.todo}" if self.todo else self.what


class HandleMalformed(StoreError):
    """The text is no recovery handle."""

    code = "handle-malformed"


class HandleUnknown(StoreError):
    """The store holds nothing under the handle."""

    code = "handle-unknown"


class OriginalDamaged(StoreError):
    """What the store holds under the handle does not have the handle's hash. Its bytes are never handed out."""

    code = "original-damaged"


class NotOurs(StoreError):
    """A session object belongs to the tool that wrote it: it can be read here, not changed."""

    code = "not-ours"


class OverBudget(StoreError):
    """The original is new and would pass the payload budget. What is stored already still resolves."""

    code = "store-over-budget"


class StoreMissing(StoreError):
    """There is no store at the path, and none was to be made."""

    code = "store-missing"


class StoreUnsafe(StoreError):
    """The path could be somebody else's: a symlink, no regular file, another owner, or a directory that others can write to."""

    code = "store-unsafe"


class StoreForeign(StoreError):
    """A sound database that is no recovery store. It belongs to something else and is left alone."""

    code = "store-foreign"


class StoreUnreachable(StoreError):
    """The file or its directory cannot be opened."""

    code = "store-unreachable"


class StoreReadOnly(StoreError):
    """The file can be read but not written."""

    code = "store-read-only"


class StoreLocked(StoreError):
    """Another process held the store for longer than we wait."""

    code = "store-locked"


class StoreDiskFull(StoreError):
    """The disk, or the limit that another tool set on the file, leaves no room."""

    code = "store-disk-full"


class StoreCorrupt(StoreError):
    """SQLite cannot make sense of the file."""

    code = "store-corrupt"


_CHECK = "run 'caveman-tui ccr check' and, once nothing else uses the file, 'caveman-tui ccr check --set-aside'"


NO_ROOM_FOR_SHARED_MEMORY = frozenset({"SQLITE_IOERR_SHMSIZE"})
"""Names of SQLite's error for a full disk that leaves no room for the index of the journal."""


def from_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    """The error of ours that says what an SQLite error at `path` means."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreLocked(f"the recovery store {path} is locked by another process", "try again once that process is done")
    if name.startswith("SQLITE_FULL") or name in NO_ROOM_FOR_SHARED_MEMORY:
        return StoreDiskFull(f"no room left to write the recovery store {path}", "free some disk space")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreCorrupt(f"the recovery store {path} is damaged ({error})", _CHECK)
    if name.startswith("SQLITE_READONLY"):
        return StoreReadOnly(f"the recovery store {path} cannot be written", "check the permissions of the file and its directory")
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreUnreachable(
            f"the recovery store {path} cannot be opened ({error})", "check the permissions of the file and its directory"
        )
    if name.startswith("SQLITE_IOERR"):
        return StoreUnreachable(f"the disk refused to read or write the recovery store {path} ({name})", "check the disk and its limits")
    if name.startswith("SQLITE_CONSTRAINT"):
        return StoreForeign(
            f"the recovery store {path} asks for more than the shared format has ({error})",
            "name another file, with --store or CAVEMAN_CCR_DB",
        )
    return StoreError(f"the recovery store {path} failed: {error} {f'({name})' if name else ''}".rstrip(), _CHECK)


def from_os(error: OSError, path: Path) -> StoreError:
    """The error of ours for a failed system call on the way to `path`."""
    return StoreUnreachable(f"the recovery store {path} cannot be opened: {error.strerror or error}", "check the path and its permissions")
