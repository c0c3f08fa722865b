"""Chat Completions and Responses, simple but streamed as the real ones are. The stand-in caches nothing here."""

from collections.abc import Iterator
from typing import Any

from caveman_tui.demo.provider.event_stream import compact, event, pieces
from caveman_tui.demo.provider.identifiers import made_id
from caveman_tui.demo.provider.messages_api import output_tokens
from caveman_tui.demo.provider.models import OPENAI_MODEL_IDS
from caveman_tui.demo.provider.prefix import Json, estimate_tokens
from caveman_tui.demo.provider.replies import Block, Reply, Text, Thinking, ToolUse

_PIECE = 40


def chat_completion(reply: Reply, request: Json, seed: str, created: int) -> Json:
    """The response to a Chat Completions request without `stream`."""
    calls = [_chat_call(block, seed, index) for index, block in enumerate(_calls(reply))]
    said: Json = {"role": "assistant", "content": _said(reply) or None, "refusal": None}
    if calls:
        said["tool_calls"] = calls
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": "tool_calls" if calls else "stop"}
    return _chat_envelope(request, seed, created, "chat.completion") | {"choices": [choice], "usage": _chat_usage(reply, request)}


def chat_stream(reply: Reply, request: Json, seed: str, created: int) -> Iterator[bytes]:
    """The chunks of a streamed Chat Completions response, `[DONE]` included; usage where `stream_options` asks for it."""
    envelope = _chat_envelope(request, seed, created, "chat.completion.chunk")

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        return event(envelope | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for piece in pieces(_said(reply), _PIECE):
        yield chunk({"content": piece})
    for index, block in enumerate(_calls(reply)):
        call = _chat_call(block, seed, index)
        yield chunk({"tool_calls": [{"index": index, **call, "function": {"name": block.name, "arguments": ""}}]})
        for piece in pieces(compact(block.input), _PIECE):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if _calls(reply) else "stop")
    options = request.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield event(envelope | {"choices": [], "usage": _chat_usage(reply, request)})
    yield b"data: [DONE]\n\n"


def response(reply: Reply, request: Json, seed: str, created: int) -> Json:
    """The response to a Responses request without `stream`."""
    output = [_item(block, seed, index, _custom_tools(request)) for index, block in enumerate(reply.blocks)]
    return _response_envelope(request, seed, created) | {"status": "completed", "output": output, "usage": _response_usage(reply, request)}


