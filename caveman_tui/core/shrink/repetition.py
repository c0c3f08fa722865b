"""Sentences that say again, word for word or with words left out, what an earlier one says."""

import re

from caveman_tui.core.shrink.reading import Reading
from caveman_tui.core.shrink.vocabulary import GLUE, Signal

LEAST_CHARACTERS = 24
"""Shorter sentences repeat by chance."""
LOOK_BACK = 120
"""Kept sentences that a new one is compared with; keeps the work linear in one-line walls."""

LEAST_WORDS = 4
"""Content words that a repetition must have."""

_WORD = re.compile(r"[\w$%°#@&+/\\.\-]*\w|[^\x00-\x7f]")
_STRETCH = re.compile(r"[\n.!?。！？；]+")
"""Between these signs there is no end of a sentence."""
_BEFORE = "-*•+… "
_AFTER = " .!。！;；,"
_AROUND = _BEFORE + _AFTER
_MEANING = Signal.PROHIBITION | Signal.ONLY | Signal.EXCLUSIVE | Signal.DEFAULT


def exact_key(sentence: str) -> str:
    """Return what two sentences share when only white space, list signs and final punctuation differ."""
    return " ".join(sentence.split()).lstrip(_BEFORE).rstrip(_AFTER)


def says_anything_twice(text: str) -> bool:
    """Whether a text has two sentences, or parts of sentences, of one exact key; without them no sentence of it repeats another."""
    stretches = _STRETCH.split(text)
    has_single_blanks_only = text.isascii() and "  " not in text and text.replace("\n", "").isprintable()
    keys = [stretch.strip(_AROUND) if has_single_blanks_only else exact_key(stretch) for stretch in stretches]
    keys = list(filter(None, keys))
    return len(set(keys)) < len(keys)


class Earlier:
    """The sentences that were kept so far, as far as a later one may repeat them."""

    __slots__ = ("_exact", "_read", "_said", "_words")

    def __init__(self) -> None:
        self._read: list[Reading] = []
        self._words = set(GLUE)
        self._exact: set[str] = set()
        self._said: list[list[str]] = []

    def repeats(self, sentence: Reading) -> bool:
        """Whether one earlier sentence has every content word of this one, in this order, and says no and only where this one does."""
        if not self._words.issuperset(sentence.words) or len(uncut(sentence)) < LEAST_CHARACTERS:
            return False
        for earlier in self._read[len(self._said) :]:
            self._exact.add(exact_key(earlier.text))
            self._said.append(_content(earlier))
        if exact_key(sentence.text) in self._exact:
            return True
        words = _content(sentence)
        if not self._said or len(words) < LEAST_WORDS:
            return False
        first, last, length = words[0], words[-1], len(words)
        for said, earlier in zip(self._said[-LOOK_BACK:], self._read[-LOOK_BACK:], strict=True):
            if (
                length <= len(said)
                and first in said
                and last in said
                and _subsequence(words, said)
                and sentence.signals() & _MEANING == earlier.signals() & _MEANING
            ):
                return True
        return False

    def add(self, sentence: Reading) -> None:
        """Remember a kept sentence."""
        if len(uncut(sentence)) >= LEAST_CHARACTERS:
            self._read.append(sentence)
            self._words.update(sentence.words)


def uncut(sentence: Reading) -> str:
    """Return a sentence without the sign that something before it was dropped, which it says no more with than without."""
    text = sentence.text
    return text.lstrip("… ") if text[0] == "…" else text


def _content(sentence: Reading) -> list[str]:
    return [word for word in _WORD.findall(uncut(sentence).casefold()) if word not in GLUE]


def _subsequence(words: list[str], other: list[str]) -> bool:
    if len(words) > len(other):
        return False
    rest = iter(other)
    return all(word in rest for word in words)
