"""What is said to be left alone without looking is left alone when looked at."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import explain_tool, shrink_catalog
from caveman_tui.core.shrink.decide import plan
from caveman_tui.core.shrink.description import joined
from caveman_tui.core.shrink.layout import tidy
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.settled import is_settled
from tests.core.shrink.descriptions import CONTEXT, LONG
from tests.core.shrink.test_description_kinds import FACTS, FILLER
from tests.core.shrink.test_description_properties import ANY, LINES, TEXTS

SENTENCES = st.lists(
    st.tuples(
        st.sampled_from([" ", " ", "\n", "\n\n", "\n- ", "\n  - ", "\n  "]),
        st.sampled_from([sentence for _, sentence in FACTS + FILLER] + LINES + ["Returns:", "Default: 2", "Use it.", "The house is old."]),
    )
).map(lambda parts: LONG + "".join(gap + sentence for gap, sentence in parts))


def settled(text: str, context: ToolContext, level: Level) -> bool | None:
    """Return what is said of what `level` leaves of a text, None where nothing of it goes; see that it is true."""
    made = plan(tidy(text), context, level)
    if all(piece.kept for piece in made.pieces):
        return None
    left = tidy(joined(made))
    if not left or not is_settled(made, left):
        return False
    assert all(piece.kept for piece in plan(left, context, level).pieces)
    return True


LOSES_ITS_LEAD = """- 1 2 3 4
  -
  - Accepts the day and the place of the dinner.
  - Each entry of the result has a name and a street.
  Perfect for birthdays with friends and family. Perfect for birthdays with friends and family. - Returns: the house.
  - }
- NOTE: be quick. The owner of the house is a friend of the town."""


@settings(max_examples=300, deadline=None)
@example(LOSES_ITS_LEAD, Level.TERSE)
@given(st.one_of(SENTENCES, TEXTS, ANY.filter(str.strip)), st.sampled_from(list(Level)))
def test_what_is_said_to_be_settled_loses_nothing_more(text: str, level: Level) -> None:
    if tidy(text):
        settled(text, CONTEXT, level)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LONG}\n\nReturns the booking.\n\nAsk about allergies.", True),
        (f"{LONG} Returns the booking. Ask about allergies.", True),
        (f"{LONG}\n\nPerfect for birthdays with friends and family. Ask about allergies.", True),
        (f"{LONG}\n- Returns the booking.\n- Ask about allergies.\n\nReturns the bill.", True),
        (f"{LONG}\n\nReturns the bill.\nCall it: The house.", True),
        (f"{LONG} Returns the booking with:\n- The waiter.\n- The bill.", True),
        (f"{LONG}\n\nReturns:\nThe bill of the people\nHouse rules:\n- Ask first.", True),
        (f"{LONG}\n\nReturns the booking. Note: be quick.", False),
        (f"{LONG} Returns the booking. The old house by the sea", False),
        (f"{LONG}\n- Returns the bill with the names of the people\nReturns the booking.", False),
    ],
)
def test_lines_that_begin_as_they_began_are_settled(text: str, expected: bool) -> None:
    assert settled(text, CONTEXT, Level.STANDARD) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{LONG}\n- Guests must leave by midnight.\n- The house is old. The wine is red.\n\nThe owner is old.", True),
        (f"{LONG}\n- The house is old. Guests must leave by midnight.\n\nThe owner is old.", True),
        (f"{LONG}\n- Guests must leave by midnight.\n- Some are old:\n  - The house of the owner.", True),
        (f"{LONG}\n\nHouses:\n- Some are old:\n  - Guests must leave by midnight.\n- Some are new.\n\nThe owner is old.", True),
        (f"{LONG}\n- Guests must leave by midnight.\n- Returns the booking. The wine is red.\n\nThe owner is old.", False),
    ],
)
def test_lists_of_which_items_stay_for_others_are_settled(text: str, expected: bool) -> None:
    assert settled(text, CONTEXT, Level.TERSE) is expected


def test_most_of_what_real_catalogs_lose_is_settled(shared_data: Path) -> None:
    answers = []
    for path in sorted((shared_data / "catalogs").glob("*.json")):
        catalog = shrink_catalog(path.read_bytes(), level=Level.STANDARD)
        for tool in catalog.tools:
            for description in explain_tool(tool, Level.STANDARD):
                if len(description.before) > 200:
                    answers.append(settled(description.before, ToolContext(tool=tool.name), Level.STANDARD))
    assert answers.count(True) > answers.count(False)
