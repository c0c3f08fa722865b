import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.amounts import Label
from caveman_tui.core.pricing import cost, minimum_prefix, normalise_model, price_list, price_of
from caveman_tui.core.usage import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5"),
        ("anthropic/claude-4.6-sonnet-20260217", "claude-sonnet-4-6"),
        ("claude-3-5-haiku-20241022", "claude-haiku-3-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("arn:aws:bedrock:eu-west-1:1:inference-profile/global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0:200k", "claude-haiku-4-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        (" Claude-Haiku-4-5 ", "claude-haiku-4-5"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai/gpt-5.1", "gpt-5.1"),
    ],
)
def test_spellings_of_priced_models(spelling: str, name: str) -> None:
    assert normalise_model(spelling) == name
    price = price_of(spelling)
    assert price is not None and price.model == name


@pytest.mark.parametrize(
    "model",
    [
        "",
        "claude",
        "claude-opus-4-8-fast",
        "claude-opus-4-51",
        "my-claude-sonnet-4-5",
        "claude-opus-99",
        "gpt-5-mini-turbo",
        "gpt-5x",
        "llama",
    ],
)
def test_other_models_have_no_price_rather_than_a_near_one(model: str) -> None:
    assert price_of(model) is None
    assert minimum_prefix(model) is None
    assert cost(Usage(input_tokens=1, output_tokens=1), model) is None


@given(st.text(max_size=60))
def test_any_text_is_looked_up_without_raising(model: str) -> None:
    price_of(model)


def test_the_list_is_dated_and_without_doubles() -> None:
    prices = price_list()
    assert len(prices.as_of) == 7 and prices.as_of[4] == "-"
    names = [price.model for price in prices.models]
    assert len(names) == len(set(names))
    assert all(normalise_model(name) == name for name in names)


def test_anthropic_writes_cost_a_quarter_more_and_twice_the_input() -> None:
    for price in price_list().models:
        if price.model.startswith("claude-"):
            assert price.write_5m == pytest.approx(1.25 * price.input)
            assert price.write_1h == pytest.approx(2 * price.input)
        assert price.read < price.input < price.output


def test_smallest_prefixes() -> None:
    found = {name: minimum_prefix(name) for name in ("claude-opus-5", "claude-opus-4-7", "claude-haiku-4-5", "claude-sonnet-4-6")}
    assert found == {"claude-opus-5": 512, "claude-opus-4-7": 2048, "claude-haiku-4-5": 4096, "claude-sonnet-4-6": 1024}


class TestCost:
    def test_each_part_at_its_price(self) -> None:
        usage = Usage(
            input_tokens=1000,
            output_tokens=200,
            cache_read_tokens=50_000,
            cache_write_tokens=3000,
            cache_write_5m_tokens=2000,
            cache_write_1h_tokens=1000,
        )
        found = cost(usage, "claude-opus-4-6")
        assert found is not None
        assert found.input == pytest.approx(0.005)
        assert found.cache_read == pytest.approx(0.025)
        assert found.cache_write_5m == pytest.approx(0.0125)
        assert found.cache_write_1h == pytest.approx(0.01)
        assert found.output == pytest.approx(0.005)
        assert found.usd == pytest.approx(0.0575)
        assert found.amount.label is Label.INFERRED

    def test_writes_beyond_the_split_are_the_servers_own_short_ones(self) -> None:
        usage = Usage(input_tokens=0, output_tokens=0, cache_write_tokens=MILLION, cache_write_5m_tokens=0, cache_write_1h_tokens=400_000)
        found = cost(usage, "claude-sonnet-4-6")
        assert found is not None
        assert (found.cache_write_5m, found.cache_write_1h) == (pytest.approx(0.6 * 3.75), pytest.approx(0.4 * 6))

    def test_writes_of_unknown_lifetime_have_no_known_cost(self) -> None:
        usage = Usage(input_tokens=10, output_tokens=1, cache_write_tokens=100)
        assert cost(usage, "claude-sonnet-4-5") is None
        found = cost(usage, "gpt-6-sol")
        assert found is not None and found.cache_write_5m == pytest.approx(100 * 2.5 / MILLION)

    def test_writes_without_a_price_have_no_known_cost(self) -> None:
        assert cost(Usage(input_tokens=10, output_tokens=1, cache_write_tokens=100), "gpt-5.5") is None

    @pytest.mark.parametrize("usage", [None, Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
    def test_what_was_not_reported_has_no_cost(self, usage: Usage | None) -> None:
        assert cost(usage, "claude-opus-5") is None

    def test_no_cache_counts_is_no_cache(self) -> None:
        found = cost(Usage(input_tokens=MILLION, output_tokens=0), "claude-haiku-4-5")
        assert found is not None and found.usd == pytest.approx(1.0)

    def test_long_requests_are_priced_whole(self) -> None:
        short = cost(Usage(input_tokens=100_000, output_tokens=1000, cache_read_tokens=100_000), "claude-sonnet-4-5")
        long = cost(Usage(input_tokens=100_000, output_tokens=1000, cache_read_tokens=100_001), "claude-sonnet-4-5")
        assert short is not None and long is not None
        assert long.input == pytest.approx(2 * short.input)
        assert long.output == pytest.approx(1.5 * short.output)
        assert long.cache_read == pytest.approx(100_001 * 0.6 / MILLION)
