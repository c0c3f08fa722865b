"""Files of the worker's state directory: replaced as a whole, and removed once nothing in them can matter any more."""

import contextlib
import os
import time
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Give the file this content, 0600: a crash leaves the file before or the file after. Raises OSError, and then nothing changed."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


def remove_lapsed(directory: Path, pattern: str, *, seconds: float, most_files: int, most_bytes: int) -> None:
    """Remove what was not written or touched for `seconds`, and the oldest of what is over the limits; never raises.

    With each name that fits the pattern goes what a killed process left of a replacement.
    """
    found: list[tuple[float, int, Path]] = []
    with contextlib.suppress(OSError):
        for path in (*directory.glob(pattern), *directory.glob(f".{pattern}.*")):
            with contextlib.suppress(OSError):
                info = path.stat()
                found.append((info.st_mtime, info.st_size, path))
    oldest = time.time() - seconds
    size = 0
    for files, (written_at, length, path) in enumerate(sorted(found, reverse=True), 1):
        size += length
        if written_at < oldest or files > most_files or size > most_bytes:
            with contextlib.suppress(OSError):
                path.unlink()
