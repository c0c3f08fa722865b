"""Text cut and filled to a number of terminal columns."""

import unicodedata


def columns_of(text: str) -> int:
    """Columns that `text`, which has been through `safe`, takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` columns: filled with blanks, or cut with `…` at its end. `right` fills on the left."""
    if width <= 0:
        return ""
    length = columns_of(text)
    if length > width:
        room = width - 1
        kept = 0
        for character in text:
            room -= _columns(character)
            if room < 0:
                break
            kept += 1
        text = text[:kept] + "…"
        length = columns_of(text)
    blanks = " " * (width - length)
    return blanks + text if right else text + blanks


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me") else 1
