import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.cache_markers import find_violations
from caveman_tui.core.loop_ttl import client_kind, plan_loop_ttl
from caveman_tui.core.message_walk import walk
from caveman_tui.core.policy import ClientKind, ClientOverride, Dialect, Policy, ShrinkMode
from caveman_tui.core.rewrite import Rewrite, rewrite
from tests.core.requests import (
    BARE,
    FIVE,
    HEADLESS_AGENT,
    HOUR,
    INTERACTIVE_AGENT,
    assistant,
    call,
    encode,
    find_markers,
    generated,
    loop,
    result,
    spelled,
    text,
    user,
)

PERSON, HEADLESS = client_kind(INTERACTIVE_AGENT), client_kind(HEADLESS_AGENT)
TTL_ONLY = Policy(shrink=ShrinkMode.OFF)


def run(request: Any, client: ClientKind = PERSON) -> Rewrite:
    return rewrite(encode(request), Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY)


def lifetimes(body: bytes) -> list[tuple[str, str]]:
    return [(marker.pointer or "automatic", marker.ttl) for marker in find_markers(json.loads(body))]


def told(outcome: Rewrite) -> set[str]:
    return {reason.code for reason in outcome.reasons}


def assert_unchanged(request: Any, code: str, client: ClientKind = PERSON) -> None:
    outcome = run(request, client)
    assert outcome.body == encode(request)
    assert outcome.edits == ()
    assert code in told(outcome)


# ---- the vectors: the first transform's own results


def test_all_vectors(shared_data: Path) -> None:
    lines = (shared_data / "loop-ttl-vectors.jsonl").read_bytes().splitlines()
    assert len(lines) == 1500
    for number, line in enumerate(lines):
        vector = json.loads(line)
        client = client_kind(vector["user_agent"])
        assert client.headless is vector["headless"], number
        for body in (encode(vector["request"]), json.dumps(vector["request"], indent=2).encode()):
            outcome = rewrite(body, Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY)
            assert json.loads(outcome.body) == vector["result"], number
            assert outcome.shortened == vector["shortened"], number
            assert outcome.warning == ""
            assert_only_edits_differ(body, outcome)


def assert_only_edits_differ(body: bytes, outcome: Rewrite) -> None:
    """Walks both bodies side by side: equal bytes up to each edit, then the edit's own."""
    before = after = 0
    for edit in outcome.edits:
        gap = edit.start - before
        assert body[before : edit.start] == outcome.body[after : after + gap]
        assert body[edit.start : edit.end] == edit.before
        assert outcome.body[after + gap : after + gap + len(edit.after)] == edit.after
        before, after = edit.end, after + gap + len(edit.after)
    assert body[before:] == outcome.body[after:]


# ---- which client


@pytest.mark.parametrize(
    ("user_agent", "headless", "sign"),
    [
        ("claude-cli/2.1.316 (external, sdk-cli)", True, "sdk-cli"),
        ("claude-cli/2 (external,sdk-py)", True, "sdk-py"),
        ("x (a,   sdk-ts  )", True, "sdk-ts"),
        ("x (sdk-)", True, "sdk-"),
        ("x ((sdk-cli)", False, "(sdk-cli"),
        ("claude-cli/2.1.316 (external, cli)", False, "external, cli"),
        ("claude-cli/2.1.233 (external, claude-vscode, agent-sdk/0.3)", False, "external, claude-vscode, agent-sdk/0.3"),
        ("claude-cli/2 (external, SDK-cli)", False, "external, SDK-cli"),
        ("x (a) y (sdk-cli)", False, "a"),
        ("broken (external, sdk-cli", False, "a User-Agent without an entry point"),
        ("anthropic-sdk-python/1.0", False, "a User-Agent without an entry point"),
        ("", False, "no User-Agent"),
        (None, False, "no User-Agent"),
    ],
)
def test_the_user_agent_says_whether_a_person_sits_there(user_agent: str | None, headless: bool, sign: str) -> None:
    assert client_kind(user_agent) == ClientKind(headless=headless, sign=sign)


def test_a_setting_overrides_the_user_agent_and_says_so() -> None:
    assert client_kind(INTERACTIVE_AGENT, "yes") == ClientKind(headless=True, sign="set to headless: yes", overridden=True)
    assert client_kind(HEADLESS_AGENT, "no").headless is False


