"""A body that grew out of an earlier one is read as if it were read whole."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.core import body_growth
from caveman_tui.core.body_growth import NOTHING, Shared, grown, shared_start
from caveman_tui.core.json_spans import JsonDocument, JsonRefused

_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6
)
_messages = st.lists(st.dictionaries(st.sampled_from(["role", "content", "é", '"']), _values, max_size=3) | _values, max_size=6)
_others = st.dictionaries(st.sampled_from(["model", "system", "tools", "input", "messages"]), _values, max_size=3)
_separators = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " :\t")])


def says(document: JsonDocument) -> tuple[Any, ...]:
    """All that a document says of its values and their places, three levels deep."""
    opened = []
    if isinstance(document.value, dict):
        members = document.members_of(document.root)
        opened.append(members)
        for span in members.spans.values():
            if document.body[span.start : span.start + 1] == b"[":
                items = document.items_of(span)
                opened.append(items)
                opened += [document.members_of(item) for item in items if document.body[item.start : item.start + 1] == b"{"]
    return document.value, document.root, document.strict, opened


@st.composite
def _two_bodies(draw: st.DrawFn) -> tuple[bytes, bytes]:
    before, after = draw(_others), draw(_others)
    key, separators = draw(st.sampled_from(["messages", "input"])), draw(_separators)
    first, second = draw(_messages), draw(_messages)
    kept = draw(st.integers(0, len(first)))
    changed = dict(list((after | draw(_others)).items())[draw(st.integers(0, 2)) :])
    bodies = (before | {key: first} | after, before | {key: first[:kept] + second} | draw(st.sampled_from([after, changed, {}])))
    one, other = (json.dumps(body, ensure_ascii=False, separators=separators).encode("utf-8", "surrogatepass") for body in bodies)
    return one, draw(st.sampled_from([other, other + b"\n", other[:-1], other.replace(b"}", b',"messages":[]}', 1)]))


@settings(max_examples=300)
@given(_two_bodies())
def test_it_says_what_a_whole_reading_says(bodies: tuple[bytes, bytes]) -> None:
    try:
        earlier = JsonDocument(bodies[0])
    except JsonRefused:
        return
    shared = shared_start(bodies[1], earlier)
    assert bodies[1][: shared.size] == bodies[0][: shared.size]
    assert bodies[1][len(bodies[1]) - shared.tail :] == bodies[0][len(bodies[0]) - shared.tail :]
    assert shared.size + shared.tail <= min(map(len, bodies))
    try:
        whole = JsonDocument(bodies[1])
    except JsonRefused as refused:
        with pytest.raises(JsonRefused) as raised:
            grown(bodies[1], earlier, shared)
        assert raised.value.code == refused.code
        return
    read = grown(bodies[1], earlier, shared)
    assert says(read) == says(whole)
    # And the next body may grow out of this one.
    again = shared_start(bodies[1], read)
    assert says(grown(bodies[1], read, again)) == says(whole)


def conversation(*texts: str, **others: Any) -> bytes:
    messages = [{"role": "user", "content": text} for text in texts]
    return json.dumps({"model": "m", "messages": messages} | others).encode()


def test_only_what_is_new_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    whole = body_growth.JsonDocument

    def noted(body: bytes, **options: Any) -> JsonDocument:
        if not options:
            parsed.append(body)
        return whole(body, **options)

    tools = [{"name": "x", "description": "d" * 1000}]
    earlier = JsonDocument(conversation("one " * 500, "two " * 500, "three", system="s", tools=tools, stream=True))
    body = conversation("one " * 500, "two " * 500, "changed", "new", system="t", tools=tools, stream=True)
    monkeypatch.setattr(body_growth, "JsonDocument", noted)
    shared = shared_start(body, earlier)
    document = grown(body, earlier, shared)
    assert shared.items == 2
    assert [len(one) < 300 for one in parsed] == [True]
    assert document.value["messages"][1] is earlier.value["messages"][1]
    assert document.value["tools"] is earlier.value["tools"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"messages":[]}',
        b'{"messages":"text"}',
        b'{"model":"other","messages":[{"role":"user","content":"a"}]}',
        b'{"messages":[1,2],"messages":[{}]}',
    ],
)
def test_without_a_message_in_common_nothing_is_shared(body: bytes) -> None:
    assert shared_start(body, JsonDocument(conversation("a"))) == NOTHING
    if body:
        assert says(grown(body, JsonDocument(conversation("a")), NOTHING)) == says(JsonDocument(body))


def test_a_message_that_is_no_object_may_go_on_and_is_read_again() -> None:
    earlier = JsonDocument(b'{"input":[{"a":1},12]}')
    assert shared_start(b'{"input":[{"a":1},123]}', earlier) == Shared(1, 17, 2)


def test_what_only_the_lenient_reader_takes_is_read_whole() -> None:
    lenient = conversation("a").replace(b'"a"', rb'"\ud800"')
    more = lenient.replace(b"]", b',{"role":"user","content":18446744073709551616}]')
    shared = shared_start(more, JsonDocument(lenient))
    assert shared.items == 1
    assert says(grown(more, JsonDocument(lenient), shared)) == says(JsonDocument(more))
    strict = JsonDocument(conversation("a"))
    odd = conversation("a", "b").replace(b'"b"', rb'"\ud800"')
    assert says(grown(odd, strict, shared_start(odd, strict))) == says(JsonDocument(odd))
