"""New files for a person's eyes only."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def new_private(path: Path) -> Iterator[BinaryIO]:
    """A new file, mode 0600, to write to. Nothing that exists is overwritten or followed.

    Raises OSError where it can't be made, FileExistsError where something is there. What fails while it is open leaves no file.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def free_paths(directory: Path, name: str) -> Iterator[Path]:
    """Paths in `directory` to try for `name`, which may come from outside, one after the other until one is free.

    Everything but letters, digits, dot, dash and underscore is replaced; from the second one on a number is added.
    """
    stem, dot, suffix = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".").partition(".")
    yield directory / f"{stem}{dot}{suffix}"
    yield from (directory / f"{stem}-{number}{dot}{suffix}" for number in range(2, 10_000))


def write_private(directory: Path, name: str, data: bytes) -> Path:
    """Write `data` to a new file, mode 0600, in `directory` and return its path. Nothing that exists is overwritten or followed.

    `name` may come from outside, see `free_paths`. Raises OSError where it can't be written; no part of a file is left behind then.
    """
    for path in free_paths(directory, name):
        try:
            with new_private(path) as file:
                file.write(data)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{directory} holds thousands of files named {name}; remove some")
