"""Which conversation a request belongs to, read from its headers and, where they don't say, from the request."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from caveman_tui.core.prefix_digests import ATTRIBUTION

_SESSION_HEADERS = ("x-claude-code-session-id", "session-id")
_ID_LIMIT = 120
_USER_ID = re.compile(r"user_[0-9a-f]*_account_[0-9a-f-]*_session_(?P<session>[0-9a-z-]+)", re.IGNORECASE)
_MODEL_ITEMS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "reasoning", "web_search_call", "mcp_call"})
"""Items of a Responses input that only the model writes (OpenAI Responses API, input items)."""
_SYSTEM_ROLES = frozenset({"system", "developer"})
_PART_END = b"\xff" * 8


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Whose request it is."""

    conversation: str = ""
    """Empty where nothing tells one conversation from another. A sub-agent's is `SESSION/AGENT`."""
    session: str = ""
    """As the client named it; empty where it names none and `conversation` is a digest."""
    agent: str = ""
    """A sub-agent's id, empty for the main thread."""
    parent_agent: str = ""
    has_assistant: bool = False
    """Whether the model has already spoken in this request's history."""

    @property
    def pinnable(self) -> bool:
        """Whether a decision may be tied to it.

        A digest stands for a conversation only once the model has answered in it: one-off requests often share their opening.
        """
        return bool(self.conversation) and (bool(self.session) or self.has_assistant)


def identify(headers: Mapping[str, str], request: Any) -> Identity:
    """Read the identity; `headers` by lower-case names, `request` as parsed, None where the body can't be read.

    Never raises: what can't be read counts as absent.
    """
    members = request if isinstance(request, dict) else {}
    session = next(filter(None, (_id(headers.get(name, "")) for name in _SESSION_HEADERS)), "") or _session_of_body(members)
    agent = _id(headers.get("x-claude-code-agent-id", ""))
    messages = _messages(members)
    base = session or _opening_digest(members, [message for message in messages if isinstance(message, dict)])
    return Identity(
        conversation=f"{base}/{agent}" if base and agent else base,
        session=session,
        agent=agent,
        parent_agent=_id(headers.get("x-claude-code-parent-agent-id", "")),
        has_assistant=any(isinstance(message, dict) and _is_the_models(message) for message in messages),
    )


def _messages(members: dict[str, Any]) -> list[Any]:
    listed = members.get("messages") or members.get("input")
    if isinstance(listed, str):
        return [{"role": "user", "content": listed}]
    return listed if isinstance(listed, list) else []


def _is_the_models(message: dict[str, Any]) -> bool:
    if message.get("role") == "assistant":
        return True
    kind = message.get("type")
    return isinstance(kind, str) and kind in _MODEL_ITEMS


def _session_of_body(members: dict[str, Any]) -> str:
    metadata = members.get("metadata")
    user_id = metadata.get("user_id") if isinstance(metadata, dict) else None
    if isinstance(user_id, str):
        if match := _USER_ID.fullmatch(user_id):
            return _id(match["session"])
        try:
            fields = msgspec.json.decode(user_id)
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
            fields = None
        if isinstance(fields, dict) and (session := _id(fields.get("session_id"))):
            return session
    return _id(members.get("prompt_cache_key"))


def _opening_digest(members: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    """Digest of the system text and the first user message, without markers; empty where there is no user message."""
    first = next((index for index, message in enumerate(messages) if message.get("role") == "user"), None)
    if first is None:
        return ""
    leading = [message.get("content") for message in messages[:first] if _text(message.get("role")) in _SYSTEM_ROLES]
    digest = hashlib.sha256()
    try:
        for part in (members.get("system"), members.get("instructions"), *leading, messages[first].get("content")):
            for text in _texts(part):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "big") + data)
            digest.update(_PART_END)
    except RecursionError:
        return ""
    return f"opening-{digest.hexdigest()[:24]}"


def _texts(content: Any) -> Iterator[str]:
    """The texts of a string or of blocks: clients turn the one into the other to hang a marker on it."""
    if isinstance(content, str):
        yield content
        return
    for block in content if isinstance(content, list) else []:
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            if not ATTRIBUTION.match(text):
                yield text
        elif isinstance(block, dict):
            yield json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True)
        elif block is not None:
            yield json.dumps(block, sort_keys=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _id(value: Any) -> str:
    """An id fit for a screen and a URL; a digest of it where it is too long or holds anything but printable ASCII."""
    text = _text(value).strip()
    if len(text) <= _ID_LIMIT and text.isascii() and text.isprintable():
        return text
    return f"id-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
