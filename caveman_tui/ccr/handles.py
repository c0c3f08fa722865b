"""Recovery handles: how they are made, and the spellings people paste."""

import hashlib
import re

from caveman_tui.ccr.errors import HandleMalformed

_ORIGINAL = re.compile(r"ccr_[0-9a-f]{32}")
_OBJECT = re.compile(r"ccr_obj_[A-Za-z0-9_.:-]{1,128}")
_SHOWN = 80


def handle_of(original: bytes) -> str:
    """`ccr_` and the first 16 bytes of the SHA-256 of `original`, in lower-case hex: 36 characters."""
    return "ccr_" + hashlib.sha256(original).digest()[:16].hex()


def parse_handle(text: str) -> str:
    """The bare handle in `text`, which may be written `<<ccr:HANDLE>>`, `ccr:HANDLE` or `ccr://HANDLE`.

    Raises HandleMalformed on anything else.
    """
    handle = text.strip()
    if handle.startswith("<<") and handle.endswith(">>"):
        handle = handle[2:-2].strip()
    for prefix in ("ccr://", "ccr:"):
        if handle.startswith(prefix):
            handle = handle[len(prefix) :]
            break
    if _OBJECT.fullmatch(handle):
        return handle
    if _ORIGINAL.fullmatch(handle.lower()):
        return handle.lower()
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    raise HandleMalformed(f"{shown!r} is no recovery handle", "a handle is 'ccr_' and 32 hex digits; 'caveman-tui ccr list' shows them")


def is_object(handle: str) -> bool:
    """Whether a bare handle names a session object of another tool."""
    return handle.startswith("ccr_obj_")
