"""Of an edited body only what edits lie in is parsed again: the value is the same as that of all its bytes."""

import json
from typing import Any

import pytest
from hypothesis import given

from caveman_tui.core import rewrite as rewrite_module
from caveman_tui.core.edits import Edit, EditKind, apply_edits
from caveman_tui.core.json_spans import JsonDocument, parse_value
from caveman_tui.core.policy import ClientKind, Dialect, Policy, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from tests.core.requests import HOUR, encode, generated, loop, spelled, text

_TOOLS = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object", "title": "T"}}]
_POLICY = Policy(shrink=ShrinkMode.APPLY)


def _value_after(body: bytes, edits: tuple[Edit, ...]) -> Any:
    return rewrite_module._value_after(JsonDocument(body), edits, apply_edits(body, edits))


@given(spelled(generated.map(lambda request: request | {"tools": _TOOLS})))
def test_it_is_what_all_bytes_say(body: bytes) -> None:
    edits = rewrite(body, Dialect.ANTHROPIC_MESSAGES, ClientKind(), _POLICY).edits
    assert _value_after(body, edits) == json.loads(apply_edits(body, edits))


def test_only_what_changed_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    body = encode({"system": "x" * 100_000, "messages": [*loop(text("hi", HOUR), steps=2)], "tools": _TOOLS})
    edits = rewrite(body, Dialect.ANTHROPIC_MESSAGES, ClientKind(), _POLICY).edits
    assert {edit.kind for edit in edits} == {EditKind.TTL, EditKind.TOOLS}
    parsed: list[bytes] = []
    monkeypatch.setattr(rewrite_module, "parse_value", lambda part: parsed.append(part) or parse_value(part))
    document = JsonDocument(body)
    value = rewrite_module._value_after(document, edits, apply_edits(body, edits))
    assert value == json.loads(apply_edits(body, edits)) != document.value
    assert sum(map(len, parsed)) < 1000


@pytest.mark.parametrize("at", range(len(b'{"a":[1,{"b":2}],"c":{}}') + 1))
def test_white_space_put_anywhere_changes_nothing(at: int) -> None:
    body = b'{"a":[1,{"b":2}],"c":{}}'
    if body[at - 1 : at].isalpha() or body[at : at + 1].isalpha():
        return
    edit = Edit(pointer="", start=at, end=at, kind=EditKind.MARKER, before=b"", after=b"  ", reason="r")
    assert _value_after(body, (edit,)) == {"a": [1, {"b": 2}], "c": {}}
