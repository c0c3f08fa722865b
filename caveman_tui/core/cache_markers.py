"""Prompt-cache markers of a request, in prefix order, and the API's rules about them.

Rules: Anthropic prompt caching ("How automatic prefix checking works", "What can be cached", "Mixing different TTLs") and the
provider's error messages. A request's prefix is `tools`, `system`, `messages`; a block is one position in it. How the provider treats
markers on the parts of a tool result, document or search result is not documented: here they count, which is the safe side.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.json_tree import Path, json_pointer

MAX_MARKERS = 4
REACH_BLOCKS = 20
"""Reads walk back at most so many block positions from a marker."""
SHORT, LONG = "5m", "1h"


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """One `cache_control` of a request."""

    pointer: str
    """JSON pointer of the block that carries it (`/system/1`, `/messages/4/content/0`), empty for the automatic one."""
    section: str
    """`tools`, `system`, `messages` or `automatic`."""
    ttl: str
    """`5m`, `1h`, or what stands there; a bare marker is `5m`."""
    bare: bool = False
    """Whether the marker carries no `ttl`."""
    role: str = ""
    """Role of the message it sits in."""
    block_type: str = ""
    """Type of the block it sits on: `text`, `tool_result`, `tool_use`, `tool` …"""
    block_index: int = 0
    """Position of its block in the request's prefix, counted over tools, system and message blocks; reads walk back 20 of them."""
    nested: bool = False
    """Whether it sits inside a tool result, document or search result."""
    ineligible: str = ""
    """Why the API takes no marker on this block, empty where it does."""
    lands_on: str = ""
    """Of the automatic marker: pointer of the block it lands on."""
    message: int = -1
    """Index of the message it sits in, or lands in; -1 outside messages."""

    @property
    def path(self) -> Path:
        """The same place as `pointer`, as steps. A block's path has no member names of digits."""
        return tuple(int(step) if step.isdecimal() else step for step in self.pointer.split("/")[1:])


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the API that the markers of a request break."""

    code: str
    """`ttl-order`, `too-many-markers`, `ineligible-block`, `automatic-conflict`, `malformed-marker`."""
    pointer: str
    """The marker the provider would name."""
    culprit: str
    """Pointer of the marker that is at fault, which may be an earlier one."""
    text: str
    """One sentence for a person."""


class Block(NamedTuple):
    """One position of the prefix. There are thousands in a long conversation, so it holds no more than it must."""

    section: str
    role: Any
    """Role of its message as it stands there."""
    message: int
    """Index of its message, -1 outside messages."""
    position: int
    """Its index in the tools, the system or the message's content; -1 where that is one string."""
    block_index: int
    """Its position in the whole prefix."""
    value: Any
    """The block as parsed: an object, or the string that a whole system or message content may be; anything in a malformed request."""

    @property
    def path(self) -> Path:
        """Steps from the root of the request to the block."""
        whole: Path = (self.section,) if self.message < 0 else (self.section, self.message, "content")
        return whole if self.position < 0 else (*whole, self.position)


def prefix_blocks(request: Any) -> Iterator[Block]:
    """The block positions of a parsed request in the order the API processes them. A string as content is one block."""
    block_index = 0
    for section, role, message, content in _contents(request):
        if isinstance(content, list):
            for position, value in enumerate(content):
                yield Block(section, role, message, position, block_index + position, value)
            block_index += len(content)
        elif isinstance(content, str):
            yield Block(section, role, message, -1, block_index, content)
            block_index += 1


def ineligibility(value: Any, section: str) -> str:
    """Why the API takes no marker on this block, in a few words; empty where it does. Unknown types are eligible."""
    if isinstance(value, str):
        return "" if value.strip() else "blank text"
    if not isinstance(value, dict):
        return "not an object"
    if section == "tools":
        return "a deferred tool" if value.get("defer_loading") is True else ""
    kind = value.get("type")
    if kind in ("thinking", "redacted_thinking"):
        return f"{kind} block"
    if kind == "text":
        text = value.get("text")
        if not isinstance(text, str) or not text.strip():
            return "blank text"
    return ""


def has_marker(value: Any) -> bool:
    """Whether a block carries a marker of its own. `cache_control: null` is none."""
    return isinstance(value, dict) and value.get("cache_control") is not None


def may_hold_markers(value: Any) -> bool:
    """Whether to look closer: most blocks are text and calls, without a marker and without parts."""
    return type(value) is dict and (
        "cache_control" in value or "source" in value or "citations" in value or ("content" in value and type(value["content"]) is list)
    )


def block_markers(block: Block) -> Iterator[Marker]:
    """The markers of a block's parts and its own."""
    if block.section != "tools":
        for path, part, reason in _parts(block.path, block.value, _NESTING_LIMIT):
            yield _marker(part, path, block, reason, nested=True)
    if has_marker(block.value):
        yield _marker(block.value, block.path, block, ineligibility(block.value, block.section))


def automatic_marker(request: Any) -> tuple[Marker, ...]:
    """The marker beside `messages`, where there is one."""
    return (_automatic(request),) if has_marker(request) else ()


