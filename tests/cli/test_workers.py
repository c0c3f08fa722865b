"""Commands that start at the same moment, and workers that hang."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from caveman_tui import places
from caveman_tui.cli import _workers, client, main, session
from caveman_tui.cli._worker_options import WorkerOptions
from caveman_tui.cli._workers import PortTaken, StartedWorker, WorkerProblem, find_or_start_worker
from caveman_tui.config import Flags, WorkerConfig
from caveman_tui.protocol.discovery import WorkerRecord, read_record, write_record


def _record(port: int) -> WorkerRecord:
    return WorkerRecord(pid=1, instance="i", version="1", host="127.0.0.1", port=port, started_at=0.0)


def _options(tmp_path: Path, port: int) -> WorkerOptions:
    return WorkerOptions(config_path=tmp_path / "config.toml", flags=Flags(port=port))


def test_a_worker_that_lost_the_port_gives_way_to_the_one_that_has_it(
    tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    appearing = iter([None, _record(free_port)])

    def lose(_: WorkerOptions) -> StartedWorker:
        raise WorkerProblem("the port is taken")

    monkeypatch.setattr(_workers, "find_appearing_worker", lambda _: next(appearing))
    monkeypatch.setattr(_workers, "start_worker", lose)
    assert find_or_start_worker(_options(tmp_path, free_port)) == _record(free_port)


def test_a_worker_that_does_not_start_for_another_reason_is_an_error(
    tmp_path: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: WorkerOptions) -> StartedWorker:
        raise WorkerProblem("no such upstream")

    monkeypatch.setattr(_workers, "start_worker", fail)
    with pytest.raises(WorkerProblem, match="no such upstream"):
        find_or_start_worker(_options(tmp_path, free_port))


def test_another_program_on_the_port_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_workers, "_APPEARING_SECONDS", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(PortTaken, match="another program"):
        find_or_start_worker(_options(tmp_path, int(other.getsockname()[1])))


def test_of_workers_that_start_together_the_losers_name_the_winner(cli: Any, wait_for: Any, free_port: int) -> None:
    started = [cli.start("serve", "--port", str(free_port)) for _ in range(3)]
    wait_for(lambda: sum(process.poll() is not None for process in started) == 2, "two that give way")
    losers = [process.communicate()[1] for process in started if process.poll() is not None]
    assert all("A worker of yours already runs" in said for said in losers), losers
    assert cli.run("stop", "--port", str(free_port)).returncode == 0


def test_a_process_that_serves_hands_its_threads_over_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    from caveman_tui.proxy import worker

    given: list[float] = []

    class Started(Exception):
        pass

    def start(_: WorkerConfig) -> None:
        given.append(sys.getswitchinterval())
        raise Started

    before = sys.getswitchinterval()
    monkeypatch.setattr(worker, "Worker", start)
    try:
        with pytest.raises(Started):
            asyncio.run(session._serve(WorkerConfig()))
    finally:
        sys.setswitchinterval(before)
    assert given == [pytest.approx(0.0005)]


IGNORES_SIGTERM = "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"


@pytest.fixture
def hanging(cli: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerRecord]:
    """A worker whose process is there and whose sockets listen, and that never answers or ends."""
    monkeypatch.setattr(_workers, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(session, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(session, "_STOP_SECONDS", 0.5)
    path = places.runtime_dir() / "hanging.sock"
    process = subprocess.Popen([sys.executable, "-c", IGNORES_SIGTERM], stdout=subprocess.PIPE)
    with process, socket.socket(socket.AF_UNIX) as control, socket.create_server(("127.0.0.1", 0)) as proxy:
        assert process.stdout is not None and process.stdout.readline()
        control.bind(str(path))
        control.listen(1)
        record = msgspec.structs.replace(_record(proxy.getsockname()[1]), pid=process.pid, socket=str(path))
        write_record(places.state_dir(), record)
        yield record
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
def test_a_worker_that_hangs_is_never_said_to_have_ended(hanging: WorkerRecord) -> None:
    result = CliRunner().invoke(main, ["stop", "--port", str(hanging.port)])
    assert result.exit_code == 1 and f"kill -9 {hanging.pid}" in result.output
    assert read_record(places.state_dir(), hanging.port) == hanging


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
def test_no_client_is_started_in_front_of_a_worker_that_hangs(hanging: WorkerRecord) -> None:
    result = CliRunner().invoke(main, ["exec", "--port", str(hanging.port), "--", sys.executable, "-c", "print('ran')"])
    assert result.exit_code == 1 and f"caveman-tui stop --port {hanging.port}" in result.output
    assert "ran" not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="signals there are no loop's")
def test_a_worker_that_can_be_found_already_ends_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from caveman_tui.proxy import worker

    handlers: list[object] = []

    class Started(Exception):
        pass

    class Starting(worker.Worker):
        async def start(self) -> None:
            handlers.append(signal.getsignal(signal.SIGTERM))
            raise Started

    before = sys.getswitchinterval()
    monkeypatch.setattr(worker, "Worker", Starting)
    try:
        with pytest.raises(Started):
            asyncio.run(session._serve(WorkerConfig()))
    finally:
        sys.setswitchinterval(before)
    assert handlers != [signal.SIG_DFL]
