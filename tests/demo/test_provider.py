"""The stand-in over HTTP: with the real SDKs as clients, and with plain requests where the bytes matter."""

import gzip
import json
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
import zstandard

from caveman_tui.demo.provider import OVERLOADED, Ending, Provider, Reply, Steps, Text, Thinking, ToolUse, Turns, say

CALLS = Reply(
    (Thinking("Two lookups, side by side. Καλημέρα."), Text("Looking: ✓"), ToolUse("look", {"at": "ä" * 40}), ToolUse("look", {"at": 2}))
)
TOOLS: list[Any] = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {"at": {}}}}]
ASK: dict[str, Any] = {"model": "claude-opus-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}


async def post(provider: Provider, body: dict[str, Any] | bytes, **headers: str) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with aiohttp.ClientSession() as session, session.post(f"{provider.url}/v1/messages", data=data, headers=headers) as response:
        return response.status, await response.read()


@pytest.mark.parametrize("split", [None, 1, 7, 1000])
async def test_the_anthropic_sdk_reads_thinking_text_and_parallel_calls(split: int | None) -> None:
    script = Turns((Reply(CALLS.blocks, split=split), say("All seen.")))
    async with Provider(script).running() as provider, anthropic.AsyncAnthropic(base_url=provider.url, api_key="k") as client:
        whole = await client.messages.create(**ASK, tools=TOOLS)
        async with client.messages.stream(**ASK, tools=TOOLS) as stream:
            streamed = await stream.get_final_message()
        assert [block.type for block in streamed.content] == ["thinking", "text", "tool_use", "tool_use"]
        assert streamed.stop_reason == "tool_use"
        assert [b.model_dump(exclude={"id", "caller"}) for b in streamed.content] == [
            b.model_dump(exclude={"id", "caller"}) for b in whole.content
        ]
        assert streamed.content[2].id != streamed.content[3].id  # type: ignore[union-attr]
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "ok"} for b in streamed.content if b.type == "tool_use"]
        messages: list[Any] = [*ASK["messages"], {"role": "assistant", "content": streamed.content}, {"role": "user", "content": results}]
        last = await client.messages.create(**ASK | {"messages": messages}, tools=TOOLS)
        assert last.content[0].text == "All seen." and last.stop_reason == "end_turn"  # type: ignore[union-attr]


