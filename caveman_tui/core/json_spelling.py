"""How a value was written, where a common writer wrote it: then it can be edited as a tree and written again.

Writing the tree and getting the very bytes back from which it was read proves that the tree holds all that the bytes hold: no key
stands twice, and no number, escape or blank is other than the spelling has it. What is then taken out of the tree is missing in the
bytes, and nothing else has moved.
"""

import re
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.json_spans import is_deeper

_LARGEST = 1 << 16
_DEEPEST = 100
_WIDEST = 16
"""Bytes, levels, and blanks per level beyond which nothing is tried: they bound how much longer the attempt may be than what was read."""

_NON_ASCII_ESCAPE = re.compile(rb"\\u(?:007[fF]|(?!00[0-7])[0-9a-fA-F]{4})")
"""That of DEL too, which JSON lets stand and writers of ASCII escape."""
_SPACED = re.compile(rb'\{"[^"\\]*(?:\\.[^"\\]*)*": ')
"""An object whose first colon has a blank after it."""
_ESCAPED_IN_ASCII = re.compile(r"[^\x00-\x7e]")


class Spelling(NamedTuple):
    """One way to write any tree."""

    indent: int
    """Blanks per level on lines of their own; 0 is one line with a blank after each comma and colon, -1 one without."""
    margin: bytes
    """Blanks before each line but the first, of a value that stands inside a document."""
    ascii_only: bool
    """Whether all but ASCII is escaped."""

    def write(self, tree: Any) -> bytes:
        """Return `tree`, as msgspec decodes one, as JSON."""
        data = msgspec.json.encode(tree)
        if self.indent >= 0:
            data = _formatted(data, self.indent, len(self.margin))
        if self.ascii_only:
            data = _ESCAPED_IN_ASCII.sub(lambda found: utf16_escapes(found[0]), data.decode()).encode()
        return data

    def size(self, text: str) -> int:
        """Return how many bytes `text` takes as a JSON string."""
        return len(self.write(text) if self.ascii_only else msgspec.json.encode(text))


def _formatted(data: bytes, indent: int, margin: int) -> bytes:
    """Return JSON with its line ends and blanks, `margin` more blanks before each line but the first."""
    if not margin:
        return msgspec.json.format(data, indent=indent)
    if margin % indent:
        return msgspec.json.format(data, indent=indent).replace(b"\n", b"\n" + b" " * margin)
    # As it stands in as many arrays, without them: that takes a third less than moving each line.
    levels = margin // indent
    formatted = msgspec.json.format(b"[" * levels + data + b"]" * levels, indent=indent)
    line_ends, blanks = 2 * levels, indent * levels * (levels - 1) // 2
    return formatted[line_ends + blanks + margin : len(formatted) - line_ends - blanks]


def spelling_of(data: bytes, tree: Any) -> Spelling | None:
    """Return the spelling that writes `tree`, the value that was read from `data`, as `data`.

    None where there is none, and for what is larger than 64 KiB or nests in more than 100 levels.
    """
    layout = _apparent_layout(data)
    if layout is None or len(data) > _LARGEST or _is_deep(data, tree):
        return None
    indent, margin = layout
    try:
        for ascii_only in (False, True):
            spelling = Spelling(indent, margin, ascii_only)
            if spelling.write(tree) == data:
                return spelling
            if not is_ascii_by_escapes(data):
                break
    except UnicodeEncodeError:
        pass  # A lone surrogate, which only the standard library writes.
    return None


def is_ascii_by_escapes(data: bytes) -> bool:
    """Whether who wrote this JSON escapes all but ASCII, as far as it shows."""
    return data.isascii() and _NON_ASCII_ESCAPE.search(data) is not None


def utf16_escapes(char: str) -> str:
    """Return a character as JSON spells it in ASCII: one `\\u` escape, or two."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def _is_deep(data: bytes, tree: Any) -> bool:
    opened = len(data) - len(data.translate(None, b"{["))  # in half the time of two counts
    return opened > _DEEPEST and is_deeper(tree, _DEEPEST)


def _apparent_layout(data: bytes) -> tuple[int, bytes] | None:
    """The only indent and margin that can be those of `data`, by its first colon, or by the start of its second and its last line."""
    end = data.find(b"\n")
    if end < 0:
        return (0 if _SPACED.match(data) else -1), b""
    second_line = data[end + 1 : end + 2 + _WIDEST]
    width = len(second_line) - len(second_line.lstrip(b" "))
    margin = len(data) - data.rfind(b"\n") - len("\n}")
    return (width - margin, b" " * margin) if margin < width <= _WIDEST else None
