import json
from typing import Any

import pytest

from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import explain_tool, shrink_catalog

KEYWORDS = ["title", "type", "description", "default", "examples", "enum", "$ref", "properties", "items", "required", "pattern", "format"]
KEYWORDS += ["const", "example", "$comment", "$schema"]


def shrunk_schema(schema: str, level: Level = Level.CAREFUL) -> str:
    """What becomes of one input schema, as text; checked to be the same for the other places where a schema may stand."""
    document = f'{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}'
    after = shrink_catalog(document.encode(), level=level).after
    assert selection_profile(after) == selection_profile(document.encode())
    assert shrink_catalog(after, level=level).after == after
    shrunk = after.decode().removeprefix('{"tools":[{"name":"t","inputSchema":').removesuffix("}]}")
    for around in ('[{"type":"function","function":{"name":"t","parameters":%s}}]', '[{"name":"t","input_schema":{},"outputSchema":%s}]'):
        assert shrink_catalog((around % schema).encode(), level=level).after.decode() == around % shrunk
    return shrunk


GOES = [
    ("title", '{"title":"T","type":"object"}', '{"type":"object"}'),
    ("last member", '{"type":"object","title":"T"}', '{"type":"object"}'),
    ("only member", '{"title":"T"}', "{}"),
    ("run at the end", '{"type":"object","title":"T","$comment":"c","examples":[1]}', '{"type":"object"}'),
    ("run in the middle", '{"a":1,"title":"T","$comment":"c","b":2}', '{"a":1,"b":2}'),
    ("all members", '{"title":"T","$comment":"c"}', "{}"),
    ("$schema", '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}', '{"type":"object"}'),
    ("examples", '{"properties":{"a":{"examples":[{"title":"x"},[1,"]}"]],"type":"string"}}}', '{"properties":{"a":{"type":"string"}}}'),
    ("example", '{"items":{"example":{"a":1},"type":"object"}}', '{"items":{"type":"object"}}'),
    ("in $defs", '{"$defs":{"A":{"title":"A","type":"object"}}}', '{"$defs":{"A":{"type":"object"}}}'),
    (
        "in branches",
        '{"anyOf":[{"title":"a","type":"string"},{"type":"null","title":"b"}]}',
        '{"anyOf":[{"type":"string"},{"type":"null"}]}',
    ),
    ("in tuples", '{"items":[{"title":"a"}],"prefixItems":[{"title":"b"}]}', '{"items":[{}],"prefixItems":[{}]}'),
    ("in conditions", '{"if":{"title":"a"},"then":{"title":"b"},"not":{"title":"c"}}', '{"if":{},"then":{},"not":{}}'),
    ("beside a name that ends like a keyword", '{"properties":{"a\\"title":{"title":"T"}}}', '{"properties":{"a\\"title":{}}}'),
    ("odd layout", '{ "title" : "T" , "type" : "object" , "$comment" : "c" }', '{ "type" : "object"  }'),
    ("const with a title but no alternative", '{"properties":{"a":{"const":1,"title":"A"}}}', '{"properties":{"a":{"const":1}}}'),
]


@pytest.mark.parametrize(("schema", "left"), [pytest.param(schema, left, id=name) for name, schema, left in GOES])
def test_goes(schema: str, left: str) -> None:
    assert shrunk_schema(schema) == left


