"""New files for a person's eyes only."""

import os
import re
from pathlib import Path


def write_private(directory: Path, name: str, data: bytes) -> Path:
    """Write `data` to a new file, mode 0600, in `directory` and return its path. Nothing that exists is overwritten or followed.

    `name` may come from outside: everything but letters, digits, dot, dash and underscore is replaced. Where the name is taken, a
    number is added. Raises OSError where it can't be written; no part of a file is left behind then.
    """
    stem, dot, suffix = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".").partition(".")
    for number in range(1, 10_000):
        path = directory / (f"{stem}{dot}{suffix}" if number == 1 else f"{stem}-{number}{dot}{suffix}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path
    raise FileExistsError(f"{directory} holds thousands of files named {stem}; remove some")
