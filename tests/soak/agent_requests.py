"""Requests as agents send them, with where in them the tools stand."""

import json
import random
from dataclasses import dataclass
from typing import Any

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.demo.catalogs import coding_tools, mcp_tools

HOUR = {"type": "ephemeral", "ttl": "1h"}
AGENT = "User-Agent: claude-cli/2.1.316 (external, cli)"

_TAIL_MARKER = b'"cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}'
_SHORTENED = b'"cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}'


@dataclass(frozen=True)
class AgentRequest:
    """A tool loop's request: tools that shrink, and one marker after the prompt that becomes shorter."""

    body: bytes
    tools: bytes
    session: str

    @property
    def expected(self) -> bytes:
        """What the provider has to get with both transforms on."""
        shrunk = shrink_catalog(self.tools, level=Level.STANDARD).after
        assert shrunk != self.tools
        return self.with_tools(shrunk)

    def with_tools(self, tools: bytes) -> bytes:
        """The request with the marker shortened and these bytes in the place of its tools."""
        before, after = self.body.split(self.tools)
        assert after.endswith(_TAIL_MARKER)
        return before + tools + after.removesuffix(_TAIL_MARKER) + _SHORTENED

    def fields(self, *more: str) -> tuple[str, ...]:
        return (AGENT, "Content-Type: application/json", f"X-Claude-Code-Session-Id: {self.session}", *more)


def agent_request(randomness: random.Random, *, tool_count: int, text_bytes: int = 500) -> AgentRequest:
    """A request whose catalog no other one has; `text_bytes` before 3 in 14 of them are escaped."""
    every = coding_tools() + mcp_tools()
    session = f"{randomness.randrange(1 << 64):016x}"
    chosen = [dict(tool) for tool in randomness.sample(every, min(tool_count, len(every)))]
    chosen[0]["description"] += f" Catalog {session}."
    text = 'x<y> & "z" \u00e9\n' * (text_bytes // 14 + 1)
    tools = _compact(chosen)
    messages = [
        {"role": "user", "content": [{"type": "text", "text": f"Go on with {session}.", "cache_control": HOUR}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": chosen[0]["name"], "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "cache_control": HOUR}]},
    ]
    body = b'{"model":"claude-opus-4-8","max_tokens":1000,"stream":true,"tools":' + tools + b',"messages":' + _compact(messages) + b"}"
    return AgentRequest(body, tools, session)


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
