"""Short digests of a request's prefix, section by section, so that two requests can be compared without their bodies.

What a change invalidates is the provider's rule (Anthropic prompt caching, "What invalidates the cache"): tools, everything; system,
what follows it; a message, what follows it; `tool_choice`, `thinking` and the like, the messages. Cache markers are left out: moving one
changes no content.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.json_spans import JsonRefused, parse_value

ATTRIBUTION = re.compile(r"x-anthropic-[a-z-]+:", re.IGNORECASE)
"""Begins the system block by which Claude Code says what to bill. It differs from request to request, and yet the cache is hit."""

_DIGITS = 12
"""Hex digits of a digest: 48 bits, among some thousand requests that are not made to collide."""
_RECENT = 16
"""Message counts at the end that are all recorded."""
_SWITCHES = ("tool_choice", "thinking", "speed", "output_config", "reasoning", "parallel_tool_calls")


class MessagesPoint(msgspec.Struct, frozen=True, array_like=True):
    """The messages up to one of them."""

    count: int
    """How many."""
    digest: str
    """Of all of them together."""


class PrefixDigests(msgspec.Struct, frozen=True, kw_only=True):
    """What two requests have in common, as far as digests tell. An absent section has the empty digest."""

    tools: str = ""
    system: str = ""
    switches: str = ""
    """Of the members beside the prefix that it depends on: `tool_choice`, `thinking`, `speed` and their like."""
    points: tuple[MessagesPoint, ...] = ()
    """By falling count: the last 16 counts, and further back eight to each doubling, so that a long conversation stays small and
    requests of different lengths share points."""

    @property
    def messages(self) -> int:
        """How many messages the request has."""
        return self.points[0].count if self.points else 0


class SharedMessages(msgspec.Struct, frozen=True, kw_only=True):
    """How far the messages of two requests are known to be the same."""

    same: int
    """So many at the start are the same."""
    differ: int | None = None
    """Among so many at the start, one differs; None where no difference is known. `same + 1` names the one message."""


class Digested(NamedTuple):
    """The digests of a request, and what makes those of a longer one cheap."""

    prefix: PrefixDigests
    chain: tuple[bytes, ...]
    """For each message the digest of all up to it."""


def digest_body(body: bytes) -> Digested | None:
    """Digest a request body of any dialect; None where it is no JSON object. Messages are parsed one at a time, for bodies of many MB.

    About 4 ms for each megabyte.
    """
    try:
        request = _opened(body)
        return digest_request(request) if isinstance(request, dict) else None
    except (JsonRefused, RecursionError):
        return None


def digest_request(request: dict[str, Any], known: tuple[bytes, ...] = (), tools_text: bytes | None = None) -> Digested:
    """Digest a parsed request. `known` is the chain of its first messages, as far as they are known to be those of another;
    `tools_text` is how its tools are spelled, where that is known: the digest of a text is remembered.

    Raises RecursionError where it nests deeper than the encoder goes.
    """
    tools = request.get("tools")
    chain = _chain(_list(request.get("messages") or request.get("input")), known)
    return Digested(
        PrefixDigests(
            tools=_tools_digest(tools) if tools_text is None else _spelled_tools_digest(tools_text),
            system=_digest(_system(request.get("system") or request.get("instructions"))),
            switches=_digest([[name, value] for name in _SWITCHES if (value := request.get(name)) is not None]),
            points=_points(chain),
        ),
        chain,
    )


def shared_messages(one: PrefixDigests, other: PrefixDigests) -> SharedMessages:
    """Compare the messages of two requests at the points that both have."""
    known = {point.count: point.digest for point in one.points}
    same, differ = 0, None
    for point in reversed(other.points):
        digest = known.get(point.count)
        if digest == point.digest:
            same = point.count
        elif digest is not None:
            differ = point.count
            break
    return SharedMessages(same=same, differ=differ)


_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


def _opened(body: bytes) -> Any:
    """The request with its messages unparsed, where the strict reader takes it."""
    try:
        members = _decode_members(body)
        return {
            name: _decode_items(raw) if name in ("messages", "input") and bytes(raw[:1]) == b"[" else msgspec.json.decode(raw)
            for name, raw in ((name, memoryview(raw)) for name, raw in members.items())
        }
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return parse_value(body)


def _chain(messages: list[Any], known: tuple[bytes, ...]) -> tuple[bytes, ...]:
    running = known[-1] if known else b""
    chain = [*known]
    for message in messages[len(known) :]:
        if isinstance(message, msgspec.Raw):
            message = parse_value(bytes(message))
        running = hashlib.sha256(running + _canonical(_message_without_markers(message))).digest()
        chain.append(running)
    return tuple(chain)


def _points(chain: tuple[bytes, ...]) -> tuple[MessagesPoint, ...]:
    return tuple(MessagesPoint(count=count, digest=chain[count - 1].hex()[:_DIGITS]) for count in _counts(len(chain)))


def _counts(total: int) -> Iterator[int]:
    """The last counts, and of those before them the ones of which all but the first four binary digits are zero; falling."""
    oldest = max(0, total - _RECENT)
    yield from range(total, oldest, -1)
    count = oldest
    while count > 0:
        zeros = max(0, count.bit_length() - 4)
        count = count >> zeros << zeros
        yield count
        count -= 1


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _system(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [_without_marker(block) for block in content if not _is_attribution(block)]


def _is_attribution(block: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) else None
    return isinstance(text, str) and ATTRIBUTION.match(text) is not None


def _message_without_markers(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    bare = _without_marker(message)
    content = bare.get("content")
    return {**bare, "content": _content_without_markers(content)} if isinstance(content, list) else bare


def _content_without_markers(content: Any) -> Any:
    return [_without_marker(block) for block in content] if isinstance(content, list) else content


def _without_marker(block: Any) -> Any:
    """A block without its marker and those of its parts. `input` of a tool call is the model's own text and stays."""
    if not isinstance(block, dict):
        return block
    bare = {key: value for key, value in block.items() if key != "cache_control"} if "cache_control" in block else block
    for key in ("content", "citations"):
        if isinstance(bare.get(key), list):
            bare = {**bare, key: [_without_marker(part) for part in bare[key]]}
    source = bare.get("source")
    if isinstance(source, dict) and isinstance(source.get("content"), list):
        bare = {**bare, "source": {**source, "content": [_without_marker(part) for part in source["content"]]}}
    return bare


def _tools_digest(tools: Any) -> str:
    return _digest([_without_marker(tool) for tool in _list(tools)]) if tools else ""


@lru_cache(maxsize=32)
def _spelled_tools_digest(text: bytes) -> str:
    return _tools_digest(parse_value(text))


def _digest(value: Any) -> str:
    if value is None or value == [] or value == "":
        return ""
    return hashlib.sha256(_canonical(value)).hexdigest()[:_DIGITS]


def _canonical(value: Any) -> bytes:
    """One spelling for each value. Only what msgspec can't encode, a lone surrogate, takes the slower way, escaped."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
