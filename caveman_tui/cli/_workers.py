"""Finding running workers and starting new ones as processes of their own."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from caveman_tui import places
from caveman_tui.cli._worker_options import WorkerOptions
from caveman_tui.protocol.control import Status
from caveman_tui.protocol.discovery import WorkerRecord, accepts, is_alive, live_workers, records
from caveman_tui.traffic.source import SourceError, WorkerGone

if TYPE_CHECKING:
    from caveman_tui.traffic.control import WorkerClient

T = TypeVar("T")

_START_SECONDS = 20.0
_LOOK_SECONDS = 0.03
_APPEARING_SECONDS = 1.0
ANSWER_SECONDS = 5.0
"""A worker says what it is in milliseconds; one that is silent for so long hangs."""
_LOG_LIMIT_BYTES = 1024 * 1024


class WorkerProblem(click.ClickException):
    """A worker that can't be found, reached or started; the text says what to do."""

    exit_code = 1


class PortTaken(WorkerProblem):
    """Something that is no worker of this user listens on the port."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"Port {port} is taken by another program, and not by a worker of yours. "
            f"Choose another, such as --port {port + 1 if port < 65535 else 8788}; --port 0 takes a free one."
        )


class SeveralRun(WorkerProblem):
    """More than one worker runs, and nothing says which is meant."""

    def __init__(self, listed: str) -> None:
        super().__init__(f"Several workers run. {listed} Say which with --port.")
        self.listed = listed
        """A sentence that names them."""


@dataclass(frozen=True, slots=True)
class StartedWorker:
    """A worker that this process started; it lives on when this process ends."""

    record: WorkerRecord
    process: "subprocess.Popen[bytes]"


def find_worker(port: int) -> WorkerRecord | None:
    """The running worker on `port`, or None."""
    found = next((record for record in _running() if record.port == port), None)
    return found or _behind_default_socket(port)


def find_appearing_worker(port: int) -> WorkerRecord | None:
    """As `find_worker`, but where anything listens on `port`, look for a second: a worker listens a little before it can be found."""
    deadline = time.monotonic() + _APPEARING_SECONDS
    while (found := find_worker(port)) is None and port_is_taken(port) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    return found


def the_worker(port: int | None, preferred: int) -> WorkerRecord:
    """The running worker on `port`; without one, that on the `preferred` port, else the only one. Raises WorkerProblem, and
    SeveralRun where that is the reason.
    """
    if port is not None:
        if (found := find_worker(port)) is None:
            raise WorkerProblem(f"No worker of yours runs on port {port}. {_listed()}")
        return found
    if (found := find_worker(preferred)) is not None:
        return found
    running = _running()
    if len(running) == 1:
        return running[0]
    if running:
        raise SeveralRun(_listed())
    raise WorkerProblem("No worker runs. 'caveman-tui' starts one with a screen, 'caveman-tui serve' one without.")


def port_is_taken(port: int, host: str = "127.0.0.1") -> bool:
    """Whether any program accepts connections on the port."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        return bool(port) and accepts(probe, (host, port))


def ask(where: Path | WorkerRecord, question: Callable[["WorkerClient"], Awaitable[T]], *, seconds: float | None = None) -> T:
    """One question to the worker of this socket or record, and its answer; within `seconds`, where given.

    Raises traffic.source.SourceError. Not to be called on an event loop.
    """
    # The client brings httpx, and that brings rich where it finds it: no library for a process that only serves.
    from caveman_tui.traffic.control import WorkerClient

    async def ask() -> T:
        async with WorkerClient(where) as client:
            try:
                async with asyncio.timeout(seconds):
                    return await question(client)
            except TimeoutError as error:
                raise WorkerGone(f"The worker at {client.place} does not answer.") from error

    return asyncio.run(ask())


def ask_status(record: WorkerRecord) -> Status:
    """What the worker says of itself. Raises WorkerProblem. Not to be called on an event loop."""
    try:
        return ask(record, lambda client: client.status(), seconds=ANSWER_SECONDS)
    except SourceError as error:
        raise WorkerProblem(str(error)) from error


