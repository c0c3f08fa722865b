"""Requests as Claude Code puts them on the wire: headers, system blocks, where markers sit, and its side requests.

The texts are the demo's own; order of blocks, roles and markers are what was seen in front of a stand-in.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from caveman_tui.demo import material
from caveman_tui.demo.plot import Conversation

Json = dict[str, Any]
Headers = tuple[tuple[str, str], ...]

VERSION = "2.1.316"
_BETAS = (
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,prompt-caching-scope-2026-01-05,"
    "extended-cache-ttl-2025-04-11,mid-conversation-system-2026-04-07,token-efficient-tools-2026-03-28"
)
_DEVICE = hashlib.sha256(b"the demo's device").hexdigest()
_ACCOUNT = "5f0b1d0c-2a77-4c1e-8f55-0d9c7be41a20"
_KEY = "sk-ant-demo-not-a-key"
SMALL_MODEL = "claude-haiku-4-5-20251001"


@dataclass(slots=True)
class ClaudeClient:
    """One conversation's side of the wire: keeps the history and makes the next request of it."""

    conversation: Conversation
    history: list[Json] = field(default_factory=list)
    _requests: int = 0

    def prompt(self, text: str, *, interrupted: bool = False) -> None:
        """The person says something; the first prompt of a main thread brings the reminder along."""
        blocks = [_text("[Request interrupted by the person]")] if interrupted else []
        first = not self.history
        if first and not self.conversation.agent:
            blocks.append(_text(material.REMINDER))
        self.history.append({"role": "user", "content": [*blocks, _text(text)]})
        if first and not self.conversation.agent:
            self.history.append(
                {"role": "system", "content": "The person's editor has no file open. Permissions: edits and commands are allowed."}
            )

    def answered(self, blocks: list[Json]) -> None:
        """The model's message, exactly as it came."""
        self.history.append({"role": "assistant", "content": blocks})

    def returned(self, results: tuple[str, ...]) -> None:
        """Results of the last message's tool calls, in their order. Raises ValueError where their number differs."""
        calls = [block for block in self.history[-1]["content"] if block["type"] == "tool_use"]
        self.history.append(
            {
                "role": "user",
                "content": [
                    {
                        "tool_use_id": call["id"],
                        "type": "tool_result",
                        "content": text,
                        **({"is_error": True} if text.startswith("error:") else {}),
                    }
                    for call, text in zip(calls, results, strict=True)
                ],
            }
        )

    def body(self, *, stream: bool = True) -> bytes:
        """The next request of the main loop."""
        self._requests += 1
        return encode(
            {
                "model": self.conversation.model,
                "messages": self._marked_messages(),
                "system": self._system(),
                "tools": self.conversation.tools,
                "metadata": {"user_id": self._user_id()},
                "max_tokens": 32_000,
                "thinking": {"type": "enabled", "budget_tokens": 8_000},
                "stream": stream,
            }
        )

    def title_body(self, prompt: str) -> bytes:
        """The request for a title: a small model, no tools, no markers."""
        return encode(
            {
                "model": SMALL_MODEL,
                "messages": [{"role": "user", "content": [_text(prompt)]}],
                "system": [
                    _text(self._attribution()),
                    _text("Give the session a title of at most five words, as JSON with the key title."),
                ],
                "tools": [],
                "metadata": {"user_id": self._user_id()},
                "max_tokens": 256,
                "stream": True,
            }
        )

    def count_body(self, tool: Json) -> bytes:
        """A count_tokens request for one tool."""
        return encode({"model": self.conversation.model, "messages": [{"role": "user", "content": "count"}], "tools": [tool]})

    def headers(self) -> Headers:
        """Headers of its POSTs."""
        conversation = self.conversation
        entry = "sdk-cli" if conversation.headless else "cli"
        agent = (("x-claude-code-agent-id", conversation.agent), ("x-claude-code-parent-agent-id", conversation.parent_agent))
        return (
            ("Accept", "application/json"),
            ("Content-Type", "application/json"),
            ("User-Agent", f"claude-cli/{VERSION} (external, {entry})"),
            ("X-Claude-Code-Session-Id", conversation.session),
            *(agent if conversation.agent else ()),
            ("X-Stainless-Lang", "js"),
            ("X-Stainless-Retry-Count", "0"),
            ("X-Stainless-Timeout", "600"),
            ("anthropic-beta", _BETAS),
            ("anthropic-dangerous-direct-browser-access", "true"),
            ("anthropic-version", "2023-06-01"),
            ("x-api-key", _KEY),
            ("x-app", "cli"),
            ("Accept-Encoding", "gzip, deflate, br, zstd"),
        )

    def _system(self) -> list[Json]:
        own = f"{material.INSTRUCTIONS}\nSession {self.conversation.session[:8]} in /home/dana/shop."
        return [
            _text(self._attribution()),
            _text(material.IDENTITY) | self._marker(),
            _text(own) | self._marker(),
        ]

    def _attribution(self) -> str:
        digest = hashlib.sha256(f"{self.conversation.name}{self._requests}".encode()).hexdigest()
        return f"x-anthropic-billing-header: cc_version={VERSION}.{digest[:3]}; cc_entrypoint=cli; cch={digest[3:8]};"

    def _marked_messages(self) -> list[Json]:
        """The history with one marker, on the last block of the newest user message: the prompt, or the last tool result."""
        newest = max(number for number, message in enumerate(self.history) if message["role"] == "user")
        marked = list(self.history)
        content = marked[newest]["content"]
        marked[newest] = marked[newest] | {"content": [*content[:-1], content[-1] | self._marker()]}
        return marked

    def _marker(self) -> Json:
        return {"cache_control": {"type": "ephemeral"} | ({"ttl": "1h"} if self.conversation.ttl == "1h" else {})}

    def _user_id(self) -> str:
        return json.dumps({"device_id": _DEVICE, "account_uuid": _ACCOUNT, "session_id": self.conversation.session}, separators=(",", ":"))


def encode(body: Json) -> bytes:
    """JSON as JavaScript clients write it."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
