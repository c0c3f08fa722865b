"""Keeps a worker running while its screen is open."""

import subprocess
import threading
import time
from collections.abc import Callable

from caveman_tui import places
from caveman_tui.cli._workers import StartedWorker, WorkerProblem
from caveman_tui.protocol.discovery import WorkerRecord, process_exists, read_record

_LOOK_SECONDS = 0.1
_TRIES = 5
"""Restarts within `_TRIES_SECONDS`; a worker that dies that often has a fault which starting doesn't cure."""
_TRIES_SECONDS = 60.0


class Guardian:
    """A thread that starts the worker again when it died.

    One that ended on purpose removes its record; one that was killed or crashed leaves it, and that is the difference. Its
    successor gets the same port and socket, so clients and the screen find it without being told.
    """

    def __init__(
        self,
        record: WorkerRecord,
        process: "subprocess.Popen[bytes] | None",
        restart: Callable[[WorkerRecord], StartedWorker],
        *,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        """`process` where this program started the worker; `restart` starts the successor of the one it is given."""
        self.record = record
        self.restarts = 0
        self._process = process
        self._restart = restart
        self._look_seconds = look_seconds
        self._tries: list[float] = []
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="guardian", daemon=True)

    def __enter__(self) -> "Guardian":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._leave.wait(self._look_seconds):
            if self._lives():
                continue
            left = self._record_left()
            if left is not None and left.instance != self.record.instance:
                self.record, self._process = left, None
                continue
            if left is None or not self._may_try():
                return
            try:
                started = self._restart(left)
            except WorkerProblem:
                continue
            self.record, self._process = started.record, started.process
            self.restarts += 1

    def _lives(self) -> bool:
        if self._process is not None:
            return self._process.poll() is None
        return process_exists(self.record.pid)

    def _record_left(self) -> WorkerRecord | None:
        """The dead worker's record, or that of the one which took its place; None where it ended on purpose."""
        try:
            return read_record(places.state_dir(), self.record.port)
        except OSError:
            crashed = self._process is not None and self._process.returncode != 0
            return self.record if crashed else None

    def _may_try(self) -> bool:
        now = time.monotonic()
        self._tries = [at for at in self._tries if at > now - _TRIES_SECONDS] + [now]
        return len(self._tries) <= _TRIES
