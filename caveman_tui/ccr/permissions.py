"""Who may touch the store: prompts and tool texts are in it, so the file is its owner's alone."""

import contextlib
import os
import stat
from pathlib import Path

from caveman_tui.ccr.errors import StoreMissing, StoreUnsafe, from_os

SIDECARS = ("-wal", "-shm")
"""Files that SQLite keeps beside the database."""


def prepare(path: Path, *, create: bool) -> Path:
    """Check `path`, tighten its file and sidecars to 0600, make what is missing if `create`; return it with its directory resolved.

    The directory is resolved once, so that a symlink on the way cannot point elsewhere between the check and SQLite's own open.
    Raises StoreUnsafe for a symlinked, foreign or irregular file and for a directory that others can write to without the sticky
    bit, StoreMissing where there is nothing and nothing is to be made, StoreUnreachable where the system refuses.
    """
    try:
        if create:
            _make_directory(path.parent)
        parent = path.parent.resolve(strict=True)
        _check_directory(parent)
        resolved = parent / path.name
        if create:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(resolved, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        _secure(resolved)
        for suffix in SIDECARS:
            with contextlib.suppress(FileNotFoundError):
                _secure(resolved.with_name(resolved.name + suffix))
    except FileNotFoundError:
        raise StoreMissing(f"there is no recovery store at {path}", "check --store and CAVEMAN_CCR_DB; shrinking makes one") from None
    except OSError as error:
        raise from_os(error, path) from error
    return resolved


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at `path`, None where there is none: a connection to another one writes into the void."""
    try:
        info = path.lstat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _make_directory(directory: Path) -> None:
    """Make `directory` and all that is missing above it, each 0700; leave alone what exists."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _check_directory(directory: Path) -> None:
    mode = directory.stat().st_mode
    if mode & (stat.S_IWGRP | stat.S_IWOTH) and not mode & stat.S_ISVTX:
        raise StoreUnsafe(f"other users can replace files in {directory} (mode {stat.S_IMODE(mode):04o})", f"run: chmod go-w {directory}")


def _secure(path: Path) -> None:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        raise StoreUnsafe(f"{path} is a symbolic link", "name the file itself, with --store or CAVEMAN_CCR_DB")
    if not stat.S_ISREG(info.st_mode):
        raise StoreUnsafe(f"{path} is no regular file", "name another path, with --store or CAVEMAN_CCR_DB")
    us = os.geteuid()
    if us != 0 and info.st_uid not in (us, 0):
        raise StoreUnsafe(f"{path} belongs to another user (uid {info.st_uid})", "name a file of yours, with --store or CAVEMAN_CCR_DB")
    if info.st_mode & 0o077:
        # A read-only disk keeps its modes; reading from it is still right.
        with contextlib.suppress(OSError):
            path.chmod(0o600)
