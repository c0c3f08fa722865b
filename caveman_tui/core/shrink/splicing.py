"""Edits of JSON text that leave everything else as it stands: members taken out with their separators, strings spelled like before."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from caveman_tui.core.json_spelling import utf16_escapes

_SPACE = " \t\n\r"
_AFTER_MEMBER = re.compile(r"[ \t\n\r]*(,?)[ \t\n\r]*")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MUST_ESCAPE = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    ord(char): f"\\{short}" for short, char in _SHORT_ESCAPES.items() if char != "/"
}
_MUST_ESCAPE |= {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


class Splice(NamedTuple):
    """A stretch of text and what stands there instead."""

    start: int
    end: int
    text: str = ""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return `text` with the splices made; they come in order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for splice in splices:
        pieces += (text[position : splice.start], splice.text)
        position = splice.end
    pieces.append(text[position:])
    return "".join(pieces)


def member_removals(text: str, members: list[tuple[int, int]]) -> list[Splice]:
    """Return the splices that take members out of their objects, with the commas and the layout that belong to them.

    `members` are the stretches from key to end of value, in order; none lies inside another. Neighbours go as one, so that a comma is
    never counted for two.
    """
    splices: list[Splice] = []
    index = 0
    while index < len(members):
        start, end = members[index]
        index += 1
        after = _after(text, end)
        while after[0] and index < len(members) and members[index][0] == after[1]:
            end = members[index][1]
            after = _after(text, end)
            index += 1
        splices.append(_removal(text, start, end, after))
    return splices


def respelled(literal: str, text: str, *, ascii_only: bool) -> str:
    """Return `text` as a JSON string in the manner of `literal`, the string that it replaces.

    A character that `literal` always escapes is escaped the same way (`\\/`, `\\u003c`, `\\u00fc`); any other is escaped only where
    JSON asks for it, or where `ascii_only` does.
    """
    table = dict(_MUST_ESCAPE)
    bare = _ESCAPE.sub("", literal)
    for escape in set(_ESCAPE.findall(literal)):
        char = _unescaped(escape)
        if char not in bare:
            table[ord(char)] = escape
    body = text.translate(table)
    if ascii_only and not body.isascii():
        body = "".join(char if char.isascii() else utf16_escapes(char) for char in body)
    return f'"{body}"'


def _after(text: str, end: int) -> tuple[bool, int]:
    """Whether a comma follows a member, and where the next token stands."""
    found = _AFTER_MEMBER.match(text, end)
    assert found is not None
    return bool(found[1]), found.end()


def _removal(text: str, start: int, end: int, after: tuple[bool, int]) -> Splice:
    has_next, next_token = after
    if has_next:
        return Splice(start, next_token)
    before = start - 1
    while text[before] in _SPACE:
        before -= 1
    if text[before] == ",":
        return Splice(before, end)
    return Splice(before + 1, next_token)


def _unescaped(escape: str) -> str:
    if escape[1] != "u":
        return _SHORT_ESCAPES[escape[1]]
    if len(escape) == 6:
        return chr(int(escape[2:], 16))
    high, low = int(escape[2:6], 16), int(escape[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
