import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.policy import Dialect, Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import PinChange
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.conversations import PIN_SECONDS, Conversations
from caveman_tui.proxy.identity import Identity, identify
from caveman_tui.proxy.pins import PinFile

MESSAGES, COUNT = Dialect.ANTHROPIC_MESSAGES, Dialect.ANTHROPIC_COUNT_TOKENS
APPLY = Settings(shrink=ShrinkMode.APPLY, level=Level.TERSE, excluded_tools=("Bash",))
MEASURE = Settings(shrink=ShrinkMode.MEASURE)
NAMED = Identity(conversation="s", session="s")
NOW = 1_000_000.0


def _identity(body: Any, headers: dict[str, str] | None = None) -> Identity:
    return identify(headers or {}, body)


def _body(system: Any = "be brief", prompt: Any = "hello", *rest: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "system": system, "messages": [{"role": "user", "content": prompt}, *rest], **more}


ANSWER = {"role": "assistant", "content": "hi"}
UUID = "0b0e3f52-6b8c-4a39-9d6e-9f2f4a8b7c11"


@pytest.mark.parametrize(
    ("headers", "body", "session"),
    [
        ({"x-claude-code-session-id": "a", "session-id": "b"}, _body(metadata={"user_id": f"user_aa_account__session_{UUID}"}), "a"),
        ({"session-id": "b"}, _body(prompt_cache_key="k"), "b"),
        ({}, _body(metadata={"user_id": f"user_{'0f' * 32}_account_{UUID}_session_{UUID[::-1]}"}), UUID[::-1]),
        ({}, _body(metadata={"user_id": f"user_{'0f' * 32}_account__session_{UUID}"}), UUID),
        ({}, _body(metadata={"user_id": json.dumps({"device_id": "d", "account_uuid": "", "session_id": UUID})}), UUID),
        ({}, _body(metadata={"user_id": "person-7"}, prompt_cache_key="k"), "k"),
        ({}, _body(prompt_cache_key="k"), "k"),
        ({}, _body(metadata={"user_id": json.dumps({"session_id": 7})}), ""),
        ({}, _body(metadata="odd", prompt_cache_key=["odd"]), ""),
    ],
)
def test_the_session_is_taken_from_the_first_place_that_names_it(headers: dict[str, str], body: Any, session: str) -> None:
    identity = _identity(body, headers)
    assert identity.session == session
    assert identity.pinnable == bool(session)
    assert identity.conversation == session or (not session and identity.conversation.startswith("opening-"))


def test_without_a_session_the_opening_tells_conversations_apart() -> None:
    opening = _identity(_body())
    later = _identity(_body("be brief", "hello", ANSWER, {"role": "user", "content": "more"}))
    assert opening.conversation == later.conversation
    assert (opening.pinnable, later.pinnable) == (False, True)
    assert _identity(_body(prompt="other")).conversation != opening.conversation
    assert _identity(_body(system="other")).conversation != opening.conversation
    assert _identity(_body(system="be briefhello", prompt="")).conversation != opening.conversation


def test_markers_and_the_attribution_line_do_not_make_another_conversation() -> None:
    marker = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    line = {"type": "text", "text": "x-anthropic-billing-header: cc_version=1.2.3; cch=7f3a"}
    image = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/i.png"}}
    plain = _body([line, {"type": "text", "text": "be brief"}], [{"type": "text", "text": "hello"}, image])
    other = line | {"text": "x-anthropic-billing-header: cc_version=1.2.3; cch=99ff"}
    marked = _body([other, {"type": "text", "text": "be brief"} | marker], [{"type": "text", "text": "hello"}, image | marker])
    assert _identity(plain).conversation == _identity(marked).conversation
    assert _identity(_body("be brief", "hello")) == _identity(_body([{"type": "text", "text": "be brief"} | marker], "hello"))


