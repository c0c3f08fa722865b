"""What an example shows that nothing else says: an argument's name, or the shape of a value."""

import functools
import re

from caveman_tui.core.shrink.model import ToolContext

_ASSIGNMENT = re.compile(r"(?<![\w.])([A-Za-z_][\w.\-]{0,80}+)=(?![=>])")
_MEMBER = re.compile(r"[\"'{,](?:(?<=[\"'])([A-Za-z_][\w.\-]*)[\"']\s*:\s|(?<=[{,])\s*([A-Za-z_]\w*):\s)")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null"})
_ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?%?$")
_BARE = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=([A-Za-z][\w\-]*)\s*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"'`](?:(?<=\")([^\"\n]{1,80})\"|(?<=')(?<!\w')([^'\n]{1,80})'(?!\w)|(?<=`)([^`\n]{1,80})`)")
"""Begins with a set of signs, which the search skips to."""
_BETWEEN_RUNS = "\"'`,()"
_JOINT = re.compile(r"[A-Za-z0-9][^\w\s\"'`,.()’\-…]|\d[.\-]|[^\w\s\"'`,.()*\-•+…‘’“”>→=:][A-Za-z0-9]")
"""What makes a run of characters a value although it isn't quoted: a sign that prose doesn't put there."""
_TEMPLATE = re.compile(r"<[a-z][\w|\- ]*>|\{\{?[a-z_]+\}\}?")
_SIGNS_OF_PROSE = frozenset("9_'\"()[]{},!?=")
_WORD = re.compile(r"[A-Za-z_][\w]*")
_REMEMBERED_LITERALS = 1024


class Shown:
    """The shapes of values and the names that a text shows, and after it the examples that add to them."""

    __slots__ = ("_context", "_names", "_shapes", "_text", "_unread", "_words")

    def __init__(self, text: str, context: ToolContext) -> None:
        self._text = text
        self._context = context
        self._shapes: set[str] = set()
        self._unread = [text]
        """What is shown, but whose shapes nobody has asked for."""
        self._names: set[str] = set()
        self._words: set[str] | None = None

    def adds(self, example: str) -> bool:
        """Whether an example shows a shape or a name that nothing showed before it; then it counts as shown from now on."""
        found = {name for name in names(example) | bare_values(example, self._context.parameter) if not self._knows(name)}
        if found:
            self._names |= found
            self._unread.append(example)
            return True
        shapes = value_shapes(example)
        if shapes:
            self._shapes.update(*map(value_shapes, self._unread))
            self._unread.clear()
            shapes -= self._shapes
            self._shapes |= shapes
        return bool(shapes)

    def _knows(self, name: str) -> bool:
        if name in self._names or name in self._context.parameters:
            return True
        if name not in self._text:
            return False
        if self._words is None:
            self._words = words(self._text)
        return name in self._words


def value_shapes(text: str) -> set[str]:
    """Return the shapes of the literal values in `text`: which signs join their words and numbers. Plain words have none."""
    literals: set[str] = set()
    rest: list[str] = []
    at = 0
    for found in _QUOTED.finditer(text):
        literals.add(found.group(found.lastindex or 0))
        rest.append(text[at : found.start()])
        at = found.end()
    rest.append(text[at:])
    between = " ".join(rest)
    for sign in _BETWEEN_RUNS:
        between = between.replace(sign, " ")
    runs = set(between.split())
    literals.update([run for run in runs if not run.isalnum() and not run.rstrip(".,:;!?").isalnum() and _JOINT.search(run)])
    return set(map(_shape_of, literals)) - {""}


@functools.lru_cache(maxsize=_REMEMBERED_LITERALS)
def _shape_of(literal: str) -> str:
    if literal.isascii() and literal.replace("_", "").isalnum():
        return ""
    if "=" in literal:
        literal = _ASSIGNED.sub("", literal)
    literal = literal.strip("\"'`")
    if literal.count(" ") > 2 or _NUMBER.match(literal):
        return ""
    signs: set[str] = set()
    for sign in set(literal.strip(".,;:!?()[]{}")):
        if sign.isalnum():
            if sign.isdecimal():
                signs.add("9")
        elif not sign.isspace():
            signs.add(sign)
    return "" if signs <= _SIGNS_OF_PROSE or signs == {"-"} else "".join(sorted(signs))


def names(text: str) -> set[str]:
    """Return the argument names that an example sets."""
    found = set(_ASSIGNMENT.findall(text)) if "=" in text else set()
    if ":" in text:
        found.update([key or bare for key, bare in _MEMBER.findall(text)])
    return found


def bare_values(text: str, parameter: str) -> set[str]:
    """Return the unquoted words that an example gives to `parameter`, one a line."""
    if not parameter or "=" not in text:
        return set()
    return {value for name, value in _BARE.findall(text) if name == parameter} - _CONSTANTS


def words(text: str) -> set[str]:
    """Return the words of `text` that an argument's name could be."""
    return set(_WORD.findall(text))


def is_template(text: str) -> bool:
    """Whether code has places to fill in, which makes it a contract and no example."""
    return _TEMPLATE.search(text) is not None
