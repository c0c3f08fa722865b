"""The filter language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import MarkerEdit
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.filter import FilterError, parse, words

EXCHANGE = Exchange(
    id="a-1",
    started_at=0.0,
    method="POST",
    path="/v1/messages",
    model="claude-opus-4-8",
    client="claude-cli/2.1.197",
    conversation="3f2a9c1e",
    status=429,
    state="provider-error",
    usage=Usage(input_tokens=5_000, cache_read_tokens=20_000, cache_write_tokens=0, output_tokens=10),
    marker_edits=(MarkerEdit(pointer="/system/0", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),),
    duration_ms=1_500.0,
    note="slow down please",
)
BARE = Exchange(id="b-2", started_at=1.0, method="HEAD", path="/")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "model:opus",
        "MODEL:OPUS",
        "conv:3f2a",
        "status:429",
        "status:4xx",
        "status:error",
        "has:edit",
        "has:usage",
        "in>20k",
        "in>=25000",
        "in=25k",
        "in<0.03M",
        "cache>=80%",
        "cache<0.9",
        "took>1s",
        "took<=1500ms",
        "opus",
        '"slow down"',
        'note:"down please"',
        "-has:warning",
        "-status:5xx model:opus in>1k",
        "-in>30k",
    ],
)
def test_terms_that_hold(text: str) -> None:
    assert parse(text).matches(EXCHANGE)


@pytest.mark.parametrize(
    "text", ["model:sonnet", "status:200", "status:open", "has:violation", "in>25k", "cache<50%", "sonnet", "-opus", "opus sonnet"]
)
def test_terms_that_do_not_hold(text: str) -> None:
    assert not parse(text).matches(EXCHANGE)


@pytest.mark.parametrize("text", ["in>0", "in<1M", "in=0", "cache<50%", "took>0s", "ttfb<1m"])
def test_what_is_unknown_matches_no_comparison(text: str) -> None:
    assert not parse(text).matches(BARE)


@pytest.mark.parametrize(
    ("text", "says", "start"),
    [
        ("modle:opus", "Did you mean model:?", 0),
        ("opus has:edits", "Did you mean edit?", 5),
        ("model:", "'model:' needs a value", 0),
        ("status:abc", "is no status", 0),
        ("inn>3", "Did you mean in?", 0),
        ("in>3x", "write a number such as 1k, 1m", 0),
        ("in>", "'' is no value for in", 0),
        ("opus -", "A minus turns the term after it around", 5),
        ("zzzz:1", "Known are model:,", 0),
    ],
)
def test_errors_name_the_term_and_the_way_out(text: str, says: str, start: int) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert says in str(caught.value)
    assert caught.value.start == start
    assert text[caught.value.start : caught.value.end].strip()


def test_a_filter_explains_itself() -> None:
    assert parse("model:opus in>20k -has:edit").explain() == "model contains opus, input tokens over 20k, not (was changed)"
    assert parse("").explain() == ""
    assert not parse("")


def test_every_suggested_word_begins_a_valid_term() -> None:
    for word in words():
        text = word if word.split(":")[-1] and word.endswith(tuple("abcdefghijklmnopqrstuvwxyz")) else f"{word}1"
        parse(text if not text.startswith("status:1") else "status:1xx")


def test_body_terms_name_their_texts_and_are_decided_by_what_was_found() -> None:
    asked = parse('body:"Rate limit" -body:secret model:opus body:"Rate limit"')
    assert asked.body_texts == ("Rate limit", "secret")
    assert asked.explain().startswith("a body in memory contains Rate limit, not (a body in memory contains secret), model")
    assert not asked.matches(EXCHANGE)
    found: dict[str, set[str]] = {"Rate limit": set(), "secret": set()}
    decided = asked.with_found(found)
    assert not decided.matches(EXCHANGE)
    found["Rate limit"].add("a-1")
    assert decided.matches(EXCHANGE) and not decided.matches(BARE)
    found["secret"].add("a-1")
    assert not decided.matches(EXCHANGE)
    assert parse("model:opus").body_texts == ()
    with pytest.raises(FilterError, match="at most 200"):
        parse("body:" + "x" * 201)


@given(st.text(max_size=40))
def test_any_line_is_a_filter_or_a_clear_error(text: str) -> None:
    try:
        parsed = parse(text)
    except FilterError as error:
        assert str(error) and 0 <= error.start < error.end <= len(text)
    else:
        assert parsed.matches(EXCHANGE) in (True, False)


@given(st.sampled_from(["model:opus", "in>20k", "has:edit", "status:open", "took>1s", "body:x"]))
def test_minus_turns_every_term_around(term: str) -> None:
    for exchange in (EXCHANGE, BARE):
        assert parse(f"-{term}").matches(exchange) is not parse(term).matches(exchange)
