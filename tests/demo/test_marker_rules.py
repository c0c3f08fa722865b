"""The stand-in's marker rules, each against the sentence of the API's documentation it stands for."""

import json
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.demo.provider import MarkerRuleBroken, check_markers

HOUR = {"type": "ephemeral", "ttl": "1h"}
SHORT = {"type": "ephemeral", "ttl": "5m"}
BARE = {"type": "ephemeral"}


def text(words: str = "words", marker: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": words} | ({"cache_control": marker} if marker else {})


def request(*, tools: Any = (), system: Any = (), user: Any = (), **more: Any) -> dict[str, Any]:
    return {
        "model": "claude-opus-5",
        "tools": list(tools),
        "system": list(system),
        "messages": [{"role": "user", "content": list(user)}],
        **more,
    }


def tool(marker: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": "look", "input_schema": {"type": "object"}, **({"cache_control": marker} if marker else {}), **more}


def broken(body: dict[str, Any]) -> str:
    with pytest.raises(MarkerRuleBroken) as caught:
        check_markers(body)
    assert (caught.value.status, caught.value.kind) == (400, "invalid_request_error")
    return str(caught.value)


def test_a_longer_lifetime_after_a_shorter_one_is_refused_and_the_later_marker_named(shared_data: Path) -> None:
    body = request(system=[text("s", SHORT)], user=[text(), text(), text(), text(), text("late", HOUR)])
    real = json.loads((shared_data / "invalid" / "anthropic-error-400-ttl-order.json").read_bytes())["error"]["message"]
    assert broken(body) == real


@pytest.mark.parametrize("early", [SHORT, BARE])
def test_order_runs_over_tools_system_and_messages(early: dict[str, str]) -> None:
    assert broken(request(tools=[tool(early)], system=[text("s", HOUR)])).startswith("system.0.cache_control.ttl: ")
    assert broken(request(tools=[tool(early)], user=[text("u", HOUR)])).startswith("messages.0.content.0.cache_control.ttl: ")
    assert len(check_markers(request(tools=[tool(HOUR)], system=[text("s", HOUR)], user=[text("u", early)]))) == 3


def test_a_marker_inside_a_tool_result_keeps_the_order_and_counts() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text("r", HOUR)]}
    assert "content.1.content.0.cache_control.ttl" in broken(request(user=[text("u", SHORT), result]))
    four = request(system=[text("a", HOUR), text("b", HOUR), text("c", HOUR)], user=[result])
    assert len(check_markers(four)) == 4
    four["messages"][0]["content"].append(text("fifth", HOUR))
    assert broken(four) == "A maximum of 4 blocks with cache_control may be provided. Found 5."


def test_a_document_within_a_result_is_looked_into() -> None:
    document = {"type": "document", "source": {"type": "content", "content": [text("d", HOUR)]}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [document]}
    assert [m.path for m in check_markers(request(user=[result]))] == ["messages.0.content.0.content.0.source.content.0"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "x", "signature": "y"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": ""},
        {"type": "text", "text": " \n"},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "", "cache_control": HOUR}]},
        {"type": "text", "text": "quoted", "citations": [{"type": "char_location", "cache_control": HOUR}]},
    ],
)
def test_what_can_not_be_cached_is_refused(block: dict[str, Any]) -> None:
    assert "cache_control" in broken(request(user=[block | {"cache_control": HOUR}]))


def test_a_deferred_tool_can_not_carry_a_marker() -> None:
    assert broken(request(tools=[tool(HOUR, defer_loading=True)])).startswith("tools.0: cache_control")
    assert check_markers(request(tools=[tool(None, defer_loading=True)])) == ()


@pytest.mark.parametrize("kind", ["image", "document", "tool_use", "tool_result"])
def test_other_content_can_carry_one(kind: str) -> None:
    assert len(check_markers(request(user=[{"type": kind, "cache_control": HOUR}]))) == 1


@pytest.mark.parametrize("marker", [{"type": "forever"}, {"type": "ephemeral", "ttl": "2h"}, {"type": "ephemeral", "ttl": None}, "1h"])
def test_malformed_markers_are_refused(marker: Any) -> None:
    assert broken(request(user=[text("u", marker)])).startswith("messages.0.content.0.cache_control")


def test_null_is_no_marker() -> None:
    assert check_markers(request(user=[{"type": "text", "text": "u", "cache_control": None}], cache_control=None)) == ()


class TestAutomatic:
    def test_lands_on_the_last_eligible_block(self) -> None:
        body = request(user=[text(), text("last"), {"type": "thinking", "thinking": "x", "signature": ""}], cache_control=BARE)
        assert [(m.position, m.ttl, m.path) for m in check_markers(body)] == [(1, "5m", "")]

    def test_needs_a_slot(self) -> None:
        body = request(system=[text("s", HOUR) for _ in range(4)], user=[text()], cache_control=HOUR)
        assert "cache_control" in broken(body)

    def test_conflicts_with_another_lifetime_on_the_last_block(self) -> None:
        assert "conflicts" in broken(request(user=[text("u", SHORT)], cache_control=HOUR))
        assert "conflicts" in broken(request(user=[text("u", HOUR)], cache_control=BARE))

    def test_is_nothing_where_the_last_block_says_the_same(self) -> None:
        assert len(check_markers(request(user=[text("u", HOUR)], cache_control=HOUR))) == 1

    def test_keeps_the_order(self) -> None:
        message = broken(request(user=[text("u", SHORT), text("last")], cache_control=HOUR))
        assert message.startswith("cache_control.ttl: a ttl='1h'")
