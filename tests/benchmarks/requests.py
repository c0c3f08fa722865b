"""The requests that are timed: an agent's, with its tools and hour markers, in three sizes."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from caveman_tui.demo.catalogs import coding_tools, mcp_tools

_HOUR = {"type": "ephemeral", "ttl": "1h"}
_AGENT = "claude-cli/2.1.316 (external, cli)"
_OPENING = b"00000000"
"""Stands at the beginning of a conversation, where its number goes."""
_STEPS = 4
_RESULT_CHARACTERS = 5_400
_RESULT_BYTES = 5_880
"""What a turn of so many characters takes as JSON, with its call."""
_numbers = itertools.count(1)
_LINE = '    {0:>6}  def handler_{0}(request: Request) -> Response:  # "{0}" <b>&amp;</b> \u00e9\n'


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """Requests of one size that are timed together, with what they are called."""

    name: str
    bodies: tuple[bytes, ...]
    """Sent one after the other, over and over: the steps of a conversation, each of which begins like the one before it."""
    edited: bool
    """Whether the worker's transforms find something to change."""
    fresh: bool = False
    """Whether each is to be the first of a conversation of its own."""

    def wires(self, port: int, session: str, *fields: str) -> Iterator[bytes]:
        """The whole requests as they are sent to a server on `port`, without end."""
        if self.fresh:
            return (_wire(port, f"{session}-{number}", body.replace(_OPENING, b"%08d" % number, 1)) for number, body in self._numbered())
        return itertools.cycle([_wire(port, session, body, *fields) for body in self.bodies])

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        return ((next(_numbers), body) for body in itertools.cycle(self.bodies))


def timed_requests() -> tuple[TimedRequest, ...]:
    """1 KB, a question without tools; 300 KB and 2 MB, a tool loop with a catalog to shrink and markers to shorten."""
    return (
        TimedRequest("1 KB", (_question(1_000),), edited=False),
        TimedRequest("300 KB, edited", _loop(300_000), edited=True),
        TimedRequest("2 MB, edited", _loop(2_000_000), edited=True),
    )


def first_requests() -> tuple[TimedRequest, ...]:
    """The same as the first that a worker sees of a conversation, as after its start."""
    return tuple(
        TimedRequest(f"{request.name}, first", request.bodies[:1], edited=True, fresh=True)
        for request in timed_requests()
        if request.edited
    )


def _wire(port: int, session: str, body: bytes, *fields: str) -> bytes:
    head = [
        "POST /v1/messages?beta=true HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"User-Agent: {_AGENT}",
        f"X-Claude-Code-Session-Id: {session}",
        "X-Api-Key: sk-ant-none",
        "Anthropic-Version: 2023-06-01",
        "Content-Type: application/json",
        *fields,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def _question(size: int) -> bytes:
    question = {"role": "user", "content": [{"type": "text", "text": ""}]}
    rest = size - len(_request([question]))
    question["content"] = [{"type": "text", "text": _source(rest)[:rest]}]
    return _request([question])


def _loop(size: int) -> tuple[bytes, ...]:
    """Some steps of a loop that has come to about `size` bytes."""
    tools = coding_tools() + mcp_tools()
    turns = _turns(_source(size), (size - len(_request([], tools))) // _RESULT_BYTES)
    return tuple(_request(_marked(turns[: len(turns) - 2 * step]), tools) for step in reversed(range(_STEPS)))


def _turns(text: str, calls: int) -> list[dict[str, Any]]:
    """A prompt and tool calls with their results."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": f"{_OPENING.decode()} Fix the tests."}]}]
    for number in range(calls):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file_path": f"/src/{number}.py"}}
        part = text[number * _RESULT_CHARACTERS : (number + 1) * _RESULT_CHARACTERS]
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": part}
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return turns


def _marked(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With the marker where agents set it: on the last block."""
    *before, last = turns
    return [*before, last | {"content": [last["content"][0] | {"cache_control": _HOUR}]}]


def _request(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> bytes:
    """The members in the order in which Claude Code sends them."""
    request: dict[str, Any] = {"model": "claude-opus-4-8", "messages": messages}
    if tools:
        request["system"] = [{"type": "text", "text": "You are a coding agent.", "cache_control": _HOUR}]
        request["tools"] = tools
    return json.dumps(request | {"max_tokens": 32000, "stream": True}, ensure_ascii=False).encode()


def _source(size: int) -> str:
    return "".join(_LINE.format(number) for number in range(max(20, size // 60)))
