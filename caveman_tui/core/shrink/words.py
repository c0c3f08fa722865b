"""The words of a sentence: what each says by itself, and its stem."""

import functools
import re

from caveman_tui.core.shrink.vocabulary import IMPERATIVES, PAIRS_OF, SHOUTED, WORDS_OF, Signal

words_of = re.compile(r"\w+(?:['’]\w+)?").findall
"""Returns the words of a text."""


class Hint:
    """What the text around a word has to be looked at for: bits beside those of `Signal`, and plain numbers like them."""

    PAIR = 1 << 21
    """Begins a pair of words that means something."""
    IMPERATIVE = 1 << 22
    SHOUTED = 1 << 23
    FIRST = 1 << 24
    AUTOMATIC = 1 << 25
    BE = 1 << 26
    IN = 1 << 27
    LIMIT = 1 << 28


_HINTED: dict[int, frozenset[str]] = {
    Hint.PAIR: frozenset(first for pairs in PAIRS_OF.values() for first, _ in pairs),
    Hint.IMPERATIVE: IMPERATIVES,
    Hint.SHOUTED: SHOUTED,
    Hint.FIRST: frozenset({"first"}),
    Hint.AUTOMATIC: frozenset({"automatically"}),
    Hint.BE: frozenset({"be"}),
    Hint.IN: frozenset({"in"}),
    Hint.LIMIT: frozenset({"limit", "limits"}),
}


def _said_by_words() -> dict[str, int]:
    said = {word: signal for signal, words in reversed(WORDS_OF.items()) for word in words}
    for word in ("format", "iso"):
        said[word] |= Signal.FORMAT
    for hint, words in _HINTED.items():
        for word in words:
            said[word] = said.get(word, 0) | hint
    return said


BITS = _said_by_words()
"""What a word in lower case says by itself, as a sum of `Signal` and `Hint`; most words are not in it."""

STEM_WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]")
"""A word, or a part of a name such as `maxResults`."""
_ENDINGS = ("ing", "ed", "es", "s", "e")
_LAST_OF_ENDINGS = "gdse"
_SHORTEST_STEM = 3
_REMEMBERED_WORDS = 4096


@functools.lru_cache(maxsize=_REMEMBERED_WORDS)
def stem(word: str) -> str:
    """Return a word in lower case and without its ending."""
    word = word.lower()
    if word[-1:] not in _LAST_OF_ENDINGS or word.endswith("ss"):
        return word
    for end in _ENDINGS:
        if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM:
            return word[: -len(end)]
    return word


def stems_of(text: str) -> set[str]:
    """Return the stems of all words in `text`, of those too that are parts of names."""
    return set(map(stem, STEM_WORD.findall(text)))