STAYS = [
    ("names of properties", json.dumps({"properties": {key: {"type": "string"} for key in KEYWORDS}, "required": KEYWORDS})),
    ("names of definitions", json.dumps({"$defs": {key: {} for key in KEYWORDS}, "definitions": {key: {} for key in KEYWORDS}})),
    ("names of patterns", json.dumps({"patternProperties": {key: {} for key in KEYWORDS}})),
    (
        "names of dependencies",
        json.dumps({"dependencies": {key: ["a"] for key in KEYWORDS}, "dependentSchemas": {key: {} for key in KEYWORDS}}),
    ),
    ("dependentRequired", json.dumps({"dependentRequired": {key: ["a"] for key in KEYWORDS}})),
    ("default", '{"default":{"title":"a","examples":[1],"$comment":"c","description":"  d  "}}'),
    ("const", '{"const":{"title":"a","example":1}}'),
    ("enum", '{"enum":[{"title":"a"},{"$schema":"b"}]}'),
    ("vendor objects", '{"x-ui":{"title":"a","properties":{"a":{"title":"b"}}}}'),
    ("unknown keywords", '{"tomorrow":{"title":"a"},"discriminator":{"title":"b"}}'),
    ("titles of constants", '{"oneOf":[{"const":1,"title":"One"},{"title":"Two","enum":[2]}],"anyOf":[{"const":3,"title":"Three"}]}'),
    ("title that is a property gone astray", '{"title":{"type":"string"},"examples":{"type":"array"},"example":{"type":"string"}}'),
    ("numbers", '{"maximum":1.0,"minimum":-0,"multipleOf":1E-5,"const":12345678901234567890,"default":1e400}'),
    ("spelling of text", '{"const":"\\u00fc\\/<>&ü\\ud83d\\ude42\\ud800"}'),
    ("keyword spelled with an escape", '{"t\\u0069tle":"T","type":"object"}'),
    ("repeated key", '{"properties":{"a":{"title":"x","type":"string","type":"number"}},"title":"T"}'),
    ("boolean schemas", '{"items":true,"additionalProperties":false,"properties":{"a":true}}'),
    (
        "keywords with values of the wrong type",
        '{"properties":[{"title":"a"}],"anyOf":{"title":"b"},"items":"c","description":{"title":"d"}}',
    ),
    ("text that looks like a member", '{"const":"\\"title\\":\\"x\\",","pattern":"\\\\\\"title\\": 1"}'),
]


@pytest.mark.parametrize("schema", [pytest.param(schema, id=name) for name, schema in STAYS])
def test_stays(schema: str) -> None:
    assert shrunk_schema(schema) == schema


REFERENCES = [
    ("title", '{"title":"T","$comment":"c","const":{"$ref":"#/title"}}', '{"title":"T","const":{"$ref":"#/title"}}'),
    (
        "into examples",
        '{"properties":{"a":{"examples":[{"type":"string"}],"title":"A"},"b":{"$ref":"#/properties/a/examples/0"}}}',
        '{"properties":{"a":{"examples":[{"type":"string"}]},"b":{"$ref":"#/properties/a/examples/0"}}}',
    ),
    (
        "escapes in a pointer",
        '{"$defs":{"a/b~c %":{"example":1,"title":"x"}},"$ref":"#/$defs/a~1b~0c%20%25/example"}',
        '{"$defs":{"a/b~c %":{"example":1}},"$ref":"#/$defs/a~1b~0c%20%25/example"}',
    ),
    (
        "from a resource of its own",
        '{"examples":[1],"$defs":{"r":{"$id":"https://x.test/r","examples":[2],"items":{"$ref":"#/examples/0"}}}}',
        '{"$defs":{"r":{"$id":"https://x.test/r","examples":[2],"items":{"$ref":"#/examples/0"}}}}',
    ),
    (
        "into another resource",
        '{"$id":"https://x.test/a","title":"A","$defs":{"r":{"$id":"r","title":"R"}},"items":{"$ref":"r#/title"}}',
        '{"$id":"https://x.test/a","$defs":{"r":{"$id":"r","title":"R"}},"items":{"$ref":"r#/title"}}',
    ),
    (
        "kept ones keep others",
        '{"title":"T","examples":[{"$ref":"#/title"}],"items":{"$ref":"#/examples/0"}}',
        '{"title":"T","examples":[{"$ref":"#/title"}],"items":{"$ref":"#/examples/0"}}',
    ),
    ("in what goes keep nothing", '{"title":"T","examples":[{"$ref":"#/title"}],"type":"array"}', '{"type":"array"}'),
    ("to nowhere keep nothing", '{"title":"T","$ref":"#/examples/0"}', '{"$ref":"#/examples/0"}'),
    ("property of that name", '{"properties":{"$ref":{"type":"string","title":"T"}}}', '{"properties":{"$ref":{"type":"string"}}}'),
    (
        "in place of a map of names",
        '{"$defs":{"A":{"examples":[{"a":{}}]}},"properties":{"$ref":"#/$defs/A/examples/0"}}',
        '{"$defs":{"A":{"examples":[{"a":{}}]}},"properties":{"$ref":"#/$defs/A/examples/0"}}',
    ),
    ("recursive", '{"title":"T","properties":{"a":{"$ref":"#"}}}', '{"properties":{"a":{"$ref":"#"}}}'),
    (
        "to an anchor of another resource",
        '{"$defs":{"r":{"$id":"r","$defs":{"A":{"$anchor":"a","title":"A"}}}},"items":{"$ref":"r#a"},"title":"T"}',
        '{"$defs":{"r":{"$id":"r","$defs":{"A":{"$anchor":"a"}}}},"items":{"$ref":"r#a"}}',
    ),
    (
        "to an anchor",
        '{"$defs":{"A":{"$anchor":"a","title":"A"}},"items":{"$ref":"#a"}}',
        '{"$defs":{"A":{"$anchor":"a"}},"items":{"$ref":"#a"}}',
    ),
]