def find_violations(markers: tuple[Marker, ...]) -> tuple[Violation, ...]:
    """The rules that these markers, in prefix order, break. An unknown lifetime is left to the provider to judge."""
    found: list[Violation] = []
    explicit = [marker for marker in markers if marker.section != "automatic"]
    automatic = next((marker for marker in markers if marker.section == "automatic"), None)
    if len(explicit) > MAX_MARKERS:
        over = explicit[MAX_MARKERS]
        found.append(
            Violation(
                code="too-many-markers",
                pointer=over.pointer,
                culprit=over.pointer,
                text=f"The request carries {len(explicit)} markers, the API allows {MAX_MARKERS}.",
            )
        )
    first_short = None
    for marker in markers:
        if marker.ttl == "":
            found.append(_at(marker, "malformed-marker", f"The cache_control of {_name(marker)} is no object."))
        if marker.ineligible:
            found.append(_at(marker, "ineligible-block", f"{_name(marker)} cannot carry a marker: {marker.ineligible}."))
        if marker.ttl == SHORT and first_short is None:
            first_short = marker
        if marker.ttl == LONG and first_short is not None:
            what = "a marker without a ttl, which means 5m," if first_short.bare else "a 5m marker"
            found.append(
                Violation(
                    code="ttl-order",
                    pointer=marker.pointer,
                    culprit=first_short.pointer,
                    text=f"{_name(first_short)} carries {what} before the 1h marker of {_name(marker)}; longer lifetimes must come first.",
                )
            )
    if automatic is not None:
        found.extend(_automatic_conflicts(automatic, explicit))
    return tuple(found)


_NESTING_LIMIT = 8
"""Parts within parts are looked for so deep; the API takes fewer."""


def _contents(request: Any) -> Iterator[tuple[str, Any, int, Any]]:
    """Section, role, message index and content of everything that holds blocks, in prefix order."""
    if not isinstance(request, dict):
        return
    yield "tools", "", -1, request.get("tools")
    yield "system", "", -1, request.get("system")
    messages = request.get("messages")
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        if isinstance(message, dict):
            yield "messages", message.get("role"), number, message.get("content")


def _parts(path: Path, value: dict[str, Any], depth: int) -> Iterator[tuple[Path, dict[str, Any], str]]:
    """The marked parts of a block, in order: path, part, why it can't carry a marker. `input` of a tool call is the model's own text."""
    if depth == 0:
        return
    source = value.get("source")
    for steps, parts, reason in (
        (("citations",), value.get("citations"), "a citation is no block of its own"),
        (("source", "content"), source.get("content") if isinstance(source, dict) else None, ""),
        (("content",), value.get("content"), ""),
    ):
        if not isinstance(parts, list):
            continue
        for number, part in enumerate(parts):
            if isinstance(part, dict):
                part_path = (*path, *steps, number)
                yield from _parts(part_path, part, depth - 1)
                if has_marker(part):
                    yield part_path, part, reason or ineligibility(part, "messages")


def _marker(value: dict[str, Any], path: Path, block: Block, ineligible: str, *, nested: bool = False) -> Marker:
    ttl, bare = _lifetime(value["cache_control"])
    return Marker(
        pointer=json_pointer(path),
        section=block.section,
        ttl=ttl,
        bare=bare,
        role=block.role if isinstance(block.role, str) else "",
        block_type=_block_type(value, block.section),
        block_index=block.block_index,
        nested=nested,
        ineligible=ineligible,
        message=block.message,
    )


def _automatic(request: dict[str, Any]) -> Marker:
    """The marker beside `messages`, which lands on the last block that can carry one."""
    ttl, bare = _lifetime(request["cache_control"])
    landing = None
    for block in prefix_blocks(request):
        if not ineligibility(block.value, block.section):
            landing = block
    if landing is None:
        return Marker(pointer="", section="automatic", ttl=ttl, bare=bare)
    return Marker(
        pointer="",
        section="automatic",
        ttl=ttl,
        bare=bare,
        role=landing.role if isinstance(landing.role, str) else "",
        block_type=_block_type(landing.value, landing.section),
        block_index=landing.block_index,
        lands_on=json_pointer(landing.path),
        message=landing.message,
    )


def _lifetime(control: Any) -> tuple[str, bool]:
    """The lifetime a marker says, and whether it says none. Empty for what is no marker object."""
    if not isinstance(control, dict):
        return "", False
    ttl = control.get("ttl")
    if ttl is None:
        return SHORT, True
    return ttl if isinstance(ttl, str) else repr(ttl), False


def _block_type(value: Any, section: str) -> str:
    if section == "tools":
        return "tool"
    kind = value.get("type") if isinstance(value, dict) else "text"
    return kind if isinstance(kind, str) else ""


def _automatic_conflicts(automatic: Marker, explicit: list[Marker]) -> Iterator[Violation]:
    if len(explicit) >= MAX_MARKERS:
        yield _at(automatic, "automatic-conflict", f"{len(explicit)} explicit markers leave no slot for the automatic one.")
    for marker in explicit:
        if marker.pointer == automatic.lands_on and marker.ttl != automatic.ttl:
            text = f"The automatic {automatic.ttl} marker lands on {_name(marker)}, which carries a {marker.ttl} marker."
            yield Violation(code="automatic-conflict", pointer="", culprit=marker.pointer, text=text)


def _at(marker: Marker, code: str, text: str) -> Violation:
    return Violation(code=code, pointer=marker.pointer, culprit=marker.pointer, text=text)


def _name(marker: Marker) -> str:
    return marker.pointer or "the automatic marker"
