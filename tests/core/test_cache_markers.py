import json
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.core.cache_markers import Marker, find_violations, ineligibility
from tests.core.requests import BARE, FIVE, HOUR, assistant, call, find_markers, loop, result, text, user


def summary(request: Any) -> list[tuple[str, str, int]]:
    return [(marker.pointer, marker.ttl, marker.block_index) for marker in find_markers(request)]


def codes(request: Any) -> list[tuple[str, str, str]]:
    return [(violation.code, violation.pointer, violation.culprit) for violation in find_violations(find_markers(request))]


def test_markers_come_in_prefix_order_with_their_block_positions() -> None:
    request = {
        "messages": [user(text("a", FIVE)), {"role": "assistant", "content": "b"}, user(text("c"), text("d", BARE))],
        "system": [text("s", HOUR), text("t")],
        "tools": [{"name": "x"}, {"name": "y", "cache_control": HOUR}],
    }
    assert summary(request) == [
        ("/tools/1", "1h", 1),
        ("/system/0", "1h", 2),
        ("/messages/0/content/0", "5m", 4),
        ("/messages/2/content/1", "5m", 7),
    ]
    last = find_markers(request)[-1]
    assert (last.bare, last.role, last.block_type, last.message, last.section) == (True, "user", "text", 2, "messages")
    assert last.path == ("messages", 2, "content", 1)


def test_a_string_as_system_is_one_position() -> None:
    assert summary({"system": "plain", "messages": [user(text("a", FIVE))]}) == [("/messages/0/content/0", "5m", 1)]


def test_markers_inside_results_documents_and_search_results_come_before_their_blocks() -> None:
    document = {"type": "document", "source": {"type": "content", "content": [text("d", FIVE)]}}
    search = {"type": "search_result", "content": [text("s", FIVE)], "cache_control": FIVE}
    request = {"messages": [user(result(1, FIVE, [text("r", HOUR), document, search]))]}
    assert [(marker.pointer.removeprefix("/messages/0/content/0"), marker.nested) for marker in find_markers(request)] == [
        ("/content/0", True),
        ("/content/1/source/content/0", True),
        ("/content/2/content/0", True),
        ("/content/2", True),
        ("", False),
    ]
    assert {marker.block_index for marker in find_markers(request)} == {0}


def test_what_a_tool_was_called_with_and_null_are_no_markers() -> None:
    assert find_markers({"messages": [assistant(call()), user(text("x", None))], "cache_control": None}) == ()


def test_very_deep_parts_are_not_followed() -> None:
    block: dict[str, Any] = text("x", HOUR)
    for _ in range(500):
        block = {"type": "tool_result", "content": [block]}
    assert find_markers({"messages": [user(block)]}) == ()


@pytest.mark.parametrize(
    "request_", [None, 1, "x", [], [{}], {}, {"messages": 1}, {"messages": [1, None, {"content": 5}, {"role": 1}]}, {"tools": {"a": 1}}]
)
def test_malformed_requests_have_no_markers(request_: Any) -> None:
    assert find_markers(request_) == ()


def test_the_automatic_marker_lands_on_the_last_block_that_can_carry_one() -> None:
    messages = [user(text("a")), assistant(text("b"), {"type": "thinking", "thinking": "t"}), user(text("  "))]
    marker = find_markers({"cache_control": HOUR, "messages": messages})[-1]
    assert (marker.section, marker.pointer, marker.lands_on, marker.block_index, marker.message) == (
        "automatic",
        "",
        "/messages/1/content/0",
        1,
        1,
    )
    string = find_markers({"cache_control": BARE, "messages": [{"role": "user", "content": "hi"}]})[-1]
    assert (string.lands_on, string.bare) == ("/messages/0/content", True)
    assert find_markers({"cache_control": BARE})[-1].lands_on == ""


@pytest.mark.parametrize(
    ("value", "section", "eligible"),
    [
        (text("x"), "messages", True),
        (text(""), "messages", False),
        (text(" \n\u00a0"), "messages", False),
        ({"type": "text"}, "messages", False),
        ({"type": "thinking"}, "messages", False),
        ({"type": "redacted_thinking"}, "messages", False),
        ({"type": "image"}, "messages", True),
        ({"type": "of_tomorrow"}, "messages", True),
        ({}, "messages", True),
        ("words", "system", True),
        ("  ", "system", False),
        (7, "messages", False),
        ({"name": "x"}, "tools", True),
        ({"name": "x", "defer_loading": True}, "tools", False),
        ({"name": "x", "defer_loading": False}, "tools", True),
    ],
)
def test_eligibility_is_a_deny_list(value: Any, section: str, eligible: bool) -> None:
    assert (ineligibility(value, section) == "") is eligible


