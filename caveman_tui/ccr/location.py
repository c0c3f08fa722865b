"""Where the shared store lies, and how much it may hold."""

import os
from pathlib import Path

from caveman_tui.ccr.errors import StoreError, StoreUnreachable

DEFAULT_BUDGET = 512 * 1024 * 1024
"""Bytes of payload, as in every Caveman tool."""

_MOST_DIGITS = 18
"""What still fits into the numbers of a file system."""


def default_path() -> Path:
    """`CAVEMAN_CCR_DB`, else `$CAVEMAN_HOME/ccr.db`, else `~/.caveman/ccr.db`. A `~` that means nobody's home stands as it is."""
    if given := os.environ.get("CAVEMAN_CCR_DB"):
        path = Path(given)
    else:
        path = Path(os.environ.get("CAVEMAN_HOME") or "~/.caveman") / "ccr.db"
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def expanded(path: Path) -> Path:
    """`path` with a leading `~` replaced. Raises StoreUnreachable where nobody's home directory is known by that name."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise StoreUnreachable(
            f"the recovery store {path} cannot be opened: there is no home directory '{path.parts[0]}'",
            "name another file, with --store or CAVEMAN_CCR_DB",
        ) from None


def budget() -> int:
    """`CAVEMAN_CCR_MAX_BYTES`, else 512 MiB. Raises StoreError where it is no positive whole number."""
    given = os.environ.get("CAVEMAN_CCR_MAX_BYTES", "").strip()
    if not given:
        return DEFAULT_BUDGET
    if not (given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS and int(given) > 0):
        shown = given if len(given) <= _MOST_DIGITS else given[:_MOST_DIGITS] + "…"
        raise StoreError(f"CAVEMAN_CCR_MAX_BYTES is {shown!r}", "set it to a positive number of bytes, or unset it")
    return int(given)
