"""Several processes on one file: what a put promised is there for all of them."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from caveman_tui.ccr import (
    Store,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreMissing,
    handle_of,
    open_store,
    set_aside,
)

WRITER = """
import sys
from caveman_tui.ccr import open_store
with open_store(sys.argv[1]) as store:
    for n in range(25):
        for original in (b"shared %d" % n, sys.argv[2].encode() + b" %d" % n):
            print(store.put(original, content_type="t", compressor="c", tokens_before=2, tokens_after=1), flush=True)
"""

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK") if connection.in_transaction else None
connection.close()
print("free", flush=True)
sys.stdin.readline()
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.fixture
def locked(store: Store) -> Iterator[subprocess.Popen[str]]:
    """Another process inside a write transaction."""
    store.put(b"before", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    process = start(HOLDER, str(store.path), "BEGIN IMMEDIATE")
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    yield process
    end(process)


def release(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_four_writers_begin_one_store_together(path: Path) -> None:
    writers = [start(WRITER, str(path), name) for name in ("a", "b", "c", "d")]
    outputs = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    with open_store(path, create=False) as store:
        assert store.stats().originals == 25 + 4 * 25
        for handle in {handle for output in outputs for handle in output}:
            store.get(handle)
        assert store.check().sound


def test_what_a_killed_process_printed_is_in_the_store(path: Path) -> None:
    writer = start(WRITER, str(path), "a")
    assert writer.stdout is not None
    promised = [writer.stdout.readline().strip() for _ in range(7)]
    end(writer)
    with open_store(path) as store:
        for handle in promised:
            assert handle_of(store.get(handle).original) == handle
        assert store.check().sound


def test_a_put_waits_for_a_lock(store: Store, locked: subprocess.Popen[str]) -> None:
    """The lock is let go from inside the wait, so the put can only succeed by waiting."""
    released: list[bool] = []

    def on_begin(sql: str) -> None:
        if sql.startswith("BEGIN IMMEDIATE") and not released:
            released.append(True)
            release(locked)

    with store._connections.use() as connection:
        connection.set_trace_callback(on_begin)
    handle = store.put(b"during", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    assert released
    assert store.get(handle).original == b"during"


def test_a_lock_held_longer_is_an_error_and_reading_goes_on(path: Path, locked: subprocess.Popen[str]) -> None:
    with open_store(path, busy_seconds=0.05) as store:
        with pytest.raises(StoreLocked) as caught:
            store.put(b"during", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        assert caught.value.code == "store-locked" and str(path) in str(caught.value)
        assert store.get(handle_of(b"before")).original == b"before"
        again = store.put(b"before", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        assert again == handle_of(b"before")
        release(locked)
        assert locked.stdout is not None and locked.stdout.readline() == "free\n"
        store.put(b"during", content_type="t", compressor="c", tokens_before=0, tokens_after=0)


def test_a_deleted_file_never_swallows_a_put(store: Store, path: Path) -> None:
    for each in list(path.parent.iterdir()):
        each.unlink()
    with pytest.raises(StoreMissing):
        store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)


def test_a_replaced_file_is_the_one_that_is_written(store: Store, path: Path) -> None:
    for each in list(path.parent.iterdir()):
        each.unlink()
    with open_store(path):
        handle = store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        with open_store(path) as other:
            assert other.get(handle).original == b"x"


class TestCorruptFile:
    @pytest.fixture
    def corrupt(self, path: Path) -> bytes:
        with open_store(path) as store:
            for n in range(50):
                store.put(b"%d" % n * 500, content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        content = b"no database " * 1000
        path.write_bytes(content)
        return content

    def test_it_is_neither_renamed_nor_recreated(self, path: Path, corrupt: bytes) -> None:
        for create in (True, False):
            with pytest.raises(StoreCorrupt, match="set-aside") as caught:
                open_store(path, create=create)
            assert caught.value.code == "store-corrupt"
        assert path.read_bytes() == corrupt
        assert [each.name for each in path.parent.iterdir()] == ["ccr.db"]

    def test_setting_aside_keeps_every_byte_and_makes_room(self, path: Path, corrupt: bytes) -> None:
        path.with_name("ccr.db-wal").write_bytes(b"journal")
        kept = set_aside(path)
        assert kept.read_bytes() == corrupt
        assert kept.with_name(kept.name + "-wal").read_bytes() == b"journal"
        assert not path.exists()
        with open_store(path) as store:
            assert store.stats().originals == 0
        assert set_aside(path) != kept

    def test_damaged_pages_are_found_by_check(self, path: Path) -> None:
        with open_store(path) as store:
            for n in range(50):
                store.put(b"%d" % n * 5000, content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        content = bytearray(path.read_bytes())
        content[20 * 4096 : 24 * 4096] = b"\xff" * 4 * 4096
        path.write_bytes(content)
        with open_store(path) as store:
            report = store.check()
            assert report.file_problems and not report.sound
            for damage in report.damaged:
                with pytest.raises(StoreError):
                    store.get(damage.handle)


def test_setting_aside_refuses_while_another_process_has_it_open(store: Store, path: Path) -> None:
    store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    store.close()
    holder = start(HOLDER, str(path), "SELECT COUNT(*) FROM recoveries")
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(StoreLocked, match="open"):
            set_aside(path)
        assert path.exists()
        release(holder)
        assert holder.stdout.readline() == "free\n"
        kept = set_aside(path)
        assert kept.exists() and not path.exists()
    finally:
        end(holder)


def test_another_library_reads_what_we_wrote(store: Store, path: Path) -> None:
    handle = store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert other.execute("SELECT handle FROM recoveries").fetchall() == [(handle,)]


NO_ROOM = """
import resource, sys
from caveman_tui.ccr import StoreError, open_store
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
for _ in range(2):
    with open_store(sys.argv[1]) as store:
        print(store.get(sys.argv[2]).original == b"kept", len(store.list()), store.check().sound)
        try:
            store.put(b"new" * 5000, content_type="t", compressor="c", tokens_before=0, tokens_after=0)
        except StoreError as error:
            print(error.code)
"""
"""No file may grow past 4 KiB, so that there is no room for the index of the journal, as on a full disk."""


def test_without_room_on_the_disk_what_is_stored_still_comes_back(path: Path) -> None:
    with open_store(path) as store:
        handle = store.put(b"kept", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    done = subprocess.run([sys.executable, "-c", NO_ROOM, str(path), handle], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.split("\n")[:4] == ["True 1 True", "store-unreachable"] * 2
    with open_store(path) as store:
        assert store.get(handle).original == b"kept"
        assert store.check().sound
