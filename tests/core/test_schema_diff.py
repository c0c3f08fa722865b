"""Schema changes, and which of them break a caller."""

import json

import pytest

from caveman_tui.core.json_tree import parse_json
from caveman_tui.core.schema_diff import SchemaChange, schema_changes


def changes(before: object, after: object) -> list[SchemaChange]:
    return list(schema_changes(parse_json(json.dumps(before).encode()), parse_json(json.dumps(after).encode())))


def only(before: object, after: object) -> SchemaChange:
    found = changes(before, after)
    assert len(found) == 1, found
    return found[0]


def test_equal_schemas_have_no_changes() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"], "enum": ["x", 1, 1.0]}}, "required": ["a"]}
    assert changes(schema, json.loads(json.dumps(schema))) == []


@pytest.mark.parametrize(
    ("before", "after", "kind", "breaking"),
    [
        ({"type": "string"}, {"type": "integer"}, "type-changed", True),
        ({"type": "integer"}, {"type": "number"}, "type-widened", False),
        ({"type": "number"}, {"type": "integer"}, "type-changed", True),
        ({"type": "string"}, {"type": ["string", "null"]}, "type-widened", False),
        ({"type": "string", "nullable": True}, {"type": "string"}, "type-changed", True),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, "enum-narrowed", True),
        ({"enum": ["a"]}, {"enum": ["b", "a"]}, "enum-widened", False),
        ({"enum": [1]}, {"enum": ["1"]}, "enum-narrowed", True),
        ({}, {"enum": ["a"]}, "enum-narrowed", True),
        ({"const": 1}, {"const": 2}, "const-changed", True),
        ({"const": 1}, {}, "const-changed", False),
        ({"maximum": 10}, {"maximum": 9}, "bound-tightened", True),
        ({"maximum": 10}, {"maximum": 11}, "bound-loosened", False),
        ({"minLength": 1}, {}, "bound-loosened", False),
        ({}, {"minItems": 1}, "bound-tightened", True),
        ({"pattern": "a"}, {"pattern": "b"}, "constraint-changed", True),
        ({"pattern": "a"}, {}, "constraint-changed", False),
        ({}, {"additionalProperties": False}, "constraint-changed", True),
        ({"additionalProperties": False}, {"additionalProperties": True}, "constraint-changed", False),
        ({"default": 1}, {"default": 2}, "default-changed", False),
        ({"title": "A"}, {}, "annotation-changed", False),
    ],
)
def test_each_kind_of_change(before: dict[str, object], after: dict[str, object], kind: str, breaking: bool) -> None:
    found = [change for change in changes(before, after) if change.kind == kind]
    assert len(found) == 1
    assert found[0].breaking is breaking


def test_parameters_come_and_go_at_any_depth() -> None:
    before = {"properties": {"f": {"type": "object", "properties": {"a": {}, "b": {}}}, "l": {"items": {"properties": {"x": {}}}}}}
    after = {
        "properties": {
            "f": {"type": "object", "properties": {"a": {}, "c": {}}, "required": ["c"]},
            "l": {"items": {"properties": {"x": {}}, "required": ["x"]}},
        }
    }
    found = {(change.where, change.kind): change.breaking for change in changes(before, after)}
    assert found == {
        ("f.b", "parameter-removed"): True,
        ("f.c", "parameter-added"): False,
        ("f.c", "newly-required"): True,
        ("l[].x", "newly-required"): True,
    }


def test_a_parameter_that_is_no_longer_required_breaks_nobody() -> None:
    change = only({"properties": {"a": {}}, "required": ["a"]}, {"properties": {"a": {}}, "required": []})
    assert (change.where, change.kind, change.breaking) == ("a", "no-longer-required", False)


def test_references_are_followed_on_both_sides() -> None:
    before = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}
    after = {"properties": {"a": {"$ref": "#/definitions/B"}}, "definitions": {"B": {"type": "integer"}}}
    change = only(before, after)
    assert (change.where, change.kind, change.breaking) == ("a", "type-changed", True)
    assert changes(before, {"properties": {"a": {"type": "string"}}}) == []


def test_a_recursive_reference_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}, "value": {"type": "string"}}}
    tree = {"$ref": "#/$defs/N", "$defs": {"N": {"properties": {"kids": {"items": {"$ref": "#/$defs/N"}}, "v": {"type": "string"}}}}}
    other = json.loads(json.dumps(tree))
    other["$defs"]["N"]["properties"]["v"]["type"] = "integer"
    assert changes(node, node) == []
    assert [change.where for change in changes(tree, other)] == ["v"]


def test_an_alternative_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    one, two = {"type": "object", "properties": {"a": {}}}, {"type": "array", "items": {}}
    gone = only({"anyOf": [one, two]}, {"anyOf": [two]})
    more = only({"anyOf": [one]}, {"anyOf": [two, one]})
    assert (gone.kind, gone.breaking) == ("alternatives-changed", True)
    assert (more.kind, more.breaking) == ("alternatives-changed", False)


def test_anyof_of_types_is_the_same_as_a_list_of_types() -> None:
    assert changes({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["null", "string"]}) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"dependentRequired": {"a": ["b"]}}),
        ({"prefixItems": [{}]}, {"prefixItems": [{"type": "string"}]}),
        ({"$dynamicRef": "#a"}, {"$dynamicRef": "#b"}),
        ({"$ref": "https://x.test/a"}, {"$ref": "https://x.test/b"}),
        ({"$ref": "#/$defs/none"}, {"$ref": "#/$defs/nobody"}),
        ({"enum": ["a", None], "nullable": True}, {"enum": ["a", None]}),
        ({"maximum": 9007199254740993}, {"maximum": 9007199254740992}),
        ({"minimum": -(10**400)}, {"minimum": 1 - 10**400}),
    ],
)
def test_what_may_refuse_a_call_is_breaking_and_its_opposite_is_seen(before: dict[str, object], after: dict[str, object]) -> None:
    assert only(before, after).breaking
    assert only(after, before).kind != "annotation-changed"


def test_references_are_followed_to_their_end() -> None:
    def schema(kind: str) -> dict[str, object]:
        return {"properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": kind}}}

    assert only(schema("string"), schema("integer")).kind == "type-changed"


def test_references_in_a_circle_end() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert changes(schema, schema) == []


def test_names_that_no_property_has_are_compared_too() -> None:
    assert only({"required": ["a"]}, {}).kind == "no-longer-required"
    assert only({}, {"required": ["a"]}).breaking


def test_of_an_enum_only_what_differs_is_told() -> None:
    change = only({"enum": ["a", "b", 1]}, {"enum": ["a", "c", 1.0]})
    assert (change.kind, change.before, change.after) == ("enum-narrowed", '["b",1]', '["c",1.0]')
    assert only({}, {"enum": ["a"]}).after == '["a"]'
