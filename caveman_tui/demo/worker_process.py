"""The worker as a process of its own, started as a person would start it: `caveman-tui serve`."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from caveman_tui.protocol.discovery import WorkerRecord, is_alive, records

PROGRAM = (sys.executable, "-m", "caveman_tui")
"""How this very installation's command line is called."""

_START_SECONDS = 30.0
_STOP_SECONDS = 10.0


class WorkerNotStarted(Exception):
    """The worker process ended, or said nothing; the text holds what it printed."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where the demo's worker keeps its files, apart from the person's own."""

    directory: Path
    store: Path

    @property
    def state(self) -> Path:
        """The worker's state directory."""
        return self.directory / "state"

    def environment(self) -> dict[str, str]:
        """This process's environment with the demo's own places in it."""
        return os.environ | {
            "CAVEMAN_CCR_DB": str(self.store),
            "CAVEMAN_TUI_STATE": str(self.state),
            "CAVEMAN_TUI_RUNTIME": str(self.directory / "run"),
            "CAVEMAN_TUI_CONFIG": str(self.directory / "config.toml"),
        }


@contextlib.asynccontextmanager
async def worker_process(home: Home, upstream_url: str, level: str) -> AsyncIterator[WorkerRecord]:
    """A worker in front of `upstream_url` for both dialects, with both transforms on. Raises WorkerNotStarted."""
    command = [*PROGRAM, "serve", "--port", "0", "--upstream-anthropic", upstream_url]
    command += ["--upstream-openai", upstream_url, "--ttl", "apply", "--shrink", "apply", "--level", level]
    output = home.directory / "worker.log"
    with output.open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=home.environment(),
            # `-m` looks for modules in the current directory first, which may be anyone's repository.
            cwd=home.directory,
            start_new_session=True,
        )
    try:
        yield await _started(process, home, output)
    finally:
        await _end(process)


async def _started(process: asyncio.subprocess.Process, home: Home, output: Path) -> WorkerRecord:
    """The record that the process writes when it listens."""
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if process.returncode is not None:
            raise WorkerNotStarted(f"the worker ended with code {process.returncode}: {_said(output) or 'it printed nothing'}")
        for record in records(home.state) if home.state.is_dir() else ():
            if record.pid == process.pid and is_alive(record):
                return record
        await asyncio.sleep(0.02)
    raise WorkerNotStarted(f"the worker did not listen within {_START_SECONDS:g} s; {output} holds what it printed")


def _said(output: Path) -> str:
    return output.read_text(errors="replace")[-2000:].strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