def test_what_is_set_for_one_client_counts_before_what_is_set_for_all() -> None:
    product = INTERACTIVE_AGENT.partition("/")[0]
    one = (ClientOverride(product=product.upper(), headless="yes"), ClientOverride(product="other", headless="no"))
    assert client_kind(INTERACTIVE_AGENT, "no", one) == ClientKind(
        headless=True, sign=f"{product.upper()} set to headless: yes", overridden=True
    )
    assert client_kind("other/1 (external, sdk-cli)", "auto", one).headless is False
    by_agent = (ClientOverride(product=product, headless="auto"),)
    assert client_kind(HEADLESS_AGENT, "no", by_agent) == client_kind(HEADLESS_AGENT)
    assert client_kind("third/1", "yes", one) == client_kind("third/1", "yes")
    assert client_kind("", "auto", (ClientOverride(product="", headless="yes"),)).headless is False
    outcome = run({"messages": [user(text("p", HOUR))]}, client_kind(INTERACTIVE_AGENT, "yes"))
    assert {"client-overridden", "headless-shortened"} <= told(outcome)
    with pytest.raises(ValueError, match="'maybe'"):
        client_kind(None, "maybe")  # type: ignore[arg-type]


def test_the_sign_that_decided_is_told() -> None:
    told_of = {reason.code: reason.text for reason in run({"messages": [user(text("p", HOUR))]}, HEADLESS).reasons}
    assert "sdk-cli" in told_of["client-headless"]


# ---- the decision table, row by row


def test_headless_every_hour_in_messages_becomes_five_minutes_and_nothing_is_added() -> None:
    outcome = run({"messages": [*loop(text("p", HOUR), tail=HOUR), user(text("q", BARE))]}, HEADLESS)
    assert lifetimes(outcome.body) == [("/messages/0/content/0", "5m"), ("/messages/2/content/0", "5m"), ("/messages/3/content/0", "5m")]
    assert outcome.shortened == 2
    assert run({"messages": loop(text("p"))}, HEADLESS).shortened == 1


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ([text("a", HOUR), text("b", HOUR)], ["1h", "5m"]),
        ([text("a", HOUR), text("b", HOUR), text("c")], ["1h", "5m"]),
        ([text("a", HOUR)], ["1h"]),
        ([text("a", HOUR), text("b", None)], ["1h"]),
        ([text("a", HOUR), text("b", FIVE)], ["1h", "5m"]),
    ],
)
def test_headless_the_last_of_several_system_markers_goes_too(system: list[Any], expected: list[str]) -> None:
    request = {"tools": [{"name": "t", "cache_control": HOUR}], "system": system, "messages": [user(text("p"))]}
    assert [ttl for _, ttl in lifetimes(run(request, HEADLESS).body)] == ["1h", *expected]


def test_a_request_that_ends_in_the_prompt_is_unchanged() -> None:
    assert_unchanged({"messages": [user(text("p", HOUR))]}, "ends-in-prompt")
    assert_unchanged({"messages": [user(text("p", HOUR)), assistant(text("a", HOUR))]}, "not-in-loop")


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([user(result(1, HOUR))], "no-prompt"),
        ([assistant(call()), user(result(1, HOUR))], "no-prompt"),
        (loop(text("p"), tail=FIVE), "no-hour-marker"),
        (loop(text("p", HOUR), tail={"type": "ephemeral", "ttl": "1H"}), "loop-without-hour"),
        ([{"role": "user", "content": "hi"}, user(result(1, HOUR))], "prompt-is-text"),
        ([{"role": "user", "content": []}, user(result(1, HOUR))], "prompt-without-block"),
        ([{"role": "user"}, user(result(1, HOUR))], "prompt-without-block"),
        ([user(text("p"), "plain"), user(result(1, HOUR))], "prompt-without-block"),
        ([user(text("p", "x")), user(result(1, HOUR))], "malformed-marker"),
        ([user(*(text("p", HOUR) for _ in range(0)), text(" ")), user(result(1, HOUR))], "no-eligible-block"),
    ],
)
def test_loops_that_stay_as_they_are(messages: list[Any], code: str) -> None:
    assert_unchanged({"messages": messages}, code)


