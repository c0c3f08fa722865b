"""The judge: sound evidence passes, and each kind of fault is found and named."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from caveman_tui.demo.json_place import place
from caveman_tui.demo.promises import PROMISES, Evidence, breaches
from caveman_tui.demo.tool_structure import structure
from tests.demo.evidence import BODY, FORWARDED, HANDLE, SHRUNK, TOOLS, sound

ORIGINALS: dict[str, bytes | None] = {HANDLE: TOOLS}


def found(item: Evidence, originals: dict[str, bytes | None] = ORIGINALS) -> set[str]:
    return {breach.promise for breach in breaches((item,), originals)}


def arriving(body: bytes) -> Evidence:
    item = sound()
    item.received[0].body = body
    return item


def test_sound_evidence_breaks_nothing() -> None:
    assert breaches((sound(),), ORIGINALS) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\\u00e4", "ä".encode()),
        (b"1.0", b"1"),
        (b', "tools" : ', b',"tools":'),
        (b'"role":"user","content":[{"type":"tool', b'"role":"user", "content":[{"type":"tool'),
        (b'"5m"', b'"1h"'),
        (b'"5m"', b'"6m"'),
        (b'"type":"ephemeral","ttl":"1h"}}', b'"ttl":"1h","type":"ephemeral"}}'),
        (b',"x":1.0', b""),
    ],
)
def test_any_byte_outside_the_recorded_edits(old: bytes, new: bytes) -> None:
    assert old in FORWARDED
    assert found(arriving(FORWARDED.replace(old, new, 1))) == {"bytes-outside-edits"}


def test_every_single_dropped_byte_is_found() -> None:
    start, end = place(FORWARDED, "/tools")
    for position in (*range(start), *range(end, len(FORWARDED))):
        shorter = FORWARDED[:position] + FORWARDED[position + 1 :]
        assert "bytes-outside-edits" in found(arriving(shorter)), f"dropped {FORWARDED[position : position + 1]!r} at {position}"


def test_an_edit_that_nobody_recorded() -> None:
    item = sound()
    assert item.exchange is not None
    item.exchange.marker_edits = item.exchange.marker_edits[:1]
    assert found(item) == {"bytes-outside-edits"}
    assert found(dataclasses.replace(sound(), exchange=None)) == {"bytes-outside-edits"}


def test_edits_recorded_but_not_made() -> None:
    assert "bytes-outside-edits" in found(arriving(BODY))


def test_a_lost_or_changed_request_header() -> None:
    item = sound()
    item.received[0].headers = (("x-a", "1"),)
    assert found(item) == {"bytes-outside-edits"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"name":"look"', b'"name":"lock"'),
        (b'[1,"1"]', b"[1,1]"),
        (b',"required":["at"]', b""),
        (b'"description":"Looks.",', b""),
        (b'"description":"Looks."', b'"description":" "'),
        (b'"at":{', b'"to":{'),
    ],
)
def test_more_than_prose_taken_from_tools(old: bytes, new: bytes) -> None:
    assert old in SHRUNK
    assert found(arriving(FORWARDED.replace(SHRUNK, SHRUNK.replace(old, new)))) == {"selection-profile"}


def test_members_named_like_annotations_are_none() -> None:
    schema = {"properties": {"title": {"type": "string", "title": "x"}, "description": {}}, "default": {"title": 1}, "enum": [{"title": 2}]}
    tools = [{"name": "n", "input_schema": schema}]
    kept = json.loads(structure(json.dumps(tools).encode()))[0]["input_schema"]
    assert kept == schema | {"properties": {"title": {"type": "string"}, "description": {}}}


@pytest.mark.parametrize("originals", [{}, {HANDLE: None}, {HANDLE: TOOLS[:-1]}, {HANDLE: SHRUNK}])
def test_a_handle_that_gives_something_else(originals: dict[str, bytes | None]) -> None:
    assert found(sound(), originals) == {"handle-resolves"}


def test_replaced_without_a_handle() -> None:
    item = sound()
    assert item.exchange is not None
    item.exchange.tools = (msgspec.structs.replace(item.exchange.tools[0], handle=""),)
    assert found(item) == {"handle-resolves"}


def _cut_answer(item: Evidence) -> None:
    del item.sent.received[-1]


def _longer_answer(item: Evidence) -> None:
    item.sent.received.extend(b"\n")


def _other_status(item: Evidence) -> None:
    item.sent.status = 502


def _lost_cookie(item: Evidence) -> None:
    item.sent.received_headers = (("set-cookie", "a"),)


def _stayed_connected(item: Evidence) -> None:
    item.sent.hung_up = True


@pytest.mark.parametrize("fault", [_cut_answer, _longer_answer, _other_status, _lost_cookie, _stayed_connected])
def test_an_answer_that_did_not_arrive_as_it_was_sent(fault: Callable[[Evidence], Any]) -> None:
    item = sound()
    fault(item)
    assert found(item) == {"every-byte"}


def test_hanging_up_excuses_the_rest_of_the_answer_only() -> None:
    item = sound()
    item.sent.hung_up = item.received[0].hung_up = True
    del item.sent.received[4:]
    assert found(item) == set()
    item.sent.received[:] = b"other"
    assert found(item) == {"every-byte"}


def test_a_broken_marker_rule_and_requests_lost_or_doubled() -> None:
    item = sound()
    item.received[0].rule_broken = "messages.0 …"
    assert found(item) == {"marker-rules"}
    assert found(dataclasses.replace(sound(), received=())) == {"forwarded-once"}
    assert found(dataclasses.replace(sound(), received=sound().received * 2)) == {"forwarded-once"}


def test_every_breach_belongs_to_a_promise_that_is_told() -> None:
    item = arriving(b"{}")
    item.received[0].rule_broken = "x"
    assert found(item, {}) <= set(PROMISES)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("", b'{"a":[{"b/c~d":"\xc3\xa4\\""},-1.5e3] , "e":{}}'), ("/a/0/b~1c~0d", b'"\xc3\xa4\\""'), ("/a/1", b"-1.5e3"), ("/e", b"{}")],
)
def test_places_are_byte_offsets(pointer: str, value: bytes) -> None:
    document = b' {"a":[{"b/c~d":"\xc3\xa4\\""},-1.5e3] , "e":{}}\n'
    start, end = place(document, pointer)
    assert document[start:end] == value


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/e/x", "/a/1/0"])
def test_places_that_are_not_there(pointer: str) -> None:
    with pytest.raises(KeyError):
        place(b'{"a":[1,2],"e":{}}', pointer)
