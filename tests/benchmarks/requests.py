"""The requests that are timed: an agent's, with its tools and hour markers, in three sizes."""

import json
from dataclasses import dataclass
from typing import Any

from caveman_tui.demo.catalogs import coding_tools, mcp_tools

_HOUR = {"type": "ephemeral", "ttl": "1h"}
_AGENT = "claude-cli/2.1.316 (external, cli)"
_SESSION = "5f0c4e8a-9b1d-4a57-8c3e-0d9f6b2a7e11"
_LINE = '    {0:>6}  def handler_{0}(request: Request) -> Response:  # "{0}" <b>&amp;</b> \u00e9\n'


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """A request body with what it is called."""

    name: str
    body: bytes
    edited: bool
    """Whether the worker's transforms find something to change."""

    def wire(self, port: int, *fields: str) -> bytes:
        """The whole request as it is sent to a server on `port`."""
        head = [
            "POST /v1/messages?beta=true HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"User-Agent: {_AGENT}",
            f"X-Claude-Code-Session-Id: {_SESSION}",
            "X-Api-Key: sk-ant-none",
            "Anthropic-Version: 2023-06-01",
            "Content-Type: application/json",
            *fields,
            f"Content-Length: {len(self.body)}",
        ]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


def timed_requests() -> tuple[TimedRequest, ...]:
    """1 KB, a question without tools; 300 KB and 2 MB, a tool loop with a catalog to shrink and markers to shorten."""
    return (
        TimedRequest("1 KB", _question(1_000), edited=False),
        TimedRequest("300 KB, edited", _loop(300_000), edited=True),
        TimedRequest("2 MB, edited", _loop(2_000_000), edited=True),
    )


def _question(size: int) -> bytes:
    return _filled(lambda text: _request([{"role": "user", "content": [{"type": "text", "text": text}]}]), size)


def _loop(size: int) -> bytes:
    return _filled(lambda text: _request(_turns(text), coding_tools() + mcp_tools()), size)


def _turns(text: str) -> list[dict[str, Any]]:
    """A prompt and ten tool calls; their results are `text`, the last one carries a marker."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Fix the tests.", "cache_control": _HOUR}]}]
    for number in range(10):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Read", "input": {"file_path": f"/src/{number}.py"}}
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text[number::10]}
        if number == 9:
            result["cache_control"] = _HOUR
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return turns


def _request(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> bytes:
    request: dict[str, Any] = {"model": "claude-opus-4-8", "max_tokens": 32000, "stream": True}
    if tools:
        request["system"] = [{"type": "text", "text": "You are a coding agent.", "cache_control": _HOUR}]
        request["tools"] = tools
    return json.dumps(request | {"messages": messages}, ensure_ascii=False).encode()


def _filled(build: Any, size: int) -> bytes:
    """`build` called with so much source code that its result is about `size` bytes long."""
    source = "".join(_LINE.format(number) for number in range(max(20, size // 60)))
    rest = size - len(build(""))
    share = len(json.dumps(source)) / len(source)
    return bytes(build(source[: max(0, int(rest / share))]))
