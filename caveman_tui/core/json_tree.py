"""JSON as a tree that loses nothing a comparison needs: numbers keep their spelling, repeated keys are seen."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.json_spans import JsonRefused

DEEPEST = 200
"""Levels of nesting below which nothing is read into; a recursion over a tree stops there with JsonRefused("too-deep")."""

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a tree to a value in it."""


_LONGEST_INDEX = 15
"""Digits. Python refuses to convert thousands of them, and no document has so many items."""


class Number(NamedTuple):
    """A number as it is spelled: 1, 1.0 and 1e0 differ, and no digit is lost."""

    text: str


class Repeated(dict[str, Any]):
    """An object in which a key stands more than once. As a dictionary it holds the last value of each."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    return tree if len(tree) == len(pairs) else Repeated(pairs)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=Number, parse_float=Number, parse_constant=_refuse)

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def parse_json(data: bytes) -> Any:
    """Return the one JSON value in `data`: dict (or Repeated), list, str, Number, bool or None.

    Raises JsonRefused with the code `byte-order-mark`, `invalid-utf-8`, `not-json` (NaN and a second value included) or `too-deep`.
    """
    if data.startswith(_BYTE_ORDER_MARKS):
        raise JsonRefused("byte-order-mark")
    try:
        return _decoder.decode(data.decode())
    except UnicodeDecodeError as error:
        raise JsonRefused("invalid-utf-8") from error
    except RecursionError as error:
        raise JsonRefused("too-deep") from error
    except ValueError as error:
        raise JsonRefused("not-json") from error


def json_pointer(path: Iterable[str | int]) -> str:
    """Return `path` as a JSON pointer (RFC 6901)."""
    return "".join(f"/{pointer_step(str(step))}" for step in path)


def pointer_step(key: str) -> str:
    """Return `key` as it is spelled within a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def array_index(step: str) -> int | None:
    """Return the index that a step of a JSON pointer means in an array; None where it means none, or one past any array's end."""
    return int(step) if len(step) <= _LONGEST_INDEX and step.isascii() and step.isdigit() else None


def json_text(tree: Any, depth: int = 0) -> str:
    """Return `tree` as minified JSON, numbers as they were spelled, strings in one spelling. Of a Repeated every pair.

    A tree of msgspec's is taken too, with numbers as msgspec spells them.
    """
    if isinstance(tree, str):
        return _quote(tree)
    if isinstance(tree, Number):
        return tree.text
    if tree is None:
        return "null"
    if isinstance(tree, bool):
        return "true" if tree else "false"
    if isinstance(tree, int | float):
        return msgspec.json.encode(tree).decode()
    if depth > DEEPEST:
        raise JsonRefused("too-deep")
    if isinstance(tree, dict):
        pairs = tree.pairs if isinstance(tree, Repeated) else tree.items()
        return "{" + ",".join(f"{_quote(key)}:{json_text(value, depth + 1)}" for key, value in pairs) + "}"
    return "[" + ",".join(json_text(item, depth + 1) for item in tree) + "]"


def _quote(text: str) -> str:
    quoted: str = json.encoder.encode_basestring(text)
    return quoted
