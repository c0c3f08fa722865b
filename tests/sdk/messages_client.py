"""Uses the `anthropic` SDK in every way; its base URL and key come from the environment."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import httpx2

from tests.sdk.catalog import TOOLS
from tests.sdk.transcript import header_fields, main

ASK: dict[str, Any] = {
    "model": "claude-sonnet-4-6",
    "max_tokens": 500,
    "messages": [{"role": "user", "content": "Γειά σου: what is in here?"}],
}
HOUR = {"type": "ephemeral", "ttl": "1h"}
LARGE = 5 * 1024 * 1024
HELD_EVENTS = 5
"""Events that the SDK hands out of a stream before it is held; it swallows pings."""


def whole(client: anthropic.Anthropic) -> Iterator[Any]:
    yield client.messages.create(**ASK)


def whole_with_headers(client: anthropic.Anthropic) -> Iterator[Any]:
    raw = client.messages.with_raw_response.create(**ASK)
    yield [raw.status_code, raw.request_id, header_fields(raw.headers)]
    yield raw.parse()


def raw_events(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.messages.create(**ASK, tools=TOOLS, stream=True)


def split_events(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.messages.create(**ASK, tools=TOOLS, stream=True)


def accumulated(client: anthropic.Anthropic) -> Iterator[Any]:
    with client.messages.stream(**ASK, tools=TOOLS) as stream:
        yield from stream
        yield stream.get_final_message()


def whole_tools(client: anthropic.Anthropic) -> Iterator[Any]:
    yield client.messages.create(**ASK, tools=TOOLS, tool_choice={"type": "any"})


def tool_loop(client: anthropic.Anthropic) -> Iterator[Any]:
    """As agents do it: an hour on system, prompt and the last result, which moves along."""
    system = [
        {"type": "text", "text": "Rules. " * 900, "cache_control": HOUR},
        {"type": "text", "text": "Of the day.", "cache_control": HOUR},
    ]
    prompt = {"role": "user", "content": [{"type": "text", "text": "Read both files.", "cache_control": HOUR}]}
    messages: list[Any] = [prompt]
    for _ in range(4):
        with client.messages.stream(**ASK | {"messages": messages}, system=system, tools=TOOLS) as stream:
            answer = stream.get_final_message()
        yield answer
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return
        results: list[Any] = [{"type": "tool_result", "tool_use_id": call.id, "content": f"contents of {call.input}"} for call in calls]
        results[-1]["cache_control"] = HOUR
        for block in messages[-1]["content"] if messages[-1] is not prompt else ():
            block.pop("cache_control", None)
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def count_tokens(client: anthropic.Anthropic) -> Iterator[Any]:
    yield client.messages.count_tokens(model=ASK["model"], messages=ASK["messages"], tools=TOOLS)


def models(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.models.list(limit=1000)


def too_many_markers(client: anthropic.Anthropic) -> Iterator[Any]:
    blocks: Any = [{"type": "text", "text": f"part {number}", "cache_control": HOUR} for number in range(5)]
    yield client.messages.create(**ASK | {"messages": [{"role": "user", "content": blocks}]})


def wrong_order_of_markers(client: anthropic.Anthropic) -> Iterator[Any]:
    system: Any = [{"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral"}}]
    prompt: Any = [{"type": "text", "text": "Hi.", "cache_control": HOUR}]
    yield client.messages.create(**ASK | {"messages": [{"role": "user", "content": prompt}]}, system=system)


def missing_model(client: anthropic.Anthropic) -> Iterator[Any]:
    yield client.models.retrieve("no such model/../ä")


def overloaded_then_retried(client: anthropic.Anthropic) -> Iterator[Any]:
    raw = client.with_options(max_retries=2).messages.with_raw_response.create(**ASK)
    yield raw.retries_taken
    yield raw.parse()


def overloaded(client: anthropic.Anthropic) -> Iterator[Any]:
    yield client.messages.create(**ASK)


def error_event(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.messages.create(**ASK, stream=True)


def cut_stream(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.messages.create(**ASK, stream=True)


def cancelled(client: anthropic.Anthropic) -> Iterator[Any]:
    stream = client.messages.create(**ASK, stream=True)
    for _ in range(3):
        yield next(stream)
    stream.close()


def large(client: anthropic.Anthropic) -> Iterator[Any]:
    messages = [{"role": "user", "content": "Καλημέρα, κόσμε. " * (LARGE // 31)}]
    yield client.messages.create(**ASK | {"messages": messages}, tools=TOOLS)


def compressed(client: anthropic.Anthropic) -> Iterator[Any]:
    raw = client.messages.with_raw_response.create(**ASK)
    yield header_fields(raw.headers)
    yield raw.parse()


def compressed_events(client: anthropic.Anthropic) -> Iterator[Any]:
    yield from client.messages.create(**ASK, tools=TOOLS, stream=True)


async def async_whole_and_streamed(client: anthropic.AsyncAnthropic) -> AsyncIterator[Any]:
    async def ask(number: int) -> list[Any]:
        asked = ASK | {"messages": [{"role": "user", "content": f"question {number}"}]}
        got: list[Any] = [await client.messages.create(**asked)]
        async with client.messages.stream(**asked, tools=TOOLS) as stream:
            got += [event async for event in stream]
            got.append(await stream.get_final_message())
        return got

    yield await client.messages.create(**ASK)
    for got in await asyncio.gather(*map(ask, range(4))):
        for value in got:
            yield value


async def async_cancelled(client: anthropic.AsyncAnthropic) -> AsyncIterator[Any]:
    async with await client.messages.create(**ASK, stream=True) as stream:
        for _ in range(3):
            yield await anext(stream)


async def async_task_cancelled(client: anthropic.AsyncAnthropic) -> AsyncIterator[Any]:
    """The task that reads the stream is cancelled while it waits for more."""
    got: list[Any] = []
    waiting = asyncio.Event()

    async def read() -> None:
        async for event in await client.messages.create(**ASK, stream=True):
            got.append(event)
            if len(got) == HELD_EVENTS:
                waiting.set()

    task = asyncio.create_task(read())
    await waiting.wait()
    task.cancel()
    await asyncio.wait([task])
    for event in got:
        yield event
    yield task.cancelled()


CASES = (
    whole,
    whole_with_headers,
    raw_events,
    split_events,
    accumulated,
    whole_tools,
    tool_loop,
    count_tokens,
    models,
    too_many_markers,
    wrong_order_of_markers,
    missing_model,
    overloaded_then_retried,
    overloaded,
    error_event,
    cut_stream,
    cancelled,
    large,
    compressed,
    compressed_events,
    async_whole_and_streamed,
    async_cancelled,
    async_task_cancelled,
)

if __name__ == "__main__":
    main(CASES, anthropic.Anthropic, anthropic.AsyncAnthropic, (anthropic.APIError, httpx2.TransportError))
