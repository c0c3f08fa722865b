"""A walk that knows an earlier one finds what a walk of its own would."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.message_walk import Walk, is_prompt, walk
from tests.core.requests import FIVE, HOUR, assistant, call, find_markers, result, text, user

_blocks = st.sampled_from(
    [text("a"), text("b", HOUR), call(1), result(1), result(2, FIVE), result(3, content=[text("inner", HOUR)]), {"type": "text"}, 7]
)
_messages = st.one_of(
    st.builds(lambda blocks: {"role": "user", "content": blocks}, st.lists(_blocks, max_size=3)),
    st.builds(lambda blocks: {"role": "assistant", "content": blocks}, st.lists(_blocks, max_size=2)),
    st.sampled_from([{"role": "user", "content": "text"}, {"role": "system"}, {"role": "user", "content": None}, None, "odd"]),
)
_openings = st.fixed_dictionaries(
    {}, optional={"tools": st.lists(st.just({"name": "t", "cache_control": HOUR}), max_size=2), "system": _blocks}
)


def request_of(opening: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
    return {**opening, "messages": messages}


def check(request: Any, known: Walk | None) -> Walk:
    found = walk(request, known)
    assert found == walk(request)
    assert found.markers == find_markers(request)
    messages = request["messages"] if isinstance(request, dict) else []
    assert found.prompts == [number for number, message in enumerate(messages) if is_prompt(message)]
    assert len(found.ends) == len(messages)
    return found


@given(_openings, _openings, st.lists(_messages, max_size=6), st.lists(_messages, max_size=4), st.data())
def test_it_finds_what_a_walk_of_its_own_finds(opening: Any, other: Any, first: list[Any], more: list[Any], data: st.DataObject) -> None:
    known = check(request_of(opening, first), None)
    kept = data.draw(st.integers(0, len(first)))
    changed = [message if data.draw(st.booleans()) else data.draw(_messages) for message in first[:kept]]
    known = check(request_of(data.draw(st.sampled_from([opening, other])), changed + more), known)
    check(request_of(opening, copy.deepcopy(first)), known)


def test_the_automatic_marker_and_what_is_no_request_are_walked_too() -> None:
    for request in (None, 7, {"messages": {}}, {"messages": [], "cache_control": FIVE}):
        assert walk(request).markers == find_markers(request)


def test_messages_that_are_the_same_objects_are_passed_over() -> None:
    class Untouched(dict[str, Any]):
        def get(self, *_: Any) -> Any:
            raise AssertionError("it was looked into")

    messages: list[Any] = [user(text("p", HOUR)), assistant(call()), user(result(1, HOUR))]
    known = walk({"messages": messages})
    shared: list[Any] = [Untouched(message) for message in messages]
    found = walk({"messages": [*shared, user(text("q", FIVE))]}, known._replace(messages=shared))
    assert [marker.message for marker in found.markers] == [0, 2, 3]
    assert found.prompts == [0, 3]
    assert (found.last_prompt(3), found.last_prompt(4), found.last_prompt(0)) == (0, 3, -1)