@pytest.mark.parametrize(("schema", "left"), [pytest.param(schema, left, id=name) for name, schema, left in REFERENCES])
def test_references(schema: str, left: str) -> None:
    assert shrunk_schema(schema) == left


def test_a_reference_counts_from_the_schema_of_its_own_tool() -> None:
    one = {"name": "a", "inputSchema": {"title": "A", "type": "object"}}
    two = {"name": "b", "inputSchema": {"title": "B", "items": {"$ref": "#/title"}}, "outputSchema": {"title": "C", "type": "object"}}
    after = json.loads(shrink_catalog(json.dumps([one, two]).encode()).after)
    assert "title" not in after[0]["inputSchema"] and "title" not in after[1]["outputSchema"]
    assert after[1]["inputSchema"]["title"] == "B"


ENVELOPE: dict[str, Any] = {
    "title": "Tool",
    "annotations": {"title": "Tool", "readOnlyHint": True},
    "_meta": {"title": "x", "description": "  y  "},
    "icons": [{"title": "x"}],
    "cache_control": {"type": "ephemeral"},
    "defer_loading": True,
    "strict": True,
    "input_examples": [{"title": "x"}],
    "examples": ["x"],
    "$comment": "x",
    "arguments": [{"name": "a", "title": "b", "description": "  c  "}],
}


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param({"name": "t", **ENVELOPE, "inputSchema": {"type": "object"}}, id="mcp"),
        pytest.param({"name": "t", **ENVELOPE}, id="without a schema"),
        pytest.param({"type": "function", "function": {"name": "t", "parameters": {}, **ENVELOPE}, **ENVELOPE}, id="chat"),
        pytest.param(
            {"type": "custom", "name": "t", "format": {"type": "grammar", "title": "x", "description": "  y  "}, **ENVELOPE}, id="grammar"
        ),
        pytest.param({"type": "web_search_20250305", "name": "web_search", "input_schema": {"title": "x"}, **ENVELOPE}, id="server tool"),
        pytest.param({"type": "mcp_toolset", "mcp_server_name": "x", "configs": {"title": {"enabled": True}}}, id="toolset"),
        pytest.param({"type": "namespace", "name": "n", "description": "  d  ", "title": "x", "tools": []}, id="namespace"),
    ],
)
def test_envelope_stays(tool: dict[str, Any]) -> None:
    data = json.dumps({"tools": [tool, {"name": "other", "inputSchema": {"title": "goes", "type": "object"}}]}).encode()
    after = shrink_catalog(data).after
    assert after == data.replace(b'"title": "goes", ', b"")


def test_raw_schema_keeps_its_name() -> None:
    data = b'{"$schema":"x","title":"get_weather","type":"object","properties":{"city":{"title":"City","type":"string"}}}'
    assert shrink_catalog(data).after == b'{"title":"get_weather","type":"object","properties":{"city":{"type":"string"}}}'


