"""Taking credentials out of what leaves the machine's memory.

Headers lose theirs in the worker, by their names. Bodies and addresses have no such names: people paste keys into prompts, and tools
print environments. So what looks like a key is replaced, wherever it stands: the prefixes below are those that providers gave their
keys to be found by, and nothing else is touched. A password without such a form can't be told from text and stays.
"""

import re

from caveman_tui.protocol.control import REDACTED

_REPLACEMENT = REDACTED.encode()
_BEFORE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
"""A key begins where no word goes on; in JSON the last letter of an escape may stand there."""
_RULES: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (mark, re.compile(pattern))
    for mark, pattern in (
        # A digit tells a key from words joined by dashes.
        (b"sk-", _BEFORE + rb"sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,}"),
        (b"earer", _BEFORE + rb"(?<=[Bb]earer )(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,}"),
        (b"gh", _BEFORE + rb"gh[opsur]_[A-Za-z0-9]{30,}"),
        (b"github_pat_", _BEFORE + rb"github_pat_[A-Za-z0-9_]{30,}"),
        (b"glpat-", _BEFORE + rb"glpat-[A-Za-z0-9_-]{20,}"),
        (b"xox", _BEFORE + rb"xox[a-z]-[A-Za-z0-9-]{20,}"),
        (b"AKIA", _BEFORE + rb"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
        (b"AIza", _BEFORE + rb"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
        (b"hf_", _BEFORE + rb"hf_[A-Za-z0-9]{30,}"),
        # Of a run of its letters it is tried at the beginning only: at every dash the time would grow with the square of the length.
        (b"eyJ", _BEFORE + rb"(?<![_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        (b"PRIVATE KEY-----", rb"(?<=PRIVATE KEY-----)[^-\"]{40,}(?=-----END )"),
    )
)
"""A text that stands in every match, which is fast to look for, and the pattern."""


def without_secrets(data: bytes) -> tuple[bytes, int]:
    """`data` with what looks like a key replaced, and how many there were. JSON stays JSON. Time is linear in the length."""
    replaced = 0
    for mark, pattern in _RULES:
        if mark in data:
            data, count = pattern.subn(_REPLACEMENT, data)
            replaced += count
    return data, replaced
