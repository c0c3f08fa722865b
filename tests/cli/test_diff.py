"""The `diff` command."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from caveman_tui.cli import main


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    def write(name: str, *tools: object) -> str:
        path = tmp_path / name
        path.write_text(json.dumps({"tools": tools}))
        return str(path)

    def tool(name: str, **schema: object) -> dict[str, object]:
        return {"name": name, "description": f"Does {name}. \x1b[31mRed [bold]text[/bold].", "inputSchema": {"type": "object", **schema}}

    old = write("old.json", tool("keep"), tool("gone"), tool("pick", properties={"kind": {"enum": ["a", "b"]}}))
    new = write("new.json", tool("keep"), tool("fresh"), tool("pick", properties={"kind": {"enum": ["a"]}}))
    return old, new


def test_what_a_person_reads(two: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["diff", *two])
    assert result.exit_code == 0
    assert "- gone  removed  ! may break a caller" in result.output
    assert "+ fresh  added" in result.output
    assert '  ! kind  enum narrowed\n    - ["b"]\n' in result.output
    assert result.output.endswith("4 tools: 1 added, 1 removed, 1 changed, 1 same  ! 2 may break a caller\n")
    assert "\x1b" not in result.output


def test_ci_gets_exit_1_and_a_document(two: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["diff", *two, "--json", "--fail-on", "breaking"])
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert report["breaking"] is True
    assert (report["added"], report["removed"], report["changed"], report["same"]) == (1, 1, 1, 1)
    assert {tool["name"] for tool in report["tools"]} == {"gone", "fresh", "pick"}


def test_without_a_breaking_change_it_passes(two: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["diff", two[0], two[0], "--fail-on", "breaking"])
    assert result.exit_code == 0
    assert "nothing breaks a caller" in result.output


def test_one_file_is_compared_with_its_shrunk_form(tmp_path: Path) -> None:
    path = tmp_path / "catalog.json"
    schema = {"type": "object", "title": "Args", "properties": {"q": {"type": "string", "title": "Q"}}}
    path.write_text(json.dumps({"tools": [{"name": "find", "description": "Finds.", "inputSchema": schema}]}))
    result = CliRunner().invoke(main, ["diff", str(path)])
    assert result.exit_code == 0
    assert "annotations dropped: title x2" in result.output


@pytest.mark.parametrize(("content", "message"), [("{", "is not exactly one JSON value"), ("[]", "Neither document holds a tool")])
def test_documents_that_cannot_be_compared(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    result = CliRunner().invoke(main, ["diff", str(path), str(path)])
    assert result.exit_code == 1
    assert message in result.output


def test_a_missing_file_is_named() -> None:
    result = CliRunner().invoke(main, ["diff", "nowhere.json"])
    assert result.exit_code == 2
    assert "nowhere.json" in result.output