def start_worker(options: WorkerOptions) -> StartedWorker:
    """Start a worker in a session of its own, so that no closed terminal ends it, and wait until it answers.

    Raises WorkerProblem with what the worker said where it didn't start.
    """
    port = options.worker_config().port
    command = [sys.executable, "-m", "caveman_tui", "serve", *options.arguments()]
    with _Log(port) as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log.descriptor,
            stderr=log.descriptor,
            start_new_session=True,
            # `-m` looks for modules in the current directory first, which may be anyone's repository.
            cwd=log.directory,
        )
        try:
            return StartedWorker(_wait_for(process, port, log), process)
        except BaseException:
            process.terminate()
            raise


def find_or_start_worker(options: WorkerOptions) -> WorkerRecord | StartedWorker:
    """The running worker on the port that the options name, or one that was started there.

    Raises PortTaken where another program listens, WorkerProblem where none starts.
    """
    port = options.worker_config().port
    if (running := find_appearing_worker(port)) is not None:
        return running
    if port_is_taken(port):
        raise PortTaken(port)
    try:
        return start_worker(options)
    except WorkerProblem:
        # Of two commands that start together both find no worker; one of the two that they start gets the port.
        if (running := find_appearing_worker(port)) is None:
            raise
        return running


def _running() -> list[WorkerRecord]:
    try:
        return live_workers(places.state_dir())
    except OSError:
        return []


def _listed() -> str:
    running = _running()
    if not running:
        return "None runs at all; 'caveman-tui' starts one."
    return "Running: " + ", ".join(f"port {record.port} (process {record.pid})" for record in running) + "."


def _behind_default_socket(port: int) -> WorkerRecord | None:
    """A worker that could leave no record, because its state directory is read-only."""
    try:
        path = places.runtime_dir() / f"worker-{port}.sock"
    except OSError:
        return None
    if not path.exists():
        return None
    probe = WorkerRecord(pid=os.getpid(), instance="", version="", host="127.0.0.1", port=port, started_at=0.0, socket=str(path))
    if not is_alive(probe):
        return None
    try:
        status = ask_status(probe)
    except WorkerProblem:
        return None
    return WorkerRecord(
        pid=status.pid,
        instance=status.instance,
        version=status.version,
        host=status.host,
        port=status.port,
        started_at=status.started_at,
        socket=str(path),
    )


class _Log:
    """Where a worker's own output goes: a 0600 file of the state directory, or nowhere where there is none."""

    def __init__(self, port: int) -> None:
        self.directory = "/"
        self._path: Path | None = None
        self._start = 0
        try:
            directory = places.state_dir()
            self._path = directory / f"worker-{port}.log"
            large = self._path.exists() and self._path.stat().st_size > _LOG_LIMIT_BYTES
            mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if large else 0)
            self.descriptor = os.open(self._path, mode, 0o600)
            self.directory = str(directory)
            self._start = os.fstat(self.descriptor).st_size
        except OSError:
            self._path = None
            self.descriptor = os.open(os.devnull, os.O_WRONLY)

    def __enter__(self) -> "_Log":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def said(self) -> str:
        """What the worker has put out since this log was opened, its last few lines."""
        if self._path is None:
            return ""
        with self._path.open("rb") as file:
            file.seek(self._start)
            return "\n".join(file.read().decode("utf-8", "replace").strip().splitlines()[-4:])


def _wait_for(process: "subprocess.Popen[bytes]", port: int, log: _Log) -> WorkerRecord:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        for record in _candidates(port):
            if record.pid == process.pid and is_alive(record):
                return record
        if process.poll() is not None:
            said = log.said().removeprefix("Error: ")
            raise WorkerProblem(said or f"The worker ended at once, with exit code {process.returncode}.")
        time.sleep(_LOOK_SECONDS)
    raise WorkerProblem(f"The worker did not answer within {_START_SECONDS:.0f} s. 'caveman-tui serve' shows what it says.")


def _candidates(port: int) -> Iterator[WorkerRecord]:
    try:
        yield from records(places.state_dir())
    except OSError:
        for candidate in [port] if port else _ports_of_sockets():
            if found := _behind_default_socket(candidate):
                yield found


def _ports_of_sockets() -> list[int]:
    try:
        names = [path.stem.removeprefix("worker-") for path in places.runtime_dir().glob("worker-*.sock")]
    except OSError:
        return []
    return [int(name) for name in names if name.isdecimal()]
