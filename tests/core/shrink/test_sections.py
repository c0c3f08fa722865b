"""That a label is known for what it announces, and that looking for its words first finds what trying the pattern on all finds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.core.shrink import sections
from caveman_tui.core.shrink.sections import Section, section_of

ASCII = st.characters(min_codepoint=32, max_codepoint=126)


@settings(max_examples=400, deadline=None)
@given(st.from_regex(sections._SECTIONS, fullmatch=True, alphabet=ASCII) | st.from_regex(r"\A[A-Za-z' ._()-]{1,40}\Z", alphabet=ASCII))
def test_no_label_is_missed_for_its_words(label: str) -> None:
    text = label.lstrip(sections._BEFORE).rstrip(sections._AFTER)
    found = re.match(sections._SECTIONS, text) if 0 < len(text) <= 80 else None
    assert sections._section_of_label(label) == (found.lastgroup if found else Section.NONE)


@pytest.mark.parametrize(
    ("label", "section"),
    [
        ("Returns:", Section.RETURNS),
        ("**Expected response:**", Section.RETURNS),
        ("返回值：", Section.RETURNS),
        ("Rückgabe:", Section.RETURNS),
        ("## Usage examples", Section.EXAMPLES),
        ("e.g.:", Section.EXAMPLES),
        ("For instance:", Section.EXAMPLES),
        ("A guest's example:", Section.EXAMPLES),
        ("Example prompts:", Section.DIALOGUE),
        ("Args:", Section.PARAMETERS),
        ("参数：", Section.PARAMETERS),
        ("Key benefits:", Section.BENEFITS),
        ("Booking early helps you:", Section.BENEFITS),
        ("Why use this:", Section.BENEFITS),
        ("This tool is particularly useful for:", Section.BENEFITS),
        ("Retourne\u00a0:", Section.RETURNS),
        ("例\u202f:", Section.EXAMPLES),
        ("\u3000返回", Section.RETURNS),
        ("Rules of the house:", Section.NONE),
    ],
)
def test_what_a_label_announces(label: str, section: str) -> None:
    assert section_of(label) == section
