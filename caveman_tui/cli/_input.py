"""Reading a whole document from a file or from standard input, for commands that stand in pipes."""

import sys
from pathlib import Path
from typing import BinaryIO

import click

STDIN_LIMIT_BYTES = 32 * 1024 * 1024
"""Most that is read from standard input."""


class InputTooLarge(click.ClickException):
    """More bytes than the limit; nothing was written to standard output. Exit code 1."""

    exit_code = 1


class InputUnreadable(click.UsageError):
    """A file that is missing, a directory, or may not be read. Exit code 2."""


def read_input(source: str, limit: int = STDIN_LIMIT_BYTES) -> bytes:
    """All bytes of the file `source`, or of standard input where it is `-`; standard input is capped at `limit` bytes.

    Raises InputTooLarge where standard input is longer, InputUnreadable where a file can't be read.
    """
    if source == "-":
        return _read_capped(sys.stdin.buffer, limit)
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InputUnreadable(
            f"Cannot read '{source}': {error.strerror or error}. Name a file that exists, or '-' for standard input."
        ) from error


def write_bytes(data: bytes) -> None:
    """Put `data` on standard output as it is, without a newline added or translated."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def note(text: str) -> None:
    """One line on standard error."""
    print(text, file=sys.stderr)


def _read_capped(stream: BinaryIO, limit: int) -> bytes:
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise InputTooLarge(
            f"cave_input_too_large: standard input holds more than {limit // (1024 * 1024)} MiB; nothing was read further or written. "
            "Give the document as a file instead."
        )
    return data
