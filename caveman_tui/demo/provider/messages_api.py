"""Messages responses: whole, and as the events of a stream."""

from collections.abc import Iterator
from typing import Any

from caveman_tui.demo.provider.event_stream import compact, event, pieces
from caveman_tui.demo.provider.identifiers import made_id, sign
from caveman_tui.demo.provider.models import MODEL_IDS
from caveman_tui.demo.provider.prefix import Json, estimate_tokens
from caveman_tui.demo.provider.prompt_cache import Usage
from caveman_tui.demo.provider.replies import Block, Reply, Text, Thinking, ToolUse

_TEXT_PIECE = 48
_JSON_PIECE = 28


def output_tokens(reply: Reply) -> int:
    """What `reply` is billed as output."""
    return sum(estimate_tokens(_weight(block)) for block in reply.blocks) + 3


def message(reply: Reply, request: Json, usage: Usage, seed: str) -> Json:
    """The response to a request without `stream`."""
    return _envelope(request, seed) | {
        "content": [_whole(block, seed, index) for index, block in enumerate(reply.blocks)],
        "stop_reason": reply.stop_reason,
        "usage": _usage(usage),
    }


def stream(reply: Reply, request: Json, usage: Usage, seed: str) -> Iterator[bytes]:
    """The events of a streamed response, to the end."""
    started = _envelope(request, seed) | {"content": [], "stop_reason": None, "usage": _usage(usage) | {"output_tokens": 1}}
    number = 0

    def padded(data: dict[str, Any]) -> bytes:
        nonlocal number
        number += 1
        return event(data, name=data["type"], padding=number * 7 % 13)

    yield padded({"type": "message_start", "message": started})
    for index, block in enumerate(reply.blocks):
        yield padded({"type": "content_block_start", "index": index, "content_block": _empty(block, seed, index)})
        if index == 0:
            for _ in range(reply.pings):
                yield padded({"type": "ping"})
        for delta in _deltas(block):
            yield padded({"type": "content_block_delta", "index": index, "delta": delta})
        yield padded({"type": "content_block_stop", "index": index})
    totals = _usage(usage)
    del totals["cache_creation"]
    yield padded({"type": "message_delta", "delta": {"stop_reason": reply.stop_reason, "stop_sequence": None}, "usage": totals})
    yield padded({"type": "message_stop"})


def error_body(kind: str, text: str, request_id: str) -> Json:
    """The API's error, as a body and as the data of an `error` event."""
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": request_id}


def error_event(kind: str, text: str, request_id: str) -> bytes:
    """An error after the status line."""
    return event(error_body(kind, text, request_id), name="error")


def model_list() -> Json:
    """The response to `GET /v1/models`, all on one page."""
    data = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z", "lifecycle": "active"}
        for name in MODEL_IDS
    ]
    return {"data": data, "has_more": False, "first_id": MODEL_IDS[0], "last_id": MODEL_IDS[-1]}


def _envelope(request: Json, seed: str) -> Json:
    return {
        "model": request.get("model"),
        "id": made_id("msg", seed),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {},
    }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.write_5m, "ephemeral_1h_input_tokens": usage.write_1h},
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _whole(block: Block, seed: str, index: int) -> Json:
    match block:
        case Thinking():
            return {"type": "thinking", "thinking": block.text, "signature": sign(block.text)}
        case Text():
            return {"type": "text", "text": block.text}
        case ToolUse():
            return {"type": "tool_use", "id": made_id("toolu", seed, index), "name": block.name, "input": block.input}


def _empty(block: Block, seed: str, index: int) -> Json:
    match block:
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Text():
            return {"type": "text", "text": ""}
        case ToolUse():
            return {"type": "tool_use", "id": made_id("toolu", seed, index), "name": block.name, "input": {}}


def _deltas(block: Block) -> Iterator[Json]:
    match block:
        case Thinking():
            for piece in pieces(block.text, _TEXT_PIECE):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": sign(block.text)}
        case Text():
            for piece in pieces(block.text, _TEXT_PIECE):
                yield {"type": "text_delta", "text": piece}
        case ToolUse():
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in pieces(compact(block.input), _JSON_PIECE):
                yield {"type": "input_json_delta", "partial_json": piece}


def _weight(block: Block) -> str:
    return block.name + compact(block.input) if isinstance(block, ToolUse) else block.text
