import os
import stat
from pathlib import Path

import pytest

from caveman_tui.proxy.state_files import remove_lapsed, replace_file


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a longer one before")
    replace_file(path, b"after")
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        replace_file(tmp_path / "a", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def _files(directory: Path, *names: str, size: int = 10) -> None:
    """The first is the oldest."""
    for number, name in enumerate(names):
        path = directory / name
        path.write_bytes(b"x" * size)
        at = path.stat().st_mtime - 1000 + number
        os.utime(path, (at, at))


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        ((5000.0, 10, 1000), {"pins-1", "pins-2", ".pins-3.77", "other"}),
        ((500.0, 10, 1000), {"other"}),
        ((5000.0, 2, 1000), {"pins-2", ".pins-3.77", "other"}),
        ((5000.0, 10, 15), {".pins-3.77", "other"}),
    ],
    ids=["within", "too old", "too many", "too large"],
)
def test_the_oldest_go_first(tmp_path: Path, limits: tuple[float, int, int], left: set[str]) -> None:
    _files(tmp_path, "other", "pins-1", "pins-2", ".pins-3.77")
    seconds, files, size = limits
    remove_lapsed(tmp_path, "pins-*", seconds=seconds, most_files=files, most_bytes=size)
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_directory_that_is_gone_is_no_trouble(tmp_path: Path) -> None:
    remove_lapsed(tmp_path / "none", "*", seconds=1, most_files=1, most_bytes=1)
