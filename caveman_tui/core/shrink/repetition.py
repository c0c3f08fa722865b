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

_WORD = re.compile(r"(?<![\w$%°#@&+/\\.\-])[\w$%°#@&+/\\.\-]*\w|[^\x00-\x7f]")
"""Begins where a run of such signs begins: a search from each of them would grow with their square."""
_STRETCH = re.compile(r"[\n.!?。！？；]+")
"""Between these signs there is no end of a sentence."""
_BEFORE = "-*•+… "
_AFTER = " .!。！;；,"
_AROUND = _BEFORE + _AFTER + "\"')]*_”’」』）"
"""With what may close the sentence before."""
_MEANING = Signal.PROHIBITION | Signal.ONLY | Signal.EXCLUSIVE | Signal.DEFAULT


def exact_key(sentence: str) -> str:
    """Return what two sentences share when only white space, list signs and final punctuation differ."""
    return " ".join(sentence.split()).lstrip(_BEFORE).rstrip(_AFTER)


def says_anything_twice(text: str) -> bool:
    """Whether a text has two sentences, or parts of sentences, of one exact key; without them no sentence of it repeats another."""
    stretches = _STRETCH.split(text)
    has_single_blanks_only = text.isascii() and "  " not in text and text.replace("\n", "").isprintable()
    keys = [(stretch if has_single_blanks_only else " ".join(stretch.split())).strip(_AROUND) for stretch in stretches]
    keys = list(filter(None, keys))
    return len(set(keys)) < len(keys)


class Earlier:
    """The sentences that were kept so far, as far as a later one may repeat them."""

    __slots__ = ("_contents", "_exact", "_exact_of", "_read", "_words")

    def __init__(self) -> None:
        self._read: list[Reading] = []
        self._words = set(GLUE)
        self._exact: dict[str, Reading] = {}
        self._exact_of = 0
        """How many of the sentences `_exact` has the keys of."""
        self._contents: dict[str, list[str]] = {}

    def repeated(self, sentence: Reading) -> Reading | None:
        """Return an earlier sentence that has every content word of this one, in this order, and says no and only where this one does."""
        if not self._words.issuperset(sentence.words) or len(uncut(sentence)) < LEAST_CHARACTERS:
            return None
        self._exact |= {exact_key(earlier.text): earlier for earlier in self._read[self._exact_of :]}
        self._exact_of = len(self._read)
        if same := self._exact.get(exact_key(sentence.text)):
            return same
        words = _content(sentence)
        if len(words) < LEAST_WORDS:
            return None
        longest = max(words, key=len)
        for earlier in self._read[-LOOK_BACK:]:
            if (
                longest in earlier.text.casefold()
                and _subsequence(words, self._content_of(earlier))
                and sentence.signals() & _MEANING == earlier.signals() & _MEANING
            ):
                return earlier
        return None

    def _content_of(self, sentence: Reading) -> list[str]:
        content = self._contents.get(sentence.text)
        if content is None:
            content = self._contents[sentence.text] = _content(sentence)
        return content

    def add(self, sentence: Reading) -> None:
        """Remember a kept sentence."""
        text = sentence.text
        if len(text) >= LEAST_CHARACTERS and (text[0] != "…" or len(uncut(sentence)) >= LEAST_CHARACTERS):
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
