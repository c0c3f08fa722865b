"""One walk through the messages of a request: their markers, and which of them are a person's prompts.

A long conversation has thousands of messages, nearly all of them those of the request before. Parsed values are never changed, so a
message that is the very object it was then says what it said then, and is passed over.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from caveman_tui.core.cache_markers import Block, Marker, automatic_marker, block_markers, may_hold_markers, prefix_blocks


class Walk(NamedTuple):
    """What a walk found. All that is said of positions holds for this request."""

    markers: tuple[Marker, ...]
    """All of the request in prefix order, the automatic one last."""
    prompts: list[int]
    """The messages that are a person's prompts, by index."""
    messages: list[Any]
    ends: list[int]
    """For each message the block index after it."""
    base: int
    """Block index before the first message: how many blocks tools and system have."""

    def last_prompt(self, end: int) -> int:
        """The last prompt among so many messages, -1 where there is none."""
        before = bisect_left(self.prompts, end)
        return self.prompts[before - 1] if before else -1


_NOTHING = Walk((), [], [], [], 0)


def walk(request: Any, known: Walk | None = None) -> Walk:
    """Walk through a parsed request. `known` is that of another one, whose messages are passed over where they stand here too."""
    opening = {key: request[key] for key in ("tools", "system") if key in request} if isinstance(request, dict) else {}
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list):
        messages = []
    before = list(prefix_blocks(opening))
    base = len(before)
    found = [marker for block in before if may_hold_markers(block.value) for marker in block_markers(block)]
    same = known if known is not None and known.base == base else None
    inside, prompts, ends = _walk_messages(messages, base, same)
    return Walk((*found, *inside, *automatic_marker(request)), prompts, messages, ends, base)


def _walk_messages(messages: list[Any], base: int, known: Walk | None) -> tuple[list[Marker], list[int], list[int]]:
    """Markers, prompts and ends of the messages."""
    old = known.messages if known else []
    new = [number for number, message in enumerate(messages) if number >= len(old) or message is not old[number]]
    if known is None or any(_size(messages[number]) != _size(old[number]) for number in new if number < len(old)):
        # What follows a message of another length stands elsewhere now.
        known, new = _NOTHING, list(range(len(messages)))
    changed = {*new, *range(len(messages), len(old))}
    markers = [marker for marker in known.markers if marker.section == "messages" and marker.message not in changed]
    prompts = [number for number in known.prompts if number not in changed]
    ends = known.ends[: len(messages)]
    for number in new:
        message, start = messages[number], ends[number - 1] if number else base
        if number == len(ends):
            ends.append(start + _size(message))
        if isinstance(message, dict) and isinstance(content := message.get("content"), list):
            markers += _markers(message.get("role"), number, content, start)
        if is_prompt(message):
            prompts.append(number)
    return sorted(markers, key=lambda marker: marker.message), sorted(prompts), ends


def role(message: Any) -> Any:
    """As it stands there, None where there is none."""
    return message.get("role") if isinstance(message, dict) else None


def is_tool_result_turn(message: Any) -> bool:
    """A user message with a tool result; text beside it belongs to the loop too."""
    return role(message) == "user" and _has_tool_result(message.get("content"))


def is_prompt(message: Any) -> bool:
    """A user message without one."""
    return role(message) == "user" and not _has_tool_result(message.get("content"))


def _has_tool_result(content: Any) -> bool:
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                return True
    return False


def _size(message: Any) -> int:
    """How many blocks a message has."""
    content = message.get("content") if isinstance(message, dict) else None
    return len(content) if isinstance(content, list) else int(isinstance(content, str))


def _markers(said_role: Any, number: int, content: Iterable[Any], start: int) -> Iterator[Marker]:
    for position, value in enumerate(content):
        if may_hold_markers(value):
            yield from block_markers(Block("messages", said_role, number, position, start + position, value))
