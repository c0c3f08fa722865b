"""Where a value lies in the bytes of a JSON document, by the standard library's own scanner. The judge shares no code with the core."""

import json

_decoder = json.JSONDecoder(strict=False)
_WHITE = " \t\r\n"


def place(document: bytes, pointer: str) -> tuple[int, int]:
    """Start and end of the value at `pointer` (RFC 6901). Raises KeyError where there is none, ValueError where that's no JSON."""
    # In Latin-1 a character is a byte, so the scanner's indexes are offsets into the bytes.
    text = document.decode("latin-1")
    at = _after_white(text, 0)
    for part in pointer.split("/")[1:]:
        at = _child(text, at, part.replace("~1", "/").replace("~0", "~"))
    return at, _end(text, at)


def _child(text: str, at: int, part: str) -> int:
    closing = {"{": "}", "[": "]"}.get(text[at])
    at = _after_white(text, at + 1)
    index = 0
    while closing and text[at] != closing:
        if closing == "}":
            name, at = _decoder.raw_decode(text, at)
            at = _after_white(text, _after_white(text, at) + 1)
        else:
            name = str(index)
        if name == part:
            return at
        at = _after_white(text, _end(text, at))
        if text[at] == ",":
            at = _after_white(text, at + 1)
        index += 1
    raise KeyError(part)


def _end(text: str, at: int) -> int:
    return _decoder.raw_decode(text, at)[1]


def _after_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at