async def test_usage_comes_with_the_first_event_split_by_lifetime() -> None:
    system: list[Any] = [{"type": "text", "text": "s" * 4000, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    async with Provider().running() as provider, anthropic.AsyncAnthropic(base_url=provider.url, api_key="k") as client:
        seen = []
        for _ in range(2):
            async with client.messages.stream(**ASK, system=system) as stream:
                async for sent in stream:
                    if sent.type == "message_start":
                        seen.append(sent.message.usage)
        assert seen[0].cache_creation is not None
        assert (seen[0].cache_creation.ephemeral_1h_input_tokens, seen[0].cache_read_input_tokens) == (1007, 0)
        assert (seen[1].cache_creation_input_tokens, seen[1].cache_read_input_tokens) == (0, 1007)


async def test_the_clock_is_advanced_from_outside() -> None:
    body = ASK | {"system": [{"type": "text", "text": "s" * 4000, "cache_control": {"type": "ephemeral"}}]}
    async with Provider().running() as provider, aiohttp.ClientSession() as session:
        for seconds, read in ((0, 0), (299, 1007), (300, 0)):
            async with session.post(f"{provider.url}/demo/clock", json={"advance": seconds}) as moved:
                assert moved.status == 200
            await post(provider, body)
            bill = provider.received[-1].bill
            assert bill is not None and bill.usage.read == read
        async with session.post(f"{provider.url}/demo/clock", json={"advance": -1}) as refused:
            assert refused.status == 400


async def test_a_broken_marker_rule_is_a_400_in_the_providers_shape_and_noted() -> None:
    body = ASK | {"system": [{"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}]}
    async with Provider().running() as provider:
        status, answer = await post(provider, body)
        error = json.loads(answer)
        assert (status, error["type"], error["error"]["type"]) == (400, "error", "invalid_request_error")
        assert provider.received[-1].rule_broken == error["error"]["message"]
        assert error["request_id"] == dict(provider.received[-1].sent_headers)["request-id"]


async def test_overloaded_then_the_retry() -> None:
    async with Provider(Steps({"s": (OVERLOADED, say("now"))})).running() as provider:
        assert (await post(provider, ASK, **{"x-demo-step": "s"}))[0] == 529
        assert (await post(provider, ASK, **{"x-demo-step": "s"}))[0] == 200


async def test_a_cut_stream_is_a_broken_connection() -> None:
    script = Turns((Reply((Text("word " * 100),), ending=Ending.CUT, ends_after=5),))
    async with Provider(script).running() as provider:
        with pytest.raises(aiohttp.ClientPayloadError):
            await post(provider, ASK | {"stream": True})


async def test_an_error_event_after_a_200() -> None:
    script = Turns((Reply((Text("word " * 100),), ending=Ending.ERROR, ends_after=5),))
    async with Provider(script).running() as provider:
        status, answer = await post(provider, ASK | {"stream": True})
        assert status == 200 and answer.endswith(b"\n\n") and b"event: error\n" in answer and b"message_stop" not in answer


async def test_a_held_stream_ends_when_the_client_hangs_up() -> None:
    script = Turns((Reply((Text("word " * 100),), ending=Ending.HELD, ends_after=4),))
    async with (
        Provider(script).running() as provider,
        aiohttp.ClientSession() as session,
        session.post(f"{provider.url}/v1/messages", json=ASK | {"stream": True}) as response,
    ):
        await response.content.readuntil(b"text_delta")
        response.close()
    assert provider.received[-1].hung_up


async def test_bodies_are_recorded_as_they_came_and_read_in_any_coding() -> None:
    body = json.dumps(ASK).encode()
    coded = {"gzip": gzip.compress(body), "zstd": zstandard.compress(body), "gzip, zstd": zstandard.compress(gzip.compress(body))}
    async with Provider().running() as provider:
        for coding, data in coded.items():
            assert (await post(provider, data, **{"content-encoding": coding}))[0] == 200
            assert provider.received[-1].body == data
        assert (await post(provider, b"junk", **{"content-encoding": "zstd"}))[0] == 400


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"{} {}", json.dumps(ASK | {"messages": []}).encode(), b"[" * 100_000])
async def test_malformed_requests_are_refused(body: bytes) -> None:
    async with Provider().running() as provider:
        assert (await post(provider, body))[0] == 400


async def test_a_thinking_block_that_was_touched_is_refused() -> None:
    async with Provider(Turns((CALLS,))).running() as provider:
        _, answer = await post(provider, ASK | {"tools": TOOLS})
        thinking = json.loads(answer)["content"][0]
        again = ASK["messages"] + [{"role": "assistant", "content": [thinking]}]
        assert (await post(provider, ASK | {"messages": again}))[0] == 200
        thinking["thinking"] += " "
        assert (await post(provider, ASK | {"messages": again}))[0] == 400
        thinking["signature"] = "c29tZW9uZSBlbHNl"
        assert (await post(provider, ASK | {"messages": again}))[0] == 200


async def test_other_routes() -> None:
    async with Provider().running() as provider, aiohttp.ClientSession() as session:
        for method, path, status in (
            ("HEAD", "/", 200),
            ("HEAD", "/api/hello", 200),
            ("GET", "/v1/models?limit=1000", 200),
            ("GET", "/v1/responses", 426),
            ("POST", "/v1/nothing", 404),
        ):
            async with session.request(method, provider.url + path) as response:
                assert response.status == status
                assert "anthropic-ratelimit-unified-status" in response.headers
                assert len(response.headers.getall("set-cookie")) == 2
                assert await response.read() == bytes(provider.received[-1].sent)


async def test_count_tokens_is_the_total_that_is_billed() -> None:
    async with Provider().running() as provider, anthropic.AsyncAnthropic(base_url=provider.url, api_key="k") as client:
        counted = await client.messages.count_tokens(model=ASK["model"], messages=ASK["messages"], tools=TOOLS)
        billed = await client.messages.create(**ASK, tools=TOOLS)
        assert counted.input_tokens == billed.usage.input_tokens > 0


async def test_the_openai_sdk_reads_chat_completions() -> None:
    tools: list[Any] = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    ask: Any = {"model": "gpt-5", "messages": ASK["messages"], "tools": tools}
    async with (
        Provider(Turns((CALLS,))).running() as provider,
        openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k") as client,
    ):
        whole = await client.chat.completions.create(**ask)
        stream = await client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True})
        text, arguments, usage = "", ["", ""], None
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for call in choice.delta.tool_calls or []:
                    assert call.function is not None
                    arguments[call.index] += call.function.arguments or ""
        message = whole.choices[0].message
        assert message.content == text and usage == whole.usage
        assert [call.function.arguments for call in message.tool_calls or []] == arguments  # type: ignore[union-attr]


async def test_the_openai_sdk_reads_responses() -> None:
    tools: list[Any] = [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}]
    ask: Any = {"model": "gpt-5", "input": "Hi", "tools": tools}
    async with (
        Provider(Turns((CALLS,))).running() as provider,
        openai.AsyncOpenAI(base_url=f"{provider.url}/v1", api_key="k") as client,
    ):
        whole = await client.responses.create(**ask)
        async with client.responses.stream(**ask) as stream:
            streamed = await stream.get_final_response()
        assert [item.type for item in whole.output] == ["reasoning", "message", "function_call", "function_call"]
        assert streamed.output_text == whole.output_text == "Looking: ✓"
        assert streamed.output[2].arguments == whole.output[2].arguments  # type: ignore[union-attr]


