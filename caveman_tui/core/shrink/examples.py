"""What an example shows that nothing else says: an argument's name, or the shape of a value."""

import re

_KEY = re.compile(r"(?:^|[\s{(,;\[\"'`&?*-])([A-Za-z_][\w.\-]*)[\"'`]?(?:=(?![=>])|\"\s*:\s|:\s+[\[{\"'\d])", re.MULTILINE)
_BARE = re.compile(r"(?:^|\s)[A-Za-z_]\w*=([A-Za-z][\w\-]*)\s*$", re.MULTILINE)
_LITERAL = re.compile(r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{1,80})'(?!\w)|`([^`\n]{1,80})`|([^\s\"'`,()]*(?:[A-Za-z0-9][^\w\s\"'`,.()’\-…]|\d[.\-]|[^\w\s\"'`,.()*\-•+…‘’“”>→=:][A-Za-z0-9])[^\s\"'`,()]*)")
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
        if literal.count(" ") > 2:
            continue
        signs = set(_SPACES.sub("", _NUMBERS.sub("9", _WORDS.sub("", literal.strip(".,;:!?()[]{}")))))
        if signs - set("9_'\"()[]{},!?"):
            shapes.add("".join(sorted(signs)))
    return shapes


def names(text: str) -> set[str]:
    """Return the argument names that an example sets."""
    return set(_KEY.findall(text))


def bare_values(text: str) -> set[str]:
    """Return the unquoted words that an example gives to arguments, one a line."""
    return set(_BARE.findall(text))


def words(text: str) -> set[str]:
    """Return the words of `text` that an argument's name could be."""
    return set(_WORD.findall(text))


def is_template(text: str) -> bool:
    """Whether code has places to fill in, which makes it a contract and no example."""
    return _TEMPLATE.search(text) is not None
