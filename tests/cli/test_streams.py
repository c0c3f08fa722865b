"""Standard streams that are closed, full, of another encoding, or hold what UTF-8 can't."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from caveman_tui.catalogs import shrink
from caveman_tui.core.policy import Level

TEXT = json.dumps([{"name": "t", "description": "Größe … 大", "inputSchema": {"type": "object", "title": "T"}}], ensure_ascii=False)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.json"
    path.write_text(TEXT, encoding="utf-8")
    return path


def shell(line: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `$C` is the command."""
    known = {key: value for key, value in os.environ.items() if not key.startswith(("CAVEMAN_", "PYTHONIOENCODING", "LC_", "LANG"))}
    known |= {"C": f"{sys.executable} -m caveman_tui", "CAVEMAN_HOME": str(tmp_path / "home"), **environment}
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=known, timeout=60, check=False)


def test_with_standard_error_closed_only_the_document_is_on_standard_output(catalog: Path, tmp_path: Path) -> None:
    done = shell("$C shrink --level careful catalog.json 2>&-", tmp_path)
    assert done.returncode == 0
    assert done.stdout == shrink(catalog.read_bytes(), level=Level.CAREFUL, store=tmp_path / "ccr.db").output


@pytest.mark.parametrize(
    "line", ["shrink catalog.json", "lint catalog.json", "lint --json catalog.json", "diff catalog.json", "ttl catalog.json"]
)
def test_with_standard_output_closed_no_other_file_takes_its_place(line: str, catalog: Path, tmp_path: Path) -> None:
    done = shell(f"$C {line} >&-", tmp_path)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    if line.startswith("shrink"):
        assert shell(f"$C recover {json.loads(done.stderr)['recovery_handle']}", tmp_path).stdout == catalog.read_bytes()


@pytest.mark.parametrize("command", ["shrink", "ttl", "lint -"])
def test_with_standard_input_closed_it_is_empty(command: str, tmp_path: Path) -> None:
    done = shell(f"$C {command} <&-", tmp_path)
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("line", ["shrink catalog.json", "lint catalog.json", "diff catalog.json", "diff --json catalog.json"])
def test_a_full_disk_is_an_error_in_one_line(line: str, catalog: Path, tmp_path: Path) -> None:
    done = shell(f"$C {line} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "Error: Standard output cannot be written: No space left on device. What was written is not all of it."
    ]


@pytest.mark.parametrize("line", ["diff catalog.json", "lint catalog.json"])
def test_a_terminal_that_lacks_the_signs_gets_others(line: str, catalog: Path, tmp_path: Path) -> None:
    done = shell(f"$C {line}", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


@pytest.mark.parametrize("line", ["lint --json", "diff --json", "diff", "lint"])
def test_half_a_surrogate_pair_in_a_name(line: str, tmp_path: Path) -> None:
    name = "\ud800"
    (tmp_path / "odd.json").write_text(json.dumps([{"name": name, "inputSchema": {"type": "object", "title": "T"}}]), encoding="utf-8")
    done = shell(f"$C {line} odd.json", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    if "--json" in line:
        assert json.loads(done.stdout)["tools"][0]["name"] == name
