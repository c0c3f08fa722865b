import contextlib
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from caveman_tui.protocol.discovery import (
    WorkerRecord,
    accepts,
    is_alive,
    live_workers,
    process_exists,
    read_record,
    record_path,
    records,
    remove_record,
    write_record,
)


def _record(port: int, **more: object) -> WorkerRecord:
    values = {"pid": os.getpid(), "instance": f"i{port}", "version": "0", "host": "127.0.0.1", "port": port, "started_at": 1.0}
    return msgspec.convert(values | more, WorkerRecord)


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "w.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path


@pytest.fixture
def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_record_is_private_and_comes_back(tmp_path: Path) -> None:
    record = _record(1, token="secret", control_port=7)
    write_record(tmp_path, record)
    assert stat.S_IMODE(record_path(tmp_path, 1).stat().st_mode) == 0o600
    assert read_record(tmp_path, 1) == record
    assert list(tmp_path.iterdir()) == [record_path(tmp_path, 1)]


def test_a_worker_that_ends_removes_its_own_record_only(tmp_path: Path) -> None:
    write_record(tmp_path, _record(1, instance="successor"))
    remove_record(tmp_path, 1, "i1")
    assert read_record(tmp_path, 1) is not None
    remove_record(tmp_path, 1, "successor")
    assert read_record(tmp_path, 1) is None
    remove_record(tmp_path, 1, "successor")


def test_live_workers_are_found_and_what_dead_ones_left_is_removed(tmp_path: Path, listening: Path, dead_pid: int) -> None:
    gone = tmp_path / "gone.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(gone))
    write_record(tmp_path, _record(1, socket=str(listening)))
    write_record(tmp_path, _record(2, socket=str(listening), started_at=5.0))
    write_record(tmp_path, _record(3, socket=str(gone), pid=dead_pid))
    write_record(tmp_path, _record(4, socket=str(gone)))
    write_record(tmp_path, _record(5, socket=str(listening), pid=dead_pid))
    record_path(tmp_path, 6).write_bytes(b"{")
    assert [record.port for record in live_workers(tmp_path)] == [2, 1]
    assert [record.port for record in records(tmp_path)] == [1, 2]
    assert not gone.exists()
    assert listening.exists()


def test_a_worker_on_loopback_tcp_is_found_by_its_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        record = _record(1, control_port=listener.getsockname()[1], token="t")
        assert is_alive(record)
    assert not is_alive(record)


def test_processes(dead_pid: int) -> None:
    assert process_exists(os.getpid()) and process_exists(1)
    assert not process_exists(dead_pid)
    assert not process_exists(0) and not process_exists(-1)


def test_the_url_is_one_a_client_can_use() -> None:
    assert _record(8788).url == "http://127.0.0.1:8788"
    assert _record(8788, host="::1").url == "http://[::1]:8788"


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")
def test_a_socket_whose_queue_is_full_is_no_dead_one(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as asked:
        listener.bind(path)
        listener.listen(1)
        for _ in range(5):
            probe = asked.enter_context(socket.socket(socket.AF_UNIX))
            assert accepts(probe, path)
    with socket.socket(socket.AF_UNIX) as probe:
        assert not accepts(probe, path)
