"""A tool as it stands in its document: which members lie where, so that the text can be edited however it is spelled."""

import json
import re
from typing import Any

from caveman_tui.core.json_schema import ANNOTATIONS
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_spelling import is_ascii_by_escapes
from caveman_tui.core.json_tree import DEEPEST, Repeated, parse_json
from caveman_tui.core.schema_references import Member
from caveman_tui.core.shrink.splicing import Splice, member_removals, respelled, spliced

_WATCHED = ANNOTATIONS | {"description"}
"""Keys whose members are found wherever they stand, so that they can be laid beside the text."""

_KEY = re.compile(rf'"({"|".join(map(re.escape, sorted(_WATCHED)))})"[ \t\n\r]*:[ \t\n\r]*')
"""A watched member, unless a backslash stands before it: inside a string one does, and only a key is followed by a colon."""

_CONTAINERS = (dict, list)

_scanner = json.JSONDecoder(parse_int=len, parse_float=len)


class RepeatedKey(Exception):
    """An object of the tool has a key twice, and which of the two counts is the reader's choice."""


class ToolText:
    """A definition, parsed without loss, and its watched members in the order of the text.

    Raises RepeatedKey, and JsonRefused where it is no JSON object or nests too deep.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tree: dict[str, Any] = parse_json(source)
        if not isinstance(self.tree, dict):
            raise JsonRefused("not-json")
        self.members: list[Member] = []
        self._collect(self.tree, 0)

    def edited(self, removed: set[Member], rewritten: dict[int, str]) -> bytes:
        """Return the source without the members `removed` of objects in `tree`, and with `rewritten` descriptions, by their objects' `id`.

        A text that would be no shorter in bytes is left out, all are where a watched key is spelled with escapes.
        """
        text = self.source.decode()
        places = [place for place in _KEY.finditer(text) if text[place.start() - 1] != "\\"]
        if [place[1] for place in places] != [key for _, key in self.members]:
            return self.source
        ascii_only = is_ascii_by_escapes(self.source)
        gone: list[tuple[int, int]] = []
        splices: list[Splice] = []
        for place, member in zip(places, self.members, strict=True):
            holder, key = member
            start = place.end()
            if member in removed:
                gone.append((place.start(), _value_end(text, start)))
            elif key == "description" and holder in rewritten:
                end = _value_end(text, start)
                literal = respelled(text[start + 1 : end - 1], rewritten[holder], ascii_only=ascii_only)
                if len(literal.encode()) < len(text[start:end].encode()):
                    splices.append(Splice(start, end, literal))
        return spliced(text, sorted(member_removals(text, gone) + splices)).encode()

    def _collect(self, node: dict[str, Any] | list[Any], depth: int) -> None:
        if depth > DEEPEST:
            raise JsonRefused("too-deep")
        if isinstance(node, Repeated):
            raise RepeatedKey
        if isinstance(node, list):
            for item in node:
                if isinstance(item, _CONTAINERS):
                    self._collect(item, depth + 1)
            return
        for key, value in node.items():
            if key in _WATCHED:
                self.members.append((id(node), key))
            if isinstance(value, _CONTAINERS):
                self._collect(value, depth + 1)


def _value_end(text: str, start: int) -> int:
    end = _scanner.raw_decode(text, start)[1]
    return end