def test_openai_shapes_are_told_apart_the_same_way() -> None:
    chat = {"messages": [{"role": "developer", "content": "be brief"}, {"role": "user", "content": "hello"}]}
    other = {"messages": [{"role": "developer", "content": "be long"}, {"role": "user", "content": "hello"}]}
    assert _identity(chat).conversation != _identity(other).conversation
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    responses = {"instructions": "be brief", "input": [asked]}
    assert _identity(responses).conversation == _identity(responses | {"input": "hi"}).conversation
    assert not _identity(responses).has_assistant
    called = [asked, {"type": "function_call", "name": "f", "arguments": "{}"}]
    assert _identity(responses | {"input": called}).pinnable


def test_sub_agents_are_conversations_of_their_own_under_the_session() -> None:
    headers = {"x-claude-code-session-id": "s", "x-claude-code-agent-id": "a", "x-claude-code-parent-agent-id": "p"}
    identity = _identity(_body(), headers)
    assert (identity.conversation, identity.session, identity.agent, identity.parent_agent) == ("s/a", "s", "a", "p")


@pytest.mark.parametrize("value", ["x" * 4000, "漢字", "a\x00b", "a\tb"])
def test_an_odd_id_is_replaced_by_its_digest(value: str) -> None:
    identity = _identity(_body(), {"session-id": value})
    assert identity.session.startswith("id-") and len(identity.session) < 40
    assert identity == _identity(_body(), {"session-id": value})


def test_what_only_a_lenient_reader_takes_has_an_identity_too() -> None:
    surrogate = b'{"system":"s","messages":[{"role":"user","content":"\\ud800"},{"role":"assistant","content":NaN}]}'
    identity = identify({}, JsonDocument(surrogate).value)
    assert identity.pinnable and identity.conversation.startswith("opening-")
    odd = b'{"messages":["text",7,{"role":["user"]},{"role":"user","content":{"a":[1]}}]}'
    assert identify({}, JsonDocument(odd).value).conversation.startswith("opening-")


@pytest.mark.parametrize("request_", [None, [], 7, "text", {}, {"messages": 7}, {"messages": [7]}])
def test_what_is_no_request_has_no_conversation(request_: Any) -> None:
    assert identify({}, request_) == Identity()
    assert identify({"session-id": "s"}, request_).conversation == "s"


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_reading_an_identity_never_raises(value: Any) -> None:
    members = ("system", "messages", "input", "metadata", "prompt_cache_key", "instructions")
    for member in members:
        identify({}, {member: value})
        identify({}, {"messages": [{"role": "user", member: value, "content": value}]})


def test_the_first_request_with_tools_pins_and_later_settings_do_not_matter() -> None:
    conversations = Conversations()
    without = conversations.policy_for(NAMED, MESSAGES, MEASURE, False, NOW)
    assert without.shrink is ShrinkMode.MEASURE
    first = conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW + 1)
    assert (first.shrink, first.level, first.excluded_tools) == (ShrinkMode.APPLY, Level.TERSE, ("Bash",))
    later = conversations.policy_for(NAMED, MESSAGES, Settings(shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.OFF), True, NOW + 2)
    assert (later.shrink, later.level, later.excluded_tools) == (ShrinkMode.APPLY, Level.TERSE, ("Bash",))
    assert later.loop_ttl is LoopTtlMode.OFF
    other = conversations.policy_for(Identity(conversation="o", session="o"), Dialect.OPENAI_CHAT, MEASURE, True, NOW + 3)
    assert other.shrink is ShrinkMode.MEASURE


def test_a_pin_lapses_one_hour_after_the_last_request() -> None:
    conversations = Conversations()
    conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
    kept = conversations.policy_for(NAMED, MESSAGES, MEASURE, True, NOW + PIN_SECONDS - 1)
    assert kept.shrink is ShrinkMode.APPLY
    still = conversations.policy_for(NAMED, MESSAGES, MEASURE, False, NOW + 2 * PIN_SECONDS - 2)
    assert still.shrink is ShrinkMode.APPLY
    lapsed = conversations.policy_for(NAMED, MESSAGES, MEASURE, True, NOW + 3 * PIN_SECONDS)
    assert lapsed.shrink is ShrinkMode.MEASURE


