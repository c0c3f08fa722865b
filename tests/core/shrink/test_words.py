"""Shortcuts that spare a pattern find what the pattern would."""

import re
import string

from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.shrink.sentences import _NO_END, _seems_to_end
from caveman_tui.core.shrink.words import stem, stems_of, words_of

_texts = st.text(alphabet=st.sampled_from(string.ascii_letters + "0189_'’ .,;-()\t\n\x1c\x85é日ßK"), max_size=40)
_words = st.text(alphabet="abdeginsSE", max_size=8)
_tails = st.builds(
    lambda start, word: f"{start}{word}."[-12:],
    st.text(alphabet="ab1 (\n.é", max_size=8),
    st.sampled_from(["etc", "e.g", "eg", "ie", "Max", "MIN", "no", "x", "12", "123", "word", "ſt", "p.ej", "z.b", "ej", ""]),
)


def _slow_stem(word: str) -> str:
    word = word.lower()
    if word.endswith("ss"):
        return word
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@given(_texts)
def test_words_are_those_of_the_pattern(text: str) -> None:
    assert words_of(text) == re.findall(r"\w+(?:['’]\w+)?", text.lower())


@given(_texts)
def test_stems_are_those_of_the_words_and_of_the_parts_of_names(text: str) -> None:
    expected = {_slow_stem(word) for word in re.findall(r"[A-Z]*[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]", text)}
    assert stems_of(text) == expected


@given(_words)
def test_a_stem_has_no_ending_and_three_letters_at_least(word: str) -> None:
    assert stem(word) == _slow_stem(word)


@given(_tails)
def test_a_full_stop_seems_to_end_a_sentence_where_the_pattern_says_so(tail: str) -> None:
    assert _seems_to_end(tail) == (_NO_END.search(tail) is not None)
