"""Standard streams and files, for commands that stand in pipes: reading a whole document, writing one."""

import contextlib
import errno
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

import click
import msgspec

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")

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


class OutputFailed(click.ClickException):
    """Standard output took no more bytes. Exit code 1."""

    exit_code = 1


def open_standard_streams() -> None:
    """Give the process the standard streams that its caller closed, leading nowhere, and make standard output take any text.

    Without them the next files to be opened would get their numbers, and what is printed would land in those.
    """
    sys.stdin = sys.stdin or _nowhere(0, os.O_RDONLY)
    sys.stdout = sys.stdout or _nowhere(1, os.O_WRONLY)
    sys.stderr = sys.stderr or _nowhere(2, os.O_WRONLY)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextlib.contextmanager
def output_errors() -> Iterator[None]:
    """Turn a failure of standard output into OutputFailed; a reader that has left ends the command silently, as click does it."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        # What is still buffered would fail again, with a traceback, when the interpreter ends.
        with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise OutputFailed(f"Standard output cannot be written: {error.strerror or error}. What was written is not all of it.") from None


def write_bytes(data: bytes) -> None:
    """Put `data` on standard output as it is, without a newline added or translated. Raises OutputFailed."""
    with output_errors():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def write_harmless(data: bytes, what: str) -> None:
    """As `write_bytes`, but onto a terminal only what it would not obey. Raises click.ClickException, OutputFailed."""
    if sys.stdout.isatty() and _CONTROL.search(data):
        raise click.ClickException(f"{what} holds control characters, which a terminal would obey. Use -o FILE, or a pipe.")
    write_bytes(data)


def write_json(document: msgspec.Struct) -> None:
    """Put `document` on standard output as one line of JSON, whatever its texts hold. Raises OutputFailed."""
    write_bytes(json_line(document).encode() + b"\n")


def json_line(document: msgspec.Struct) -> str:
    """`document` as one line of JSON. Half a surrogate pair, which JSON can spell and UTF-8 can't, is spelled with its escape."""
    try:
        return msgspec.json.encode(document).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(document), separators=(",", ":"))


def note(text: str) -> None:
    """One line on standard error."""
    print(text, file=sys.stderr)


def _nowhere(descriptor: int, flags: int) -> TextIO:
    """A text stream on the null device under `descriptor`, which is closed or another file by now."""
    opened = os.open(os.devnull, flags)
    if opened != descriptor:
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(opened, descriptor)
            os.close(opened)
            opened = descriptor
    return os.fdopen(opened, "r" if flags == os.O_RDONLY else "w", encoding="utf-8")


def _read_capped(stream: BinaryIO, limit: int) -> bytes:
    try:
        data = stream.read(limit + 1)
    except OSError as error:
        raise InputUnreadable(f"Cannot read standard input: {error.strerror or error}. Name a file instead.") from error
    if len(data) > limit:
        raise InputTooLarge(
            f"cave_input_too_large: standard input holds more than {limit // (1024 * 1024)} MiB; nothing was read further or written. "
            "Give the document as a file instead."
        )
    return data
