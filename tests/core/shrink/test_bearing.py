"""What goes for weighing too little, and what no weight takes away."""

import re

import pytest

from tests.core.shrink.descriptions import LONG, shrunk, unit_at

LIGHT = "This tool provides comprehensive information that helps users with various projects."


def test_a_sentence_that_weighs_too_little_goes_and_says_its_score_and_words() -> None:
    text = f"{LONG} {LIGHT} Ask about allergies."
    unit = unit_at(text, LIGHT)
    assert (unit.kept, unit.kind) == (False, "aside")
    assert re.fullmatch(r"nothing in it bears on the call \(score -\d+\.\d\d: \w+(?:, \w+){2}\)", unit.why)


@pytest.mark.parametrize("rule", ["must", "only", "not", "by default", "before"])
def test_a_sign_of_a_rule_outweighs_all_words(rule: str) -> None:
    text = f"{LONG} {LIGHT[:-1]} {rule} allowed. Ask about allergies."
    assert shrunk(text) == text


def test_a_light_list_goes_as_a_whole_and_stays_where_one_item_is_a_rule() -> None:
    items = (
        "- Provides comprehensive information that helps users with projects\n- Enables accurate analysis that provides detailed insights"
    )
    head = "Features of the house:\n"
    assert shrunk(f"{LONG}\n\n{head}{items}") == LONG
    text = f"{LONG}\n\n{head}{items}\n- Guests must book the room"
    assert shrunk(text) == text