def test_pretty_printed_stays_pretty_printed() -> None:
    def document(*noise: str) -> bytes:
        schema = {
            "title": "A",
            "type": "object",
            "properties": {"a": {"type": "string", "title": "B", "examples": [{"x": [1]}]}},
            "$comment": "c",
        }
        kept = {key: value for key, value in schema.items() if key not in noise}
        kept["properties"] = {"a": {key: value for key, value in schema["properties"]["a"].items() if key not in noise}}  # type: ignore[index]
        return json.dumps({"tools": [{"name": "t", "inputSchema": kept}]}, indent=2).encode()

    assert shrink_catalog(document()).after == document("title", "examples", "$comment")


LONG = (
    "Lists the files of a folder.   \n\n\n\n"
    + "  Hidden ones too.  \n"
    + "The path must be absolute; read/write <dir> & “quotes” \\ tab\t é 漢 🙂. " * 4
)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_rewritten_description_is_spelled_as_before(ascii_only: bool) -> None:
    raw = (
        json.dumps([{"name": "t", "description": LONG, "inputSchema": {}}], ensure_ascii=ascii_only)
        .replace("<", "\\u003c")
        .replace("/", "\\/")
    )
    after = shrink_catalog(raw.encode(), level=Level.CAREFUL).after.decode()
    assert len(after) < len(raw)
    assert "\\u003cdir>" in after and "&" in after and "read\\/write" in after
    assert after.isascii() == ascii_only
    text = json.loads(after)[0]["description"]
    assert "read/write <dir> & “quotes” \\" in text and "漢 🙂" in text


def test_lone_surrogates_in_a_description_survive() -> None:
    raw = json.dumps([{"name": "t", "description": "x \ud83d y.   \n\n\n" + "The path must be absolute. " * 10 + "\udc00"}])
    after = shrink_catalog(raw.encode(), level=Level.CAREFUL).after.decode()
    assert "\\ud83d" in after and "\\udc00" in after


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize(
    "text",
    [
        "a" * 160,
        "é" * 80,
        "Great tool. Really. Amazing! Wow. Use it. Trust us. It is the best tool that you will ever see, so use it.",
        "x",
    ],
)
def test_a_description_of_at_most_160_bytes_stays_whole(text: str, level: Level) -> None:
    assert len(text.encode()) <= 160
    tool = {"name": "t", "description": text, "inputSchema": {"description": text, "properties": {"a": {"description": text}}}}
    data = json.dumps([tool], ensure_ascii=False).encode()
    assert shrink_catalog(data, level=level).after == data


def everywhere(text: str) -> dict[str, Any]:
    leaf = {"type": "string", "description": text}
    return {
        "name": "t",
        "description": text,
        "inputSchema": {
            "description": text,
            "properties": {"a": leaf, "description": {"type": "object", "description": text, "properties": {"title": leaf}}},
            "items": leaf,
            "$defs": {"A": leaf},
            "anyOf": [leaf, {"not": leaf}],
            "additionalProperties": leaf,
        },
        "outputSchema": {"properties": {"a": leaf}},
    }


def test_descriptions_are_shortened_wherever_a_model_reads_one() -> None:
    text = "Reads a file.   \n\n\n\n" + "The path must be absolute. " * 8
    after = json.loads(shrink_catalog(json.dumps([everywhere(text)]).encode(), level=Level.CAREFUL).after)[0]
    short = after["description"]
    assert len(short) < len(text)
    assert after == everywhere(short)


def test_descriptions_that_no_model_reads_as_such_stay() -> None:
    text = "Reads a file.   \n\n\n\n" + "The path must be absolute. " * 8
    data = json.dumps(
        [{"name": "t", "inputSchema": {"default": {"description": text}, "x-a": {"description": text}, "enum": [{"description": text}]}}]
    )
    assert not shrink_catalog(data.encode(), level=Level.TERSE).changed


