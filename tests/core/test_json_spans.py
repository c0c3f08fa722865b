import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.json_spans import DEPTH_LIMIT, JsonDocument, JsonRefused, Span, is_deeper
from tests.core.requests import generated, spelled

_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=20,
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield from paths(item, (*path, step))


def slice_at(body: bytes, *path: str | int, fast: bool = True) -> bytes:
    span = JsonDocument(body, fast=fast).locate(path).span
    return body[span.start : span.end]


@given(spelled(_values))
def test_every_value_lies_where_it_is_said_to_lie_and_both_ways_agree(body: bytes) -> None:
    fast, slow = JsonDocument(body), JsonDocument(body, fast=False)
    for path, value in paths(json.loads(body)):
        place = fast.locate(path)
        assert place == slow.locate(path)
        assert not place.repeats
        assert json.loads(body[place.span.start : place.span.end]) == value
        assert body[place.span.start : place.span.start + 1].strip() and body[place.span.end - 1 : place.span.end].strip()


@given(spelled(generated), st.data())
def test_both_ways_refuse_or_take_a_damaged_body_alike(body: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, max(0, len(body) - 1)))
    damaged = (
        body[:at] + data.draw(st.sampled_from([b"", b'"', b"}", b"]", b",", b"\\", b"\xff", b"\x00", b"{}", b"\\ud800"])) + body[at + 1 :]
    )

    def outcome(fast: bool) -> Any:
        try:
            document = JsonDocument(damaged, fast=fast)
            return document.root, [document.locate(path) for path, _ in paths(document.value)]
        except JsonRefused as refused:
            return refused.code

    assert outcome(True) == outcome(False)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    "body",
    [
        rb'{"a":"\ud800","b":[1, "x"]}',
        rb'{"\udc00":0,"a":"\ud800\u0041","b":[NaN, "x"]}',
        b'{"a":[-Infinity,1e400,' + b"9" * 5000 + b'],"b":[1.0e5 , "x"]}',
    ],
)
def test_what_the_fast_reader_refuses_is_still_located(body: bytes, fast: bool) -> None:
    assert slice_at(body, "b", 1, fast=fast) == b'"x"'


@pytest.mark.parametrize("fast", [True, False])
def test_keys_spelled_with_escapes_are_found(fast: bool) -> None:
    assert slice_at(b'{ "\\u0074tl" : "1h" }', "ttl", fast=fast) == b'"1h"'
    assert slice_at('{"é\\"\\\\":[{}, {"ké":1 }]}'.encode(), 'é"\\', 1, "ké", fast=fast) == b"1"


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("body", "path", "repeats"),
    [
        (b'{"a":1,"a":1}', ("a",), True),
        (b'{"a":12,"a":1}', ("a",), True),
        (b'{"a":1,"\\u0061":1}', ("a",), True),
        (b'{"a":{"x":1,"b":2},"b":2,"a":{"x":1,"b":2}}', ("b",), True),
        (b'{"a":[{"b":1},{"b":1,"b":1}]}', ("a", 0, "b"), False),
        (b'{"a":[{"b":1},{"b":1,"b":1}]}', ("a", 1, "b"), True),
        (b'{"a":[{"b":1},{"b":1,"b":1}]}', ("a", 1), True),
        (b'{"a":{"b":1,"b":2},"c":3}', ("c",), False),
    ],
)
def test_a_repeated_key_on_the_way_is_seen(body: bytes, path: tuple[str | int, ...], repeats: bool, fast: bool) -> None:
    assert JsonDocument(body, fast=fast).locate(path).repeats is repeats


@pytest.mark.parametrize("fast", [True, False])
def test_of_a_repeated_key_the_last_value_is_located(fast: bool) -> None:
    document = JsonDocument(b'{"a":1,"b":0,"a":[2]}', fast=fast)
    assert document.value["a"] == [2]
    assert document.locate(("a",)).span == Span(18 - 1, 20)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not-json"),
        (b" \n", "not-json"),
        (b"{", "not-json"),
        (b'{"a":1}{"a":1}', "not-json"),
        (b'{"a":1} x', "not-json"),
        (b'{"a":"\n"}', "not-json"),
        (b'{"a":01}', "not-json"),
        (b'{"a" 1}', "not-json"),
        (b"\xef\xbb\xbf{}", "byte-order-mark"),
        ("{}".encode("utf-16"), "byte-order-mark"),
        (b'{"a":"\xff"}', "invalid-utf-8"),
        (b'{"a":"\xed\xa0\x80"}', "invalid-utf-8"),
        (b"[" * 100_000 + b"]" * 100_000, "too-deep"),
        (b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1), "too-deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too-deep"),
    ],
)
def test_refused_bodies_say_why(body: bytes, code: str, fast: bool) -> None:
    with pytest.raises(JsonRefused) as refused:
        JsonDocument(body, fast=fast)
    assert refused.value.code == code


@pytest.mark.parametrize("fast", [True, False])
def test_the_deepest_document_that_is_read(fast: bool) -> None:
    document = JsonDocument(b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT, fast=fast)
    assert document.locate((0,) * (DEPTH_LIMIT - 1)).span == Span(DEPTH_LIMIT - 1, DEPTH_LIMIT + 1)


@pytest.mark.parametrize("collected", [True, False])
@given(_values, st.sampled_from([json.dumps, lambda tree: msgspec.json.encode(tree).decode()]))
def test_how_deep_a_value_nests(collected: bool, value: Any, write: Callable[[Any], str]) -> None:
    read = msgspec.json.decode(write(value))
    if collected:
        gc.collect()  # which stops tracking what holds no containers

    def levels(node: Any) -> int:
        items = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
        return 0 if items is None else 1 + max(map(levels, items), default=0)

    assert [is_deeper(read, limit) for limit in range(1, 9)] == [levels(value) > limit for limit in range(1, 9)]


@pytest.mark.parametrize("path", [("b",), ("a", 3), ("a", "x"), (0,), ("a", 0, "x")])
def test_a_path_that_leads_nowhere_is_a_key_error(path: tuple[str | int, ...]) -> None:
    with pytest.raises(KeyError):
        JsonDocument(b'{"a":[1]}').locate(path)
