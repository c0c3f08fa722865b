"""What a streamed response says, put together from its deltas: a word may be split over several of them.

Sources of the shapes: Anthropic, streaming messages; OpenAI, streaming of Chat Completions and of Responses.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from caveman_tui.core.sse import SseEvent, SseReader

_ANTHROPIC_DELTAS = ("text", "partial_json", "thinking")
_CHAT_DELTAS = ("content", "reasoning_content", "reasoning", "refusal")


def reply_text(pieces: Iterable[bytes]) -> Iterator[str]:
    """Text, thinking and tool arguments of an event stream, given in decoded pieces, as they come; a newline between blocks.

    What is no event of a known shape adds nothing. Pieces that interleave several blocks are not sorted apart.
    """
    reader = SseReader()
    for piece in pieces:
        yield from map(_said, reader.feed(piece))
    yield from map(_said, reader.close())


def _said(event: SseEvent) -> str:
    try:
        document = msgspec.json.decode(event.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    if not isinstance(document, dict):
        return ""
    kind, delta = document.get("type"), document.get("delta")
    if kind in ("content_block_start", "response.output_item.added", "response.content_part.added"):
        return "\n"
    if isinstance(delta, str):
        return delta
    if isinstance(delta, dict):
        return _joined(delta, _ANTHROPIC_DELTAS)
    choices = document.get("choices")
    return "".join(_chat(choice) for choice in choices) if isinstance(choices, list) else ""


def _chat(choice: Any) -> str:
    delta = choice.get("delta") if isinstance(choice, dict) else None
    if not isinstance(delta, dict):
        return ""
    calls = delta.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return _joined(delta, _CHAT_DELTAS) + "".join(_joined(f, ("name", "arguments")) for f in functions if isinstance(f, dict))


def _joined(delta: dict[str, Any], names: tuple[str, ...]) -> str:
    return "".join(value for name in names if isinstance(value := delta.get(name), str))
