"""What a response says: its text, thinking and tool calls, put together from its events or taken from its JSON.

Sources of the shapes: Anthropic, messages and their streams; OpenAI, Chat Completions and Responses, and their streams.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from caveman_tui.core.sse import SseReader
from caveman_tui.traffic.body_text import indented
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line, safe

_TITLES = {
    "text": "TEXT",
    "output_text": "TEXT",
    "message": "TEXT",
    "thinking": "THINKING",
    "reasoning": "THINKING",
    "redacted_thinking": "THINKING, REDACTED",
    "tool_use": "TOOL CALL",
    "server_tool_use": "TOOL CALL",
    "function_call": "TOOL CALL",
    "custom_tool_call": "TOOL CALL",
    "refusal": "REFUSAL",
    "error": "ERROR",
    "stop": "ENDED BECAUSE OF",
}


@dataclass(slots=True)
class Block:
    """One piece of a reply."""

    kind: str
    """As the provider calls it: `text`, `thinking`, `tool_use`; `stop` for why it ended, `error` for an error event."""
    name: str = ""
    """Of the tool that is called."""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it; arguments of a call are JSON text."""
        return "".join(self.pieces)


def reply_blocks(data: bytes) -> list[Block]:
    """The blocks of a response body, decoded from its content coding; none where it has no shape that is known."""
    found = _Blocks()
    if data.lstrip()[:1] == b"{":
        if isinstance(document := _decoded(data), dict):
            found.take_whole(document)
    else:
        reader = SseReader()
        for event in (*reader.feed(data), *reader.close()):
            if isinstance(document := _decoded(event.data), dict):
                found.take_event(document)
    return [block for block in found.blocks.values() if block.text.strip() or block.name]


def reply_lines(blocks: list[Block], width: int) -> list[Line]:
    """The blocks under their titles; arguments of calls indented."""
    lines: list[Line] = []
    for block in blocks:
        title = _TITLES.get(block.kind, one_line(block.kind).upper() or "TEXT")
        lines += [
            *([BLANK] if lines else []),
            (Span(title, Role.HEADING), Span(f"  {one_line(block.name)}" if block.name else "", Role.STRONG)),
        ]
        text = block.text
        if block.kind != "text" and (json := indented(text.encode("utf-8", "surrogatepass"))) is not None:
            text = json.decode("utf-8", "replace")
        role = Role.MUTED if block.kind in ("thinking", "reasoning") else Role.BAD if block.kind == "error" else Role.TEXT
        lines += [line(part, role) for raw in text.split("\n") for part in _wrapped(safe(raw), width)]
    return lines


class _Blocks:
    def __init__(self) -> None:
        self.blocks: dict[tuple[Any, ...], Block] = {}

    def take_event(self, event: dict[str, Any]) -> None:
        kind, delta = event.get("type"), event.get("delta")
        if kind == "content_block_start":
            self._begin(("block", event.get("index")), event.get("content_block"))
        elif kind == "response.output_item.added":
            self._begin(("item", event.get("output_index")), event.get("item"))
        elif kind == "error" or (kind is None and isinstance(event.get("error"), dict)):
            self._put(("error",), "error", _error(event.get("error", event)))
        elif kind == "message_delta" and isinstance(delta, dict):
            self._put(("stop",), "stop", delta.get("stop_reason"))
        elif kind == "content_block_delta" and isinstance(delta, dict):
            for name in ("text", "thinking", "partial_json"):
                self._put(("block", event.get("index")), name, delta.get(name))
        elif isinstance(delta, str):
            self._put(("item", event.get("output_index")), "text", delta)
        else:
            self._take_choices(event, "delta")

    def take_whole(self, document: dict[str, Any]) -> None:
        if isinstance(document.get("error"), dict):
            self._put(("error",), "error", _error(document["error"]))
        for number, block in enumerate(_dicts(document.get("content"))):
            self._begin(("block", number), block)
        for number, item in enumerate(_dicts(document.get("output"))):
            self._begin(("item", number), item)
        self._take_choices(document, "message")
        self._put(("stop",), "stop", document.get("stop_reason"))

    def _take_choices(self, document: dict[str, Any], member: str) -> None:
        for choice in _dicts(document.get("choices")):
            index, said = choice.get("index"), choice.get(member)
            if isinstance(said, dict):
                for name, kind in (
                    ("reasoning_content", "thinking"),
                    ("reasoning", "thinking"),
                    ("content", "text"),
                    ("refusal", "refusal"),
                ):
                    self._put(("choice", index, kind), kind, said.get(name))
                for number, call in enumerate(_dicts(said.get("tool_calls"))):
                    function = call.get("function")
                    if isinstance(function, dict):
                        key = ("choice", index, "call", call.get("index", number))
                        self._put(key, "function_call", function.get("arguments"), name=function.get("name"))
            self._put(("choice", index, "stop"), "stop", choice.get("finish_reason"))

    def _begin(self, key: tuple[Any, ...], block: Any) -> None:
        if not isinstance(block, dict):
            return
        kind = block.get("type")
        self._put(key, kind if isinstance(kind, str) else "text", "", name=block.get("name"))
        for name in ("text", "thinking", "arguments"):
            self._put(key, "text", block.get(name))
        for part in (*_dicts(block.get("content")), *_dicts(block.get("summary"))):
            self._put(key, "text", part.get("text") or part.get("refusal"))
        given = block.get("input")
        if isinstance(given, str) or given:
            self._put(key, "text", given if isinstance(given, str) else msgspec.json.encode(given).decode())

    def _put(self, key: tuple[Any, ...], kind: str, text: Any, *, name: Any = None) -> None:
        """Add to a block, which begins with what it gets first."""
        if not isinstance(text, str) and not isinstance(name, str):
            return
        try:
            block = self.blocks.setdefault(key, Block(kind))
        except TypeError:
            # An index that is a list: no stream of a provider.
            return
        if isinstance(name, str) and name:
            block.name = name
        if isinstance(text, str):
            block.pieces.append(text)


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _error(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    return ": ".join(part for part in (error.get("type"), error.get("message")) if isinstance(part, str)) or "an error"


def _wrapped(text: str, width: int) -> list[str]:
    indent = text[: len(text) - len(text.lstrip(" "))]
    if len(indent) > width // 2:
        return wrap(text, width)
    return [indent + part for part in wrap(text[len(indent) :], max(10, width - len(indent)))]
