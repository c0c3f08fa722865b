"""That looking only where a word of a phrase is finds what looking everywhere finds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.core.shrink.filler import RULES, FillerRule, filler_of
from caveman_tui.core.shrink.reading import read
from caveman_tui.core.shrink.words import words_of

SIGNS = r"(?:…\s*)?(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|_)?"
LETTERS = st.characters(max_codepoint=0x17E, exclude_characters="\u0130\u0131")
"""Without the letters that are equal to a letter of another case when cases are ignored, and in lower case are not."""
OPENINGS = [(rule, rule.opens) for rule in RULES if rule.opens] + [(rule, rule.opens_plainly) for rule in RULES if rule.opens_plainly]
PHRASES = [(rule, phrase.pattern.pattern) for rule in RULES for phrase in rule.phrases if phrase.words]


def found_everywhere(text: str) -> FillerRule | None:
    """Return the first rule of which anything fits, all of them tried."""
    for rule in RULES:
        patterns = [phrase.pattern.pattern for phrase in rule.phrases]
        patterns += [f"^{SIGNS}(?:{rule.opens})"] * bool(rule.opens)
        patterns += [rf"^(?:…\s*)?(?:{rule.opens_plainly})"] * bool(rule.opens_plainly)
        if any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns):
            return rule
    return None


@pytest.mark.parametrize(("rule", "pattern"), OPENINGS + PHRASES)
def test_the_first_rule_that_fits_is_found(rule: FillerRule, pattern: str) -> None:
    @settings(max_examples=15, deadline=None, database=None)
    @given(
        st.from_regex(re.compile(pattern, re.IGNORECASE), alphabet=LETTERS, fullmatch=True),
        st.sampled_from(["", "- ", "1. ", "… ", "… * ", "**", "_"]),
        st.sampled_from(["", ".", " of the house.", " that helps people, and it is powerful."]),
    )
    def check(text: str, sign: str, rest: str) -> None:
        for sentence in (text + rest, sign + text + rest, f"The house: {text}{rest}"):
            assert filler_of(sentence, words_of(sentence.lower())) is found_everywhere(sentence), sentence
            assert read(sentence).filler() is found_everywhere(sentence), sentence
        assert RULES.index(found_everywhere(text) or RULES[-1]) <= RULES.index(rule)

    check()
