"""What is said to be cached, and why a request missed: each cause from what exchanges record, and nothing beyond it."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.core.policy import Level
from caveman_tui.core.prefix_digests import MessagesPoint, PrefixDigests
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import cache_rows
from caveman_tui.traffic.cache_miss import Cause, find_miss
from caveman_tui.traffic.cache_state import CacheBook, CacheState
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.log import Changes
from tests.core.requests import prefix_of

SYSTEM = Marker(pointer="/system/0", section="system", ttl="1h", block_index=1)
_ids = itertools.count()


def tail(index: int, ttl: str = "5m") -> Marker:
    return Marker(pointer=f"/messages/{index}/content/0", section="messages", ttl=ttl, block_index=2 + index, message=index)


def prefix(messages: int, **given: object) -> PrefixDigests:
    points = tuple(MessagesPoint(count=count, digest=f"d{count}") for count in range(messages, 0, -1))
    return PrefixDigests(**{"tools": "t", "system": "s", "points": points, **given})  # type: ignore[arg-type]


def exchange(at: float, read: int, written: int = 0, hour: int | None = 0, **given: object) -> Exchange:
    fields: dict[str, object] = {
        "id": f"e{next(_ids)}",
        "started_at": at,
        "method": "POST",
        "path": "/v1/messages",
        "dialect": "anthropic-messages",
        "model": "m",
        "conversation": "c",
        "state": "done",
        "markers_after": (SYSTEM, tail(2)),
        "prefix": prefix(3),
        "usage": Usage(input_tokens=3, cache_read_tokens=read, cache_write_tokens=written, cache_write_1h_tokens=hour),
    }
    return Exchange(**{**fields, **given})  # type: ignore[arg-type]


def only_state(*exchanges: Exchange) -> CacheState:
    book = CacheBook()
    book.load(exchanges)
    (state,) = book.states
    return state


def test_lengths_are_what_the_provider_reported_and_lifetimes_those_of_the_markers() -> None:
    state = only_state(exchange(100.0, 0, 10_000, hour=4_000))
    hour, five = state.entries
    assert (hour.ttl, hour.tokens, five.ttl, five.tokens) == ("1h", 4_000, "5m", 10_000)
    assert (hour.left(160.0), five.left(160.0)) == (3540.0, 240.0)
    assert state.prefix == 10_000 and state.left(100.0 + 3600) == 0.0


def test_a_read_refreshes_and_a_length_is_carried_only_while_it_is_proven() -> None:
    wrote, goes_on = exchange(0.0, 0, 10_000, hour=4_000), exchange(200.0, 10_000, 2_000)
    hour, five = only_state(wrote, goes_on).entries
    assert (hour.tokens, hour.since, five.tokens, five.since) == (4_000, 200.0, 12_000, 200.0)
    elsewhere = exchange(200.0, 10_000, 2_000, markers_after=(msgspec.structs.replace(SYSTEM, pointer="/system/1"), tail(4)))
    assert only_state(wrote, elsewhere).entries[0].tokens is None
    unsplit = exchange(0.0, 0, 10_000, hour=None)
    assert only_state(unsplit).entries[0].tokens is None


def test_an_entry_without_a_marker_in_the_last_request_is_not_refreshed() -> None:
    hour, five = only_state(exchange(0.0, 0, 9_000, hour=4_000), exchange(50.0, 9_000, 10, markers_after=(tail(4),))).entries
    assert (hour.since, five.since) == (0.0, 50.0)


def test_nothing_is_claimed_without_usage_or_below_the_shortest_prefix() -> None:
    assert only_state(exchange(0.0, 0, 0, usage=None, state="responding")).prefix is None
    below = only_state(exchange(0.0, 0, 0))
    assert below.prefix == 0 and below.entries == () and below.left(0.0) is None


def test_side_requests_refusals_and_counting_leave_no_row() -> None:
    book = CacheBook()
    book.load(
        [
            exchange(0.0, 0, 0, markers_after=()),
            exchange(1.0, 0, 0, usage=None, state="provider-error"),
            exchange(2.0, 0, 0, dialect="anthropic-count-tokens"),
            exchange(3.0, 0, 0, conversation=""),
        ]
    )
    assert book.states == []


def test_openai_has_lengths_and_no_lifetimes() -> None:
    given = {"dialect": "openai-responses", "markers_after": (), "usage": Usage(input_tokens=9, cache_read_tokens=2_048)}
    state = only_state(exchange(0.0, 0, **given))
    assert state.prefix == 2_048 and state.entries == () and state.left(0.0) is None
    text = "\n".join(map(plain, cache_rows.detail(state, None, 5.0, 70, None)))
    assert "2,048 tokens" in text and "unknown" in text


def cause(before: Exchange, now: Exchange) -> tuple[Cause, str] | None:
    miss = find_miss(before, now)
    return (miss.cause, miss.says) if miss else None


def test_what_was_read_is_no_miss() -> None:
    before = exchange(0.0, 0, 10_000)
    assert cause(before, exchange(9_000.0, 10_000)) is None
    assert cause(before, exchange(10.0, 9_900, prefix=prefix(3, tools="other"))) is None
    assert cause(exchange(0.0, 0, 0), exchange(10.0, 0)) is None
    assert cause(before, exchange(10.0, 0, usage=None)) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tools": "x", "system": "x"}, (Cause.TOOLS, "tools changed")),
        ({"system": "x", "points": ()}, (Cause.SYSTEM, "system changed")),
        (
            {"points": (MessagesPoint(count=3, digest="d3x"), MessagesPoint(count=2, digest="d2"), MessagesPoint(count=1, digest="d1"))},
            (Cause.MESSAGE, "message 3 changed"),
        ),
        ({"points": (MessagesPoint(count=3, digest="x"),)}, (Cause.MESSAGE, "one of messages 1-3 changed")),
        ({"points": (MessagesPoint(count=2, digest="d2"), MessagesPoint(count=1, digest="d1"))}, (Cause.REWOUND, "went back to message 2")),
        ({"switches": "x"}, (Cause.SWITCHES, "tool_choice or thinking changed")),
    ],
)
def test_the_first_part_that_changed_is_named_even_after_a_pause(changes: dict[str, object], expected: tuple[Cause, str]) -> None:
    assert cause(exchange(0.0, 0, 10_000), exchange(5_000.0, 0, 10_000, prefix=prefix(3, **changes))) == expected


def test_a_lapse_is_said_with_what_is_known_of_the_prefix() -> None:
    before = exchange(0.0, 0, 10_000)
    lapsed = find_miss(before, exchange(301.0, 4_000, 6_000))
    assert lapsed is not None and lapsed.cause is Cause.LAPSED and "The prefix is what it was" in lapsed.because
    assert (lapsed.cached, lapsed.read) == (10_000, 4_000)
    unread = find_miss(before, exchange(301.0, 0, prefix=None))
    assert unread is not None and unread.cause is Cause.LAPSED and "not known" in unread.because
    sparse = find_miss(before, exchange(301.0, 0, prefix=prefix(3, points=(MessagesPoint(count=9, digest="d9"),))))
    assert sparse is not None and sparse.cause is Cause.LAPSED and "not all of it" in sparse.because


def test_within_the_lifetime_only_reach_and_timing_explain_a_miss() -> None:
    before = exchange(0.0, 0, 10_000, ttfb_ms=2_000.0)
    assert cause(before, exchange(1.0, 0)) == (Cause.TOO_EARLY, "sent too early")
    assert cause(before, exchange(10.0, 4_000, prefix=prefix(30), markers_after=(SYSTEM, tail(29)))) == (Cause.OUT_OF_REACH, "out of reach")
    assert cause(before, exchange(10.0, 4_000, prefix=prefix(20), markers_after=(SYSTEM, tail(19)))) == (Cause.UNKNOWN, "unknown")
    assert cause(before, exchange(10.0, 0, prefix=None)) == (Cause.UNKNOWN, "unknown")


def test_shrinking_that_was_switched_is_told_from_another_catalog() -> None:
    def tools(digest: str, *, applied: bool) -> tuple[ToolsSummary, ...]:
        return (
            ToolsSummary(pointer="/tools", digest=digest, level=Level.STANDARD, applied=applied, tools=1, bytes_before=9, bytes_after=5),
        )

    def because(now: tuple[ToolsSummary, ...]) -> str:
        before = exchange(0.0, 0, 10_000, tools=tools("d", applied=False))
        miss = find_miss(before, exchange(9.0, 0, tools=now, prefix=prefix(3, tools="x")))
        assert miss is not None and miss.cause is Cause.TOOLS
        return miss.because

    assert "same tools; they went out as they came before, and shrunk (standard) now" in because(tools("d", applied=True))
    assert "another catalog" in because(tools("e", applied=True))
    for unknown in ((), tools("d", applied=False)):
        assert because(unknown).startswith("The tools that went out are not those of before.")


def test_another_model_is_another_cache_and_changes_drop_what_no_longer_fits() -> None:
    book = CacheBook()
    book.load([exchange(0.0, 0, 10_000, hour=4_000), exchange(9.0, 0, 10_000, model="n")])
    second, first = book.states
    assert first.miss is not None and first.miss.cause is Cause.NEW
    assert second.miss is not None and second.miss.cause is Cause.MODEL and "m before" in second.miss.because
    apart = CacheBook()
    apart.load([exchange(0.0, 0, 10_000), exchange(9.0, 0, 10_000, model="n", prefix=None)])
    assert {state.miss.cause for state in apart.states if state.miss} == {Cause.NEW}
    changed = exchange(20.0, 0, 9_000, prefix=prefix(3, system="x"), markers_after=(tail(2),))
    (entry,) = only_state(exchange(0.0, 0, 10_000, hour=4_000), changed).entries
    assert (entry.ttl, entry.tokens) == ("5m", 9_000)


def test_pauses_are_the_newest_first() -> None:
    state = only_state(*(exchange(at, 10_000) for at in (0.0, 30.0, 100.0, 161.0)))
    assert [(pause.seconds, pause.ended_at) for pause in state.pauses] == [(61.0, 161.0), (70.0, 100.0)]


def test_a_batch_brings_only_its_conversations_up_to_date() -> None:
    book = CacheBook()
    book.load([exchange(0.0, 0, 10_000), exchange(1.0, 0, 5_000, conversation="d")])
    assert not book.apply(Changes())
    assert not book.apply(Changes(added=[exchange(2.0, 0, conversation="")]))
    assert book.apply(Changes(added=[exchange(3.0, 9_990, 500)]))
    assert [(state.last.conversation, state.requests) for state in book.states] == [("c", 2), ("d", 1)]


def test_digests_of_real_bodies_lead_to_the_message() -> None:
    def body(*texts: str) -> PrefixDigests | None:
        messages = ",".join(f'{{"role":"user","content":"{text}"}}' for text in texts)
        return prefix_of(f'{{"model":"m","tools":[],"messages":[{messages}]}}'.encode())

    before = exchange(0.0, 0, 10_000, prefix=body("a", "b", "c", "d"))
    assert cause(before, exchange(9.0, 0, prefix=body("a", "b", "C", "d", "e"))) == (Cause.MESSAGE, "message 3 changed")


@given(
    steps=st.lists(
        st.tuples(st.floats(0, 8_000), st.integers(0, 20_000), st.integers(0, 20_000), st.booleans(), st.booleans()), max_size=8
    ),
    width=st.integers(38, 160),
    now=st.floats(0, 90_000),
)
def test_whatever_came_rows_fit_and_tokens_are_the_providers(
    steps: list[tuple[float, int, int, bool, bool]], width: int, now: float
) -> None:
    at, exchanges = 0.0, []
    for gap, read, written, marked, digested in steps:
        at += gap
        markers = (SYSTEM, tail(2)) if marked else ()
        exchanges.append(exchange(at, read, written, markers_after=markers, prefix=prefix(3) if digested else None))
    book = CacheBook()
    book.load(exchanges)
    reported = {e.usage.cache_read_tokens + e.usage.cache_write_tokens for e in exchanges if e.usage}  # type: ignore[operator]
    for state in book.states:
        assert len(plain(cache_rows.row_line(state, now, width))) <= width
        assert state.prefix in reported
        assert all(entry.tokens is None or entry.tokens <= max(reported) for entry in state.entries)
        cache_rows.detail(state, PauseStatistics(), now, width, None)
