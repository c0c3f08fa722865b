import io
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui.ccr import default_path, open_store
from caveman_tui.cli import main
from caveman_tui.cli._input import write_harmless

CATALOG = b'{"tools": [ {"name": "a",  "inputSchema": {}}, {"name": "b", "inputSchema": {"type":"object"}} ]}'


def put(original: bytes, path: Path | None = None) -> str:
    with open_store(path) as store:
        return store.put(original, content_type="toolschema", compressor="c", tokens_before=0, tokens_after=0)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["recover", *arguments])


@given(original=st.binary(max_size=300))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_exact_bytes_on_standard_output(original: bytes) -> None:
    result = run(put(original))
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, original, "")


@pytest.mark.parametrize("spelling", ["<<ccr:{}>>", "ccr:{}", "ccr://{}", " {} "])
def test_pasted_handles(spelling: str) -> None:
    assert run(spelling.format(put(b"x"))).stdout_bytes == b"x"


def test_another_store(tmp_path: Path) -> None:
    handle = put(b"x", tmp_path / "own.db")
    assert run(handle, "--store", str(tmp_path / "own.db")).stdout_bytes == b"x"
    result = run(handle)
    assert result.exit_code == 1 and str(default_path()) in result.stderr
    assert not default_path().exists()


def test_one_tool_of_a_catalog() -> None:
    handle = put(CATALOG)
    assert run(handle, "--tool", "a").stdout_bytes == b'{"name": "a",  "inputSchema": {}}'
    result = run(handle, "--tool", "c")
    assert result.exit_code == 1 and "a, b" in result.stderr and not result.stdout_bytes


class TestFiles:
    def test_a_file_for_its_owner_alone(self, tmp_path: Path) -> None:
        target = tmp_path / "out.json"
        previous = os.umask(0)
        try:
            result = run(put(CATALOG), "-o", str(target))
        finally:
            os.umask(previous)
        assert (result.exit_code, result.stdout_bytes) == (0, b"")
        assert target.read_bytes() == CATALOG
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert str(target) in result.stderr

    def test_what_exists_stays_unless_forced(self, tmp_path: Path) -> None:
        target = tmp_path / "out.json"
        target.write_bytes(b"mine")
        target.chmod(0o644)
        result = run(put(CATALOG), "-o", str(target))
        assert result.exit_code == 1 and "--force" in result.stderr
        assert target.read_bytes() == b"mine"
        assert run(put(CATALOG), "-o", str(target), "--force").exit_code == 0
        assert target.read_bytes() == CATALOG
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert [each.name for each in tmp_path.iterdir()] == ["out.json"]

    @pytest.mark.parametrize("force", [True, False])
    def test_a_symlink_is_never_written_through(self, tmp_path: Path, force: bool) -> None:
        aim, link = tmp_path / "aim", tmp_path / "link"
        aim.write_bytes(b"mine")
        link.symlink_to(aim)
        run(put(CATALOG), "-o", str(link), *(["--force"] if force else []))
        assert aim.read_bytes() == b"mine"
        assert link.is_symlink() is not force

    def test_a_directory_that_is_not_there(self, tmp_path: Path) -> None:
        result = run(put(CATALOG), "-o", str(tmp_path / "none" / "out"))
        assert result.exit_code == 1 and "cannot be written" in result.stderr


def test_what_can_go_wrong() -> None:
    put(b"x")
    result = run("ccr_" + "0" * 32)
    assert result.exit_code == 1 and "holds nothing" in result.stderr and "ccr list" in result.stderr
    result = run("nonsense")
    assert result.exit_code == 2 and "no recovery handle" in result.stderr
    assert run().exit_code == 2


def test_damaged_bytes_are_never_printed() -> None:
    handle = put(b"right")
    with open_store() as store, store._connections.write() as connection:
        connection.execute("UPDATE recoveries SET original = x'77726f6e67'")
    result = run(handle)
    assert (result.exit_code, result.stdout_bytes) == (1, b"") and "damaged" in result.stderr


def test_a_terminal_gets_no_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(shown))
    harmless = '{\r\n\t"ä": 1}'.encode()
    write_harmless(harmless, "It")
    assert shown.getvalue() == harmless
    for data in (b"\x1b[2J", b"\x00", "\x9b2J".encode(), b"\x7f"):
        with pytest.raises(Exception, match="control characters"):
            write_harmless(data, "It")
    assert shown.getvalue() == harmless


def test_a_handle_in_an_error_is_spelled_as_it_is() -> None:
    handle = put(b"damaged")
    with sqlite3.connect(default_path()) as connection:
        connection.execute("UPDATE recoveries SET original = x'00'")
    assert f"Error: {handle} is damaged" in run(handle).stderr
