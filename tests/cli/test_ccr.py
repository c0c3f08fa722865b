import contextlib
import json
import sqlite3
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caveman_tui.ccr import default_path, handle_of, open_store
from caveman_tui.cli import main


def put(original: bytes, **over: object) -> str:
    given: dict[str, object] = {"content_type": "toolschema", "compressor": "c", "tokens_before": 10, "tokens_after": 7}
    with open_store() as store:
        return store.put(original, **{**given, **over})  # type: ignore[arg-type]


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, ["ccr", *arguments], input=stdin)


@pytest.fixture
def handles() -> list[str]:
    """Oldest first."""
    return [put(b'["first"]'), put(b'["second"]', tokens_before=0), put(b"third \x1b[31m[red]", content_type="log\x1b")]


class TestList:
    def test_newest_first_as_text(self, handles: list[str]) -> None:
        result = run("list")
        assert result.exit_code == 0
        assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith("ccr_")] == handles[::-1]
        assert "–" in result.stdout and "\x1b" not in result.stdout
        assert str(default_path()) in result.stderr and "3 originals" in result.stderr

    def test_as_json(self, handles: list[str]) -> None:
        found = json.loads(run("list", "--json", "--limit", "2", "--offset", "1").stdout)
        assert [record["handle"] for record in found["records"]] == [handles[1], handles[0]]
        assert found["records"][0]["tokens_before"] is None
        assert found["store"]["originals"] == 3 and found["store"]["budget_bytes"] == 512 * 1024 * 1024

    def test_search(self, handles: list[str]) -> None:
        found = json.loads(run("list", "--json", "--search", "SECOND").stdout)
        assert [record["handle"] for record in found["records"]] == [handles[1]]

    def test_no_store_is_an_error_and_makes_none(self) -> None:
        result = run("list")
        assert result.exit_code == 1 and str(default_path()) in result.stderr
        assert not default_path().exists()


class TestShow:
    def test_as_text_without_control_characters(self, handles: list[str]) -> None:
        result = run("show", f"<<ccr:{handles[2]}>>")
        assert result.exit_code == 0
        assert handles[2] in result.stdout and "third" in result.stdout and "[red]" in result.stdout and "\x1b" not in result.stdout

    def test_as_json(self, handles: list[str]) -> None:
        found = json.loads(run("show", handles[0], "--json").stdout)
        assert (found["handle"], found["original_bytes"], found["verified"]) == (handles[0], 9, True)

    def test_unknown(self, handles: list[str]) -> None:
        assert run("show", "ccr_" + "0" * 32).exit_code == 1
        assert run("show", "nonsense").exit_code == 2


class TestExport:
    def test_all_into_the_data_folder(self, handles: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("CAVEMAN_TUI_DATA", str(tmp_path / "data"))
        result = run("export", "--all")
        assert result.exit_code == 0
        files = [Path(line) for line in result.stdout.splitlines()]
        assert {handle_of(file.read_bytes()) for file in files} == set(handles)
        assert {file.parent for file in files} == {tmp_path / "data" / "recovered"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert {file.suffix for file in files} == {".json", ".bin"}

    def test_some_into_a_folder_of_ones_own(self, handles: list[str], tmp_path: Path) -> None:
        target = tmp_path / "mine"
        assert run("export", handles[0], "--to", str(target)).exit_code == 0
        assert (target / f"{handles[0]}.json").read_bytes() == b'["first"]'
        assert stat.S_IMODE(target.stat().st_mode) == 0o700
        again = run("export", handles[0], "--to", str(target))
        assert again.exit_code == 1 and "--force" in again.stderr
        assert run("export", handles[0], "--to", str(target), "--force").exit_code == 0

    def test_a_damaged_one_is_left_out_and_named(self, handles: list[str], tmp_path: Path) -> None:
        with open_store() as store, store._connections.write() as connection:
            connection.execute("UPDATE recoveries SET original = x'00' WHERE handle = ?", (handles[0],))
        result = run("export", "--all", "--to", str(tmp_path / "mine"))
        assert result.exit_code == 1 and handles[0] in result.stderr
        assert len(list((tmp_path / "mine").iterdir())) == 2

    def test_usage(self, handles: list[str]) -> None:
        assert run("export").exit_code == 2
        assert run("export", handles[0], "--all").exit_code == 2


class TestCheck:
    def test_a_sound_store(self, handles: list[str]) -> None:
        result = run("check")
        assert result.exit_code == 0 and "3 of 3" in result.stdout
        assert json.loads(run("check", "--json").stdout) == {"checked": 3, "damaged": [], "unverified": [], "file_problems": []}
        result = run("check", "--set-aside")
        assert result.exit_code == 0 and "nothing was set aside" in result.stderr
        assert default_path().exists()

    def test_a_damaged_original(self, handles: list[str]) -> None:
        with open_store() as store, store._connections.write() as connection:
            connection.execute("UPDATE recoveries SET original = x'00' WHERE handle = ?", (handles[0],))
        result = run("check")
        assert result.exit_code == 1 and handles[0] in result.stdout and "2 of 3" in result.stdout

    def test_a_corrupt_file_stays_until_a_person_sets_it_aside(self) -> None:
        path = default_path()
        path.parent.mkdir(mode=0o700)
        path.write_bytes(b"no database" * 500)
        assert run("check").exit_code == 1
        assert json.loads(run("check", "--json").stdout)["file_problems"]
        assert path.read_bytes() == b"no database" * 500
        result = run("check", "--set-aside")
        assert result.exit_code == 0
        (kept,) = path.parent.iterdir()
        assert kept.name.startswith("ccr.db.aside-") and str(kept) in result.stderr
        assert kept.read_bytes() == b"no database" * 500

    def test_somebody_elses_database_is_not_set_aside(self, tmp_path: Path) -> None:
        import sqlite3
        from contextlib import closing

        path = tmp_path / "other.db"
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE recoveries (handle TEXT, metadata TEXT)")
        result = run("check", "--set-aside", "--store", str(path))
        assert result.exit_code == 1 and "no recovery store" in result.stderr
        assert path.exists()


class TestDelete:
    def test_it_asks_and_says_how_much_it_frees(self, handles: list[str]) -> None:
        result = run("delete", handles[0], stdin="n\n")
        assert result.exit_code == 1 and "9 bytes" in result.stderr
        assert run("delete", handles[0], handles[0], stdin="y\n").exit_code == 0
        assert json.loads(run("list", "--json").stdout)["store"]["originals"] == 2

    def test_without_asking(self, handles: list[str]) -> None:
        result = run("delete", *handles, "--yes")
        assert result.exit_code == 0 and "bytes freed" in result.stderr
        assert json.loads(run("list", "--json").stdout)["records"] == []

    def test_one_unknown_handle_deletes_nothing(self, handles: list[str]) -> None:
        assert run("delete", handles[0], "ccr_" + "0" * 32, "--yes").exit_code == 1
        assert json.loads(run("list", "--json").stdout)["store"]["originals"] == 3


@pytest.mark.parametrize("command", ["list", "check"])
def test_what_other_tools_wrote_moves_no_cursor(command: str, handles: list[str]) -> None:
    with contextlib.closing(sqlite3.connect(default_path())) as connection, connection:
        connection.execute("UPDATE recoveries SET handle = 'ccr_\x1b[2J' WHERE handle = ?", (handles[0],))
    result = run(command)
    assert "\x1b" not in result.stdout
    assert "ccr_\u241b[2J" in result.stdout
