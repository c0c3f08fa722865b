"""A Messages request as the sequence of blocks that the prompt cache sees.

Order is tools, system, messages (Anthropic prompt caching: a marker caches everything up to and including its block, and a match is
exact, by content). Each block has a digest of itself and of all before it; two requests share a prefix as far as those are equal.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

ATTRIBUTION = "x-anthropic-billing-header:"
"""How the line begins that Claude Code puts first into `system`. It differs per request and is taken to be no part of the prompt: if it
were, no request of that client could read what another one wrote."""

_ENCODED_DATA_TOKENS = 1500
"""Of one image or document that comes as base64: its length says nothing of its tokens."""
_NESTING_LIMIT = 8


@dataclass(frozen=True, slots=True)
class Block:
    """One position of the prefix."""

    path: str
    """As the API's errors name it: `tools.3`, `system.0`, `messages.4.content.1`."""
    section: str
    """`tools`, `system` or `messages`."""
    content: Json
    tokens: int
    digest: bytes
    """Of this block and all before it."""


def estimate_tokens(text: str) -> int:
    """The stand-in's own token count: four UTF-8 bytes are one, and nothing is none."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def blocks_of(request: Json) -> tuple[Block, ...]:
    """The blocks of `request` in prefix order, its attribution line left out."""
    salts = _salts(request)
    blocks: list[Block] = []
    digest = b""
    section = ""
    for path, block_section, role, content in _walk(request):
        if block_section != section:
            for name in _SECTIONS[_SECTIONS.index(section) + 1 : _SECTIONS.index(block_section) + 1]:
                digest = _chained(digest, salts[name])
            section = block_section
        text = _canonical(_without_markers(content))
        digest = _chained(digest, f"{role}\0{text}")
        blocks.append(Block(path=path, section=section, content=content, tokens=_tokens(content, text), digest=digest))
    return tuple(blocks)


def total_tokens(request: Json) -> int:
    """All input tokens of `request`, as `count_tokens` reports them."""
    return sum(block.tokens for block in blocks_of(request))


def content_blocks(content: object) -> tuple[Json, ...]:
    """A message's or system's content as blocks: a plain string is one text block."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if isinstance(content, list):
        return tuple(block for block in content if isinstance(block, dict))
    return ()


def nested_blocks(block: Json) -> Iterator[tuple[str, Json]]:
    """Blocks inside `block` (a tool result, document or search result), each with its path relative to it, innermost first."""
    yield from _nested(block, _NESTING_LIMIT)


def _nested(block: Json, depth: int) -> Iterator[tuple[str, Json]]:
    if depth == 0:
        return
    source = block.get("source")
    for path, inner in (("content", block.get("content")), ("source.content", source.get("content") if isinstance(source, dict) else None)):
        if isinstance(inner, list):
            for index, child in enumerate(inner):
                if isinstance(child, dict):
                    for deeper, grandchild in _nested(child, depth - 1):
                        yield f"{path}.{index}.{deeper}", grandchild
                    yield f"{path}.{index}", child


_SECTIONS = ("", "tools", "system", "messages")


def _salts(request: Json) -> dict[str, str]:
    """What besides its own content a section's cached form depends on ("What invalidates the cache")."""
    messages = [message for message in _list(request.get("messages")) if isinstance(message, dict)]
    outermost = [block for message in messages for block in content_blocks(message.get("content"))]
    everything = [block for outer in outermost for block in (outer, *(inner for _, inner in nested_blocks(outer)))]
    searches = any(str(tool.get("type", "")).startswith("web_search") for tool in _list(request.get("tools")) if isinstance(tool, dict))
    cites = any(isinstance(citations := block.get("citations"), dict) and citations.get("enabled") is True for block in everything)
    pictures = any(block.get("type") == "image" for block in everything)
    return {
        "tools": _canonical(["model", request.get("model")]),
        "system": _canonical(["system", request.get("speed"), searches, cites]),
        "messages": _canonical(["messages", request.get("tool_choice"), request.get("thinking"), pictures]),
    }


def _walk(request: Json) -> Iterator[tuple[str, str, str, Json]]:
    for index, tool in enumerate(_list(request.get("tools"))):
        if isinstance(tool, dict):
            yield f"tools.{index}", "tools", "", tool
    for index, block in enumerate(content_blocks(request.get("system"))):
        if not (index == 0 and _is_attribution(block)):
            yield f"system.{index}", "system", "", block
    for number, message in enumerate(_list(request.get("messages"))):
        if isinstance(message, dict):
            for index, block in enumerate(content_blocks(message.get("content"))):
                yield f"messages.{number}.content.{index}", "messages", str(message.get("role")), block


def _is_attribution(block: Json) -> bool:
    text = block.get("text")
    return isinstance(text, str) and text.startswith(ATTRIBUTION) and not block.get("cache_control")


def _without_markers(block: Json) -> Json:
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    if isinstance(inner := bare.get("content"), list):
        bare["content"] = [_without_markers(child) if isinstance(child, dict) else child for child in inner]
    if isinstance(source := bare.get("source"), dict):
        bare["source"] = _without_markers(source)
    return bare


def _tokens(content: Json, text: str) -> int:
    encoded = sum(
        len(source["data"])
        for block in (content, *(inner for _, inner in nested_blocks(content)))
        if isinstance(source := block.get("source"), dict) and source.get("type") == "base64" and isinstance(source.get("data"), str)
    )
    return estimate_tokens(text) - encoded // 4 + (_ENCODED_DATA_TOKENS if encoded else 0)


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _chained(digest: bytes, text: str) -> bytes:
    return hashlib.sha256(digest + text.encode("utf-8", "surrogatepass")).digest()


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
