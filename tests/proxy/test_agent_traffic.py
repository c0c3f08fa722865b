"""What agents really send, through the worker with both transforms on, in the ways in which such tools went wrong in public."""

import hashlib
import json
from typing import Any

import pytest

from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.upstream import ProviderClient
from tests.proxy.conftest import Bench, StartBench, as_json

MESSAGES = "/v1/messages"
HOUR = {"type": "ephemeral", "ttl": "1h"}
APPLY = Settings(shrink=ShrinkMode.APPLY)
SESSION = "x-claude-code-session-id: main"
AGENT = "x-claude-code-agent-id: helper"


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "title": f"{name}Arguments", "properties": {"path": {"type": "string", "title": "Path"}}}
    return {"name": name, "description": f"What {name} does: it takes a path.", "input_schema": schema}


def loop(*, marker: dict[str, str] = HOUR, text: str = "go", thinking: bool = False) -> list[dict[str, Any]]:
    call: list[dict[str, Any]] = [{"type": "tool_use", "id": "t", "name": "read", "input": {"path": "/a"}}]
    if thinking:
        call.insert(0, {"type": "thinking", "thinking": "first\u2028then  ", "signature": "EqQB+/=="})
        call.append({"type": "redacted_thinking", "data": "AAA="})
    return [
        {"role": "user", "content": [{"type": "text", "text": text}]},
        {"role": "assistant", "content": call},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a", "cache_control": marker}]},
    ]


def request(*names: str, **of_loop: Any) -> bytes:
    return as_json({"model": "m", "tools": [tool(name) for name in names or ("read",)], "messages": loop(**of_loop)})


def tools_of(body: bytes) -> dict[str, bytes]:
    """The bytes of each tool by its name, found without a parser of ours."""
    text = body.decode()
    start = text.index("[", text.index('"tools"')) + 1
    found, decoder = {}, json.JSONDecoder()
    while text[start] == "{":
        value, end = decoder.raw_decode(text, start)
        found[value["name"]] = text[start:end].encode()
        start = end + 1
    return found


@pytest.fixture
async def applying(start_bench: StartBench) -> Bench:
    return await start_bench(settings=APPLY)


async def test_a_sub_agent_is_a_row_and_a_decision_of_its_own(start_bench: StartBench) -> None:
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.OFF))
    await bench.post(MESSAGES, request(), SESSION)
    bench.worker.change_settings(APPLY)
    await bench.post(MESSAGES, request(), SESSION, AGENT)
    await bench.post(MESSAGES, request(), SESSION)
    await bench.ended(3)
    first, helper, third = bench.worker.log.exchanges()
    assert [(e.session, e.agent) for e in (first, helper, third)] == [("main", ""), ("main", "helper"), ("main", "")]
    assert first.conversation == third.conversation != helper.conversation
    assert (len(third.tools), [tools.applied for tools in helper.tools]) == (0, [True])
    # Its own hour marker is decided on in its own loop.
    assert {edit.reason for edit in helper.marker_edits} == {"loop-shortened", "prompt-anchored"}


async def test_a_tool_has_the_same_bytes_in_any_catalog_and_when_it_is_counted(applying: Bench) -> None:
    await applying.post(MESSAGES, request("read", "write"), SESSION)
    await applying.post(MESSAGES, request("list", "write", "read"), "x-claude-code-session-id: other")
    await applying.post(f"{MESSAGES}/count_tokens", request("write", "read"), SESSION)
    one, other, counted = (tools_of(seen.body) for seen in applying.provider.seen)
    assert one["read"] == other["read"] == counted["read"] != as_json(tool("read"))
    assert one["write"] == other["write"] == counted["write"]
    assert list(other) == ["list", "write", "read"]


async def test_text_that_looks_like_ours_is_no_affair_of_ours(applying: Bench) -> None:
    handle = "ccr_" + hashlib.sha256(as_json([tool("read")])).digest()[:16].hex()
    text = f'{handle} <<ccr:{handle}>> "title":"readArguments" {json.dumps(tool("read"))}'
    body = request(text=text)
    await applying.post(MESSAGES, body, SESSION)
    (seen,) = applying.provider.seen
    exchange = await applying.ended()
    assert exchange.tools[0].handle == handle
    sent = json.loads(seen.body)["messages"][0]["content"][0]
    assert sent.pop("cache_control") == HOUR
    assert sent == {"type": "text", "text": text}


async def test_a_turn_with_thinking_keeps_its_bytes_while_all_around_it_changes(applying: Bench) -> None:
    body = request(thinking=True)
    await applying.post(MESSAGES, body, SESSION)
    (seen,) = applying.provider.seen
    turn = body[body.index(b'{"role":"assistant"') : body.index(b'{"role":"user","content":[{"type":"tool_result"')]
    assert seen.body != body and turn in seen.body


@pytest.mark.parametrize(
    "fields",
    [
        ("x-api-key: sk-ant-oat-1",),
        ("Authorization: Bearer sk-ant-api-1",),
        ("Authorization: Bearer a", "x-api-key: b"),
        ("X-API-KEY: b", "authorization: Basic c"),
        (),
    ],
)
async def test_credentials_pass_as_they_are_and_are_not_asked_for(bench: Bench, fields: tuple[str, ...]) -> None:
    assert (await bench.post(MESSAGES, request(), *fields)).status == 200
    (seen,) = bench.provider.seen
    names = {"x-api-key", "authorization"}
    assert [f"{name}: {value}" for name, value in seen.fields if name.lower() in names] == list(fields)


async def test_a_stream_may_last_as_long_as_it_says_something(start_bench: StartBench) -> None:
    bench = await start_bench(connect_timeout_seconds=3.0, idle_timeout_seconds=7.0)
    client = ProviderClient(bench.worker.config)
    limits = client._session.timeout
    assert (limits.total, limits.connect, limits.sock_connect, limits.sock_read) == (None, 3.0, 3.0, 7.0)
    await client.close()


@pytest.mark.parametrize(("shrink", "loop_ttl"), [(ShrinkMode.OFF, LoopTtlMode.OFF), (ShrinkMode.MEASURE, LoopTtlMode.OFF)])
async def test_without_an_edit_not_a_byte_differs(start_bench: StartBench, shrink: ShrinkMode, loop_ttl: LoopTtlMode) -> None:
    bench = await start_bench(settings=Settings(shrink=shrink, loop_ttl=loop_ttl))
    body = json.dumps(
        {"messages": loop(text="<a>&</a>"), "t": [1.0, 1e5, 12345678901234567890], "tools": [tool("read")]}, indent=3
    ).encode()
    await bench.post(MESSAGES, body, SESSION)
    assert bench.provider.seen[0].body == body
