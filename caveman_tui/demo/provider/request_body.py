"""Reading a request body as the API does: content codings, size, JSON, and the fields that must be there."""

import json
import zlib
from typing import Any

import brotli
import zstandard

from caveman_tui.demo.provider.errors import Refused
from caveman_tui.demo.provider.identifiers import is_forged
from caveman_tui.demo.provider.prefix import Json, content_blocks

LARGEST_BODY = 32 * 1024 * 1024
_LONGEST_TOOL_NAME = 64


def parse(body: bytes, coding: str) -> Json:
    """The JSON object in `body`. Raises Refused as the API would."""
    if len(body) > LARGEST_BODY:
        raise Refused("Request exceeds the maximum size", status=413, kind="request_too_large")
    try:
        data = json.loads(_decoded(body, coding))
    except (ValueError, RecursionError, zlib.error, brotli.error, zstandard.ZstdError) as error:
        raise Refused(f"The request body is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise Refused("The request body is not valid JSON: expected an object")
    return data


def check_messages(request: Json, *, counting: bool = False) -> None:
    """What Messages demands besides the marker rules. Raises Refused."""
    required = ("model", "messages") if counting else ("model", "max_tokens", "messages")
    for name in required:
        if name not in request:
            raise Refused(f"{name}: Field required")
    messages = request["messages"]
    if not isinstance(messages, list) or not messages:
        raise Refused("messages: at least one message is required")
    _check_tools(request.get("tools"))
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
            raise Refused(f"messages.{number}.role: Input should be 'user' or 'assistant'")
        for index, block in enumerate(content_blocks(message.get("content"))):
            if block.get("type") == "thinking" and is_forged(str(block.get("thinking")), str(block.get("signature"))):
                raise Refused(f"messages.{number}.content.{index}: Invalid `signature` in `thinking` block")


def _check_tools(tools: Any) -> None:
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, dict):
            raise Refused(f"tools.{index}: Input should be a valid dictionary")
        name = tool.get("name")
        if isinstance(name, str) and len(name) > _LONGEST_TOOL_NAME:
            raise Refused(f"tools.{index}.custom.name: String should have at most {_LONGEST_TOOL_NAME} characters")


def _decoded(body: bytes, coding: str) -> bytes:
    for name in reversed([part.strip().lower() for part in coding.split(",")]):
        match name:
            case "" | "identity":
                pass
            case "gzip" | "x-gzip":
                body = zlib.decompress(body, zlib.MAX_WBITS | 16)
            case "deflate":
                body = zlib.decompress(body)
            case "br":
                body = brotli.decompress(body)
            case "zstd":
                body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
            case _:
                raise Refused(f"Unsupported content encoding: {name}", status=415)
    return body
