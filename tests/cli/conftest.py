"""A provider that answers, and workers as real processes."""

import contextlib
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from caveman_tui import places
from caveman_tui.protocol.discovery import WorkerRecord, records

DEADLINE_SECONDS = 30.0


@dataclass
class Provider:
    """An HTTP server that records request paths and answers every POST with a small message."""

    url: str
    paths: list[str] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)
    """While set, requests get no answer."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            known.paths.append(self.path)
            while known.silent.is_set() and not ended.wait(0.02):
                pass
            answer = b'{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    ended = threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known = Provider(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield known
    ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


T = TypeVar("T")


def wait_for(look: Callable[[], T | None], what: str) -> T:
    """Look until there is something to see."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if (seen := look()) is not None and seen is not False:
            return seen
        time.sleep(0.02)
    raise AssertionError(f"never saw {what}")


@dataclass
class Cli:
    """Runs `caveman-tui` commands as processes."""

    directory: Path
    started: list["subprocess.Popen[str]"] = field(default_factory=list)

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "caveman_tui", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            env=os.environ | environment,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=DEADLINE_SECONDS)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def serve(self, *arguments: str) -> tuple["subprocess.Popen[str]", WorkerRecord]:
        process = self.start("serve", *arguments)
        return process, self.record_of(process.pid)

    @staticmethod
    def record_of(pid: int) -> WorkerRecord:
        return wait_for(
            lambda: next((record for record in records(places.state_dir()) if record.pid == pid), None), f"a record of process {pid}"
        )


@contextlib.contextmanager
def commands(directory: Path) -> Iterator[Cli]:
    """Commands run in `directory`; in the end what they started is ended, workers included."""
    cli = Cli(directory)
    yield cli
    for record in records(places.state_dir()):
        if record.pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(record.pid, signal.SIGKILL)
    for process in cli.started:
        process.kill()
        process.communicate()


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    with commands(tmp_path) as started:
        yield started


@pytest.fixture(name="wait_for")
def _wait_for() -> Callable[..., object]:
    return wait_for
