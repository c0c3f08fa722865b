"""Digests of the prefix: markers never count, content always does, and the first difference is found or left open."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.prefix_digests import PrefixDigests, SharedMessages, shared_messages
from tests.core.requests import FIVE, HOUR, assistant, call, encode, prefix_of, result, text, user


def digests(request: Any) -> PrefixDigests:
    found = prefix_of(encode(request))
    assert found is not None
    return found


def conversation(messages: int) -> dict[str, Any]:
    return {
        "model": "m",
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}, "cache_control": HOUR}],
        "system": [text("rules", HOUR)],
        "messages": [user(text(f"prompt {n}")) if n % 2 == 0 else assistant(call(n)) for n in range(messages)],
    }


def test_markers_do_not_count_wherever_they_stand() -> None:
    marked = {
        "tools": [{"name": "a", "cache_control": FIVE}],
        "system": [text("s", HOUR)],
        "cache_control": FIVE,
        "messages": [
            user(text("p", HOUR), result(1, HOUR, [text("inner", FIVE)])),
            user({"type": "document", "source": {"type": "content", "content": [text("d", FIVE)]}, "cache_control": HOUR}),
        ],
    }
    bare = {
        "tools": [{"name": "a"}],
        "system": [text("s")],
        "messages": [
            user(text("p"), result(1, content=[text("inner")])),
            user({"type": "document", "source": {"type": "content", "content": [text("d")]}}),
        ],
    }
    assert digests(marked) == digests(bare)


def test_what_a_model_wrote_counts_even_where_it_is_named_like_a_marker() -> None:
    other = call(1)
    other["input"] = {"ttl": "1h"}
    assert digests({"messages": [assistant(call(1))]}) != digests({"messages": [assistant(other)]})


@pytest.mark.parametrize("section", ["tools", "system", "switches"])
def test_a_changed_section_changes_its_own_digest_only(section: str) -> None:
    before = conversation(4)
    after = copy.deepcopy(before)
    if section == "tools":
        after["tools"][0]["description"] = "new"
    elif section == "system":
        after["system"][0]["text"] = "other rules"
    else:
        after["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    one, other = digests(before), digests(after)
    assert [name for name in ("tools", "system", "switches", "points") if getattr(one, name) != getattr(other, name)] == [section]


def test_the_attribution_line_that_differs_per_request_does_not_count() -> None:
    def request(line: str) -> dict[str, Any]:
        return {"system": [text(f"x-anthropic-billing-header: {line}"), text("rules", HOUR)]}

    assert digests(request("cch=1")) == digests(request("cch=2")) == digests({"system": [text("rules")]})


def test_absent_sections_are_empty_and_all_spellings_of_a_request_are_one() -> None:
    assert prefix_of(b"{}") == PrefixDigests() == prefix_of(b'{"tools":[],"system":"","messages":null}')
    spaced = json.dumps(conversation(3), indent=3).encode()
    assert prefix_of(spaced) == digests(conversation(3))


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"\xff", b'{"messages":', b"[" * 100_000, b'{"a":' * 100_000])
def test_what_is_no_request_has_no_digests(body: bytes) -> None:
    assert prefix_of(body) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages":"text"}',
        b'{"messages":[1,null,"x"],"tools":{"a":1},"system":5}',
        rb'{"messages":[{"content":"\ud800"}],"n":NaN}',
        b'{"messages":[{"content":[{"type":"text","n":1e400,"m":12345678901234567890123}]}]}',
    ],
)
def test_odd_requests_are_digested_all_the_same(body: bytes) -> None:
    found = prefix_of(body)
    assert found is not None and found.messages >= 1


def test_openai_requests_have_the_same_parts() -> None:
    found = digests(
        {"instructions": "be brief", "input": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "name": "f"}]}
    )
    assert found.tools and found.system and found.messages == 1
    assert digests({"input": "hi"}).messages == 1


def test_a_request_that_goes_on_shares_all_that_was() -> None:
    for length in (1, 7, 15, 16, 17, 40, 200):
        for more in (0, 1, 2, 15):
            shared = shared_messages(digests(conversation(length)), digests(conversation(length + more)))
            assert shared == SharedMessages(same=length, differ=None)


@given(length=st.integers(1, 120), more=st.integers(0, 60), at=st.integers(0, 119))
def test_a_changed_message_lies_where_it_is_said_to(length: int, more: int, at: int) -> None:
    at %= length
    before, after = conversation(length), conversation(length + more)
    after["messages"][at]["extra"] = True
    shared = shared_messages(digests(before), digests(after))
    assert shared.same <= at
    assert shared.differ is None or shared.differ > at
    if length <= 16:
        assert shared == SharedMessages(same=at, differ=at + 1)


def test_long_conversations_stay_small() -> None:
    assert len(json.dumps([list((p.count, p.digest)) for p in digests(conversation(5000)).points])) < 3000
