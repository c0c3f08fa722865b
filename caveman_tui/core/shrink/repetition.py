"""Sentences that say again, word for word or with words left out, what an earlier one says."""

import re

from caveman_tui.core.shrink.signals import signals_of
from caveman_tui.core.shrink.vocabulary import GLUE, Signal

LEAST_CHARACTERS = 24
"""Shorter sentences repeat by chance."""
LOOK_BACK = 120
"""Kept sentences that a new one is compared with; keeps the work linear in one-line walls."""

LEAST_WORDS = 4
"""Content words that a repetition must have."""

_WORD = re.compile(r"[\w$%°#@&+/\\.\-]*\w|[^\x00-\x7f]")
_MEANING = frozenset({Signal.PROHIBITION, Signal.ONLY, Signal.EXCLUSIVE, Signal.DEFAULT})


def exact_key(sentence: str) -> str:
    """Return what two sentences share when only white space, list signs and final punctuation differ."""
    return " ".join(sentence.split()).lstrip("-*•+… ").rstrip(" .!。！;；,")


class Earlier:
    """The sentences that were kept so far, as far as a later one may repeat them."""

    __slots__ = ("_exact", "_said")

    def __init__(self) -> None:
        self._exact: set[str] = set()
        self._said: list[tuple[list[str], frozenset[Signal]]] = []

    def repeats_exactly(self, sentence: str) -> bool:
        """Whether the same words stand earlier."""
        return len(sentence) >= LEAST_CHARACTERS and exact_key(sentence) in self._exact

    def repeats(self, sentence: str) -> bool:
        """Whether one earlier sentence has every content word of this one, in this order, and says no and only where this one does."""
        if len(sentence) < LEAST_CHARACTERS:
            return False
        if exact_key(sentence) in self._exact:
            return True
        if not self._said:
            return False
        words = _content(sentence)
        if len(words) < LEAST_WORDS:
            return False
        first, last, length = words[0], words[-1], len(words)
        meaning: frozenset[Signal] | None = None
        for said, other in self._said[-LOOK_BACK:]:
            if length <= len(said) and first in said and last in said and _subsequence(words, said):
                if meaning is None:
                    meaning = signals_of(sentence) & _MEANING
                if meaning == other & _MEANING:
                    return True
        return False

    def add(self, sentence: str) -> None:
        """Remember a kept sentence."""
        if len(sentence) >= LEAST_CHARACTERS:
            self._exact.add(exact_key(sentence))
            self._said.append((_content(sentence), signals_of(sentence)))

    def add_exact(self, sentence: str) -> None:
        """Remember a kept sentence for `repeats_exactly` alone."""
        if len(sentence) >= LEAST_CHARACTERS:
            self._exact.add(exact_key(sentence))


def _content(sentence: str) -> list[str]:
    return [word for word in _WORD.findall(sentence.casefold()) if word not in GLUE]


def _subsequence(words: list[str], other: list[str]) -> bool:
    if len(words) > len(other):
        return False
    rest = iter(other)
    return all(word in rest for word in words)
