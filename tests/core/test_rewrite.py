import json
from typing import Any

import pytest

from caveman_tui.core import rewrite as rewrite_module
from caveman_tui.core.edits import EditKind, apply_edits
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import ClientKind, Dialect, Level, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.core.rewrite import MARKER_EDITS, TOOLS_EDITS, Rewrite, Shrinker, rewrite, with_measure, without
from caveman_tui.core.shrink.model import ShrunkCatalog
from tests.core.requests import BARE, FIVE, HEADLESS_AGENT, HOUR, INTERACTIVE_AGENT, assistant, call, encode, loop, result, text, user

PERSON, HEADLESS = client_kind(INTERACTIVE_AGENT), client_kind(HEADLESS_AGENT)
APPLY = Policy(shrink=ShrinkMode.APPLY)
TTL_ONLY = Policy(shrink=ShrinkMode.OFF)
MESSAGES = Dialect.ANTHROPIC_MESSAGES


def tool(name: str = "read", marker: Any = ..., **more: Any) -> dict[str, Any]:
    definition = {"name": name, "description": "Reads a file. Simply the best.", "input_schema": {"type": "object"}, **more}
    return definition if marker is ... else {**definition, "cache_control": marker}


class Shortener:
    """A shrinker that only does what a test can foresee: drops one sentence."""

    def __init__(self, drop: bytes = b" Simply the best.", put: bytes = b"") -> None:
        self.drop, self.put = drop, put
        self.calls: list[tuple[bytes, Level, tuple[str, ...]]] = []

    def __call__(self, data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
        self.calls.append((data, level, exclude))
        after = data.replace(self.drop, self.put)
        return ShrunkCatalog(before=data, after=after, level=level, note="" if after != data else "nothing to drop")


def run(request: Any, policy: Policy = APPLY, dialect: Dialect = MESSAGES, client: ClientKind = PERSON, shrink: Any = None) -> Rewrite:
    return rewrite(request if isinstance(request, bytes) else encode(request), dialect, client, policy, shrink=shrink or Shortener())


def told(outcome: Rewrite) -> set[str]:
    return {reason.code for reason in outcome.reasons}


def both() -> dict[str, Any]:
    """A request in which both transforms have something to do."""
    return {"tools": [tool()], "messages": loop(text("p"))}


# ---- both transforms together


def test_markers_and_tools_are_edited_side_by_side() -> None:
    body = json.dumps(both(), indent=3).encode()
    outcome = run(body)
    assert [edit.kind for edit in outcome.edits] == [EditKind.TOOLS, EditKind.MARKER, EditKind.TTL]
    assert outcome.body == apply_edits(body, outcome.edits)
    assert b"Simply" not in outcome.body
    assert outcome.shortened == 1
    assert [marker.ttl for marker in outcome.markers_after] == ["1h", "5m"]
    assert {"tools-shrunk", "prompt-anchored", "loop-shortened"} <= told(outcome)
    assert body[outcome.tools[0].start : outcome.tools[0].end] == outcome.tools[0].catalog.before
    assert outcome.tools[0].applied


def test_the_policy_reaches_the_shrinker_and_the_bytes_are_those_of_the_value() -> None:
    shrink = Shortener()
    run(
        b'{"tools" :  [ {"name":"a"} ] , "model":"m"}',
        Policy(shrink=ShrinkMode.MEASURE, level=Level.TERSE, excluded_tools=("a",)),
        shrink=shrink,
    )
    assert shrink.calls == [(b'[ {"name":"a"} ]', Level.TERSE, ("a",))]


def test_measuring_changes_nothing_but_says_what_it_would() -> None:
    outcome = run({"tools": [tool()], "messages": [user(text("p"))]}, Policy())
    assert outcome.edits == ()
    assert (outcome.tools[0].applied, outcome.tools[0].catalog.changed) == (False, True)
    assert "tools-measured" in told(outcome)


def test_switched_off_the_shrinker_is_never_called_and_the_body_is_the_same_object() -> None:
    shrink, body = Shortener(), encode(both())
    outcome = run(body, Policy(shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.OFF), shrink=shrink)
    assert shrink.calls == []
    assert outcome.body is body
    assert told(outcome) == {"loop-ttl-off"}


@pytest.mark.parametrize("tools", [[], None, {}, "x", 5])
def test_without_a_catalog_nothing_is_shrunk(tools: Any) -> None:
    shrink = Shortener()
    outcome = run({"tools": tools, "messages": []}, shrink=shrink)
    assert (shrink.calls, outcome.tools, outcome.warning) == ([], (), "")


def test_a_catalog_with_nothing_to_take_is_told_with_its_note() -> None:
    outcome = run({"tools": [{"name": "x"}], "messages": []})
    assert (outcome.edits, outcome.tools[0].applied) == ((), False)
    assert next(reason.text for reason in outcome.reasons if reason.code == "tools-unchanged").endswith("nothing to drop")


def test_measuring_afterwards_gives_what_measuring_at_once_gives() -> None:
    body, measure = encode(both()), Policy(level=Level.TERSE, excluded_tools=("x",))
    at_once, shrink = run(body, measure), Shortener()
    later = with_measure(run(body, TTL_ONLY), body, MESSAGES, measure, shrink=shrink)
    assert (later.body, later.edits, later.tools) == (at_once.body, at_once.edits, at_once.tools)
    assert told(later) == told(at_once)
    assert shrink.calls == [(encode([tool()]), Level.TERSE, ("x",))]
    assert with_measure(later, body, MESSAGES, measure, shrink=shrink) is later
    unread = run(b"{tools", TTL_ONLY)
    assert with_measure(unread, b"{tools", MESSAGES, measure).tools == ()


# ---- dialects


def test_counting_tokens_edits_tools_alike_but_no_markers() -> None:
    request = both()
    counted, sent = run(request, dialect=Dialect.ANTHROPIC_COUNT_TOKENS), run(request)
    assert [edit.kind for edit in counted.edits] == [EditKind.TOOLS]
    assert counted.edits[0] == sent.edits[0]
    assert "count-tokens" in told(counted)
    assert [marker.ttl for marker in counted.markers_before] == ["1h"]


@pytest.mark.parametrize("dialect", [Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES])
def test_loop_ttl_is_inert_in_openai_shapes(dialect: Dialect) -> None:
    outcome = run(both(), dialect=dialect)
    assert [edit.kind for edit in outcome.edits] == [EditKind.TOOLS]
    assert "no-cache-control" in told(outcome)
    assert outcome.markers_before == ()


def test_codex_tools_are_found_in_the_input() -> None:
    added = {"type": "additional_tools", "tools": [{"type": "namespace", "tools": [tool("deep")]}]}
    request = {"input": [added, {"type": "message", "tools": [tool()]}, 5], "tools": [tool("top")]}
    outcome = run(request, dialect=Dialect.OPENAI_RESPONSES)
    assert {change.pointer for change in outcome.tools if change.applied} == {"/tools", "/input/0/tools"}
    assert json.loads(outcome.body)["input"][1] == request["input"][1]
    assert [change.pointer for change in run(request, dialect=Dialect.OPENAI_CHAT).tools] == ["/tools"]


# ---- latches


def test_refused_markers_stay_and_tools_go_on() -> None:
    outcome = run(both(), Policy(shrink=ShrinkMode.APPLY, markers_refused=True))
    assert [edit.kind for edit in outcome.edits] == [EditKind.TOOLS]
    assert "markers-refused" in told(outcome)


def test_refused_tools_stay_and_markers_go_on() -> None:
    outcome = run(both(), Policy(shrink=ShrinkMode.APPLY, tools_refused=True))
    assert {edit.kind for edit in outcome.edits} == MARKER_EDITS
    assert "tools-refused" in told(outcome)
    assert (outcome.tools[0].applied, outcome.tools[0].catalog.changed) == (False, True)


def test_undoing_one_kind_keeps_the_other() -> None:
    body = encode(both())
    outcome = run(body)
    plain_tools = without(outcome, body, TOOLS_EDITS, "tools-undone")
    assert plain_tools.body == run(body, TTL_ONLY).body
    assert (plain_tools.tools[0].applied, plain_tools.shortened) == (False, 1)
    assert "tools-undone" in told(plain_tools) and "tools-shrunk" not in told(plain_tools)
    plain_markers = without(outcome, body, MARKER_EDITS, "markers-undone")
    assert plain_markers.body == run(body, Policy(shrink=ShrinkMode.APPLY, markers_refused=True)).body
    assert plain_markers.markers_after == plain_markers.markers_before
    assert "loop-shortened" not in told(plain_markers)
    untouched = without(outcome, body, MARKER_EDITS | TOOLS_EDITS, "markers-undone")
    assert (untouched.body, untouched.edits) == (body, ())
    assert without(untouched, body, TOOLS_EDITS, "tools-undone") is untouched


# ---- results that fail our own checks


def test_a_tool_that_would_become_another_keeps_its_bytes() -> None:
    outcome = run(both(), shrink=Shortener(b'"read"', b'"red"'))
    assert {edit.kind for edit in outcome.edits} == MARKER_EDITS
    assert "tools-profile-changed" in told(outcome)
    assert "report" in outcome.warning


def test_a_tool_that_would_lose_its_marker_keeps_its_bytes() -> None:
    request = {"tools": [tool(marker=HOUR)], "messages": [user(text("p"))]}
    outcome = run(request, shrink=Shortener(b', "cache_control": {"type": "ephemeral", "ttl": "1h"}'))
    assert outcome.body == encode(request)
    assert {"tools-markers-changed", "tools-profile-changed"} & told(outcome)
    assert outcome.warning


def test_a_result_that_is_no_json_is_discarded() -> None:
    request = {"tools": [tool()], "messages": []}
    outcome = run(request, shrink=Shortener(b"]", b""))
    assert outcome.body == encode(request)
    assert outcome.warning


def test_a_shrinker_that_fails_costs_the_saving_only() -> None:
    def fails(data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
        raise RuntimeError("secret text of a tool")

    outcome = run(both(), shrink=fails)
    assert {edit.kind for edit in outcome.edits} == MARKER_EDITS
    assert "tools-failed" in told(outcome)
    assert "RuntimeError" in outcome.warning and "secret" not in outcome.warning


def test_marker_edits_that_break_a_rule_are_discarded_and_tools_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    from caveman_tui.core.loop_ttl import LoopTtlPlan
    from caveman_tui.core.marker_edits import MarkerChange

    wrong = MarkerChange(path=("messages", 2, "content", 0), ttl="1h", reason="prompt-raised")
    monkeypatch.setattr(rewrite_module, "plan_loop_ttl", lambda *_: LoopTtlPlan(changes=(wrong,)))
    outcome = run({"tools": [tool(marker=HOUR)], "messages": loop(text("p", FIVE), tail=BARE)})
    assert {edit.kind for edit in outcome.edits} == {EditKind.TOOLS}
    assert [marker.ttl for marker in outcome.markers_after] == ["1h", "5m", "5m"]
    assert [(told.code, told.pointer) for told in outcome.reasons if told.code == "result-illegal"] == [
        ("result-illegal", "/messages/0/content/0")
    ]
    assert "report" in outcome.warning


def test_our_own_failure_lets_the_request_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("secret")

    monkeypatch.setattr(rewrite_module, "plan_loop_ttl", fails)
    outcome = run(both())
    assert (outcome.body, outcome.edits, told(outcome)) == (encode(both()), (), {"internal-error"})
    assert "RuntimeError" in outcome.warning and "secret" not in outcome.warning


# ---- repeated keys


@pytest.mark.parametrize(
    ("find", "put"),
    [
        (b'"messages":', b'"messages": [], "messages":'),
        (b'"role": "user", "content": [{"type": "tool_result"', b'"role": "x", "role": "user", "content": [{"type": "tool_result"'),
        (b'"content": "ok"', b'"content": "ok", "content": "ok"'),
        (b'"ttl": "1h"}}]}]', b'"ttl": "1h", "ttl": "1h"}}]}]'),
    ],
)
def test_where_a_key_repeats_on_the_way_no_marker_is_edited(find: bytes, put: bytes) -> None:
    body = encode({"messages": loop(text("p"))}).replace(find, put)
    assert put in body
    outcome = run(body, TTL_ONLY)
    assert outcome.body is body
    assert "duplicate-key" in told(outcome)


def test_a_repeated_key_elsewhere_does_not_matter() -> None:
    body = encode({"metadata": {"a": 1}, "messages": loop(text("p"))}).replace(b'{"a": 1}', b'{"a": 1, "a": 2}')
    assert run(body, TTL_ONLY).shortened == 1


def test_tools_given_twice_are_left_alone() -> None:
    body = b'{"tools":[%b],"tools":[%b],"messages":[]}' % (encode(tool("x")), encode(tool("y")))
    outcome = run(body)
    assert outcome.body is body
    assert "duplicate-key" in told(outcome)


# ---- bytes


def test_numbers_escapes_and_white_space_outside_the_edits_stay() -> None:
    body = (
        b' {\r\n "n":[1.0,1E5,12345678901234567890123,1e400],"s":"<a>&amp;</a>\\u2028\\/\\ud83d\\ude00\\u0000",\t'
        b'"messages":[{"role":"user",'
        b'"content":[{"text":"\\u0070","type":"text" }]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","cache_control":'
        b'{"\\u0074tl" :\n"1\\u0068","type":"ephemeral"}}]}]}\n'
    )
    outcome = run(body, TTL_ONLY)
    assert outcome.body == body.replace(b'"1\\u0068"', b'"5m"').replace(
        b'"type":"text" }', b'"type":"text","cache_control":{"type":"ephemeral","ttl":"1h"} }'
    )


@pytest.mark.parametrize("text_", [rb"\ud800", rb"\udfff\ud800", rb"\ud83d\u0041"])
def test_lone_surrogates_do_not_keep_markers_from_being_edited(text_: bytes) -> None:
    body = encode({"messages": loop(text("p"))}).replace(b'"p"', b'"' + text_ + b'"')
    outcome = run(body, TTL_ONLY)
    assert outcome.shortened == 1
    assert text_ in outcome.body


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'"1h"garbage', "not-json"),
        (b'\xef\xbb\xbf{"ttl":"1h"}', "byte-order-mark"),
        (b'{"ttl":"1h","x":"\xff"}', "invalid-utf-8"),
        (b'{"ttl":"1h"}{}', "not-json"),
        (b'{"ttl":"1h","messages":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "too-deep"),
        (b'["1h"]', "not-a-request"),
        (b'"1h"', "not-a-request"),
        (b'{"messages":{"ttl":"1h"}}', "no-hour-marker"),
        (b'{"messages":["1h"]}', "no-hour-marker"),
        (b'{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":{}}', "not-a-request"),
        (b'{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":["1h"]}', "not-in-loop"),
    ],
)
def test_what_cannot_be_edited_passes_with_a_reason(body: bytes, code: str) -> None:
    for policy in (TTL_ONLY, APPLY):
        outcome = run(body, policy)
        assert outcome.body is body
        assert (code in told(outcome), outcome.warning) == (True, "")


