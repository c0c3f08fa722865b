"""The words of a sentence: what each says by itself, and its stem."""

import functools
import re
import string
from collections.abc import Iterable
from itertools import chain

from caveman_tui.core.shrink.vocabulary import GLUE, IMPERATIVES, PAIRS_OF, SHOUTED, WORDS_OF, Signal


def _blanks(signs: Iterable[str]) -> bytes:
    return bytes(32 if chr(code) in signs else code for code in range(256))


_SIGNS = {chr(code) for code in range(128)} - set(string.ascii_letters + string.digits + "_")
_WITHOUT_SIGNS = _blanks(_SIGNS).lower()
_WITHOUT_SIGNS_BUT_APOSTROPHES = _blanks(_SIGNS - {"'"}).lower()
_APART = _blanks(_SIGNS | {"_"})
"""All make blanks of what stands between words. For ASCII that and splitting take a tenth of the time of a pattern."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    if not text.isascii():
        return _WORD.findall(text.lower())
    if "'" not in text:
        return text.encode().translate(_WITHOUT_SIGNS).decode().split()
    words: list[str] = []
    for run in text.encode().translate(_WITHOUT_SIGNS_BUT_APOSTROPHES).decode().split():
        if "'" in run:
            words += _WORD.findall(run)
        else:
            words.append(run)
    return words


class Hint:
    """What the text around a word has to be looked at for: bits beside those of `Signal`, and plain numbers like them."""

    PAIR = 1 << 21
    """Is the rarer word of a pair that means something."""
    IMPERATIVE = 1 << 22
    SHOUTED = 1 << 23
    FIRST = 1 << 24
    AUTOMATIC = 1 << 25
    BE = 1 << 26
    IN = 1 << 27
    LIMIT = 1 << 28


_HINTED: dict[int, frozenset[str]] = {
    Hint.PAIR: frozenset(second if first in GLUE else first for pairs in PAIRS_OF.values() for first, second in pairs),
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


def bits_of(words: list[str]) -> int:
    """Return what `words`, in lower case, say each by itself, as a sum of `Signal` and `Hint`."""
    said = 0
    for word in words:
        if word in BITS:
            said |= BITS[word]
    return said


_STEM_WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]")
"""A word, or a part of a name such as `maxResults`."""
_LAST_OF_ENDINGS = "gdse"
"""Of `-ing`, `-ed`, `-es`, `-s` and `-e`."""
_SHORTEST_STEM = 3
_REMEMBERED_WORDS = 4096
_LONGEST_REMEMBERED = 2000
"""Characters of the longest text whose words are remembered; with the number of words this bounds the memory."""


def stem(word: str) -> str:
    """Return a word in lower case and without its ending."""
    word = word.lower()
    last, long = word[-1:], len(word) - _SHORTEST_STEM
    if long <= 0 or last not in _LAST_OF_ENDINGS:
        return word
    if last == "g":
        return word[:-3] if long > 2 and word.endswith("ing") else word
    before = word[-2]
    if last == "d":
        return word[:-2] if long > 1 and before == "e" else word
    if last == "s" and before == "s":
        return word
    return word[:-2] if last == "s" and before == "e" and long > 1 else word[:-1]


def _stems_of_run(run: str) -> list[str]:
    if run.isalpha() and run.isascii() and (run.islower() or run[1:].islower()):
        return [stem(run)]
    return [stem(word) if len(word) > _SHORTEST_STEM else word.lower() for word in _STEM_WORD.findall(run)]


_remembered = functools.lru_cache(maxsize=_REMEMBERED_WORDS)(_stems_of_run)


def stems_of(text: str) -> set[str]:
    """Return the stems of all words in `text`, of those too that are parts of names."""
    return set(stems_in_order(text))


def stems_in_order(text: str) -> list[str]:
    """Return what `stems_of` does in the order of the text, each as often as it stands there."""
    if not text.isascii() or len(text) > _LONGEST_REMEMBERED:
        return _stems_of_run(text)
    return list(chain.from_iterable(map(_remembered, parts_of(text))))


def parts_of(text: str) -> list[str]:
    """Return the words of a text in ASCII as they are written, those that `_` or an apostrophe joins each by itself."""
    return text.encode().translate(_APART).decode().split()
