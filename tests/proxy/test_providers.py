"""Providers by configuration: each gets its requests, tools are found in its dialect, and markers change where they mean something."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.ccr import open_store
from caveman_tui.config import Flags, load_config, worker_config
from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.protocol.events import Settings
from tests.proxy.conftest import Bench, StartBench, as_json
from tests.proxy.provider import Exchange, RawProvider

NOISY = "Reads a file. This is an amazing and incredibly powerful tool that you will love. The path must be absolute."
SCHEMA = {
    "type": "object",
    "title": "ReadFileArguments",
    "properties": {"path": {"type": "string", "title": "Path", "description": "An absolute path."}},
    "required": ["path"],
}
FLAT = {"type": "function", "name": "read", "description": NOISY, "parameters": SCHEMA}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL_LOOP = [
    {"role": "user", "content": [{"type": "text", "text": "go"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "/a"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a", "cache_control": HOUR}]},
]
ANTHROPIC = {
    "model": "deepseek-chat",
    "max_tokens": 10,
    "tools": [{"name": "read", "description": NOISY, "input_schema": SCHEMA}],
    "messages": TOOL_LOOP,
}
CHAT = {
    "model": "anthropic/claude-x",
    "tools": [{"type": "function", "function": {"name": "read", "description": NOISY, "parameters": SCHEMA}}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "go", "cache_control": HOUR}]}],
}
RESPONSES = {"model": "gpt-x", "tools": [FLAT], "input": [{"role": "user", "content": "go"}]}
ADDITIONAL = {
    "model": "gpt-x",
    "input": [
        {"type": "additional_tools", "tools": [{"type": "namespace", "name": "files", "tools": [FLAT]}]},
        {"role": "user", "content": "go"},
    ],
}

CONFIG = """
shrink = "apply"

[[upstreams]]
name = "deepseek"
base_url = "{url}/anthropic"
dialect = "anthropic"
path_prefix = "/deepseek"

[[upstreams]]
name = "openrouter"
base_url = "{url}/api/v1"
dialect = "openai"
path_prefix = "/openrouter"

[[upstreams]]
name = "chatgpt-here"
base_url = "{url}/backend-api"
dialect = "openai"
path_prefix = "/backend-api"
"""

TARGETS = [
    ("/deepseek/v1/messages", "/anthropic/v1/messages", "deepseek", "anthropic-messages", ANTHROPIC),
    ("/openrouter/v1/chat/completions", "/api/v1/chat/completions", "openrouter", "openai-chat", CHAT),
    ("/openrouter/responses", "/api/v1/responses", "openrouter", "openai-responses", RESPONSES),
    ("/backend-api/codex/responses", "/backend-api/codex/responses", "chatgpt-here", "openai-responses", ADDITIONAL),
    ("/v1/messages", "/v1/messages", "anthropic", "anthropic-messages", ANTHROPIC),
    ("/v1/chat/completions", "/v1/chat/completions", "openai", "openai-chat", CHAT),
    ("/v1/responses", "/v1/responses", "openai", "openai-responses", ADDITIONAL),
]
SESSION = "session-id: a-session"


@pytest.fixture
async def stand_in() -> AsyncIterator[RawProvider]:
    async with RawProvider() as provider:
        yield provider


@pytest.fixture
async def configured(start_bench: StartBench, stand_in: RawProvider, tmp_path: Path) -> Bench:
    """A worker with the providers of a config file, all of them the one stand-in."""
    file = tmp_path / "config.toml"
    file.write_text(CONFIG.format(url=stand_in.url))
    config = worker_config(load_config(file), Flags(port=0, upstream_anthropic=stand_in.url, upstream_openai=stand_in.url))
    return await start_bench(upstreams=config.upstreams, settings=config.settings)


@pytest.mark.parametrize(("path", "arrives", "name", "dialect", "request_"), TARGETS)
async def test_each_gets_its_requests_with_the_tools_of_its_dialect_shrunk(
    configured: Bench, stand_in: RawProvider, path: str, arrives: str, name: str, dialect: str, request_: dict[str, Any]
) -> None:
    body = as_json(request_)
    assert (await configured.post(path, body, SESSION)).status == 200
    (seen,) = stand_in.seen
    exchange = await configured.ended()
    assert seen.line == f"POST {arrives} HTTP/1.1"
    assert (exchange.provider, exchange.dialect) == (name, dialect)
    (tools,) = exchange.tools
    assert tools.applied and tools.bytes_after < tools.bytes_before
    sent = seen.body.decode()
    assert '"title"' not in sent and "must be absolute" in sent and '"required":["path"]' in sent
    with open_store() as store:
        assert store.get(tools.handle).original in body


@pytest.mark.parametrize(("path", "arrives", "name", "dialect", "request_"), TARGETS)
async def test_markers_change_only_where_they_mean_something(
    configured: Bench, stand_in: RawProvider, path: str, arrives: str, name: str, dialect: str, request_: dict[str, Any]
) -> None:
    configured.worker.change_settings(Settings(shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.APPLY))
    body = as_json(request_)
    await configured.post(path, body, SESSION)
    (seen,) = stand_in.seen
    exchange = await configured.ended()
    if dialect == "anthropic-messages":
        sent = json.loads(seen.body)
        assert sent["messages"][2]["content"][0]["cache_control"]["ttl"] == "5m"
        assert sent["messages"][0]["content"][0]["cache_control"] == HOUR
        assert {edit.reason for edit in exchange.marker_edits} == {"loop-shortened", "prompt-anchored"}
    else:
        assert seen.body == body
        assert exchange.marker_edits == ()
        assert [reason.code for reason in exchange.reasons] == ["no-cache-control"]


async def test_comments_between_the_events_of_a_router_pass_and_its_usage_is_read(configured: Bench, stand_in: RawProvider) -> None:
    pieces = [
        b": OPENROUTER PROCESSING\n\n",
        b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n',
        b": OPENROUTER PROCESSING\n\n",
        b'data: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":10}}}\n\n',
        b"data: [DONE]\n\n",
    ]

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        for piece in pieces:
            await exchange.chunk(piece)
        await exchange.end_stream()

    stand_in.answer = answer
    got = await configured.post("/openrouter/chat/completions", as_json(CHAT), SESSION)
    assert (got.body, got.clean) == (b"".join(pieces), True)
    exchange = await configured.ended()
    assert exchange.usage is not None
    assert (exchange.state, exchange.usage.input_tokens, exchange.usage.cache_read_tokens) == ("done", 20, 10)


async def test_errors_of_ours_have_the_shape_of_the_dialect(configured: Bench, stand_in: RawProvider) -> None:
    async def cut(exchange: Exchange) -> None:
        exchange.cut()

    stand_in.answer = cut
    for path, request, key in (
        ("/deepseek/v1/messages", ANTHROPIC, "type"),
        ("/openrouter/chat/completions", CHAT, "error"),
        ("/deepseek/v1/chat/completions", CHAT, "error"),
    ):
        got = await configured.post(path, as_json(request))
        assert (got.status, got.values("x-caveman-error")) == (502, ["closed"])
        assert next(iter(json.loads(got.body))) == key
