"""Uses the `openai` SDK in every way; its base URL and key come from the environment."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai

from tests.sdk.catalog import TOOLS
from tests.sdk.transcript import header_fields, main

FUNCTIONS = [{"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]} for tool in TOOLS]
CHAT: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "Γειά σου: what is in here?"}]}
CHAT_TOOLS: Any = [{"type": "function", "function": function} for function in FUNCTIONS]
RESPONSES: dict[str, Any] = {"model": "gpt-5", "input": "Γειά σου: what is in here?"}
RESPONSES_TOOLS: Any = [{"type": "function", "strict": False, **function} for function in FUNCTIONS]


def chat_whole(client: openai.OpenAI) -> Iterator[Any]:
    raw = client.chat.completions.with_raw_response.create(**CHAT)
    yield header_fields(raw.headers)
    yield raw.parse()


def chat_tools(client: openai.OpenAI) -> Iterator[Any]:
    yield client.chat.completions.create(**CHAT, tools=CHAT_TOOLS)


def chat_chunks(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.chat.completions.create(**CHAT, tools=CHAT_TOOLS, stream=True, stream_options={"include_usage": True})


def chat_accumulated(client: openai.OpenAI) -> Iterator[Any]:
    with client.chat.completions.stream(**CHAT, tools=CHAT_TOOLS) as stream:
        yield from stream
        yield stream.get_final_completion()


def chat_tool_loop(client: openai.OpenAI) -> Iterator[Any]:
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, *CHAT["messages"]]
    for _ in range(3):
        answer = client.chat.completions.create(model=CHAT["model"], messages=messages, tools=CHAT_TOOLS)
        yield answer
        message = answer.choices[0].message
        messages.append(message)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "contents"} for call in message.tool_calls or ()]


def chat_refused(client: openai.OpenAI) -> Iterator[Any]:
    yield client.chat.completions.create(**CHAT)


def chat_overloaded_then_retried(client: openai.OpenAI) -> Iterator[Any]:
    raw = client.with_options(max_retries=2).chat.completions.with_raw_response.create(**CHAT)
    yield raw.retries_taken
    yield raw.parse()


def chat_error_event(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.chat.completions.create(**CHAT, stream=True)


def chat_cancelled(client: openai.OpenAI) -> Iterator[Any]:
    stream = client.chat.completions.create(**CHAT, stream=True)
    for _ in range(3):
        yield next(stream)
    stream.close()


def chat_compressed(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.chat.completions.create(**CHAT, tools=CHAT_TOOLS, stream=True)


def responses_whole(client: openai.OpenAI) -> Iterator[Any]:
    yield client.responses.create(**RESPONSES, tools=RESPONSES_TOOLS)


def responses_events(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.responses.create(**RESPONSES, tools=RESPONSES_TOOLS, stream=True)


def responses_accumulated(client: openai.OpenAI) -> Iterator[Any]:
    with client.responses.stream(**RESPONSES, tools=RESPONSES_TOOLS) as stream:
        yield from stream
        yield stream.get_final_response()


def responses_error_event(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.responses.create(**RESPONSES, stream=True)


def responses_cut(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.responses.create(**RESPONSES, stream=True)


def responses_cancelled(client: openai.OpenAI) -> Iterator[Any]:
    stream = client.responses.create(**RESPONSES, stream=True)
    for _ in range(3):
        yield next(stream)
    stream.close()


def model_list(client: openai.OpenAI) -> Iterator[Any]:
    yield from client.models.list()


def model_missing(client: openai.OpenAI) -> Iterator[Any]:
    yield client.models.retrieve("none")


async def async_both(client: openai.AsyncOpenAI) -> AsyncIterator[Any]:
    async def ask(number: int) -> list[Any]:
        content = f"question {number}"
        got: list[Any] = [await client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": content}])]
        async with client.responses.stream(model="gpt-5", input=content, tools=RESPONSES_TOOLS) as stream:
            got += [event async for event in stream]
            got.append(await stream.get_final_response())
        return got

    yield await client.chat.completions.create(**CHAT)
    for got in await asyncio.gather(*map(ask, range(4))):
        for value in got:
            yield value


async def async_cancelled(client: openai.AsyncOpenAI) -> AsyncIterator[Any]:
    async with await client.chat.completions.create(**CHAT, stream=True) as stream:
        for _ in range(3):
            yield await anext(stream)


CASES = (
    chat_whole,
    chat_tools,
    chat_chunks,
    chat_accumulated,
    chat_tool_loop,
    chat_refused,
    chat_overloaded_then_retried,
    chat_error_event,
    chat_cancelled,
    chat_compressed,
    responses_whole,
    responses_events,
    responses_accumulated,
    responses_error_event,
    responses_cut,
    responses_cancelled,
    model_list,
    model_missing,
    async_both,
    async_cancelled,
)

if __name__ == "__main__":
    main(CASES, openai.OpenAI, openai.AsyncOpenAI, (openai.APIError, httpx2.TransportError))
