"""Disks that fail under the recovery store and the state file, as far as a test can make them."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.ccr import open_store

Trouble = Callable[[Path], AbstractAsyncContextManager[dict[str, Any]]]
"""Given a directory of its own, makes the trouble for as long as it is open; gives further fields of WorkerConfig."""


@dataclass(frozen=True)
class DiskCase:
    """A disk that fails while a request with tools is to be shrunk."""

    name: str
    trouble: Trouble
    warning: str = ""
    """Code of the warning that the exchange, or the worker, then carries; empty where nothing is wrong."""

    @property
    def edited(self) -> bool:
        """Whether the tools go out shrunk, which they may only once their original is stored."""
        return self.warning in {"", "state-not-kept"}


@contextlib.asynccontextmanager
async def sound(directory: Path) -> AsyncIterator[dict[str, Any]]:
    yield {"store_path": str(directory / "ccr.db")}


@contextlib.asynccontextmanager
async def full(directory: Path) -> AsyncIterator[dict[str, Any]]:
    """A small file system without a free byte; where none can be mounted, SQLite's own limit, which fails in the same way."""
    with _mounted(directory, "size=1m") as disk:
        path = (disk or directory) / "ccr.db"
        with open_store(path) as keeps_the_journal:
            keeps_the_journal.put(b"old", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
            if disk:
                with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
                    while True:
                        ballast.write(b"\0" * 4096)
                yield {"store_path": str(path)}
            else:
                with _each_connection("PRAGMA max_page_count=1"):
                    yield {"store_path": str(path)}


@contextlib.asynccontextmanager
async def read_only(directory: Path) -> AsyncIterator[dict[str, Any]]:
    """A file system that is mounted for reading; where none can be mounted, connections that may not write."""
    with _mounted(directory, "size=1m") as disk:
        path = (disk or directory) / "ccr.db"
        open_store(path).close()
        if disk:
            _mount("-o", "remount,ro", str(disk))
            yield {"store_path": str(path)}
        else:
            with _each_connection("PRAGMA query_only=1"):
                yield {"store_path": str(path)}


@contextlib.asynccontextmanager
async def locked(directory: Path) -> AsyncIterator[dict[str, Any]]:
    """Another program writes and does not come to an end."""
    path = directory / "ccr.db"
    open_store(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield {"store_path": str(path)}
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextlib.asynccontextmanager
async def corrupt(directory: Path) -> AsyncIterator[dict[str, Any]]:
    path = directory / "ccr.db"
    path.write_bytes(b"this is no database, and was one yesterday. " * 200)
    yield {"store_path": str(path)}
    assert path.read_bytes().startswith(b"this is no database"), "a file that may be mended must not be replaced"


@contextlib.asynccontextmanager
async def no_state(directory: Path) -> AsyncIterator[dict[str, Any]]:
    """The state directory can't be made: a file is in its place."""
    blocked = directory / "state"
    blocked.write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAVEMAN_TUI_STATE", str(blocked / "here"))
        yield {"store_path": str(directory / "ccr.db")}


DISKS = (
    DiskCase("sound", sound),
    DiskCase("full", full, "store-disk-full"),
    DiskCase("read-only", read_only, "store-read-only"),
    DiskCase("locked by another program", locked, "store-slow"),
    DiskCase("corrupt store", corrupt, "store-corrupt"),
    DiskCase("no state directory", no_state, "state-not-kept"),
)


@contextlib.contextmanager
def _mounted(directory: Path, options: str) -> Iterator[Path | None]:
    """A file system in memory, None where this user can't mount one."""
    place = directory / "disk"
    place.mkdir()
    if not _mount("-t", "tmpfs", "-o", options, "tmpfs", str(place)):
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def _mount(*arguments: str) -> bool:
    """Whether it worked."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def _each_connection(statement: str) -> Iterator[None]:
    connect = sqlite3.connect

    def limited(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        connection.execute(statement)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", limited)
        yield
