import re
import sys

import pytest

from caveman_tui.cli._tables import Column, print_table

HANDLE = "ccr_" + "0" * 32
COLUMNS = (Column("handle"), Column("stored", drop=1), Column("type", drop=2), Column("bytes", right=True, drop=1))
ROWS = [(HANDLE, "2026-11-29 21:03:11", "toolschema", "49,935")]


def plain(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, without its bold and dim."""
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


def be_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """Called inside the test: capsys has another standard output during setup."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))


@pytest.mark.parametrize("width", [120, 100, 80, 50, 40, 36])
def test_in_a_terminal_a_handle_stays_whole_and_lines_fit(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    be_a_terminal(monkeypatch, width)
    print_table(COLUMNS, ROWS)
    lines = plain(capsys).splitlines()
    assert any(HANDLE in line for line in lines)
    assert all(len(line.rstrip()) <= width for line in lines)
    assert ("toolschema" in "".join(lines)) == (width >= 80)


def test_a_column_that_may_fold_gives_room_to_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    be_a_terminal(monkeypatch, 40)
    print_table((Column("tool", fold=True), Column("saved", right=True)), [("x" * 60, "1,234")], ("all", "1,234"))
    output = plain(capsys)
    assert output.count("1,234") == 2
    assert output.count("x") == 60


def test_in_a_pipe_everything_is_on_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    print_table((Column("name", fold=True), Column("[b]x", right=True)), [("y" * 300, "[red]z[/red]")])
    lines = plain(capsys).splitlines()
    assert any("y" * 300 in line and "[red]z[/red]" in line for line in lines)