def test_a_digest_without_an_answer_pins_nothing() -> None:
    conversations = Conversations()
    opening = Identity(conversation="opening-1")
    assert conversations.policy_for(opening, MESSAGES, APPLY, True, NOW).shrink is ShrinkMode.APPLY
    assert conversations.policy_for(opening, MESSAGES, MEASURE, True, NOW).shrink is ShrinkMode.MEASURE
    answered = Identity(conversation="opening-1", has_assistant=True)
    assert conversations.policy_for(answered, MESSAGES, APPLY, True, NOW).shrink is ShrinkMode.APPLY
    assert conversations.policy_for(answered, MESSAGES, MEASURE, True, NOW).shrink is ShrinkMode.APPLY


def test_counting_uses_the_pin_and_never_makes_or_keeps_one() -> None:
    conversations = Conversations()
    before = conversations.policy_for(NAMED, COUNT, APPLY, True, NOW)
    assert (before.shrink, before.loop_ttl) == (ShrinkMode.OFF, LoopTtlMode.OFF)
    assert conversations.policy_for(NAMED, MESSAGES, MEASURE, True, NOW).shrink is ShrinkMode.MEASURE
    pinned = Identity(conversation="p", session="p")
    conversations.policy_for(pinned, MESSAGES, APPLY, True, NOW)
    after = conversations.policy_for(pinned, COUNT, MEASURE, True, NOW + PIN_SECONDS - 1)
    assert (after.shrink, after.level, after.excluded_tools, after.loop_ttl) == (
        ShrinkMode.APPLY,
        Level.TERSE,
        ("Bash",),
        LoopTtlMode.OFF,
    )
    assert conversations.policy_for(pinned, COUNT, APPLY, True, NOW + PIN_SECONDS + 1).shrink is ShrinkMode.OFF


def test_latches_hold_for_the_conversation_and_lapse_with_it() -> None:
    now = NOW
    conversations = Conversations(clock=lambda: now)
    conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
    conversations.refuse_markers(NAMED)
    conversations.refuse_tools(NAMED)
    policy = conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW + 1)
    assert (policy.markers_refused, policy.tools_refused) == (True, True)
    other = conversations.policy_for(Identity(conversation="o", session="o"), MESSAGES, APPLY, True, NOW + 1)
    assert (other.markers_refused, other.tools_refused) == (False, False)
    lapsed = conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW + 2 * PIN_SECONDS)
    assert (lapsed.markers_refused, lapsed.tools_refused) == (False, False)
    conversations.refuse_tools(Identity())
    assert conversations.policy_for(Identity(), MESSAGES, APPLY, True, NOW).tools_refused is False


def test_forcing_switches_a_running_conversation_and_lifts_the_tools_latch() -> None:
    conversations = Conversations(clock=lambda: NOW)
    conversations.policy_for(NAMED, MESSAGES, MEASURE, True, NOW)
    conversations.refuse_tools(NAMED)
    shown = conversations.force("s", PinChange(shrink=ShrinkMode.APPLY, level=Level.CAREFUL), APPLY)
    assert (shown.shrink, shown.level, shown.tools_refused, shown.requests) == (ShrinkMode.APPLY, Level.CAREFUL, False, 1)
    policy = conversations.policy_for(NAMED, MESSAGES, MEASURE, True, NOW)
    assert (policy.shrink, policy.level, policy.tools_refused) == (ShrinkMode.APPLY, Level.CAREFUL, False)
    with pytest.raises(KeyError):
        conversations.force("nobody", PinChange(shrink=ShrinkMode.OFF), APPLY)