def test_explaining_says_where_and_for_what() -> None:
    text = "Reads a file.   \n\n\n\n" + "The path must be absolute. " * 8
    catalog = shrink_catalog(json.dumps([everywhere(text)]).encode(), level=Level.CAREFUL)
    explained = explain_tool(catalog.tools[0], Level.CAREFUL)
    assert [description.pointer for description in explained][:3] == [
        "/description",
        "/inputSchema/description",
        "/inputSchema/properties/a/description",
    ]
    assert {description.before for description in explained} == {text}
    after = json.loads(catalog.tools[0].after)
    for description in explained:
        node: Any = after
        for step in description.pointer.split("/")[1:]:
            node = node[int(step)] if isinstance(node, list) else node[step]
        assert node == description.after


def test_excluded_tools_stay() -> None:
    noisy = {"title": "T", "type": "object"}
    data = json.dumps([{"name": "a", "inputSchema": noisy}, {"name": "b", "inputSchema": noisy}]).encode()
    catalog = shrink_catalog(data, exclude=("a",))
    assert [tool.excluded for tool in catalog.tools] == [True, False]
    assert catalog.tools[0].after == catalog.tools[0].before
    assert catalog.tools[1].after != catalog.tools[1].before
    assert explain_tool(catalog.tools[0], Level.CAREFUL) == ()


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b'[{"name":"t","inputSchema":{"title":"T"}}', "not exactly one JSON value"),
        (b'{"tools":[]} {"tools":[]}', "not exactly one JSON value"),
        (b'[{"name":"t","inputSchema":{"title":"T","default":NaN}}]', "not exactly one JSON value"),
        (b'{"x":Infinity,"tools":[{"name":"t","inputSchema":{"title":"T"}}]}', "not exactly one JSON value"),
        (b'\xef\xbb\xbf[{"name":"t","inputSchema":{"title":"T"}}]', "byte order mark"),
        (b'[{"name":"\xff","inputSchema":{"title":"T"}}]', "not UTF-8"),
        (b"[" * 100_000, "nests too deep"),
        (b'{"tools":[]}', "no tools"),
        (b"", "not exactly one JSON value"),
        (b'[{"name":"NaN","inputSchema":{"type":"object"}}]', "nothing"),
    ],
)
def test_comes_back_with_a_note(data: bytes, note: str) -> None:
    catalog = shrink_catalog(data)
    assert catalog.after == data and not catalog.changed
    assert note in catalog.note


def test_a_tool_that_nests_too_deep_stays_and_its_neighbour_shrinks() -> None:
    deep = '{"name":"deep","inputSchema":{"title":"T","items":' + '{"items":' * 300 + "{}" + "}" * 300 + "}}"
    catalog = shrink_catalog(f'[{deep},{{"name":"t","inputSchema":{{"title":"T"}}}}]'.encode())
    assert catalog.after == f'[{deep},{{"name":"t","inputSchema":{{}}}}]'.encode()


def test_what_is_remembered_is_per_level_and_name() -> None:
    data = json.dumps([{"name": "t", "description": "Great tool. " * 30, "inputSchema": {}}]).encode()
    levels = [shrink_catalog(data, level=level) for level in Level]
    assert [catalog.level for catalog in levels] == list(Level)
    assert shrink_catalog(data) is shrink_catalog(data)
    assert not shrink_catalog(data, exclude=("t",)).changed


_AMOUNT = "The amount goes to the vendor in small coins of the account."
_PAY = (
    f"Pays for the goods. {'The person who asks is willing to hand over a sum for the things that were chosen. ' * 2}{_AMOUNT} Good luck."
)


def _pay(amount: str) -> bytes:
    return json.dumps([{"name": "pay", "description": _PAY, "inputSchema": {"properties": {"amount": {"description": amount}}}}]).encode()


@pytest.mark.parametrize("head", ["Returns:", "Perfect for:"])
def test_what_a_parameter_loses_its_tool_keeps(head: str) -> None:
    long = "A sum that the person is willing to hand over for the things that were chosen in the shop. " * 2
    assert _AMOUNT.encode() in shrink_catalog(_pay(f"{long}\n{head}\n- {_AMOUNT}\n")).after


def test_what_a_parameter_keeps_its_tool_drops() -> None:
    (tool,) = json.loads(shrink_catalog(_pay(_AMOUNT)).after)
    assert _AMOUNT not in tool["description"]
    assert tool["inputSchema"]["properties"]["amount"]["description"] == _AMOUNT
