"""What pauses cost, in words."""

import pytest

from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.pause_rows import pause_lines

PAID = PauseStatistics(pauses=3, stalls=1, longest_seconds=1_265.0, loop_tokens=91_000, rewritten_tokens=48_213, lost_tokens=12_000)
LOST = PauseStatistics(
    pauses=1, longest_seconds=400.0, loop_tokens=10_000, rewritten_tokens=20_000, lost_tokens=20_000, lost_hour_tokens=5_000
)


def words(statistics: PauseStatistics | None, width: int = 200) -> str:
    return "\n".join(map(plain, pause_lines(statistics, width)))


def test_what_the_worker_did_not_say_is_unknown_and_nothing_is_nothing() -> None:
    assert words(None).startswith("–") and "0" not in words(None)
    assert words(PauseStatistics()).startswith("None of 5 to 60 minutes.") and "nothing to advise" in words(PauseStatistics())


def test_where_shortening_paid_it_is_kept_and_the_balance_says_by_how_much() -> None:
    said = words(PAID)
    assert "3 of 5 to 60 minutes, 1 inside a loop, longest 21m05s" in said
    assert "48,213 tokens written again after them, 12,000 of them by our shortening (inferred)" in said
    assert "91,000 tokens written by shortened loops (provider)" in said
    # 91,000 at 0.75 saved, 12,000 at 1.15 lost.
    assert "balance +54.5k input tokens (inferred)" in said and "Keep 5 minutes" in said


def test_where_pauses_cost_more_the_balance_is_negative_and_an_hour_is_advised() -> None:
    said = words(LOST)
    # 10,000 at 0.75 saved; 15,000 at 1.15 and 5,000 at 1.9 lost.
    assert "balance -19.2k input tokens" in said and "An hour would have been cheaper" in said and "inside a loop" not in said
    assert "20,000 tokens written again after them, all by our shortening" in said


@pytest.mark.parametrize("width", [20, 36, 48, 76])
def test_no_line_of_text_is_wider_than_asked_for(width: int) -> None:
    for statistics in (None, PauseStatistics(), PAID, LOST):
        for spans in pause_lines(statistics, width)[1:]:
            assert columns_of(plain(spans)) <= width
