"""Where the shared store lies, and how much it may hold."""

import os
from pathlib import Path

from caveman_tui.ccr.errors import StoreError

DEFAULT_BUDGET = 512 * 1024 * 1024
"""Bytes of payload, as in every Caveman tool."""


def default_path() -> Path:
    """`CAVEMAN_CCR_DB`, else `$CAVEMAN_HOME/ccr.db`, else `~/.caveman/ccr.db`."""
    if given := os.environ.get("CAVEMAN_CCR_DB"):
        return Path(given).expanduser()
    home = os.environ.get("CAVEMAN_HOME")
    return (Path(home).expanduser() if home else Path.home() / ".caveman") / "ccr.db"


def budget() -> int:
    """`CAVEMAN_CCR_MAX_BYTES`, else 512 MiB. Raises StoreError where it is no positive whole number."""
    given = os.environ.get("CAVEMAN_CCR_MAX_BYTES", "").strip()
    if not given:
        return DEFAULT_BUDGET
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise StoreError(f"CAVEMAN_CCR_MAX_BYTES is {given!r}", "set it to a positive number of bytes, or unset it")
    return int(given)
