"""What loop TTL saved, exchange by exchange and in all."""

import pytest

from caveman_tui.core.amounts import UNKNOWN
from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.policy import Dialect
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import MarkerEdit
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import status_line
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.log import TrafficLog
from caveman_tui.traffic.ttl_saving import TtlSavings
from caveman_tui.traffic.view import TrafficView
from tests.traffic.exported import FormatName, document

OPUS = "claude-opus-4-6"
"""Input at $5 a million tokens: an hour's write $10, a 5-minute one $6.25, a read $0.50."""
SHORTENED = MarkerEdit(pointer="/messages/2/content/0/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened")


def exchange(number: int, at: float, *, read: int = 0, five: int = 0, hour: int = 0, **given: object) -> Exchange:
    usage = Usage(
        input_tokens=10,
        output_tokens=10,
        cache_read_tokens=read,
        cache_write_tokens=five + hour,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
    )
    fields: dict[str, object] = {"model": OPUS, "conversation": "c", "usage": usage, "marker_edits": (SHORTENED,), "state": "done", **given}
    return Exchange(
        id=f"e-{number}", started_at=at, method="POST", path="/v1/messages", dialect=Dialect.ANTHROPIC_MESSAGES, status=200, **fields
    )  # type: ignore[arg-type]


def saved(*exchanges: Exchange) -> list[float | None]:
    savings = TtlSavings()
    return [found.value if (found := savings.of(one)) is not None else None for one in exchanges]


def test_a_shortened_write_saves_the_difference_of_the_two_prices() -> None:
    assert saved(exchange(1, 0, five=1_000_000)) == [pytest.approx(3.75)]


def test_what_lapsed_in_a_pause_is_counted_against_it() -> None:
    # 100,000 tokens read at $0.50 a million would have been; they were written again at $6.25.
    assert saved(exchange(1, 0, five=100_000), exchange(2, 600, five=100_000)) == [pytest.approx(0.375), pytest.approx(-0.575)]


def test_a_pause_is_one_of_the_same_conversation_and_model() -> None:
    first, title = exchange(1, 0, five=100_000), exchange(2, 590, model="claude-haiku-4-5", marker_edits=())
    other = exchange(3, 595, conversation="d", marker_edits=())
    assert saved(first, title, other, exchange(4, 600, five=100_000))[-1] == pytest.approx(-0.575)
    assert saved(first, exchange(2, 600, conversation="d", five=100_000))[-1] == pytest.approx(0.375)


def test_an_exchange_that_told_no_usage_neither_ends_nor_begins_a_pause() -> None:
    first, broken = exchange(1, 0, five=100_000), exchange(2, 500, usage=None, state="broken")
    assert saved(first, broken, exchange(3, 600, five=100_000))[-1] == pytest.approx(-0.575)


def test_where_the_entry_before_was_not_shortened_nothing_lapsed_because_of_us() -> None:
    assert saved(exchange(1, 0, five=100_000, marker_edits=()), exchange(2, 600, five=100_000, marker_edits=())) == [None, None]


def test_unknown_stays_unknown() -> None:
    own = Marker(pointer="/messages/0/content/0", section="messages", ttl="5m", block_index=3)
    for one in (exchange(1, 0, five=10, model="of-tomorrow"), exchange(2, 0, five=10, markers_before=(own,)), exchange(3, 0, usage=None)):
        assert TtlSavings().of(one) == UNKNOWN


def totals(*exchanges: Exchange) -> str:
    log = TrafficLog()
    for one in exchanges:
        log.totals.account(one)
        log.totals.account(one)
    return "   ".join(plain(part.spans) for part in status_line.totals_parts(log, TrafficView(log)))


def test_the_totals_line_says_it_also_where_it_is_negative_or_unknown_and_is_silent_without_loops() -> None:
    first = exchange(1, 0, five=100_000)
    assert "loop ttl saved $0.38" in totals(first)
    assert "loop ttl saved -$0.20" in totals(first, exchange(2, 600, five=100_000))
    unpriced = exchange(3, 700, five=10, model="of-tomorrow")
    assert "loop ttl saved –, 1 unknown" in totals(unpriced) and "loop ttl saved $0.38, 1 unknown" in totals(first, unpriced)
    assert "loop ttl saved" not in totals(exchange(1, 0, hour=100, marker_edits=()), exchange(2, 0, usage=None))


async def test_the_report_says_it_in_all_and_for_each_conversation() -> None:
    kept = [exchange(1, 0, five=100_000), exchange(2, 600, five=100_000), exchange(3, 700, five=10, model="of-tomorrow", conversation="d")]
    text = (await document(FormatName.MARKDOWN, kept))[0].decode()
    assert "| US dollars that loop TTL saved | -$0.20 | inferred | 1 |" in text
    rows = [line.split(" | ") for line in text.split("\n") if line.startswith(("| c |", "| d |"))]
    column = (
        next(line for line in text.split("\n") if line.startswith("| conversation |")).split(" | ").index("saved by loop TTL (inferred)")
    )
    assert [row[column] for row in rows] == ["-$0.20", "–"]
