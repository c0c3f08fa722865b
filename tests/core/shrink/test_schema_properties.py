import json
import os
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import explain_tool, shrink_catalog
from tests.core.shrink.noisy_schemas import catalogs, dumped, exactly, tools

levels = st.sampled_from(Level)
thorough = settings(
    max_examples=int(os.environ.get("CAVEMAN_TEST_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


@given(catalogs(), levels)
@thorough
def test_annotations_go_and_nothing_else(catalog: tuple[bytes, Any], level: Level) -> None:
    data, wanted = catalog
    assert exactly(shrink_catalog(data, level=level).after) == wanted


@given(catalogs(), levels)
@thorough
def test_profile_is_the_same_and_a_second_run_changes_nothing(catalog: tuple[bytes, Any], level: Level) -> None:
    data, _ = catalog
    shrunk = shrink_catalog(data, level=level)
    assert selection_profile(shrunk.after) == selection_profile(data)
    assert shrink_catalog(shrunk.after, level=level).after == shrunk.after


@given(catalogs(), levels)
@thorough
def test_every_token_that_is_left_stood_there_in_that_order(catalog: tuple[bytes, Any], level: Level) -> None:
    data, _ = catalog
    there = iter(_TOKEN.findall(data))
    assert all(token in there for token in _TOKEN.findall(shrink_catalog(data, level=level).after))


@given(catalogs(), levels)
@thorough
def test_a_tool_comes_out_the_same_alone_and_in_company(catalog: tuple[bytes, Any], level: Level) -> None:
    data, _ = catalog
    shrunk = shrink_catalog(data, level=level)
    assert [tool.before for tool in shrunk.tools] == [data[tool.start : tool.end] for tool in find_tools(data)]
    for tool in shrunk.tools:
        company = b'[{"name":"other","inputSchema":{"title":"T"}},' + tool.before + b"]"
        beside = [other for other in shrink_catalog(company, level=level).tools if other.before == tool.before]
        assert [other.after for other in beside] == [tool.after]


@given(catalogs(), levels)
@thorough
def test_units_cover_each_description(catalog: tuple[bytes, Any], level: Level) -> None:
    data, _ = catalog
    for tool in shrink_catalog(data, level=level).tools:
        for description in explain_tool(tool, level):
            position = 0
            for unit in description.units:
                assert unit.start == position < unit.end
                position = unit.end
            assert position == len(description.before)


_sentences = st.sampled_from(
    [
        "Reads a file.",
        "The path must be absolute, e.g. /srv/data.",
        "This powerful tool is great <b>& fast</b>!",
        "Returns:\n    A string with “the content”.",
        "- `mode`: one of r, w",
        "最多支持500公里。",
        '```\n{"a": 1}\n```',
        "C:\\tmp\t\\\\host 🙂",
        "IMPORTANT: NEVER pass null.",
        "\ud83d",
    ]
)
_long_texts = st.lists(st.tuples(_sentences, st.sampled_from([" ", "\n", "\n\n\n", "   \n  "])), min_size=5, max_size=20).map(
    lambda parts: "".join(sentence + gap for sentence, gap in parts)
)


@given(_long_texts, _long_texts, st.sampled_from([None, 2]), levels)
@thorough
def test_long_descriptions_change_and_nothing_beside_them(own: str, inner: str, indent: int | None, level: Level) -> None:
    def document(own: str, inner: str, *noise: str) -> bytes:
        schema = {"properties": {"description": {"title": "T", "description": inner, "maximum": 1}, "b": {"examples": [inner]}}}
        for member in schema["properties"].values():
            for key in noise:
                member.pop(key, None)
        # Only ASCII can carry a lone surrogate, and the name shows that whoever wrote this escapes all else.
        return dumped({"tools": [{"name": "té", "description": own, "inputSchema": schema}]}, indent=indent, ascii_only=True)

    data = document(own, inner)
    after = shrink_catalog(data, level=level).after
    tool = json.loads(after)["tools"][0]
    assert after == document(tool["description"], tool["inputSchema"]["properties"]["description"]["description"], "title", "examples")
    assert selection_profile(after) == selection_profile(data)
    assert shrink_catalog(after, level=level).after == after


@given(tools(), st.data(), levels)
@thorough
def test_a_tool_with_a_repeated_key_anywhere_stays(twin: Any, draw: st.DataObject, level: Level) -> None:
    data = dumped(twin[0], tight=True)
    braces = [token.end() for token in _TOKEN.finditer(data) if token[0] == b"{"]
    at = draw.draw(st.sampled_from(braces))
    repeated = data[:at] + b'"zz":1,"zz":2' + (b"" if data[at : at + 1] == b"}" else b",") + data[at:]
    catalog = b'{"tools":[' + repeated + b',{"name":"other","inputSchema":{"title":"T"}}]}'
    assert shrink_catalog(catalog, level=level).after == catalog.replace(b'{"title":"T"}}]}', b"{}}]}")


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")), levels)
@thorough
def test_any_bytes_come_back(data: bytes, level: Level) -> None:
    shrunk = shrink_catalog(data, level=level)
    assert shrunk.after == data and not shrunk.changed and shrunk.note


@given(catalogs(), st.data())
@thorough
def test_a_broken_document_comes_back(catalog: tuple[bytes, Any], draw: st.DataObject) -> None:
    data, _ = catalog
    cut = data[: draw.draw(st.integers(0, len(data) - 1))]
    shrunk = shrink_catalog(cut)
    assert shrunk.after == cut and shrunk.note
