"""Putting an assistant message together from the bytes of a Messages response, as a client does."""

import json
from typing import Any

Json = dict[str, Any]


def whole_message(body: bytes) -> list[Json]:
    """Content blocks of a response without streaming."""
    content: list[Json] = json.loads(body)["content"]
    return content


def streamed_message(body: bytes) -> list[Json]:
    """Content blocks of a streamed response. Raises ValueError where the stream has no end or holds an error."""
    blocks: dict[int, Json] = {}
    arguments: dict[int, str] = {}
    finished = False
    for data in _events(body):
        match data["type"]:
            case "content_block_start":
                blocks[data["index"]] = dict(data["content_block"])
            case "content_block_delta":
                _apply(blocks[data["index"]], data["index"], data["delta"], arguments)
            case "message_stop":
                finished = True
            case "error":
                raise ValueError(f"the stream holds an error: {data['error']}")
    if not finished:
        raise ValueError("the stream has no message_stop")
    for index, text in arguments.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return [blocks[index] for index in sorted(blocks)]


def _apply(block: Json, index: int, delta: Json, arguments: dict[int, str]) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case "input_json_delta":
            arguments[index] = arguments.get(index, "") + delta["partial_json"]


def _events(body: bytes) -> list[Json]:
    lines = [line for event in body.split(b"\n\n") for line in event.split(b"\n")]
    return [json.loads(line[5:]) for line in lines if line.startswith(b"data:")]
