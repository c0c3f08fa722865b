"""The official clients and the real transforms, through the worker."""

import asyncio
import json

import anthropic
import openai
import pytest

from caveman_tui.ccr import open_store
from caveman_tui.core.policy import ShrinkMode
from caveman_tui.protocol.events import Settings
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange

HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL = {
    "name": "read_file",
    "description": (
        "Read a file from the workspace. This powerful and convenient tool makes it incredibly easy to read files! "
        "The path must be absolute. At most 2000 lines are returned."
    ),
    "input_schema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ReadFileArguments",
        "type": "object",
        "properties": {"path": {"type": "string", "title": "Path", "description": "Absolute path"}},
        "required": ["path"],
        "additionalProperties": False,
    },
}


def _loop() -> dict[str, object]:
    """An agent loop of one step, its markers all 1h."""
    return {
        "model": "claude-x",
        "max_tokens": 10,
        "tools": [TOOL],
        "system": [{"type": "text", "text": "You are an agent.", "cache_control": HOUR}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read it, please: <a>&</a> ü"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "/x"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok", "cache_control": HOUR}]},
        ],
        "metadata": {"user_id": "user_0_account__session_1111-2222"},
    }


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


async def _answer(exchange: Exchange) -> None:
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "x",
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }
    await exchange.begin_stream()
    await exchange.chunk(_event("message_start", message=message))
    await exchange.chunk(_event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    await exchange.chunk(_event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hi"}))
    await exchange.chunk(_event("content_block_stop", index=0))
    await exchange.chunk(_event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9}))
    await exchange.chunk(_event("message_stop"))
    await exchange.end_stream()


async def test_the_anthropic_client_with_both_transforms(start_bench: StartBench) -> None:
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.APPLY))
    bench.provider.answer = _answer
    url = f"http://127.0.0.1:{bench.worker.port}"
    async with (
        anthropic.AsyncAnthropic(api_key="sk-ant-dummy", base_url=url, max_retries=0) as client,
        client.messages.stream(**_loop()) as stream,  # type: ignore[arg-type]
    ):
        assert await stream.get_final_text() == "hi"
    (seen,) = bench.provider.seen
    sent = json.loads(seen.body)
    exchange = await bench.ended()
    assert sent["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    assert sent["messages"][0]["content"][0]["cache_control"] == HOUR
    assert sent["system"][0]["cache_control"] == HOUR
    before = bench.worker.log.bodies.read(exchange.id, "request-before").data
    (tools,) = exchange.tools
    assert tools.applied and tools.bytes_after < tools.bytes_before
    assert "powerful" not in sent["tools"][0]["description"] and "absolute" in sent["tools"][0]["description"]
    assert sent["tools"][0]["input_schema"]["required"] == ["path"]
    with open_store() as store:
        original = store.get(tools.handle).original
    assert json.loads(original) == [TOOL] and original in before
    assert exchange.usage is not None and exchange.usage.output_tokens == 9
    assert b"sk-ant-dummy" in seen.head
    assert (exchange.client_kind.headless, exchange.warnings) == (False, ())


async def test_markers_of_a_request_that_is_left_alone_are_told_once_it_is_on_its_way(bench: Bench) -> None:
    tool = TOOL | {"cache_control": {"type": "ephemeral"}}
    content = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "5m"}}]
    body = json.dumps({"model": "m", "tools": [tool], "messages": [{"role": "user", "content": content}]}).encode()
    bench.worker.change_settings(Settings(shrink=ShrinkMode.OFF))
    await bench.post("/v1/messages", body)
    assert bench.provider.seen[0].body == body
    await bench.until(lambda: bool(bench.exchange.markers_before))
    assert [(m.section, m.ttl, m.bare) for m in bench.exchange.markers_before] == [("tools", "5m", True), ("messages", "5m", False)]
    assert bench.exchange.markers_after == bench.exchange.markers_before


async def test_the_openai_client(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        if "responses" in exchange.seen.line:
            await exchange.reply(
                b'{"id":"r","object":"response","created_at":1,"model":"g","output":[],"parallel_tool_calls":true,"tool_choice":"auto",'
                b'"tools":[],"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":10},"output_tokens":2,'
                b'"output_tokens_details":{"reasoning_tokens":0},"total_tokens":32}}'
            )
        else:
            await exchange.begin_stream()
            await exchange.chunk(b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"g","choices":[{"index":0,"delta":')
            await exchange.chunk(
                b'{"content":"hi"}}]}\n\ndata: {"id":"c","object":"chat.completion.chunk","created":1,"model":"g","choices":[]'
            )
            await exchange.chunk(b',"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}\n\ndata: [DONE]\n\n')
            await exchange.end_stream()

    bench.provider.answer = answer
    async with openai.AsyncOpenAI(api_key="sk-dummy", base_url=f"http://127.0.0.1:{bench.worker.port}/v1", max_retries=0) as client:
        response = await client.responses.create(model="g", input="hello")
        assert response.usage is not None and response.usage.input_tokens == 30
        await bench.ended(1)
        assert bench.exchange.usage is not None
        assert (bench.exchange.usage.input_tokens, bench.exchange.usage.cache_read_tokens) == (20, 10)
        stream = await client.chat.completions.create(model="g", messages=[{"role": "user", "content": "x"}], stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
    assert text == "hi"
    exchange = await bench.ended(2)
    assert (exchange.state, exchange.provider, exchange.dialect) == ("done", "openai", "openai-chat")
    assert exchange.usage is not None and exchange.usage.input_tokens == 7


async def test_a_burst_of_count_tokens_spends_nothing(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b'{"input_tokens":12}')

    bench.provider.answer = answer
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [TOOL]}).encode()
    got = await asyncio.gather(*(bench.post("/v1/messages/count_tokens?beta=true", body) for _ in range(50)))
    assert {(one.status, one.body) for one in got} == {(200, b'{"input_tokens":12}')}
    assert {seen.body for seen in bench.provider.seen} == {body}
    await bench.ended(50)
    assert all(exchange.usage is None for exchange in bench.worker.log.exchanges())


@pytest.mark.parametrize(
    "content",
    [
        rb'"\ud800 lone"',
        rb'"nul \u0000"',
        '"line \u2028 sep"'.encode(),
        b'"x","n":12345678901234567890,"f":1.0,"e":1E5,"h":1e400',
        b'"x","content":"y"',
    ],
)
@pytest.mark.parametrize("shrink", [ShrinkMode.MEASURE, ShrinkMode.APPLY])
async def test_odd_json_goes_out_exactly(start_bench: StartBench, content: bytes, shrink: ShrinkMode) -> None:
    bench = await start_bench(settings=Settings(shrink=shrink))
    body = b'\n{ "model":"m" , "messages":[{"role":"user","content":' + content + b"}]}\t"
    assert (await bench.post("/v1/messages", body)).status == 200
    assert bench.provider.seen[0].body == body
    exchange = await bench.ended()
    assert exchange.model == "m"
    assert bench.worker.log.bodies.read(exchange.id, "request-before").data == body


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"messages":5,"tools":{"a":1},"model":7}']
)
async def test_what_is_no_request_goes_out_exactly(bench: Bench, body: bytes) -> None:
    assert (await bench.post("/v1/messages", body)).status == 200
    assert bench.provider.seen[0].body == body
    assert (await bench.ended()).state == "done"
