"""Text of requests, made harmless for a terminal: nothing in it moves the cursor, changes colours or reorders a line.

What is drawn is plain text and never parsed as markup. One character in gives one out, so that positions found in the original
hold in what is shown.
"""

import re
import unicodedata
from functools import lru_cache

_REPLACEMENT = "\ufffd"
_UNUSUAL = re.compile(r"[\ufe00-\ufe0f\u034f\u115f\u1160\u3164\uffa0]")
"""Printable by name, but without a glyph or of a width on which terminals disagree."""
_WIDE = re.compile("[\u1100-\u115f\u231a-\u231b\u23e9-\u23f3\u25fd-\u25fe\u2614-\u27bf\u2b1b-\u2b55\u2e80-\uffdc\U00016fe0-\U0003fffd]")


@lru_cache(4096)
def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return " " if character == "\t" else chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if _UNUSUAL.match(character):
        return _REPLACEMENT
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return _REPLACEMENT


def safe(text: str) -> str:
    """`text` with control, format, bidirectional, surrogate and unassigned characters replaced by visible ones, one for one.

    C0 controls become their pictures (`\u241b` for escape), a tab and odd spaces a blank, everything else that has no glyph U+FFFD.
    """
    if text.isascii():
        if text.isprintable():
            return text
    elif text.isprintable() and not _UNUSUAL.search(text):
        return text
    return "".join(map(_shown, text))


def one_line(text: str, limit: int = 400) -> str:
    """The first `limit` characters of `text`, runs of white space as one blank, safe."""
    if len(text) > limit:
        text = text[:limit]
    return safe(" ".join(text.split()))


def may_be_wide(text: str) -> bool:
    """Whether `text` may hold characters that take two columns. False is certain, True is not."""
    return not text.isascii() and _WIDE.search(text) is not None
