"""Damage: finding it, and setting a file aside that cannot be used any more."""

import fcntl
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from caveman_tui.ccr import location, permissions
from caveman_tui.ccr.connections import Connections
from caveman_tui.ccr.errors import HandleMalformed, HandleUnknown, OriginalDamaged, StoreCorrupt, StoreLocked, from_os

if TYPE_CHECKING:
    from caveman_tui.ccr.store import Store

_MOST_PROBLEMS = 20
_EVERYTHING = 2**31 - 1
_LOCK_BYTES = (0x40000000, 512)
"""Where SQLite keeps its locks in a database file: offset and length (SQLite, file locking and concurrency). Whoever has a
journalled store open holds a shared lock in there."""


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """One stored thing that cannot be recovered."""

    handle: str
    what: str


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a full check found."""

    checked: int
    """Originals and session objects whose bytes were read."""
    damaged: tuple[Damage, ...] = ()
    unverified: tuple[str, ...] = ()
    """Session objects that were stored shorter than their originals."""
    file_problems: tuple[str, ...] = ()
    """What SQLite says about the file itself."""

    @property
    def sound(self) -> bool:
        """Whether everything the store holds can be recovered."""
        return not self.damaged and not self.file_problems


def check(store: "Store", connections: Connections, progress: Callable[[int, int], object] = lambda done, of: None) -> CheckReport:
    """Read everything in `store` and compare hashes; `progress` is told before each how many are done, of how many.

    Raises StoreLocked or StoreUnreachable where it cannot be read at all.
    """
    checked: list[str] = []
    damaged: list[Damage] = []
    unverified: list[str] = []
    problems: list[str] = []
    try:
        with connections.use() as connection:
            rows = connection.execute(f"PRAGMA quick_check({_MOST_PROBLEMS})").fetchall()
        problems += [str(row[0]) for row in rows if row[0] != "ok"]
        records = store.list(limit=_EVERYTHING)
        for number, record in enumerate(records):
            progress(number, len(records))
            try:
                store.get(record.handle)
            except HandleUnknown:
                # Deleted since it was listed.
                continue
            except (OriginalDamaged, StoreCorrupt, HandleMalformed) as error:
                damaged.append(Damage(handle=record.handle, what=error.what))
            checked.append(record.handle)
            if not record.verified:
                unverified.append(record.handle)
    except StoreCorrupt as error:
        problems.append(error.what)
    return CheckReport(checked=len(checked), damaged=tuple(damaged), unverified=tuple(unverified), file_problems=tuple(problems))


def set_aside(path: Path) -> Path:
    """Rename a damaged store and its sidecars so that a new one can begin; return the new name. Nothing is deleted.

    A person's act, never the worker's. Call it from a process that has not opened the store: locks on a file are one process's
    together. Raises StoreLocked while another process has it open, StoreUnsafe, StoreMissing or StoreUnreachable as opening does.
    """
    path = permissions.prepare(location.expanded(path), create=False)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError as error:
        raise from_os(error, path) from error
    try:
        offset, length = _LOCK_BYTES
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, offset)
        except OSError:
            raise StoreLocked(f"another process has {path} open", "stop all Caveman tools ('caveman-tui stop') and try again") from None
        target = _free_name(path)
        for suffix in ("", *permissions.SIDECARS):
            part = path.with_name(path.name + suffix)
            if part.exists():
                part.rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise from_os(error, path) from error
    finally:
        os.close(descriptor)
    return target


def _free_name(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    candidate = path.with_name(f"{path.name}.aside-{stamp}")
    number = 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.aside-{stamp}-{number}")
    return candidate
