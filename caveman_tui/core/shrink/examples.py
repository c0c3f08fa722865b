"""What an example shows that nothing else says: an argument's name, or the shape of a value."""

import re

_KEY = re.compile(r"[\"'`]?([A-Za-z_][\w.\-]*)[\"'`]?\s*(?:=(?!=)|:\s)")
_LITERAL = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|`([^`\n]{1,200})`|[=(,\[{:]\s*([^\s\"'`,)\]}]+)|((?:[A-Za-z]*\d[\w]*[^\w\s,]+|[^\w\s\"'`(]+\w)\S*)")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[A-Za-z_][\w]*")


def value_shapes(text: str) -> set[str]:
    """Return the shapes of the literal values in `text`: which signs join their words and numbers. Plain words have none."""
    shapes = set()
    for found in _LITERAL.finditer(text):
        literal = found.group(found.lastindex or 0)
        signs = _SPACES.sub("", _NUMBERS.sub("9", _WORDS.sub("", literal)))
        if signs.strip("9.,;:!?()[]{}\"'") or "9" in signs and len(signs) > 1:
            shapes.add("".join(sorted(set(signs))))
    return shapes


def names(text: str) -> set[str]:
    """Return the argument names that an example sets."""
    return {found.group(1) for found in _KEY.finditer(text)}


def words(text: str) -> set[str]:
    """Return the words of `text` that an argument's name could be."""
    return set(_WORD.findall(text))