def test_another_shrinker_is_announced_once_where_bytes_depend_on_it() -> None:
    conversations = Conversations(shrinker="1")
    conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
    assert not conversations.shrinker_changed(NAMED)
    conversations._shrinker = "2"
    assert [conversations.shrinker_changed(NAMED) for _ in range(2)] == [True, False]


def test_conversations_are_listed_by_their_last_request_and_bounded() -> None:
    conversations = Conversations(clock=lambda: NOW)
    for number in range(2500):
        name = f"c{number}"
        conversations.policy_for(Identity(conversation=name, session=name), MESSAGES, APPLY, True, NOW + number / 10_000)
    conversations.policy_for(Identity(conversation="c2000", session="c2000"), MESSAGES, APPLY, True, NOW + 1)
    listed = conversations.list()
    assert len(listed) == 2000
    assert [one.id for one in listed[:2]] == ["c2000", "c2499"]


def names_in(directory: Path) -> list[str]:
    return [entry.name for entry in directory.iterdir()]


async def test_pins_and_latches_outlive_the_worker(tmp_path: Path) -> None:
    path = tmp_path / "pins.json"
    first = Conversations(PinFile(path), shrinker="1", clock=lambda: NOW)
    first.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
    first.refuse_markers(NAMED)
    await first.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names_in(tmp_path) == ["pins.json"]

    second = Conversations(PinFile(path), shrinker="2", clock=lambda: NOW + 60)
    policy = second.policy_for(NAMED, MESSAGES, MEASURE, True, NOW + 60)
    assert (policy.shrink, policy.level, policy.excluded_tools) == (ShrinkMode.APPLY, Level.TERSE, ("Bash",))
    assert policy.markers_refused and not policy.tools_refused
    assert second.shrinker_changed(NAMED)
    await second.close()
    third = Conversations(PinFile(path), clock=lambda: NOW + 3 * PIN_SECONDS)
    assert third.list() == ()
    await third.close()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version":1,"pins":[{"conversation":7}]}', b'{"version":9,"pins":[]}', b"\xff\xfe"]
)
async def test_an_unreadable_file_is_reported_and_conversations_start_afresh(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pins.json"
    path.write_bytes(content)
    conversations = Conversations(PinFile(path))
    assert str(path) in conversations.problem
    assert conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW).shrink is ShrinkMode.APPLY
    await conversations.close()
    assert Conversations(PinFile(path)).problem == ""


async def test_a_file_that_cannot_be_written_is_reported_once_and_nothing_else_happens(tmp_path: Path) -> None:
    problems: list[str] = []
    conversations = Conversations(PinFile(tmp_path / "absent" / "pins.json"), on_problem=problems.append)
    assert conversations.problem == ""
    for _ in range(2):
        conversations.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
        await conversations._save()
    await conversations.close()
    assert len(problems) == 1 and "could not be written" in problems[0]


async def test_a_clock_that_was_set_back_does_not_keep_a_pin_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "pins.json"
    first = Conversations(PinFile(path), clock=lambda: NOW)
    first.policy_for(NAMED, MESSAGES, APPLY, True, NOW)
    await first.close()
    day = 86_400.0
    second = Conversations(PinFile(path), clock=lambda: NOW - day)
    lapsed = second.policy_for(NAMED, MESSAGES, MEASURE, True, NOW - day + PIN_SECONDS + 1)
    assert lapsed.shrink is ShrinkMode.MEASURE
    await second.close()


def test_a_clock_that_is_set_back_while_it_runs_keeps_no_pin_beyond_an_hour() -> None:
    conversations = Conversations()
    for name in ("a", "b"):
        conversations.policy_for(Identity(conversation=name, session=name), MESSAGES, APPLY, True, 10 * 3600.0)
    later = Identity(conversation="c", session="c")
    conversations.policy_for(later, MESSAGES, APPLY, True, 1000.0)
    for identity in (later, Identity(conversation="b", session="b")):
        assert conversations.policy_for(identity, MESSAGES, MEASURE, True, 1000.0 + PIN_SECONDS).level is MEASURE.level