async def test_the_same_session_gives_the_same_bytes() -> None:
    runs = []
    for _ in range(2):
        async with Provider(Turns((CALLS,))).running() as provider:
            for _ in range(2):
                await post(provider, ASK | {"tools": TOOLS, "stream": True})
            runs.append([(r.sent_headers, bytes(r.sent)) for r in provider.received])
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][1], "an id is not given twice"


async def test_a_compressed_stream_can_be_read_as_it_comes() -> None:
    script = Turns((Reply((Text("word " * 100),), compressed=True, ending=Ending.HELD, ends_after=4),))
    async with (
        Provider(script).running() as provider,
        aiohttp.ClientSession(headers={"accept-encoding": "gzip"}) as session,
        session.post(f"{provider.url}/v1/messages", json=ASK | {"stream": True}) as response,
    ):
        assert response.headers["content-encoding"] == "gzip"
        await response.content.readuntil(b"text_delta")
    async with Provider(script).running() as provider, aiohttp.ClientSession(headers={"accept-encoding": "br"}) as session:
        for body in (ASK, ASK | {"stream": False}):
            async with session.post(f"{provider.url}/v1/messages", json=body) as response:
                assert "content-encoding" not in response.headers
                assert (await response.json())["content"][0]["text"] == "word " * 100


async def test_each_dialect_has_its_own_list_of_models_and_its_own_errors() -> None:
    anthropic_headers = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}
    async with Provider().running() as provider, aiohttp.ClientSession() as session:
        for headers, first in ((anthropic_headers, "claude-opus-5"), ({"authorization": "Bearer k"}, "gpt-5")):
            async with session.get(f"{provider.url}/v1/models", headers=headers) as listed:
                assert (await listed.json())["data"][0]["id"] == first
        async with session.get(f"{provider.url}/v1/models/none", headers={"authorization": "Bearer k"}) as missing:
            assert (missing.status, (await missing.json())["error"]["type"]) == (404, "not_found_error")
            assert "x-request-id" in missing.headers
