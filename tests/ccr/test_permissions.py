import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from caveman_tui.ccr import Store, StoreMissing, StoreReadOnly, StoreUnsafe, handle_of, open_store

AS_ROOT = os.geteuid() == 0
NOBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_is_its_owners_alone(path: Path) -> None:
    previous = os.umask(0)
    try:
        with open_store(path) as store:
            store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
            assert mode(path.parent) == 0o700
            assert {mode(each) for each in path.parent.iterdir()} == {0o600}
            assert {each.name for each in path.parent.iterdir()} == {"ccr.db", "ccr.db-wal", "ccr.db-shm"}
    finally:
        os.umask(previous)


def test_directories_above_are_made_private_too(tmp_path: Path) -> None:
    open_store(tmp_path / "a" / "b" / "ccr.db").close()
    assert mode(tmp_path / "a") == 0o700 and mode(tmp_path / "a" / "b") == 0o700


def test_a_directory_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    open_store(home / "ccr.db").close()
    assert mode(home) == 0o755


def test_an_open_file_is_closed_to_others_when_opened(store: Store, path: Path) -> None:
    path.chmod(0o644)
    open_store(path).close()
    assert mode(path) == 0o600


@pytest.mark.parametrize("name", ["ccr.db", "ccr.db-wal", "ccr.db-shm"])
def test_a_symlink_is_refused_and_its_target_untouched(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (home / name).symlink_to(target)
    with pytest.raises(StoreUnsafe, match="symbolic link"):
        open_store(home / "ccr.db")
    assert target.read_bytes() == b"precious"


def test_a_dangling_symlink_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "ccr.db").symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StoreUnsafe):
        open_store(tmp_path / "ccr.db")
    assert not (tmp_path / "elsewhere.db").exists()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ccr.db").mkdir()
    with pytest.raises(StoreUnsafe, match="no regular file"):
        open_store(tmp_path / "ccr.db")
    os.mkfifo(tmp_path / "pipe.db")
    with pytest.raises(StoreUnsafe, match="no regular file"):
        open_store(tmp_path / "pipe.db")


@pytest.mark.parametrize(("bits", "refused"), [(0o770, True), (0o707, True), (0o1777, False), (0o755, False)])
def test_a_directory_that_others_write_to_needs_the_sticky_bit(tmp_path: Path, bits: int, refused: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(bits)
    if refused:
        with pytest.raises(StoreUnsafe, match="chmod go-w"):
            open_store(home / "ccr.db")
        assert not (home / "ccr.db").exists()
    else:
        open_store(home / "ccr.db").close()


def test_a_symlinked_directory_is_followed_once(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    with open_store(tmp_path / "link" / "ccr.db") as store:
        assert store.path == real.resolve() / "ccr.db"


SCRIPT = """
import os, sys, tempfile
from caveman_tui.ccr import open_store, StoreError, handle_of
with tempfile.TemporaryDirectory() as warm, open_store(warm + "/ccr.db") as store:
    store.list("loads what is imported late, which the other user may not read")
if os.geteuid() == 0:
    os.setuid(int(sys.argv[2]))
try:
    store = open_store(sys.argv[1])
    print(store.writable, store.get(handle_of(b"kept")).original, len(store.list("kept")), store.check().sound)
    print(store.put(b"kept", content_type="t", compressor="c", tokens_before=0, tokens_after=0) == handle_of(b"kept"))
    store.put(b"new", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
except StoreError as error:
    print(error.code)
"""

KILLED = """
import os, sys
from caveman_tui.ccr import open_store
open_store(sys.argv[1]).put(b"kept", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
os.kill(os.getpid(), 9)
"""


def run_script(home: Path) -> list[str]:
    """The script's lines. Run by root it becomes another user after its imports, since root may write anywhere."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(home / "ccr.db"), str(NOBODY)], capture_output=True, text=True)
    assert not done.stderr
    return done.stdout.splitlines()


def give_away(home: Path, to: int = NOBODY) -> None:
    if AS_ROOT:
        for each in (home, *home.iterdir()):
            os.chown(each, to, to)


class TestReadOnly:
    CAN_READ: ClassVar = ["False b'kept' 1 True", "True", "store-read-only"]

    @pytest.fixture
    def home(self) -> Iterator[Path]:
        # Not below pytest's own directory: each pytest that starts on this machine closes that to other users.
        with tempfile.TemporaryDirectory() as above:
            Path(above).chmod(0o711)
            home = Path(above) / "home"
            with open_store(home / "ccr.db") as store:
                store.put(b"kept", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
            yield home
            home.chmod(0o700)

    def test_a_read_only_home(self, home: Path) -> None:
        give_away(home)
        home.chmod(0o500)
        assert run_script(home) == self.CAN_READ

    def test_a_read_only_file(self, home: Path) -> None:
        give_away(home)
        (home / "ccr.db").chmod(0o400)
        assert run_script(home) == self.CAN_READ

    def test_a_read_only_home_with_a_journal_that_a_killed_writer_left(self, home: Path) -> None:
        for each in home.iterdir():
            each.unlink()
        writer = subprocess.run([sys.executable, "-c", KILLED, str(home / "ccr.db")], check=False)
        assert writer.returncode == -9
        assert (home / "ccr.db-wal").stat().st_size > 0
        give_away(home)
        for each in home.iterdir():
            each.chmod(0o400)
        home.chmod(0o500)
        assert run_script(home) == self.CAN_READ

    def test_a_read_only_home_without_a_store(self, home: Path) -> None:
        for each in home.iterdir():
            each.unlink()
        give_away(home)
        home.chmod(0o500)
        assert run_script(home) == ["store-unreachable"]

    @pytest.mark.skipif(not AS_ROOT, reason="only root can make a file of another user")
    def test_somebody_elses_file_is_refused(self, home: Path) -> None:
        give_away(home)
        assert run_script(home)[0].startswith("True")
        (home / "ccr.db").chmod(0o666)
        os.chown(home / "ccr.db", 12345, 12345)
        assert run_script(home) == ["store-unsafe"]


def test_a_store_opened_for_reading_says_why_it_cannot_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(path) as store:
        store.put(b"kept", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with open_store(path, create=False) as store:
        assert store.get(handle_of(b"kept")).original == b"kept"
        with pytest.raises(StoreReadOnly, match="permissions"):
            store.delete(handle_of(b"kept"))


def test_a_missing_directory_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        open_store(tmp_path / "none" / "ccr.db", create=False)
    assert not (tmp_path / "none").exists()
