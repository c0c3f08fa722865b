"""What clients send is read the fast way; the standard library's parser, ten times slower, is for what msgspec refuses."""

from typing import Any

import pytest

from caveman_tui.proxy import identity
from tests.core.requests import HOUR, encode, loop, text

_TOOLS = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}]
_MESSAGES = {"model": "m", "system": [text("be brief", HOUR)], "tools": _TOOLS, "messages": loop(text("hi", HOUR), steps=3)}
_CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": None}, {"role": "tool"}]}
_RESPONSES = {"model": "m", "instructions": None, "input": [{"type": "message", "role": "user", "content": []}, {"type": "reasoning"}]}


@pytest.mark.parametrize("request_", [_MESSAGES, _CHAT, _RESPONSES, {"model": "m", "input": "hi", "messages": None}, {"model": "m"}])
def test_ordinary_requests_never_meet_the_slow_parser(request_: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    body = encode(request_)
    slow = identity._read_leniently(body)
    with monkeypatch.context() as patched:
        patched.setattr(identity, "_read_leniently", lambda _: pytest.fail("the slow parser was asked"))
        fast = identity._read(body)
    assert [(message.role, message.type) for message in fast.messages] == [(message.role, message.type) for message in slow.messages]
    assert (fast.system, fast.metadata, fast.prompt_cache_key) == (slow.system, slow.metadata, slow.prompt_cache_key)
    assert identity._opening_digest(fast) == identity._opening_digest(slow)


def test_a_session_in_a_header_needs_no_look_into_the_body() -> None:
    assert identity.identify({"session-id": "s"}, b"\x00" * 8).session == "s"
