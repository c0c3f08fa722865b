"""What holds for every text at every level."""

import re

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.description import CUT_SIGN, WHOLE_BYTES, describe
from caveman_tui.core.shrink.layout import tidy
from caveman_tui.core.shrink.vocabulary import WORDS_OF, Signal
from tests.core.shrink.descriptions import CONTEXT, LEAD, LONG, shorten

LINES = [
    LONG,
    "Returns:",
    "Args:",
    "- an item of the list",
    "* (optional) another",
    "1. First, ask",
    "  - nested:",
    "```",
    "```json",
    "| a | b |",
    "Example:",
    "Examples of bookings:",
    'book_table(day="2024-01-31")',
    "place=inside",
    "guests: how many come",
    "Use this when somebody is hungry.",
    "Returns the booking.",
    "Returns plenty of things including:",
    "It must be unique.",
    "Not before six!",
    "All answers come in this format:",
    "Perfect for birthdays with friends and family.",
    "The house is old and loved by the people of the town.",
    "a line that goes on from the line above because it was wrapped there",
    "{",
    "}",
    "(",
    "]",
    "",
    "   ",
    "\t",
    CUT_SIGN,
    "必须先搜索。最多十二位。",
    "User: hello",
    "<example>",
    "</example>",
    "## Rules",
    "NOTE: be quick. The owner of the house is a friend of the town.",
    "a  b    c    d",
    "1  2  3  4",
    "\r",
    "\ud800",
    "\x00",
    "\u202eabc",
]
TEXTS = st.lists(st.tuples(st.sampled_from(["", "  ", "    ", "\t"]), st.sampled_from(LINES), st.sampled_from(["\n", "\n\n", " "]))).map(
    lambda parts: "".join(indent + line + end for indent, line, end in parts)
)
ANY = st.text(alphabet=st.characters(), max_size=400)


@settings(max_examples=150, deadline=None)
@given(st.one_of(TEXTS, ANY), st.sampled_from(list(Level)))
def test_twice_is_once(text: str, level: Level) -> None:
    once = shorten(text, CONTEXT, level)
    assert shorten(once, CONTEXT, level) == once


@settings(max_examples=150, deadline=None)
@given(st.one_of(TEXTS, ANY), st.sampled_from(list(Level)))
def test_units_cover_the_text_and_the_output_has_only_words_of_kept_ones(text: str, level: Level) -> None:
    out, units = describe(text, CONTEXT, level)
    assert out == shorten(text, CONTEXT, level)
    assert "".join(text[unit.start : unit.end] for unit in units) == text
    assert all(unit.start < unit.end for unit in units)
    kept = "".join("".join(text[unit.start : unit.end].split()) for unit in units if unit.kept)
    assert "".join(out.split()).replace(CUT_SIGN, "") == kept.replace(CUT_SIGN, "")


@settings(max_examples=150, deadline=None)
@given(st.one_of(TEXTS, ANY))
def test_tidying_moves_no_word_and_makes_nothing_longer(text: str) -> None:
    tidied = tidy(text)
    assert tidied.split() == text.split()
    assert len(tidied) <= len(text)
    assert tidy(tidied) == tidied


@settings(max_examples=100, deadline=None)
@given(st.one_of(TEXTS, ANY), st.sampled_from(list(Level)))
def test_a_short_text_keeps_every_word(text: str, level: Level) -> None:
    short = text[: WHOLE_BYTES // 4]
    assert shorten(short, CONTEXT, level).split() == short.split()


MARKER = re.compile(r"\b(?:" + "|".join(sorted(WORDS_OF[Signal.MARKER])) + r")\b", re.IGNORECASE)


@settings(max_examples=150, deadline=None)
@example(f"{LONG}\nReturns:\nIt must be unique. {{\n}}\n")
@example(f"{LONG}\nExamples of bookings:\nIt must be unique. {{\n}}\n")
@given(TEXTS)
def test_what_carries_a_marker_goes_only_as_a_repetition_or_in_an_example_or_fence(text: str) -> None:
    _, units = describe(text, CONTEXT, Level.STANDARD)
    for unit in units:
        part = text[unit.start : unit.end]
        opening, _, inside = part.strip().partition("\n")
        said = opening if inside and opening.rstrip().endswith(("{", "[", "(")) else part  # braces over lines are a fence
        if not unit.kept and MARKER.search(said):
            in_example = unit.kind in ("repetition", "dialogue") or part.lstrip().startswith("<example>")
            assert in_example or "```" in part or part.lstrip()[:1] in "{[(|1", (unit, part)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(
    "unit",
    [
        "The wall is long and blue. ",
        "It must. ",
        "x",
        " ",
        '"',
        "`",
        "(",
        "(a",
        "{\n",
        "- a\n",
        "a: b\n",
        "a:\n",
        "\n  ",
        "```x\n",
        "1.",
        "：",
        "的",
        ".",
        "?!",
        "。",
        "\n",
        "~",
        ",",
        "“",
        "「",
        "a-",
        "-",
    ],
)
def test_walls_come_out(level: Level, unit: str) -> None:
    wall = unit * (20_000 // len(unit))
    assert len(shorten(wall, CONTEXT, level)) <= len(wall)
    assert len(shorten(f"Lead. {wall}x", CONTEXT, level)) <= len(wall) + 7
    for around in (
        f"Lead. It returns 1 page {wall} more.\nAsk.",
        f"Lead.\n\nExamples:\n{wall} x=1",
        f"{LEAD}\n- {wall} § day: x y\n{wall}`",
    ):
        assert len(shorten(around, CONTEXT, level)) <= len(around)


@pytest.mark.parametrize("level", [Level.STANDARD, Level.TERSE])
def test_many_lines_and_a_long_parameter_come_out(level: Level) -> None:
    context = msgspec.structs.replace(CONTEXT, described={"day": "The day " + "and the night " * 1400})
    text = f"{LEAD}\n" + "- day: the night of the day\n" * 5000 + "The night and the day of the night. " * 1000
    assert len(shorten(text, context, level)) <= len(text)


def test_the_work_grows_with_the_text_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    from caveman_tui.core.shrink import repetition

    compared = 0
    original = repetition._subsequence

    def counting(words: list[str], other: list[str]) -> bool:
        nonlocal compared
        compared += 1
        return original(words, other)

    monkeypatch.setattr(repetition, "_subsequence", counting)

    def work(sentences: int) -> int:
        nonlocal compared
        compared = 0
        shorten(
            " ".join(f"Never seat party {number} of the guests near door {number} of the house." for number in range(sentences)),
            CONTEXT,
            Level.STANDARD,
        )
        return compared

    small, large = work(400), work(1600)
    assert large <= 6 * max(small, 1)
