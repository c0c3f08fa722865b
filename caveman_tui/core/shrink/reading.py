"""A sentence as it is read: its words once, and everything that needs more than them when it is asked for."""

import functools

from caveman_tui.core.shrink.filler import FillerRule, filler_of
from caveman_tui.core.shrink.signals import rules_of, signals_of
from caveman_tui.core.shrink.words import bits_of, stems_of, words_of

_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 1000
"""Characters of the longest sentence that is remembered; with the number of sentences this bounds the memory."""


class Reading:
    """What the words of a sentence say."""

    __slots__ = ("_filler", "_signals", "_stems", "bits", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = words_of(text)
        """In lower case."""
        self.bits: int = bits_of(self.words)
        """What each word says by itself, as a sum of `Signal` and `Hint`."""
        self._signals = -1
        """Below zero until they are asked for."""
        self._filler: FillerRule | bool | None = False
        """False until it is asked for."""
        self._stems: set[str] | None = None

    def signals(self) -> int:
        """Return the kinds of fact that the sentence shows signs of, as a sum of `Signal`."""
        if self._signals < 0:
            self._signals = signals_of(self.text, self.words, self.bits)
        return self._signals

    def states(self, rules: int) -> bool:
        """Whether it shows signs of any of `rules`, which are among those that `rules_of` finds; spares looking for all others."""
        if self.bits & rules:
            return True
        found = rules_of(self.text, self.words, self.bits) if self._signals < 0 else self._signals
        return found & rules != 0

    def stems(self) -> set[str]:
        """Return the stems of all its words, of those too that are parts of names."""
        if self._stems is None:
            self._stems = stems_of(self.text)
        return self._stems

    def filler(self) -> FillerRule | None:
        """Return what the sentence is filler as, before any signal is weighed against it."""
        if isinstance(self._filler, bool):
            self._filler = filler_of(self.text, self.words)
        return self._filler


def read(text: str) -> Reading:
    """Return a sentence read. Remembered, since the tools of a catalog say much in the same words."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else Reading(text)


_remembered = functools.lru_cache(maxsize=_MOST_REMEMBERED)(Reading)