@pytest.mark.parametrize("marker", [FIVE, BARE, {"type": "ephemeral", "ttl": None}])
def test_the_prompts_own_marker_is_raised(marker: Any) -> None:
    outcome = run({"messages": loop(text("a"), text("p", marker))})
    assert lifetimes(outcome.body) == [("/messages/0/content/1", "1h"), ("/messages/2/content/0", "5m")]
    assert {"prompt-raised", "loop-shortened", "illegal-made-legal"} <= told(outcome)
    assert json.loads(outcome.body)["messages"][0]["content"][1]["cache_control"] == HOUR


def test_an_hour_on_the_prompt_is_kept_without_an_edit() -> None:
    outcome = run({"messages": loop(text("p", HOUR))})
    assert [edit.pointer for edit in outcome.edits] == ["/messages/2/content/0/cache_control/ttl"]
    assert "anchor-kept" in told(outcome)


def test_the_prompt_is_anchored_where_a_marker_is_free() -> None:
    outcome = run({"system": [text("s", HOUR), text("t", HOUR)], "messages": loop(text("a"), text("p"))})
    assert [ttl for _, ttl in lifetimes(outcome.body)] == ["1h", "1h", "1h", "5m"]
    assert json.loads(outcome.body)["messages"][0]["content"][1] == text("p", HOUR)
    assert {"prompt-anchored", "loop-shortened"} <= told(outcome)


def test_four_markers_in_use_change_nothing() -> None:
    request = {
        "tools": [{"name": "t", "cache_control": HOUR}],
        "system": [text("s", HOUR), text("t", HOUR)],
        "messages": loop(text("p")),
    }
    assert_unchanged(request, "no-free-slot")


def test_text_beside_a_tool_result_belongs_to_the_loop() -> None:
    messages = [user(text("p")), assistant(call()), user(result(1), text("and now this", HOUR))]
    assert lifetimes(run({"messages": messages}).body) == [("/messages/0/content/0", "1h"), ("/messages/2/content/1", "5m")]


@pytest.mark.parametrize("client", [PERSON, HEADLESS])
def test_assistant_text_and_tool_input_that_look_like_markers_are_left(client: ClientKind) -> None:
    messages = loop(text('{"cache_control": {"type": "ephemeral", "ttl": "1h"}}'), steps=3)
    outcome = run({"messages": messages}, client)
    for before, after in zip(messages[1::2], json.loads(outcome.body)["messages"][1::2], strict=True):
        assert before == after


def test_an_assistant_turn_with_thinking_keeps_its_bytes() -> None:
    turn = assistant({"type": "thinking", "thinking": "hm", "signature": "s=="}, call(1))
    body = encode({"messages": [user(text("p")), turn, user(result(1, HOUR))]})
    outcome = rewrite(body, Dialect.ANTHROPIC_MESSAGES, PERSON, TTL_ONLY)
    assert outcome.shortened == 1
    assert encode(turn) in outcome.body


# ---- beyond it, point by point


def test_1_nested_markers_count_and_are_shortened_with_the_loop() -> None:
    document = {"type": "document", "source": {"type": "content", "content": [text("d", HOUR)]}}
    messages = [user(text("p")), assistant(call()), user(result(1, ..., [text("r", HOUR), document]))]
    outcome = run({"messages": messages})
    assert [ttl for _, ttl in lifetimes(outcome.body)] == ["1h", "5m", "5m"]
    assert "nested-shortened" in told(outcome)
    assert_unchanged({"system": [text("s", HOUR), text("t", HOUR)], "messages": messages}, "no-free-slot")
    assert [ttl for _, ttl in lifetimes(run({"messages": messages}, HEADLESS).body)] == ["5m", "5m"]


def test_2_the_automatic_marker_takes_a_slot_and_is_shortened_with_the_loop() -> None:
    outcome = run({"cache_control": HOUR, "messages": loop(text("p"))})
    assert lifetimes(outcome.body) == [("/messages/0/content/0", "1h"), ("/messages/2/content/0", "5m"), ("automatic", "5m")]
    assert "automatic-shortened" in told(outcome)
    assert not find_violations(outcome.markers_after)
    assert [ttl for _, ttl in lifetimes(run({"cache_control": HOUR, "messages": loop(text("p"), tail=...)}).body)] == ["1h", "5m"]
    full = {"cache_control": HOUR, "system": [text("s", HOUR), text("t", HOUR)], "messages": loop(text("p"))}
    assert_unchanged(full, "no-free-slot")