def response_stream(reply: Reply, request: Json, seed: str, created: int) -> Iterator[bytes]:
    """The events of a streamed Responses response."""
    number = -1

    def send(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return event({"type": kind, "sequence_number": number, **fields}, name=kind)

    begun = _response_envelope(request, seed, created)
    yield send("response.created", response=begun)
    yield send("response.in_progress", response=begun)
    custom = _custom_tools(request)
    for index, block in enumerate(reply.blocks):
        item = _item(block, seed, index, custom)
        where = {"item_id": item["id"], "output_index": index}
        yield send("response.output_item.added", output_index=index, item=_begun_item(item))
        match item["type"]:
            case "message":
                part = item["content"][0]
                inside = where | {"content_index": 0}
                yield send("response.content_part.added", **inside, part=part | {"text": ""})
                for piece in pieces(part["text"], _PIECE):
                    yield send("response.output_text.delta", **inside, delta=piece, logprobs=[])
                yield send("response.output_text.done", **inside, text=part["text"], logprobs=[])
                yield send("response.content_part.done", **inside, part=part)
            case "function_call":
                for piece in pieces(item["arguments"], _PIECE):
                    yield send("response.function_call_arguments.delta", **where, delta=piece)
                yield send("response.function_call_arguments.done", **where, arguments=item["arguments"], name=item["name"])
            case "custom_tool_call":
                for piece in pieces(item["input"], _PIECE):
                    yield send("response.custom_tool_call_input.delta", **where, delta=piece)
                yield send("response.custom_tool_call_input.done", **where, input=item["input"])
        yield send("response.output_item.done", output_index=index, item=item)
    yield send("response.completed", response=response(reply, request, seed, created))


def error_body(kind: str, text: str) -> Json:
    """OpenAI's error shape."""
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


def error_event(dialect: str, kind: str, text: str, number: int) -> bytes:
    """An error after the status line: a chunk of Chat Completions, or event `number` of a Responses stream."""
    if dialect == "chat":
        return event(error_body(kind, text))
    return event({"type": "error", "sequence_number": number, "code": kind, "message": text, "param": None}, name="error")


def model_list(created: int) -> Json:
    """The response to `GET /v1/models`."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": created, "owned_by": "stand-in"} for name in OPENAI_MODEL_IDS],
    }


def _calls(reply: Reply) -> list[ToolUse]:
    return [block for block in reply.blocks if isinstance(block, ToolUse)]


def _said(reply: Reply) -> str:
    return "".join(block.text for block in reply.blocks if isinstance(block, Text))


def _chat_call(block: ToolUse, seed: str, index: int) -> Json:
    function = {"name": block.name, "arguments": compact(block.input)}
    return {"id": made_id("call", seed, index), "type": "function", "function": function}


def _chat_envelope(request: Json, seed: str, created: int, kind: str) -> Json:
    return {"id": made_id("chatcmpl", seed), "object": kind, "created": created, "model": request.get("model")}


def _chat_usage(reply: Reply, request: Json) -> Json:
    prompt, completion = _prompt_tokens(request), output_tokens(reply)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _response_usage(reply: Reply, request: Json) -> Json:
    prompt, completion = _prompt_tokens(request), output_tokens(reply)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }


def _prompt_tokens(request: Json) -> int:
    return sum(estimate_tokens(compact(request[key])) for key in ("tools", "messages", "instructions", "input") if key in request)


def _response_envelope(request: Json, seed: str, created: int) -> Json:
    return {
        "id": made_id("resp", seed),
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": request.get("model"),
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": [],
        "usage": None,
    }


def _item(block: Block, seed: str, index: int, custom: frozenset[str]) -> Json:
    match block:
        case Thinking():
            return {"id": made_id("rs", seed, index), "type": "reasoning", "summary": [{"type": "summary_text", "text": block.text}]}
        case Text():
            part = {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
            return {"id": made_id("msg", seed, index), "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        case ToolUse() if block.name in custom:
            text = str(block.input.get("input", ""))
            ids = {"id": made_id("ctc", seed, index), "call_id": made_id("call", seed, index)}
            return {**ids, "type": "custom_tool_call", "status": "completed", "name": block.name, "input": text}
        case ToolUse():
            ids = {"id": made_id("fc", seed, index), "call_id": made_id("call", seed, index)}
            return {**ids, "type": "function_call", "status": "completed", "name": block.name, "arguments": compact(block.input)}


def _begun_item(item: Json) -> Json:
    match item["type"]:
        case "message":
            return item | {"status": "in_progress", "content": []}
        case "function_call":
            return item | {"status": "in_progress", "arguments": ""}
        case "custom_tool_call":
            return item | {"status": "in_progress", "input": ""}
        case _:
            return item | {"summary": []}


def _custom_tools(request: Json) -> frozenset[str]:
    """Names of grammar tools, in `tools`, in namespaces and in `additional_tools` input items; their calls carry text, not arguments."""
    found: set[str] = set()
    pending: list[Any] = [request.get("tools"), request.get("input")]
    while pending:
        level = pending.pop()
        for tool in level if isinstance(level, list) else ():
            if not isinstance(tool, dict):
                continue
            if tool.get("type") == "custom":
                found.add(str(tool.get("name")))
            if tool.get("type") in ("namespace", "additional_tools"):
                pending.append(tool.get("tools"))
    return frozenset(found)
