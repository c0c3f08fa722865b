import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.amounts import UNKNOWN, Amount, Label
from caveman_tui.core.pricing import cost, price_list
from caveman_tui.core.savings import lapsed_tokens, loop_ttl_saving, shrink_saving
from caveman_tui.core.usage import Usage

OPUS = "claude-opus-4-6"
CLAUDES = [price.model for price in price_list().models if price.model.startswith("claude-")]
TOKENS = st.integers(0, 90_000)


def usage(read: int = 0, five: int = 0, hour: int = 0, fresh: int = 10, extra: int = 0) -> Usage:
    return Usage(
        input_tokens=fresh,
        output_tokens=1,
        cache_read_tokens=read,
        cache_write_tokens=five + hour + extra,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
    )


def dollars(found: Usage, model: str) -> float:
    whole = cost(found, model)
    assert whole is not None
    return whole.usd


class TestLoopTtl:
    @given(TOKENS, TOKENS, TOKENS, st.sampled_from(CLAUDES))
    def test_it_is_the_bill_without_the_edit_less_the_bill(self, read: int, five: int, hour: int, model: str) -> None:
        saved = loop_ttl_saving(usage(read, five, hour), model, 1)
        assert saved.value == pytest.approx(dollars(usage(read, 0, five + hour), model) - dollars(usage(read, five, hour), model))
        assert saved.label is Label.INFERRED

    def test_a_number_to_check_by_hand(self) -> None:
        assert loop_ttl_saving(usage(five=1_000_000), OPUS, 2).value == pytest.approx(10 - 6.25)

    def test_nothing_shortened_saved_nothing(self) -> None:
        assert loop_ttl_saving(usage(five=1000), OPUS, 0) == Amount(0.0, Label.INFERRED)
        assert loop_ttl_saving(None, "unheard-of", 0) == Amount(0.0, Label.INFERRED)

    def test_unknown_stays_unknown(self) -> None:
        assert loop_ttl_saving(usage(five=1000), "unheard-of", 1) == UNKNOWN
        assert loop_ttl_saving(None, OPUS, 1) == UNKNOWN
        assert loop_ttl_saving(Usage(input_tokens=1, cache_write_tokens=5), OPUS, 1) == UNKNOWN
        assert loop_ttl_saving(usage(five=1000), OPUS, 1, own_5m=1) == UNKNOWN

    def test_writes_of_server_tools_are_not_ours(self) -> None:
        assert loop_ttl_saving(usage(five=100, extra=5000), OPUS, 1) == loop_ttl_saving(usage(five=100), OPUS, 1)

    @given(TOKENS, TOKENS, TOKENS, st.sampled_from(CLAUDES))
    def test_what_lapsed_would_have_been_read(self, read: int, again: int, new: int, model: str) -> None:
        saved = loop_ttl_saving(usage(read, again + new), model, 1, lapsed=again)
        assert saved.value == pytest.approx(
            dollars(usage(read + again, 0, new), model) - dollars(usage(read, again + new), model), abs=1e-9
        )

    def test_a_lapse_is_shown_negative(self) -> None:
        saved = loop_ttl_saving(usage(five=101_000), OPUS, 1, lapsed=100_000)
        assert saved.value is not None and saved.value < 0
        # The next prompt writes for an hour what a living entry would have served.
        saved = loop_ttl_saving(usage(hour=100_000), OPUS, 0, lapsed=100_000)
        assert saved.value == pytest.approx(-0.1 * (10 - 0.5))


class TestLapsed:
    @pytest.mark.parametrize(("gap", "found"), [(299, 0), (300, 0), (301, 900), (3600, 900), (3601, 0), (-5, 0), (float("nan"), 0)])
    def test_only_pauses_between_five_minutes_and_an_hour(self, gap: float, found: int) -> None:
        assert lapsed_tokens(usage(read=500, five=500), usage(read=100, five=950), gap) == found

    def test_never_more_than_was_written_again(self) -> None:
        assert lapsed_tokens(usage(read=500, five=500), usage(read=100, five=50), 600) == 50
        assert lapsed_tokens(usage(read=500), usage(read=800, five=50), 600) == 0
        assert lapsed_tokens(None, usage(), 600) == lapsed_tokens(usage(), None, 600) == 0


class TestShrink:
    @pytest.mark.parametrize(
        ("found", "rate"),
        [
            (usage(read=20_000, five=500, hour=10), 0.5),
            (usage(five=20_000), 6.25),
            (usage(five=20_000, hour=100), 10),
            (usage(fresh=20_000), 5),
        ],
    )
    def test_removed_tokens_cost_what_the_prompts_beginning_cost(self, found: Usage, rate: float) -> None:
        saved = shrink_saving(5000, 3000, found, OPUS)
        assert saved == Amount(pytest.approx(2000 * rate / 1e6), Label.INFERRED)

    def test_longer_is_shown_negative(self) -> None:
        saved = shrink_saving(100, 120, usage(fresh=20_000), OPUS)
        assert saved.value is not None and saved.value < 0

    def test_unknown_stays_unknown(self) -> None:
        found = usage(fresh=20_000)
        assert shrink_saving(None, 1, found, OPUS) == UNKNOWN
        assert shrink_saving(2, None, found, OPUS) == UNKNOWN
        assert shrink_saving(2, 1, None, OPUS) == UNKNOWN
        assert shrink_saving(2, 1, Usage(output_tokens=3), OPUS) == UNKNOWN
        assert shrink_saving(2, 1, found, "unheard-of") == UNKNOWN
        assert shrink_saving(2, 1, Usage(input_tokens=1, cache_write_tokens=5), OPUS) == UNKNOWN

    def test_a_prompt_that_may_have_shrunk_below_the_cache_is_unknown(self) -> None:
        assert shrink_saving(3000, 1000, usage(fresh=3000), OPUS) == UNKNOWN
        assert shrink_saving(3000, 1000, usage(fresh=1500), OPUS) != UNKNOWN
        assert shrink_saving(3000, 1000, usage(fresh=4096), OPUS) != UNKNOWN
