"""Files for a person's eyes only."""

from pathlib import Path

import pytest

from caveman_tui.traffic.private_file import write_private


def test_it_is_private_and_never_overwrites(tmp_path: Path) -> None:
    first, second = write_private(tmp_path, "x.json", b"1"), write_private(tmp_path, "x.json", b"2")
    assert (first.name, second.name) == ("x.json", "x-2.json")
    assert first.read_bytes() == b"1" and second.read_bytes() == b"2"
    assert {path.stat().st_mode & 0o777 for path in (first, second)} == {0o600}


def test_names_cannot_leave_the_directory(tmp_path: Path) -> None:
    for name in ("../../evil", "/etc/passwd", "..", "a/b", ".hidden", "", "x\x00y"):
        assert write_private(tmp_path, name, b"").parent == tmp_path


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "x.json").symlink_to(tmp_path / "target")
    assert write_private(tmp_path, "x.json", b"1").name == "x-2.json"
    assert not (tmp_path / "target").exists()


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        write_private(tmp_path / "none", "x", b"")