def test_2_headless_the_automatic_marker_goes_with_the_messages_or_the_system_block_it_lands_on() -> None:
    assert lifetimes(run({"cache_control": HOUR, "messages": [user(text("p", HOUR))]}, HEADLESS).body) == [
        ("/messages/0/content/0", "5m"),
        ("automatic", "5m"),
    ]
    system = {"cache_control": HOUR, "system": [text("s", HOUR), text("t", HOUR)], "messages": []}
    assert [ttl for _, ttl in lifetimes(run(system, HEADLESS).body)] == ["1h", "5m", "5m"]
    assert_unchanged({"cache_control": HOUR, "system": [text("s")], "messages": []}, "no-hour-marker", HEADLESS)


def test_3_a_system_message_after_the_results_does_not_end_the_loop() -> None:
    messages = [*loop(text("p")), {"role": "system", "content": [text("reminder", HOUR)]}, {"role": "system", "content": "x"}]
    outcome = run({"messages": messages})
    assert [ttl for _, ttl in lifetimes(outcome.body)] == ["1h", "5m", "5m"]
    assert "system-message-skipped" in told(outcome)


def test_4_other_keys_of_a_marker_survive() -> None:
    scoped = {"type": "ephemeral", "scope": "global", "ttl": "1h", "x": [1]}
    outcome = run({"messages": loop(text("p", {"scope": "s", "type": "ephemeral"}), tail=scoped)})
    assert json.loads(outcome.body)["messages"][2]["content"][0]["cache_control"] == {**scoped, "ttl": "5m"}
    assert json.loads(outcome.body)["messages"][0]["content"][0]["cache_control"] == {"scope": "s", **HOUR}
    assert "marker-keys-kept" in told(outcome)


def test_4_null_is_no_marker_and_is_replaced_not_doubled() -> None:
    body = encode({"messages": loop(text("p", None))})
    outcome = rewrite(body, Dialect.ANTHROPIC_MESSAGES, PERSON, TTL_ONLY)
    assert json.loads(outcome.body)["messages"][0]["content"][0] == text("p", HOUR)
    assert outcome.body.count(b"cache_control") == body.count(b"cache_control")
    assert {"null-marker-replaced", "prompt-anchored"} <= told(outcome)
    nulls = {"system": [text("s", None) for _ in range(4)], "messages": loop(text("p"))}
    assert run(nulls).shortened == 1


@pytest.mark.parametrize("last", [text(""), text(" \n"), {"type": "thinking", "thinking": "t"}, {"type": "redacted_thinking", "data": "d"}])
def test_5_an_ineligible_last_block_passes_the_marker_on(last: Any) -> None:
    outcome = run({"messages": loop(text("a"), text("p"), last)})
    assert lifetimes(outcome.body)[0] == ("/messages/0/content/1", "1h")
    assert "last-eligible-block" in told(outcome)


def test_6_with_no_free_slot_an_hour_on_another_block_of_the_prompt_serves() -> None:
    request = {"system": [text("s", HOUR), text("t", HOUR)], "messages": loop(text("a", HOUR), text("p"))}
    outcome = run(request)
    assert [ttl for _, ttl in lifetimes(outcome.body)] == ["1h", "1h", "1h", "5m"]
    assert "anchor-elsewhere" in told(outcome)
    assert outcome.shortened == len(outcome.edits) == 1


def turn_after_a_loop(steps: int, marker: Any = HOUR, **rest: Any) -> dict[str, Any]:
    return {**rest, "messages": [*loop(text("p"), tail=..., steps=steps), assistant(text("done")), user(text("next", marker))]}


def test_7_after_a_long_loop_the_previous_prompt_is_anchored_again() -> None:
    outcome = run(turn_after_a_loop(12, system=[text("s", HOUR), text("t", HOUR)]))
    assert lifetimes(outcome.body)[2] == ("/messages/0/content/0", "1h")
    assert [(edit.reason, edit.pointer) for edit in outcome.edits] == [("re-anchored", "/messages/0/content/0/cache_control")]
    assert outcome.shortened == 0


