"""A tool is edited as a tree where a common writer wrote it, else in its text. Whichever way is taken, the bytes are the same."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.core.shrink import tool as tool_module
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.tool import Definition
from caveman_tui.core.shrink.tool_text import ToolText
from tests.core.shrink.descriptions import shorten
from tests.core.shrink.noisy_schemas import catalogs, dumped, tools
from tests.core.shrink.test_reference_properties import referring

thorough = settings(
    max_examples=int(os.environ.get("CAVEMAN_TEST_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
levels = st.sampled_from(Level)

_sentences = [
    "Reads a file. ",
    "The path must be absolute, e.g. /srv/data.  ",
    "This powerful tool is great <b>& fast</b>!\n\n\n",
    "\n- `mode`: r",
    "最多支持500公里。",
    "Returns:\n    A string with “the content”. ",
    "\x7f\u2028\x00 ",
    "Use 🙂 \\ \t it. ",
    "Very useful and amazing. ",
]
_prose = st.lists(st.sampled_from(_sentences), max_size=16).map("".join)


def _shrunk(data: bytes, value: Any, name: str, level: Level) -> bytes:
    return tool_module._shrink([Definition(data, value, name)], level)[0]


def _text_way(data: bytes, name: str, level: Level) -> bytes:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tool_module, "spelling_of", lambda *_: None)
        return _shrunk(data, JsonDocument(data).value, name, level)


def _both_ways(document: bytes, level: Level) -> None:
    for found in find_tools(document):
        data = document[found.start : found.end]
        assert _shrunk(data, found.value, found.name, level) == _text_way(data, found.name, level)


@given(catalogs(), levels)
@thorough
def test_both_ways_agree(catalog: tuple[bytes, Any], level: Level) -> None:
    _both_ways(catalog[0], level)


@given(tools(), _prose, _prose, st.sampled_from([None, 1, 2, 4]), st.booleans(), st.booleans(), levels)
@thorough
def test_both_ways_agree_on_descriptions(
    twin: Any, own: str, inner: str, indent: int | None, ascii_only: bool, tight: bool, level: Level
) -> None:
    properties = {"title": {"title": "T", "description": inner, "enum": ["r", 0.5]}, "b": {"default": [1.0, 10**20], "description": inner}}
    tool = {"name": "t", "description": own, "inputSchema": {"properties": properties, "required": ["b"]}}
    _both_ways(dumped({"tools": [tool, twin[0]]}, indent=indent, ascii_only=ascii_only, tight=tight), level)


@given(referring(), st.sampled_from([None, 2]), st.booleans(), st.booleans())
@thorough
def test_both_ways_agree_on_references(made: tuple[Any, list[str]], indent: int | None, ascii_only: bool, tight: bool) -> None:
    _both_ways(dumped([{"name": "t", "inputSchema": made[0]}], indent=indent, ascii_only=ascii_only, tight=tight), Level.CAREFUL)


def test_a_reference_with_an_escape_in_its_keyword_keeps_what_it_needs() -> None:
    tool = '[{"name":"t","inputSchema":{"examples":[1],"title":"T","items":{"\\u0024ref":"#/examples/0"}}}]'
    assert shrink_catalog(tool.encode()).after == tool.replace('"title":"T",', "").encode()


def test_both_ways_agree_on_published_catalogs(shared_data: Any) -> None:
    for path in sorted(shared_data.glob("catalogs/*.json")):
        _both_ways(path.read_bytes(), Level.CAREFUL)


_TOOL = {
    "name": "read",
    "description": "Reads a file.   \n\n\n\n" + "The path must be absolute – no link. " * 6,
    "inputSchema": {
        "title": "T",
        "properties": {"a": {"type": "string", "examples": ["/"], "minimum": 0.5}},
        "items": {"$ref": "#/properties/a"},
    },
}


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda document: json.dumps(document, ensure_ascii=False, separators=(",", ":")), id="compact"),
        pytest.param(lambda document: json.dumps(document, ensure_ascii=False), id="spaced"),
        pytest.param(lambda document: json.dumps(document, ensure_ascii=False, indent=2), id="pretty"),
        pytest.param(json.dumps, id="ASCII"),
        pytest.param(lambda document: json.dumps(document, indent=4), id="pretty ASCII"),
    ],
)
def test_a_tool_that_a_common_writer_wrote_is_edited_as_a_tree(monkeypatch: pytest.MonkeyPatch, write: Callable[[Any], str]) -> None:
    document = write({"tools": [_TOOL]}).encode()
    (found,) = find_tools(document)
    data = document[found.start : found.end]
    wanted = _text_way(data, found.name, Level.CAREFUL)
    monkeypatch.delattr(tool_module, "ToolText")
    after = _shrunk(data, found.value, found.name, Level.CAREFUL)
    assert after == wanted != data


def test_any_other_is_edited_in_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    class Counted(ToolText):
        def __init__(self, source: bytes) -> None:
            read.append(source)
            super().__init__(source)

    monkeypatch.setattr(tool_module, "ToolText", Counted)
    document = json.dumps([_TOOL, {"name": "plain", "inputSchema": {}}], indent="\t").encode()
    odd, plain = find_tools(document)
    data = document[odd.start : odd.end]
    assert _shrunk(data, odd.value, odd.name, Level.CAREFUL) != data
    assert read == [data]
    data = document[plain.start : plain.end]
    assert _shrunk(data, plain.value, plain.name, Level.CAREFUL) == data
    assert len(read) == 1


@given(st.text(st.sampled_from('ab. \t\n\r\x0b\x1c\xa0\u2003\u3000\u200b:-`"|漢🙂'), max_size=170) | _prose, levels)
@example("a" * 161, Level.TERSE)
@example("漢" * 54, Level.TERSE)
@thorough
def test_a_description_that_is_settled_at_sight_would_stay(text: str, level: Level) -> None:
    if tool_module._is_settled(text):
        assert shorten(text, ToolContext(), level) == text


def test_an_ordinary_short_description_is_settled_at_sight() -> None:
    assert tool_module._is_settled("The path, e.g. `/srv/data`: must be absolute – no link.")