def test_a_legal_request_breaks_nothing() -> None:
    request = {"tools": [{"cache_control": HOUR}], "system": [text("s", HOUR)], "messages": loop(text("p", HOUR), tail=FIVE)}
    assert codes(request) == []


def test_of_a_wrong_order_the_earlier_marker_is_at_fault() -> None:
    request = {"tools": [{"name": "x", "cache_control": BARE}], "messages": [user(text("p", HOUR)), user(text("q", HOUR))]}
    assert codes(request) == [
        ("ttl-order", "/messages/0/content/0", "/tools/0"),
        ("ttl-order", "/messages/1/content/0", "/tools/0"),
    ]
    assert "without a ttl" in find_violations(find_markers(request))[0].text


def test_the_provider_names_the_later_marker(shared_data: Path) -> None:
    error = json.loads((shared_data / "invalid" / "anthropic-error-400-ttl-order.json").read_text())["error"]["message"]
    request = {"messages": [user(*(text("x", FIVE if at == 0 else HOUR if at == 4 else ...) for at in range(5)))]}
    violation = find_violations(find_markers(request))[0]
    assert violation.pointer.strip("/").replace("/", ".") in error
    assert violation.culprit == "/messages/0/content/0"


def test_more_than_four_markers_nested_ones_included() -> None:
    nested = [user(text("a", FIVE), text("b", FIVE), text("c", FIVE)), user(result(1, FIVE, [text("r", FIVE)]))]
    assert codes({"messages": nested}) == [("too-many-markers", "/messages/1/content/0", "/messages/1/content/0")]


@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({"tools": [{"name": "x", "defer_loading": True, "cache_control": FIVE}]}, "/tools/0"),
        ({"messages": [assistant({"type": "thinking", "thinking": "t", "cache_control": FIVE})]}, "/messages/0/content/0"),
        ({"messages": [user(text(" ", FIVE))]}, "/messages/0/content/0"),
        ({"messages": [assistant({**text("x"), "citations": [{"cache_control": FIVE}]})]}, "/messages/0/content/0/citations/0"),
    ],
)
def test_markers_where_none_may_be(request_: Any, pointer: str) -> None:
    assert codes(request_) == [("ineligible-block", pointer, pointer)]


def test_a_marker_that_is_no_object() -> None:
    assert codes({"messages": [user(text("x", "1h"))]}) == [("malformed-marker", "/messages/0/content/0", "/messages/0/content/0")]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"cache_control": HOUR, "messages": [user(text("x", HOUR))]}, []),
        ({"cache_control": HOUR, "messages": [user(text("x", FIVE))]}, ["ttl-order", "automatic-conflict"]),
        ({"cache_control": FIVE, "messages": [user(text("x", HOUR))]}, ["automatic-conflict"]),
        ({"cache_control": FIVE, "messages": [user(text("x", HOUR), text("y"))]}, []),
        ({"cache_control": HOUR, "messages": [user(text("x", FIVE), text("y"))]}, ["ttl-order"]),
        ({"cache_control": FIVE, "messages": [user(*(text("x", FIVE) for _ in range(4)), text("y"))]}, ["automatic-conflict"]),
        ({"cache_control": FIVE, "messages": [user(*(text("x", FIVE) for _ in range(3)), text("y"))]}, []),
    ],
)
def test_the_automatic_marker_obeys_order_count_and_its_landing_place(request_: Any, expected: list[str]) -> None:
    assert [code for code, _, _ in codes(request_)] == expected


def test_an_unknown_lifetime_is_the_providers_to_judge() -> None:
    markers = find_markers({"messages": [user(text("x", {"ttl": "2h"}), text("y", {"ttl": 5}), text("z", HOUR))]})
    assert [marker.ttl for marker in markers] == ["2h", "5", "1h"]
    assert find_violations(markers) == ()


def test_a_marker_survives_the_wire() -> None:
    import msgspec

    marker = find_markers({"messages": [user(text("x", HOUR))]})[0]
    assert msgspec.json.decode(msgspec.json.encode(marker), type=Marker) == marker