def test_7_the_limit_is_what_a_read_can_reach() -> None:
    assert run(turn_after_a_loop(9)).edits == ()  # new prompt at 20 positions from the old one
    assert len(run(turn_after_a_loop(10)).edits) == 1  # 22


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (turn_after_a_loop(12, system=[text("s", HOUR), text("t", HOUR), text("u", HOUR)]), "no-slot-to-re-anchor"),
        (turn_after_a_loop(12, FIVE), "no-hour-marker"),
        (turn_after_a_loop(12, ..., system=[text("s", HOUR)]), "ends-in-prompt"),
        ({"messages": [user(text("p")), *[assistant(text("a"))] * 30, user(text("q", HOUR))]}, "ends-in-prompt"),
        ({"messages": [user(text("p", HOUR)), *turn_after_a_loop(12)["messages"][1:]]}, "ends-in-prompt"),
        ({"messages": [{"role": "user", "content": "p"}, *turn_after_a_loop(12)["messages"][1:]]}, "ends-in-prompt"),
    ],
)
def test_7_otherwise_a_request_that_ends_in_a_prompt_is_unchanged(request_: Any, code: str) -> None:
    assert_unchanged(request_, code)


def test_7_a_marker_in_reach_makes_another_unnecessary() -> None:
    request = turn_after_a_loop(12)
    request["messages"][6]["content"][0]["cache_control"] = HOUR
    assert_unchanged(request, "ends-in-prompt")


def test_7_a_prompt_in_several_messages_is_one_prompt() -> None:
    request = turn_after_a_loop(12)
    request["messages"].insert(-1, user(text("reminder")))
    request["messages"].append({"role": "system", "content": "x"})
    assert [edit.reason for edit in run(request).edits] == ["re-anchored"]


def test_7_nothing_is_added_for_a_headless_client() -> None:
    assert {edit.reason for edit in run(turn_after_a_loop(12), HEADLESS).edits} == {"headless-shortened"}


def test_8_an_order_that_stays_wrong_goes_out_as_it_came_and_names_the_earlier_marker() -> None:
    request = {"tools": [{"name": "t", "cache_control": BARE}], "messages": loop(text("p"))}
    outcome = run(request)
    assert outcome.body == encode(request)
    assert ("result-illegal", "/tools/0") in {(reason.code, reason.pointer) for reason in outcome.reasons}
    assert [violation.culprit for violation in outcome.violations_before] == ["/tools/0"]
    assert outcome.markers_after == outcome.markers_before
    assert outcome.warning == ""


def test_8_a_request_illegal_on_its_own_is_forwarded_and_its_culprit_named() -> None:
    request = {"tools": [{"name": "t", "cache_control": BARE}], "messages": [user(text("p", HOUR))]}
    outcome = run(request)
    assert outcome.body == encode(request)
    assert ("request-illegal", "/tools/0") in {(reason.code, reason.pointer) for reason in outcome.reasons}


def test_8_a_deferred_tool_with_a_marker_is_neither_caused_nor_hidden() -> None:
    request = {"tools": [{"name": "t", "defer_loading": True, "cache_control": HOUR}], "messages": loop(text("p"))}
    assert_unchanged(request, "result-illegal")


# ---- over generated requests


@given(spelled(generated), st.booleans())
def test_generated_requests_stay_legal_exact_and_still(body: bytes, headless: bool) -> None:
    client = HEADLESS if headless else PERSON
    outcome = rewrite(body, Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY)
    assert_only_edits_differ(body, outcome)
    assert outcome.warning == ""
    if outcome.edits:
        markers = find_markers(json.loads(outcome.body))
        assert find_violations(markers) == ()
        assert markers == outcome.markers_after
    else:
        assert outcome.body is body
    again = rewrite(outcome.body, Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY)
    assert (again.body, again.edits) == (outcome.body, ())
    assert rewrite(bytes(bytearray(body)), Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY) == outcome
    assert without_markers(json.loads(outcome.body)) == without_markers(json.loads(body))


def without_markers(value: Any) -> Any:
    """The request without the markers of blocks; what a tool was called with stays."""
    if isinstance(value, list):
        return [without_markers(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key == "input" else without_markers(item) for key, item in value.items() if key != "cache_control"}
    return value


@given(generated, st.booleans())
def test_the_plan_never_depends_on_spelling(request: Any, headless: bool) -> None:
    client = HEADLESS if headless else PERSON
    bodies = [json.dumps(request).encode(), json.dumps(request, indent=1, ensure_ascii=False, sort_keys=True).encode()]
    plans = [plan_loop_ttl(value, walk(value), client) for value in map(json.loads, bodies)]
    assert plans[0] == plans[1]
    outcomes = [json.loads(rewrite(body, Dialect.ANTHROPIC_MESSAGES, client, TTL_ONLY).body) for body in bodies]
    assert outcomes[0] == outcomes[1]
