"""The last request of each conversation, as it was read: the next one begins like it, and only what is new is read again."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.message_walk import Walk
from caveman_tui.core.policy import Policy

_LEAST_BYTES = 16 * 1024
"""Reading less than this again costs less than remembering it."""
MOST_BYTES = 4 * 1024 * 1024
"""Of longer bodies nothing that was read is kept, not even while they are under way: parsed values take more than the body itself."""
_BUDGET_BYTES = 64 * 1024 * 1024
"""Bytes of all bodies together; what was parsed of them takes about twice as much beside them."""
_OPENING_BYTES = 1024
_TELLING = ("x-claude-code-session-id", "session-id", "x-claude-code-agent-id")

Key = tuple[str | bytes, ...]


@dataclass(frozen=True, slots=True)
class LastRequest:
    """A request that went out."""

    exchange: str
    """Its id."""
    document: JsonDocument
    """As it came."""
    policy: Policy | None
    """By which it was rewritten."""
    walk: Walk | None = None
    """Through its messages, where the rewriter went there."""
    chain: tuple[bytes, ...] = ()
    """Of its messages as they went out, see `core.prefix_digests`; empty where nobody had time for it, or where edits lie in them."""


class LastRequests:
    """Within a budget of bytes, the latest first to stay. For the event loop's thread."""

    def __init__(self, budget_bytes: int = _BUDGET_BYTES) -> None:
        self._budget = budget_bytes
        self._bytes = 0
        self._requests: OrderedDict[Key, LastRequest] = OrderedDict()

    def find(self, key: Key) -> LastRequest | None:
        """The last request like this one."""
        return self._requests.get(key)

    def remember(self, key: Key, request: LastRequest) -> None:
        """Keep a request in the place of the one before it."""
        size = len(request.document.body)
        if not is_worth_it(request.document.body) or size > self._budget:
            return
        if (before := self._requests.pop(key, None)) is not None:
            self._bytes -= len(before.document.body)
        self._requests[key] = request
        self._bytes += size
        while self._bytes > self._budget:
            self._bytes -= len(self._requests.popitem(last=False)[1].document.body)


def is_worth_it(body: bytes) -> bool:
    """Whether a body of this length is remembered at all."""
    return _LEAST_BYTES <= len(body) <= MOST_BYTES


def key_of(headers: Mapping[str, str], body: bytes) -> Key:
    """Tells requests apart that can't begin alike; `headers` by lower-case names.

    The session alone does not: clients send short questions about the conversation in the same one, between its steps.
    """
    return (*(headers.get(name, "") for name in _TELLING), body[:_OPENING_BYTES])
