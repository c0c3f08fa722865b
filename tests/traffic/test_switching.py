"""What switching a running conversation costs."""

from caveman_tui.core.amounts import Label
from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.switching import switch_cost


def exchange(number: int, **fields: object) -> Exchange:
    given: dict[str, object] = {
        "id": f"e{number}",
        "started_at": float(number),
        "method": "POST",
        "path": "/",
        "conversation": "c",
        "model": "claude-opus-4-8",
        "usage": Usage(input_tokens=5, cache_read_tokens=90_000, cache_write_tokens=10_000),
    }
    return Exchange(**{**given, **fields})  # type: ignore[arg-type]


HOUR = (Marker(pointer="/system/0", section="system", ttl="1h"),)


def test_the_prefix_is_written_again_at_the_price_of_its_lifetime() -> None:
    short, long = switch_cost("c", [exchange(1)]), switch_cost("c", [exchange(1, markers_after=HOUR)])
    assert (short.tokens, short.ttl, long.ttl) == (100_000, "5m", "1h")
    assert short.dollars.value is not None and long.dollars.value is not None
    assert abs(short.dollars.value - 0.625) < 1e-9 and abs(long.dollars.value - 1.0) < 1e-9
    assert short.dollars.label is Label.INFERRED


def test_the_newest_of_the_conversation_counts_and_sub_agents_do_not() -> None:
    small = Usage(input_tokens=1, cache_read_tokens=10, cache_write_tokens=0)
    found = switch_cost(
        "c", [exchange(1), exchange(2, usage=small), exchange(3, agent="x"), exchange(4, conversation="d"), exchange(5, usage=None)]
    )
    assert found.tokens == 10


def test_what_is_unknown_stays_unknown() -> None:
    assert switch_cost("c", []).tokens is None and switch_cost("c", []).dollars.value is None
    unpriced = switch_cost("c", [exchange(1, model="no-such-model")])
    assert unpriced.tokens == 100_000 and unpriced.dollars.label is Label.UNKNOWN
