"""How much speaks for it that a sentence bears on choosing the tool or building the call: a sum of weights, below zero where too little.

A logistic regression over the words of a sentence, the words of the line that it stands under, and signs that can be seen, learned from
descriptions that were marked by hand. `weights.json` holds it in hundredths of a logit, the threshold counted into `base`: whole numbers,
so that every machine comes to the same sums. What a sentence is weighed by doesn't change when other sentences go.
"""

import re
from collections.abc import Iterable
from importlib import resources

import msgspec

from caveman_tui.core.shrink.words import words_of

_CHARACTERS = {
    "quotes": '"',
    "backticks": "`",
    "parenthesis": "(",
    "link": "://",
    "underscore": "_",
    "equals sign": "=",
    "exclamation mark": "!",
    "question mark": "?",
    "bold": "**",
    "slash": "/",
    "braces": "{",
    "brackets": "[",
    "arrow": "->",
    "dash": " - ",
    "colon inside": ": ",
    "semicolon": ";",
    "dots": "...",
}
_PATTERNS = {
    "digit": re.compile(r"[0-9]"),
    "capitals": re.compile(r"\b[A-Z]{3,}\b"),
    "camel case": re.compile(r"[a-z][A-Z]"),
    "passive": re.compile(r"\b(?:is|are|be|been|being) (?:\w+ly )?\w+ed\b"),
    "begins with -ing": re.compile(r"^(?:[-*•+] )?\**[A-Z]\w+ing\b"),
}
_LENGTHS = (30, 60, 90, 130, 200)
_MOST_COMMAS = 3
_MOST_FRESH = 8
_QUARTERS = 4


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model, in hundredths of a logit."""

    base: int
    """What every sentence begins with, the threshold subtracted."""
    words: dict[str, int]
    """Words of the sentence in lower case, each counted once."""
    headings: dict[str, int]
    """Words of the line that it stands under."""
    signs: dict[str, int]


WEIGHTS = msgspec.json.decode(resources.files(__package__).joinpath("weights.json").read_bytes(), type=Weights)


LEAST_OF_CONTENT = sum(
    weight for sign, weight in WEIGHTS.signs.items() if weight < 0 and sign.startswith(("fresh", "in the lead", "word", "no content"))
)
"""No sentence loses more by the signs of its content."""


def own_signs(text: str) -> list[str]:
    """Return the signs that a sentence shows by itself."""
    text = text.lstrip("… ")
    signs = [name for name, part in _CHARACTERS.items() if part in text]
    signs += [name for name, pattern in _PATTERNS.items() if pattern.search(text)]
    signs += [f"{length} characters" for length in _LENGTHS if len(text) >= length]
    if commas := min(_MOST_COMMAS, text.count(",")):
        signs.append(f"{commas} commas")
    return signs


def content_signs(content: set[str], lead: set[str], tool: set[str], names: Iterable[str]) -> list[str]:
    """Return the signs of what a sentence adds to what its readers know; all four are stems of words."""
    if not content:
        return ["no content"]
    named = content.intersection(names)
    fresh = len(content - lead - tool - named)
    signs = [
        f"fresh {_QUARTERS * fresh // len(content)}/{_QUARTERS}",
        f"fresh words {min(_MOST_FRESH, fresh // 2 * 2)}",
        f"in the lead {_QUARTERS * len(content & lead) // len(content)}/{_QUARTERS}",
    ]
    if not tool.isdisjoint(content):
        signs.append("word of the tool's name")
    if named:
        signs.append("words of arguments' names" if len(named) > 1 else "word of an argument's name")
    return signs


def weight_of_sentence(text: str, words: list[str]) -> int:
    """Return what a sentence weighs by itself; `words` are its words in lower case."""
    return WEIGHTS.base + sum(map(_word, set(words))) + weight_of_signs(own_signs(text))


def weight_of_heading(line: str) -> int:
    """Return what the line that a sentence stands under adds."""
    return sum(map(_heading, set(words_of(line.lower()))))


def weight_of_signs(signs: list[str]) -> int:
    """Return what signs weigh."""
    return sum(map(_sign, signs))


def _word(word: str) -> int:
    return WEIGHTS.words.get(word, 0)


def _heading(word: str) -> int:
    return WEIGHTS.headings.get(word, 0)


def _sign(sign: str) -> int:
    return WEIGHTS.signs.get(sign, 0)


def telling_words(words: list[str], most: int) -> list[str]:
    """Return the words of a sentence that speak most for letting it go, the strongest first."""
    weighed = sorted((WEIGHTS.words.get(word, 0), word) for word in set(words))
    return [word for weight, word in weighed[:most] if weight < 0]
