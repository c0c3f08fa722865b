"""What an example shows that nothing else says: an argument's name, or the shape of a value."""

import re

_KEY = re.compile(r"(?<![\w.])([A-Za-z_][\w.\-]*)=(?![=>])|[\"']([A-Za-z_][\w.\-]*)[\"']\s*:\s|[{,]\s*([A-Za-z_]\w*):\s")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null"})
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?%?$")
_BARE = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=([A-Za-z][\w\-]*)\s*$", re.MULTILINE)
_LITERAL = re.compile(
    r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{1,80})'(?!\w)|`([^`\n]{1,80})`|([^\s\"'`,()]*(?:[A-Za-z0-9][^\w\s\"'`,.()’\-…]|\d[.\-]|[^\w\s\"'`,.()*\-•+…‘’“”>→=:][A-Za-z0-9])[^\s\"'`,()]*)"
)
_TEMPLATE = re.compile(r"<[a-z][\w|\- ]*>|\{\{?[a-z_]+\}\}?")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[A-Za-z_][\w]*")


def value_shapes(text: str) -> set[str]:
    """Return the shapes of the literal values in `text`: which signs join their words and numbers. Plain words have none."""
    shapes = set()
    for found in _LITERAL.finditer(text):
        literal = found.group(found.lastindex or 0)
        literal = _ASSIGNED.sub("", literal).strip("\"'`")
        if literal.count(" ") > 2 or _NUMBER.match(literal):
            continue
        signs = set(_SPACES.sub("", _NUMBERS.sub("9", _WORDS.sub("", literal.strip(".,;:!?()[]{}")))))
        if signs - set("9_'\"()[]{},!?=") and (signs != {"-"}):
            shapes.add("".join(sorted(signs)))
    return shapes


def names(text: str) -> set[str]:
    """Return the argument names that an example sets."""
    return {name for found in _KEY.findall(text) for name in found if name}


def bare_values(text: str, parameter: str) -> set[str]:
    """Return the unquoted words that an example gives to `parameter`, one a line."""
    return {value for name, value in _BARE.findall(text) if name == parameter} - _CONSTANTS


def words(text: str) -> set[str]:
    """Return the words of `text` that an argument's name could be."""
    return set(_WORD.findall(text))


def is_template(text: str) -> bool:
    """Whether code has places to fill in, which makes it a contract and no example."""
    return _TEMPLATE.search(text) is not None
