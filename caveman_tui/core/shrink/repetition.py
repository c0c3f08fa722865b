"""Sentences that say again, word for word or with words left out, what an earlier one says."""

import re

from caveman_tui.core.shrink.signals import Signal, signals_of

LEAST_CHARACTERS = 24
"""Shorter sentences repeat by chance."""
LOOK_BACK = 120
"""Kept sentences that a new one is compared with; keeps the work linear in one-line walls."""

_WORD = re.compile(r"[\w$%°#@&+/\\.\-]*\w|[^\x00-\x7f]")
_GLUE = frozenset(
    "a an the this that these those is are was were be been being to of in on at by for from with and or so as it its they them you your we our "
    "please also just simply very will would can could may should always note important critical remember then here there any all each every "
    "important: note: critical: other words".split()
)
_MEANING = frozenset({Signal.PROHIBITION, Signal.ONLY, Signal.EXCLUSIVE, Signal.DEFAULT})


def exact_key(sentence: str) -> str:
    """Return what two sentences share when only white space, list signs and final punctuation differ."""
    return " ".join(sentence.split()).lstrip("-*•+… ").rstrip(" .!。！;；,")


class Earlier:
    """The sentences that were kept so far, as far as a later one may repeat them."""

    __slots__ = ("_exact", "_words")

    def __init__(self) -> None:
        self._exact: set[str] = set()
        self._words: list[tuple[list[str], frozenset[Signal]]] = []

    def repeats_exactly(self, sentence: str) -> bool:
        """Whether the same words stand earlier."""
        return len(sentence) >= LEAST_CHARACTERS and exact_key(sentence) in self._exact

    def repeats(self, sentence: str) -> bool:
        """Whether one earlier sentence has every content word of this one, in this order, and says no and only where this one does."""
        if len(sentence) < LEAST_CHARACTERS:
            return False
        words = _content(sentence)
        if len(words) < 4:
            return False
        meaning = signals_of(sentence) & _MEANING
        return any(meaning == other_meaning and _subsequence(words, other) for other, other_meaning in self._words[-LOOK_BACK:])

    def add(self, sentence: str) -> None:
        """Remember a kept sentence."""
        if len(sentence) < LEAST_CHARACTERS:
            return
        self._exact.add(exact_key(sentence))
        self._words.append((_content(sentence), signals_of(sentence) & _MEANING))


def _content(sentence: str) -> list[str]:
    return [word for word in _WORD.findall(sentence.casefold()) if word not in _GLUE]


def _subsequence(words: list[str], other: list[str]) -> bool:
    if len(words) > len(other):
        return False
    rest = iter(other)
    return all(word in rest for word in words)
