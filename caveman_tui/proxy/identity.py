"""Which conversation a request belongs to, read from its headers and, where they don't say, from its body."""

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
    """Whether the model has already spoken in this request's history; False, too, where a header names the session and nobody looked."""

    @property
    def pinnable(self) -> bool:
        """Whether a decision may be tied to it.

        A digest stands for a conversation only once the model has answered in it: one-off requests often share their opening.
        """
        return bool(self.conversation) and (bool(self.session) or self.has_assistant)


def identify(headers: Mapping[str, str], body: bytes) -> Identity:
    """Read the identity; `headers` by lower-case names, `body` decoded from its content coding.

    Never raises: what can't be read counts as absent. The body is read only where no header names the session; that takes about
    1 ms per MB. May run in any thread.
    """
    session = next(filter(None, (_id(headers.get(name, "")) for name in _SESSION_HEADERS)), "")
    request = _Request() if session else _read(body)
    session = session or _session_of_body(request)
    agent = _id(headers.get("x-claude-code-agent-id", ""))
    base = session or _opening_digest(request)
    return Identity(
        conversation=f"{base}/{agent}" if base and agent else base,
        session=session,
        agent=agent,
        parent_agent=_id(headers.get("x-claude-code-parent-agent-id", "")),
        has_assistant=any(m.role == "assistant" or m.type in _MODEL_ITEMS for m in request.messages),
    )


_ABSENT = msgspec.Raw()
"""The raw value of a member that isn't there. In a union with None msgspec takes `Raw` for a type of its own and finds no value of it."""


class _Message(msgspec.Struct):
    """A message or input item; `content` is raw JSON, or the value itself where the strict reader refused the body."""

    role: str = ""
    type: str = ""
    content: msgspec.Raw = _ABSENT


class _Members(msgspec.Struct):
    system: msgspec.Raw = _ABSENT
    instructions: msgspec.Raw = _ABSENT
    metadata: msgspec.Raw = _ABSENT
    prompt_cache_key: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    input: msgspec.Raw = _ABSENT


class _Request(msgspec.Struct):
    """The few members that tell conversations apart. Contents of messages stay unread, so that many MB cost little."""

    system: tuple[Any, ...] = ()
    metadata: Any = None
    prompt_cache_key: Any = None
    messages: list[_Message] = []


_decode_members = msgspec.json.Decoder(_Members).decode
_decode_messages = msgspec.json.Decoder(list[_Message]).decode


def _read(body: bytes) -> _Request:
    try:
        members = _decode_members(body)
        messages = _messages(members.messages) or _messages(members.input)
        return _Request(
            system=(_value(members.system), _value(members.instructions)),
            metadata=_value(members.metadata),
            prompt_cache_key=_value(members.prompt_cache_key),
            messages=messages,
        )
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _read_leniently(body)


def _read_leniently(body: bytes) -> _Request:
    """For what msgspec refuses and providers may accept: lone surrogates, NaN, items of odd types."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return _Request()
    if not isinstance(document, dict):
        return _Request()
    listed = document.get("messages") or document.get("input") or []
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return _Request(
        system=(document.get("system"), document.get("instructions")),
        metadata=document.get("metadata"),
        prompt_cache_key=document.get("prompt_cache_key"),
        messages=[_lenient_message(item) for item in items],
    )


def _lenient_message(item: dict[str, Any]) -> _Message:
    content: Any = item.get("content")
    return _Message(role=_text(item.get("role")), type=_text(item.get("type")), content=content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _messages(raw: msgspec.Raw) -> list[_Message]:
    match bytes(memoryview(raw)[:1]):
        case b"" | b"n":
            return []
        case b'"':
            return [_Message(role="user", content=raw)]
        case _:
            return _decode_messages(raw)


def _value(part: Any) -> Any:
    if not isinstance(part, msgspec.Raw):
        return part
    return msgspec.json.decode(part) if memoryview(part).nbytes else None


def _session_of_body(request: _Request) -> str:
    user_id = request.metadata.get("user_id") if isinstance(request.metadata, dict) else None
    if isinstance(user_id, str):
        if match := _USER_ID.fullmatch(user_id):
            return _id(match["session"])
        try:
            fields = msgspec.json.decode(user_id)
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
            fields = None
        if isinstance(fields, dict) and (session := _id(fields.get("session_id"))):
            return session
    return _id(request.prompt_cache_key)


def _opening_digest(request: _Request) -> str:
    """Digest of the system text and the first user message, without markers; empty where there is no user message."""
    first = next((index for index, message in enumerate(request.messages) if message.role == "user"), None)
    if first is None:
        return ""
    leading = [message.content for message in request.messages[:first] if message.role in _SYSTEM_ROLES]
    digest = hashlib.sha256()
    try:
        for part in (*request.system, *leading, request.messages[first].content):
            for text in _texts(_value(part)):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "big") + data)
            digest.update(_PART_END)
    except (msgspec.MsgspecError, RecursionError):
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


def _id(value: Any) -> str:
    """An id fit for a screen and a URL; a digest of it where it is too long or holds anything but printable ASCII."""
    text = _text(value).strip()
    if len(text) <= _ID_LIMIT and text.isascii() and text.isprintable():
        return text
    return f"id-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
