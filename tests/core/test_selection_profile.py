import json
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.selection_profile import selection_profile


def profile_of(schema: str, **envelope: Any) -> Any:
    tool = {"name": "t", "description": "d", **envelope}
    return selection_profile(f'[{json.dumps(tool)[:-1]},"inputSchema":{schema}}}]'.encode())


DIFFERENT = [
    ("type", '{"type":"string"}', '{"type":"number"}'),
    ("type in a list", '{"type":["string","null"]}', '{"type":["null","string"]}'),
    ("number and string", '{"enum":[1]}', '{"enum":["1"]}'),
    ("integer and float", '{"enum":[1]}', '{"enum":[1.0]}'),
    ("true and 1", '{"enum":[true]}', '{"enum":[1]}'),
    ("big integers", '{"const":9007199254740993}', '{"const":9007199254740992}'),
    ("floats past the end", '{"const":1e400}', '{"const":2e400}'),
    ("null and nothing", '{"default":null}', "{}"),
    ("required", '{"required":["a"]}', '{"required":[]}'),
    ("nested property", '{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}', '{"properties":{"a":{"properties":{"b":{}}}}}'),
    ("property named title", '{"properties":{"title":{}}}', '{"properties":{}}'),
    ("definition named examples", '{"$defs":{"examples":{}}}', '{"$defs":{}}'),
    ("pattern named $comment", '{"patternProperties":{"$comment":{}}}', '{"patternProperties":{}}'),
    ("dependency named example", '{"dependencies":{"example":["b"]}}', '{"dependencies":{}}'),
    ("pattern", '{"pattern":"a"}', '{"pattern":"b"}'),
    ("bound", '{"maximum":10}', '{"maximum":100}'),
    ("format", '{"format":"date"}', "{}"),
    ("unknown keyword", '{"x-y":{"title":"a"}}', '{"x-y":{}}'),
    ("title in a default", '{"default":{"title":"a"}}', '{"default":{}}'),
    ("description in a default", '{"default":{"description":"a"}}', '{"default":{"description":"b"}}'),
    ("description in an enum", '{"enum":[{"description":"a"}]}', '{"enum":[{"description":"b"}]}'),
    ("title of a constant", '{"oneOf":[{"const":1,"title":"One"}]}', '{"oneOf":[{"const":1}]}'),
    ("title that is no title", '{"title":{"type":"string"}}', "{}"),
    ("where a reference leads", '{"$ref":"#/$defs/A","$defs":{"A":{},"B":{}}}', '{"$ref":"#/$defs/B","$defs":{"A":{},"B":{}}}'),
    ("target of a reference", '{"items":{"$ref":"#/examples/0"},"examples":[{"type":"string"}]}', '{"items":{"$ref":"#/examples/0"}}'),
    ("a description gone", '{"description":"a"}', "{}"),
    ("one key twice", '{"a":1,"a":2}', '{"a":2}'),
]


@pytest.mark.parametrize(("one", "other"), [pytest.param(one, other, id=name) for name, one, other in DIFFERENT])
def test_what_is_in_it(one: str, other: str) -> None:
    assert profile_of(one) == profile_of(one)
    assert profile_of(one) != profile_of(other)
    assert profile_of(one).differences(profile_of(other))
    assert not profile_of(one).differences(profile_of(one))


SAME = [
    ("description", '{"description":"a"}', '{"description":"b"}'),
    ("title", '{"title":"a","type":"object"}', '{"type":"object"}'),
    (
        "nested title",
        '{"properties":{"a":{"items":{"anyOf":[{"title":"x","type":"string"}]}}}}',
        '{"properties":{"a":{"items":{"anyOf":[{"type":"string"}]}}}}',
    ),
    ("examples", '{"examples":[1],"example":2,"$comment":"c","$schema":"s"}', "{}"),
    ("order of keys", '{"type":"object","properties":{"a":{},"b":{}}}', '{"properties":{"b":{},"a":{}},"type":"object"}'),
    ("layout", '{ "type" : "object" }', '{"type":"object"}'),
    ("spelling of text", '{"const":"\\u00fc\\/"}', '{"const":"ü/"}'),
    ("references in what may go", '{"examples":[{"$ref":"#/title"}],"title":"a"}', "{}"),
]


@pytest.mark.parametrize(("one", "other"), [pytest.param(one, other, id=name) for name, one, other in SAME])
def test_what_is_not_in_it(one: str, other: str) -> None:
    assert profile_of(one) == profile_of(other)


@pytest.mark.parametrize(
    "key", ["title", "annotations", "_meta", "cache_control", "defer_loading", "strict", "icons", "input_examples", "x"]
)
def test_the_envelope_is_in_it(key: str) -> None:
    assert profile_of("{}", **{key: {"title": "a"}}) != profile_of("{}")
    assert profile_of("{}", **{key: {"title": "a"}}) != profile_of("{}", **{key: {"title": "b"}})
    assert profile_of("{}", **{key: "a"}) != profile_of("{}", **{key: "b"})


def test_tools_of_one_name_one_by_one() -> None:
    first, second = '{"name":"t","inputSchema":{"type":"object"}}', '{"name":"t","inputSchema":{"type":"array"}}'
    pair = selection_profile(f"[{first},{second}]".encode())
    assert [tool.name for tool in pair.tools] == ["t", "t"]
    assert pair != selection_profile(f"[{second},{first}]".encode())
    assert pair != selection_profile(f"[{first},{first}]".encode())


def test_it_prints() -> None:
    assert str(profile_of('{"type":"object","properties":{"a/b":{"maximum":1.50}}}')) == "\n".join(
        [
            "t /0",
            "   {}",
            "  /description described",
            "  /inputSchema {}",
            "  /inputSchema/properties {}",
            "  /inputSchema/properties/a~1b {}",
            "  /inputSchema/properties/a~1b/maximum 1.50",
            '  /inputSchema/type "object"',
            '  /name "t"',
        ]
    )


def test_whether_references_lead_anywhere_is_in_it() -> None:
    text = str(profile_of('{"items":{"$ref":"#/$defs/A"},"not":{"$ref":"#/$defs/B"},"$defs":{"A":{}}}'))
    assert "/inputSchema/items/$ref -> resolves" in text
    assert "/inputSchema/not/$ref -> leads nowhere" in text
    anchors = str(
        profile_of(
            '{"items":{"$ref":"#a"},"not":{"$ref":"#b"},"if":{"$ref":"r#b"},"$defs":{"A":{"$anchor":"a"},"R":{"$id":"r","$defs":{"B":{"$anchor":"b"}}}}}'
        )
    )
    assert "/inputSchema/items/$ref -> resolves" in anchors
    assert "/inputSchema/not/$ref -> leads nowhere" in anchors
    assert "/inputSchema/if/$ref -> resolves" in anchors


@pytest.mark.parametrize("data", [b"", b"{", b"[] []", b"\xff"])
def test_no_document_no_profile(data: bytes) -> None:
    with pytest.raises(JsonRefused):
        selection_profile(data)


def test_a_tool_that_nests_too_deep_is_its_text() -> None:
    def deep(innermost: str) -> Any:
        return profile_of('{"items":' * 250 + innermost + "}" * 250)

    assert deep('{"title":"a"}') == deep('{"title":"a"}')
    assert deep('{"title":"a"}') != deep('{"title":"b"}')


def test_every_real_tool_has_facts(shared_data: Path) -> None:
    for path in sorted((shared_data / "catalogs").glob("*.json")):
        profile = selection_profile(path.read_bytes())
        assert profile.tools and all(len(tool.facts) >= 3 for tool in profile.tools), path.name
