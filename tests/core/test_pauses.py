import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.pauses import PauseStatistics, Turn, add_turn, pause_between, pause_note
from caveman_tui.core.pricing import cost
from caveman_tui.core.usage import Usage

MODEL = "claude-opus-4-6"
MINUTE = 60.0
TOKENS = st.integers(0, 90_000)


def usage(read: int = 0, five: int = 0, hour: int = 0) -> Usage:
    return Usage(
        input_tokens=3,
        output_tokens=1,
        cache_read_tokens=read,
        cache_write_tokens=five + hour,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
    )


def follow(*turns: Turn) -> PauseStatistics:
    found, before = PauseStatistics(), None
    for turn in turns:
        found = add_turn(found, before, turn)
        before = turn
    return found


@pytest.mark.parametrize("minutes", [0, 0.1, 5, 60.01, 600, -10])
def test_shorter_and_longer_gaps_are_no_pauses(minutes: float) -> None:
    before, after = Turn(at=0.0, usage=usage(five=900), shortened=True), Turn(at=minutes * MINUTE, usage=usage(five=950))
    assert pause_between(before, after) is None
    assert follow(before, after).pauses == 0


def test_a_pause_of_25_minutes_among_markers_of_5_is_told_with_what_it_cost() -> None:
    before = Turn(at=0.0, usage=usage(read=80_000, five=4_000))
    after = Turn(at=25 * MINUTE, usage=usage(five=84_500))
    pause = pause_between(before, after)
    assert pause is not None and pause_note(pause) == "After a pause of 25 minutes 84,000 tokens were written to the cache again."
    found = follow(before, after)
    assert (found.pauses, found.rewritten_tokens, found.lost_tokens) == (1, 84_000, 0)
    # The client chose these lifetimes: they say nothing against shortening.
    assert (found.balance, found.advice) == (0, "")


def test_a_pause_that_an_hours_entry_bridged_cost_nothing() -> None:
    pause = pause_between(Turn(at=0.0, usage=usage(read=10, hour=500)), Turn(at=25 * MINUTE, usage=usage(read=510, five=40)))
    assert pause is not None and pause.rewritten_tokens == 0 and pause_note(pause) == ""


def test_tokens_weigh_not_turns() -> None:
    loop = [Turn(at=10.0 * n, usage=usage(read=5_000 * n, five=5_000), shortened=True, in_loop=True) for n in range(20)]
    stalled = Turn(at=loop[-1].at + 20 * MINUTE, usage=usage(five=100_000), shortened=True, in_loop=True)
    assert follow(*loop).balance == pytest.approx(100_000 * 0.75)
    assert follow(*loop).advice == "keep"
    found = follow(*loop, stalled)
    assert (found.pauses, found.stalls, found.longest_seconds) == (1, 1, 20 * MINUTE)
    assert found.balance == pytest.approx(100_000 * (0.75 - 1.15))
    assert found.advice == "an-hour"


@given(st.lists(st.tuples(TOKENS, TOKENS, TOKENS, st.booleans(), st.sampled_from([1.0, 10.0, 61.0])), min_size=1, max_size=8))
def test_the_balance_is_the_bill_without_shortening_less_the_bill(turns: list[tuple[int, int, int, bool, float]]) -> None:
    """In a conversation in which only we write for 5 minutes: there the counterfactual can be priced outright."""
    made, at = [], 0.0
    for read, five, hour, shortened, minutes in turns:
        at += minutes * MINUTE
        made.append(Turn(at=at, usage=usage(read, five if shortened else 0, hour), shortened=shortened))
    found = follow(*made)
    paid = wished = 0.0
    before = None
    for turn in made:
        assert turn.usage is not None
        pause = pause_between(before, turn) if before is not None else None
        again = pause.rewritten_tokens if pause and before and before.shortened else 0
        written = (turn.usage.cache_write_5m_tokens or 0) + (turn.usage.cache_write_1h_tokens or 0)
        read = turn.usage.cache_read_tokens or 0
        paid += dollars(turn.usage)
        wished += dollars(usage(read + again, 0, written - again))
        before = turn
    assert found.balance * 5 / 1e6 == pytest.approx(wished - paid, abs=1e-9)


def dollars(found: Usage) -> float:
    whole = cost(found, MODEL)
    assert whole is not None
    return whole.usd
