import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caveman_tui.catalogs import lint
from caveman_tui.ccr import default_path
from caveman_tui.cli import main
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.core.tokens import minify

PROSE = (
    "Saves a note for the person. This powerful tool is fast, friendly and delightful, and loved by thousands of happy people. "
    "At most 20 tags are taken. Dates are written as YYYY-MM-DD."
)
TIME = {"name": "time", "description": "Tells the time.", "inputSchema": {"type": "object"}}
SCHEMA = {"title": "Arguments", "type": "object", "properties": {"a": {"title": "A", "type": "string"}}}
CATALOG = json.dumps(
    {
        "tools": [
            {"name": "little", "description": "Does it.", "inputSchema": {"title": "X", "type": "object"}},
            {"name": "[red]much\x1b[31m", "description": "Does it.", "inputSchema": SCHEMA},
            {"name": "none", "description": "Does it.", "inputSchema": {"type": "object"}},
        ]
    }
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(CATALOG)
    return str(path)


def run(*arguments: str, command: str = "lint") -> Result:
    return CliRunner().invoke(main, [command, *arguments])


def test_the_table_has_every_tool_most_saved_first_and_the_totals(file: str) -> None:
    result = run(file)
    assert result.exit_code == 0
    order = [result.stdout.index(name) for name in ("much", "little", "none", "whole catalog, 3 tools")]
    assert order == sorted(order)
    assert "inferred" in result.stdout
    assert not default_path().exists()


def test_names_are_text_and_nothing_else(file: str) -> None:
    output = run(file).stdout
    assert "[red]much" in output and "\x1b" not in output


def test_json_is_the_whole_report(file: str) -> None:
    found = json.loads(run(file, "--json").stdout)
    assert [tool["name"] for tool in found["tools"]] == ["[red]much\x1b[31m", "little", "none"]
    assert set(found["tools"][0]) == {"name", "tokens_before", "tokens_after", "ratio", "excluded", "dropped"}
    assert found["basis"] == "inferred" and found["tools"][2]["ratio"] == 0


@pytest.mark.parametrize("level", [level.value for level in Level])
def test_it_agrees_with_shrink_to_the_token(file: str, level: str) -> None:
    linted = json.loads(run(file, "--level", level, "--json").stdout)
    shrunk = json.loads(run(file, "--level", level, command="shrink").stderr)
    for key in ("tokens_before", "tokens_after", "ratio", "basis", "content_type"):
        assert linted[key] == shrunk[key]


def test_every_real_catalog_agrees(shared_data: Path) -> None:
    for path in sorted((shared_data / "catalogs").glob("live-*.json")):
        linted = json.loads(run(str(path), "--json").stdout)
        shrunk = json.loads(run(str(path), command="shrink").stderr)
        assert (linted["tokens_before"], linted["tokens_after"]) == (shrunk["tokens_before"], shrunk["tokens_after"]), path.name


def test_excluded_tools_are_marked(file: str) -> None:
    assert "excluded" in run(file, "--exclude", "little").stdout


def test_what_is_no_catalog_fails_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("nonsense")
    result = run(str(path))
    assert result.exit_code == 1 and "not exactly one JSON value" in result.stderr and not result.stdout
    path.write_text("{}")
    result = run(str(path))
    assert result.exit_code == 0 and "no tools" in result.stderr
    assert run(str(tmp_path / "none")).exit_code == 2
    assert run().exit_code == 2


def test_the_kinds_that_go_add_up_to_what_is_missing(shared_data: Path) -> None:
    for path in sorted((shared_data / "catalogs").glob("*.json")):
        for level in Level:
            report = lint(path.read_bytes(), level=level)
            tools = {tool.name: tool for tool in shrink_catalog(path.read_bytes(), level=level).tools}
            for tool in report.tools:
                if list(tools).count(tool.name) == 1 and tool.tokens_after < tool.tokens_before:
                    missing = len(minify(tools[tool.name].before).decode()) - len(minify(tools[tool.name].after).decode())
                    assert sum(kind.characters for kind in tool.dropped) >= missing - 2 * len(tool.dropped), (path.name, tool.name)


def test_explain_gives_every_unit_its_decision(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "note_\x1b", "description": PROSE, "inputSchema": {"type": "object"}}, TIME]))
    output = run(str(path), "--explain").stdout
    lines = [line for line in output.splitlines() if line[:6].strip() in {"+", "-"}]
    said = " ".join(line[24:].strip() for line in lines)
    assert " ".join(PROSE.split()) == " ".join(said.split())
    assert any(line.startswith("    - ") and "loved" in line for line in lines)
    assert any(line.startswith("    + ") and "At most 20" in line for line in lines)
    assert output.count("because: ") == len(lines)
    assert "\x1b" not in output
    assert run(str(path), "--explain", "--tool", "time").stdout == ""


def test_a_tool_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(CATALOG)
    result = run(str(path), "--explain", "--tool", "nope\x1b")
    assert result.exit_code == 1 and not result.stdout
    assert "--tool nope" in result.stderr and "little, none" in result.stderr and "\x1b" not in result.stderr


@pytest.mark.parametrize("options", [("--tool", "little"), ("--json", "--explain")])
def test_options_that_would_say_nothing_together_are_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = tmp_path / "tools.json"
    path.write_text(CATALOG)
    result = run(str(path), *options)
    assert result.exit_code == 2 and not result.stdout and "--explain" in result.stderr


def test_shrink_explains_beside_its_output(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "note", "description": PROSE, "inputSchema": {"type": "object"}}]))
    result = run(str(path), "--explain", "--store", str(tmp_path / "ccr.db"), command="shrink")
    told = result.stderr.splitlines()
    assert json.loads(result.stdout)[0]["name"] == "note"
    assert json.loads(told[-1])["recovery_handle"]
    assert any("because: " in line for line in told[:-1])
