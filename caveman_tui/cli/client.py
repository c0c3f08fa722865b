"""`exec`: runs a client with its requests going through the worker."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import click

from caveman_tui.cli._client_wiring import client_command, client_environment, client_of, local_port, obstacles
from caveman_tui.cli._input import note
from caveman_tui.cli._worker_options import WorkerOptions, worker_options
from caveman_tui.cli._workers import (
    ANSWER_SECONDS,
    PortTaken,
    SeveralRun,
    StartedWorker,
    WorkerProblem,
    ask,
    ask_status,
    find_or_start_worker,
    find_worker,
    port_is_taken,
    start_worker,
    the_worker,
)
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.traffic.source import SourceError

PATIENCE_SECONDS = 20.0
"""After so long without a request the client is probably talking to its provider directly."""

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
"""Exit codes of a command that can't be run, as shells give them."""


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@worker_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_command(command: tuple[str, ...], options: WorkerOptions) -> None:
    """Run a client through the worker: caveman-tui exec -- claude.

    Sets base URLs for this one process only and writes no settings file. The worker is that on the port, else the only one that
    runs; where there is none, or there are several, or an option asks for something else, one is started. The client's exit code and
    signals become those of this command.
    """
    if shutil.which(command[0]) is None:
        note(f"caveman-tui exec: there is no command '{command[0]}'.")
        raise SystemExit(_NOT_FOUND)
    record, own = _worker_for(options)
    started_at = time.time()
    try:
        for obstacle in obstacles(client_of(command), os.environ, Path.cwd(), record.url):
            note(f"caveman-tui exec: {obstacle.where} {obstacle.what}. Requests will not pass the worker. {obstacle.todo}")
        with _Patience(record, started_at) as patience:
            code = _run(client_command(command, record.url), client_environment(os.environ, record.url))
        patience.remind()
    finally:
        if own:
            with contextlib.suppress(SourceError):
                ask(record, lambda worker: worker.stop(), seconds=ANSWER_SECONDS)
    _leave_like(code)


def _worker_for(options: WorkerOptions) -> tuple[WorkerRecord, bool]:
    """The worker to go through, and whether it is there for this client only."""
    port = options.worker_config().port
    if given := _given_upstreams(port):
        for name, url in given.items():
            note(f"caveman-tui exec: {name} becomes the upstream of a worker of its own ({urlsplit(url).hostname}).")
        mine = options.with_flags(
            port=0 if options.flags.port is None else options.flags.port,
            upstream_anthropic=options.flags.upstream_anthropic or given.get("ANTHROPIC_BASE_URL"),
            upstream_openai=options.flags.upstream_openai or given.get("OPENAI_BASE_URL"),
        )
        return start_worker(mine).record, True
    try:
        worker = _only_worker(options) or find_or_start_worker(options)
    except PortTaken:
        note(f"caveman-tui exec: port {port} is taken by another program; the worker gets a free one.")
        return start_worker(options.with_flags(port=0)).record, True
    if isinstance(worker, StartedWorker):
        return worker.record, port == 0
    try:
        ask_status(worker)
    except WorkerProblem as hangs:
        raise WorkerProblem(f"{hangs} Requests would wait for it: end it with 'caveman-tui stop --port {worker.port}'.") from hangs
    if options.says_something:
        note(f"caveman-tui exec: a worker already runs on port {port} and keeps the settings it was started with.")
    return worker, False


def _only_worker(options: WorkerOptions) -> WorkerRecord | None:
    """The one worker that runs, wherever it listens, where nothing was asked for that another would have to be started for."""
    if options.flags.port is not None or options.says_something:
        return None
    try:
        return the_worker(None, options.worker_config().port)
    except SeveralRun as several:
        port = options.worker_config().port
        note(
            f"caveman-tui exec: none of the workers that run is on port {port}; another starts there. {several.listed} Choose with --port."
        )
        return None
    except WorkerProblem:
        return None


def _given_upstreams(own_port: int) -> dict[str, str]:
    """Base URLs of the environment that name a provider, or a gateway before one: neither a worker of ours nor a dead port."""
    given = {}
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        url = os.environ.get(name, "").strip()
        port = local_port(url)
        if not url or (port and find_worker(port)):
            continue
        if port == own_port or (port and not port_is_taken(port)):
            note(f"caveman-tui exec: {name} names port {port} of this machine, where nothing of use listens; it is passed over.")
            continue
        given[name] = url
    return given


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run to the end; the exit code, or minus the signal that ended it."""
    try:
        # The handlers stand before the client does, so that no signal falls between the two.
        with _forwarded_signals() as client:
            process = subprocess.Popen(command, env=environment)
            client.append(process)
            return process.wait()
    except OSError as error:
        note(f"caveman-tui exec: '{command[0]}' can't be run ({error.strerror or error}).")
        return _NOT_EXECUTABLE


@contextlib.contextmanager
def _forwarded_signals() -> Iterator[list["subprocess.Popen[bytes]"]]:
    client: list[subprocess.Popen[bytes]] = []

    def forward(number: int, _: FrameType | None) -> None:
        # Ctrl-C and Ctrl-\ reach the client from the terminal itself; a second one would count as a second press.
        from_terminal = number in {signal.SIGINT, getattr(signal, "SIGQUIT", 0)} and _in_foreground()
        for process in client:
            if not from_terminal:
                with contextlib.suppress(OSError):
                    process.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield client
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether a terminal sends its signals to this process and so to the client, which is of the same group."""
    with contextlib.suppress(OSError, AttributeError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False


def _leave_like(code: int) -> None:
    """End as the client did."""
    if code >= 0:
        raise SystemExit(code)
    sys.stdout.flush()
    if -code not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    raise SystemExit(128 - code)


class _Patience:
    """Warns when no request has come through the worker: once while the client runs, and again when its screen is gone."""

    def __init__(self, record: WorkerRecord, started_at: float) -> None:
        self._record = record
        self._started_at = started_at
        self._ended = threading.Event()
        self._warned = False
        self._thread = threading.Thread(target=self._watch, name="patience", daemon=True)

    def __enter__(self) -> "_Patience":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def remind(self) -> None:
        """Say it again where it was said and is still so."""
        if self._warned and self._saw_none():
            note(_NO_REQUEST)

    def _watch(self) -> None:
        if not self._ended.wait(PATIENCE_SECONDS) and self._saw_none():
            self._warned = True
            note(_NO_REQUEST)

    def _saw_none(self) -> bool:
        try:
            last = ask_status(self._record).last_exchange_at
        except WorkerProblem:
            return False
        return last is None or last < self._started_at


_NO_REQUEST = (
    f"caveman-tui exec: no request came through the worker within {PATIENCE_SECONDS:.0f} s. The client may have a base URL of its "
    "own in its settings; 'caveman-tui doctor' looks for one."
)
