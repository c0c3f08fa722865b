"""Catalogs compared tool by tool."""

import json
from pathlib import Path

import pytest

from caveman_tui.core.catalog_diff import diff_catalogs, sentences_of
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog


def tool(name: str, description: str = "Does it.", **properties: object) -> dict[str, object]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", "properties": properties}}


def catalog(*tools: dict[str, object]) -> bytes:
    return json.dumps({"tools": list(tools)}).encode()


def test_tools_added_removed_changed_and_the_same() -> None:
    diff = diff_catalogs(catalog(tool("a"), tool("b"), tool("c")), catalog(tool("c", "Does more."), tool("a"), tool("d")))
    assert {(t.name, t.state, t.breaking) for t in diff.tools} == {
        ("a", "same", False),
        ("b", "removed", True),
        ("c", "changed", False),
        ("d", "added", False),
    }
    assert diff.breaking


def test_sentences_that_differ_are_named() -> None:
    before = tool("a", "Finds a note. Returns at most 50.\n- by title\n- by tag", q={"type": "string", "description": "What to find."})
    after = tool("a", "Finds a note. Returns at most 20.\n- by title", q={"type": "string", "description": "What to find. Case matters."})
    (diff,) = diff_catalogs(catalog(before), catalog(after)).tools
    own, parameter = diff.sentences
    assert own.where == ""
    assert own.removed == ("Returns at most 50.", "- by tag")
    assert own.added == ("Returns at most 20.",)
    assert (parameter.where, parameter.removed, parameter.added) == ("q", (), ("Case matters.",))


def test_tools_of_one_name_are_compared_one_by_one() -> None:
    diff = diff_catalogs(catalog(tool("a"), tool("a", "Other.")), catalog(tool("a"), tool("a", "Other.")))
    assert [t.state for t in diff.tools] == ["same", "same"]


def test_shapes_may_differ_between_the_two() -> None:
    openai = json.dumps(
        [
            {
                "type": "function",
                "function": {"name": "a", "description": "Does it.", "parameters": {"type": "object", "properties": {"q": {}}}},
            }
        ]
    ).encode()
    (diff,) = diff_catalogs(openai, catalog(tool("a"))).tools
    assert [(c.where, c.kind) for c in diff.changes] == [("q", "parameter-removed")]


def test_an_output_schema_breaks_no_caller() -> None:
    one = tool("a") | {"outputSchema": {"type": "object", "properties": {"x": {}}}}
    two = tool("a") | {"outputSchema": {"type": "object", "properties": {}}}
    (diff,) = diff_catalogs(catalog(one), catalog(two)).tools
    assert [(c.where, c.kind, c.breaking) for c in diff.changes] == [("output:x", "parameter-removed", False)]
    assert not diff.breaking


def test_the_envelope_is_compared_too() -> None:
    (diff,) = diff_catalogs(catalog(tool("a") | {"strict": True}), catalog(tool("a"))).tools
    assert [(f.where, f.before, f.after) for f in diff.fields] == [("strict", "true", "")]


def test_sentences_of_a_list_are_its_items() -> None:
    assert sentences_of("One, e.g. this. Two!\n  - three\n\n  - four\n") == ["One, e.g. this.", "Two!", "- three", "- four"]


@pytest.mark.parametrize("level", list(Level))
def test_a_shrunk_catalog_breaks_nothing(shared_data: Path, level: Level) -> None:
    for path in sorted((shared_data / "catalogs").glob("*.json")):
        before = path.read_bytes()
        diff = diff_catalogs(before, shrink_catalog(before, level=level).after)
        assert not diff.breaking, path.name
        assert not diff.count("added") and not diff.count("removed"), path.name
        assert {c.kind for t in diff.tools for c in t.changes} <= {"annotation-changed"}, path.name
        assert not [f for t in diff.tools for f in t.fields], path.name