def test_a_body_of_35_megabytes_is_edited() -> None:
    request = {"messages": [user(text("p")), assistant(call()), user(result(1, HOUR, "x" * 35_000_000))]}
    assert run(request, TTL_ONLY).shortened == 1


# ---- the ladder


def test_markers_are_told_where_none_is_changed() -> None:
    outcome = run(encode({"system": [text("s", BARE)], "messages": [user(text("p", FIVE))]}), TTL_ONLY)
    assert told(outcome) == {"no-hour-marker"}
    assert [(marker.pointer, marker.bare) for marker in outcome.markers_before] == [("/system/0", True), ("/messages/0/content/0", False)]
    assert outcome.markers_after == outcome.markers_before


def test_a_body_that_was_parsed_is_rewritten_alike() -> None:
    body = encode({"messages": [user(text("p")), assistant(call()), user(result(1, HOUR))]})
    assert rewrite(JsonDocument(body), MESSAGES, ClientKind(), TTL_ONLY) == rewrite(body, MESSAGES, ClientKind(), TTL_ONLY)


def test_the_value_is_that_of_the_rewritten_body() -> None:
    outcome = run({"messages": [user(text("p")), assistant(call()), user(result(1, HOUR))]}, TTL_ONLY)
    assert outcome.edits and outcome.value == JsonDocument(outcome.body).value


def test_the_default_shrinker_is_a_shrinker() -> None:
    from caveman_tui.core.shrink import shrink_catalog

    shrink: Shrinker = shrink_catalog
    assert shrink(b"[]", level=Level.STANDARD, exclude=()).after == b"[]"
