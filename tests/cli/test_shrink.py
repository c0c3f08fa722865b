import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caveman_tui.catalogs import recover, selection_profile, shrink
from caveman_tui.ccr import default_path, handle_of
from caveman_tui.cli import main

CATALOG = json.dumps(
    {"tools": [{"name": "t", "description": "Does it.", "inputSchema": {"title": "TArguments", "type": "object", "properties": {}}}]},
    indent=1,
).encode()
MALFORMED = [
    b"",
    b"not json\n",
    b"{} {}",
    b"\xff",
    b'\xef\xbb\xbf{"tools": []}',
    b'{"tools": [{"name": "t", "inputSchema": {"minimum": NaN}}]}',
]


def run(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, ["shrink", *arguments], input=stdin)


def report(result: Result) -> dict[str, object]:
    (line,) = result.stderr.splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def test_from_standard_input_with_the_report_on_standard_error() -> None:
    result = run(stdin=CATALOG)
    assert result.exit_code == 0
    assert result.stdout_bytes == shrink(CATALOG).output
    assert selection_profile(result.stdout_bytes) == selection_profile(CATALOG)
    found = report(result)
    assert {"tokens_before", "tokens_after", "ratio", "basis", "content_type", "recovery_handle"} <= found.keys()
    assert (found["basis"], found["content_type"], found["recovery_handle"]) == ("inferred", "toolschema", handle_of(CATALOG))
    assert recover(str(found["recovery_handle"])) == CATALOG


def test_from_a_file_into_a_store_of_its_own(tmp_path: Path) -> None:
    file, store = tmp_path / "tools.json", tmp_path / "own" / "ccr.db"
    file.write_bytes(CATALOG)
    found = report(run(str(file), "--store", str(store), "--level", "careful"))
    assert recover(str(found["recovery_handle"]), store=store) == CATALOG
    assert not default_path().exists()
    assert file.read_bytes() == CATALOG


def test_excluded_tools() -> None:
    result = run("-", "--exclude", "t", stdin=CATALOG)
    assert result.stdout_bytes == CATALOG
    assert report(result)["ratio"] == 0


def test_nothing_to_gain() -> None:
    result = run(stdin=b'{"tools": []}')
    assert (result.exit_code, result.stdout_bytes) == (0, b'{"tools": []}')
    assert (report(result)["ratio"], report(result)["recovery_handle"]) == (0, None)
    assert not default_path().exists()


@pytest.mark.parametrize("data", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_input_passes_with_a_note(data: bytes) -> None:
    result = run(stdin=data)
    assert (result.exit_code, result.stdout_bytes) == (0, data)
    assert "passed on unchanged" in result.stderr and len(result.stderr.splitlines()) == 1
    assert not default_path().exists()


def test_without_a_store_the_original_passes_with_a_note(tmp_path: Path) -> None:
    corrupt = tmp_path / "ccr.db"
    corrupt.write_bytes(b"no database" * 500)
    result = run("--store", str(corrupt), stdin=CATALOG)
    assert (result.exit_code, result.stdout_bytes) == (0, CATALOG)
    assert str(corrupt) in result.stderr and "unchanged" in result.stderr and len(result.stderr.splitlines()) == 1
    assert corrupt.read_bytes() == b"no database" * 500


def test_a_fault_of_ours_costs_nobody_a_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("caveman_tui.cli.catalog.shrink", fail)
    result = run(stdin=CATALOG)
    assert (result.exit_code, result.stdout_bytes) == (0, CATALOG)
    assert "boom" in result.stderr and len(result.stderr.splitlines()) == 1


def test_usage() -> None:
    assert run("/no/such/file").exit_code == 2
    assert run("--level", "harsh", stdin=CATALOG).exit_code == 2
    assert run("--help").exit_code == 0


def test_in_a_pipe_as_a_process_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-m", "caveman_tui", "shrink"], input=CATALOG, capture_output=True, env=os.environ)
    assert done.returncode == 0
    assert done.stdout == shrink(CATALOG).output
    again = subprocess.run([sys.executable, "-m", "caveman_tui", "recover", handle_of(CATALOG)], capture_output=True, env=os.environ)
    assert (again.returncode, again.stdout, again.stderr) == (0, CATALOG, b"")
