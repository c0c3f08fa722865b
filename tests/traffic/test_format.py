"""Numbers as the screens spell them."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.amounts import Label
from caveman_tui.traffic import format


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "–"),
        (0, "0"),
        (842, "842"),
        (999, "999"),
        (999.6, "1.0k"),
        (1_240, "1.2k"),
        (48_213, "48.2k"),
        (99_949, "99.9k"),
        (99_951, "100k"),
        (999_499, "999k"),
        (999_501, "1.00M"),
        (1_240_000, "1.24M"),
        (12_400_000, "12.4M"),
        (412_000_000, "412M"),
        (2_500_000_000, "2.5G"),
        (-1_240, "-1.2k"),
    ],
)
def test_counts(number: float | None, text: str) -> None:
    assert format.count(number) == text


@given(st.integers(0, 10**9 - 10**6))
def test_a_count_never_takes_more_than_six_columns(number: int) -> None:
    assert len(format.count(number)) <= 6


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(None, "–"), (0.0, "0%"), (0.001, "<1%"), (0.234, "23%"), (0.996, "99%"), (1.0, "100%"), (-0.03, "-3%"), (-0.001, "-<1%")],
)
def test_percentages_reach_the_ends_only_at_the_ends(fraction: float | None, text: str) -> None:
    assert format.percent(fraction) == text


@given(st.floats(0, 1))
def test_a_part_is_never_shown_as_none_or_all(fraction: float) -> None:
    if 0 < fraction < 1:
        assert format.percent(fraction) not in ("0%", "100%")


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (0, "0 B"), (842, "842 B"), (3_412, "3.4 kB"), (412_306, "412 kB"), (999_600, "1.0 MB"), (536_870_912, "537 MB")],
)
def test_sizes(number: float | None, text: str) -> None:
    assert format.size(number) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "–"),
        (0, "0ms"),
        (840.2, "840ms"),
        (999.7, "1.0s"),
        (4_210, "4.2s"),
        (9_960, "10s"),
        (42_000, "42s"),
        (59_600, "1m00s"),
        (65_000, "1m05s"),
        (7_400_000, "2h03m"),
    ],
)
def test_durations(milliseconds: float | None, text: str) -> None:
    assert format.duration(milliseconds) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(None, "–"), (0.0, "$0.00"), (0.00004, "<$0.0001"), (0.0042, "$0.0042"), (1.824, "$1.82"), (-0.2, "-$0.20"), (1234.5, "$1,234.50")],
)
def test_money_is_never_rounded_to_nothing(dollars: float | None, text: str) -> None:
    assert format.money(dollars) == text


def test_times_are_those_of_the_given_zone() -> None:
    assert format.clock(1_773_478_803.4, UTC) == "09:00:03"
    assert format.date_and_clock(1_773_478_803.4, UTC) == "2026-03-14 09:00:03"
    assert format.clock(None, UTC) == "–"


def test_what_is_unknown_carries_no_label() -> None:
    assert format.labelled("$1.82", Label.INFERRED) == "$1.82 inferred"
    assert format.labelled(format.money(None), Label.INFERRED) == "–"


def test_short_ids_and_plurals() -> None:
    assert format.short_id("3f2a9c1e-70d4") == "3f2a9c"
    assert format.short_id("digest:abcdef0123") == format.short_id("opening-abcdef0123") == "abcdef"
    assert format.short_id("") == "–"
    assert (format.plural(1, "marker"), format.plural(1_200, "marker")) == ("1 marker", "1,200 markers")
