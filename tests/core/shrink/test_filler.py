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
OPENINGS = [(rule, opening.pattern.pattern) for rule in RULES for opening in (rule.opens, rule.opens_plainly) if opening]
PHRASES = [(rule, phrase.pattern.pattern) for rule in RULES for phrase in rule.phrases if phrase.words]


def found_everywhere(text: str) -> FillerRule | None:
    """Return the first rule of which anything fits, all of them tried."""
    for rule in RULES:
        patterns = [phrase.pattern.pattern for phrase in rule.phrases]
        patterns += [f"^{SIGNS}(?:{rule.opens.pattern.pattern})"] if rule.opens else []
        patterns += [rf"^(?:…\s*)?(?:{rule.opens_plainly.pattern.pattern})"] if rule.opens_plainly else []
        if any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns):
            return rule
    return None


@pytest.mark.parametrize(("rule", "pattern"), OPENINGS + PHRASES)
def test_the_first_rule_that_fits_is_found(rule: FillerRule, pattern: str) -> None:
    @settings(max_examples=40, deadline=None, database=None)
    @given(
        st.from_regex(re.compile(pattern, re.IGNORECASE), alphabet=LETTERS, fullmatch=True),
        st.sampled_from(["", "- ", "1. ", "… ", "… * ", "**", "_"]),
        st.sampled_from(["", ".", " of the house.", " that helps people, and it is powerful."]),
    )
    def check(text: str, sign: str, rest: str) -> None:
        for sentence in (text + rest, sign + text + rest, f"The house: {text}{rest}", f"The house'{text}'s{rest}"):
            assert filler_of(sentence, words_of(sentence.lower())) is found_everywhere(sentence), sentence
            assert read(sentence).filler() is found_everywhere(sentence), sentence
        assert read(f"… {text}{rest}").filler() is read(f"{text}{rest}").filler()
        assert RULES.index(found_everywhere(text) or RULES[-1]) <= RULES.index(rule)

    check()


@pytest.mark.parametrize(
    "sentence",
    """
    Return it. Returns it. Respond with it. Responds with it. Yield it. Yields it. Also returns it. Then returns it. Will return it.
    Simply returns it. Automatically returns it. And returns it. Which returns it. It returns it. This returns it. The tool returns it.
    The server answers. You'll get a list. You will receive the report. :return it. @returns it. :rtype it. 返回预订。 _Returns it.
    Response is it. Result is it. Results are it. Answer has it. Output has it. Returned days are it.
    Als Ergebnis kommt es. Zurückgegeben wird es. Como resultado sale. Vous recevrez tout. Devuelve una lista. Retorna el objeto.
    Renvoie la liste. Retourne des détails. Each item of the result has it. Every result contains it.
    It's great for it. This is great for it. This's great for it. Particularly useful for it. Especially useful for it. Very useful in it.
    Perfect for it. Ideal for it. Great for it. Essential for it. Invaluable for it. Excellent for it. Useful for it. Helpful for it.
    Valuable in it. Well-suited for it. Best suited for it. Handy for it. Indispensable for it.
    Say goodbye to it. Happy booking. Enjoy it. They are mainly used.
    Docs: https://house. Documentation: https://house. API reference: https://house. Homepage: https://house. Website: https://house.
    Source: https://house. Please see the docs to learn more. See the docs to learn more. Visit the docs to learn more.
    Read the docs to learn more. Check out the docs to learn more. Refer to the docs to learn more. Consult the docs to learn more.
    To learn more, see the docs. Learn more in the docs. For details, see the docs. Under the hood. Behind the scenes.
    That helps. These help. Doing so helps. Accept it. Accepts it. Optionally accepts it. Take the day as input. Takes a day and returns it.
    """.strip()
    .replace("\n    ", " ")
    .split(". "),
)
def test_every_opening_word_is_known(sentence: str) -> None:
    for signed in (sentence, f"- {sentence}", f"2. {sentence}"):
        assert filler_of(signed, words_of(signed.lower())) is found_everywhere(signed)
    assert found_everywhere(sentence)
