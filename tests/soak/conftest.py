"""What the long suites share: how much to run, what to print, and the worker as a process that can be killed."""

import asyncio
import contextlib
import hashlib
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import Phase

FULL = os.environ.get("CAVEMAN_TUI_SOAK") == "1"
"""Whether suites run at their whole length; otherwise a sample of a few seconds."""
START_SECONDS = 60.0
PHASES = (Phase.explicit, Phase.generate)
"""Of generated tests: making a failing example smaller takes minutes where every try goes over the network twice."""

Report = Callable[[str], None]
_figures = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_figures] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.soak)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if FULL and (figures := config.stash[_figures]):
        terminalreporter.section("figures")
        for line in figures:
            terminalreporter.write_line(line)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Add a line to the figures that a full run prints at its end."""
    return lambda line: request.config.stash[_figures].append(f"{request.node.name}: {line}")


@pytest.fixture
def randomness(report: Report) -> random.Random:
    """Another one for each run; `CAVEMAN_TUI_SEED` repeats one."""
    seed = int(os.environ.get("CAVEMAN_TUI_SEED") or random.SystemRandom().randrange(1 << 32))
    report(f"CAVEMAN_TUI_SEED={seed}")
    print(f"CAVEMAN_TUI_SEED={seed}")
    return random.Random(seed)


def whole_or_sample(whole: int, sample: int) -> int:
    """`whole` in a full run."""
    return whole if FULL else sample


def handle_of(original: bytes) -> str:
    """A recovery handle as its definition says: of the first 16 bytes of the SHA-256."""
    return "ccr_" + hashlib.sha256(original).digest()[:16].hex()


@dataclass
class ServingWorker:
    """`caveman-tui serve` as a process of its own."""

    process: asyncio.subprocess.Process
    port: int
    socket: Path

    def kill(self) -> None:
        """kill -9."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)

    def memory(self, field: str) -> int:
        """`VmRSS` or `VmHWM`, in bytes. Skips the test where the system doesn't tell."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            pytest.skip("this system does not tell the memory of a process in /proc")
        line = next(line for line in status.read_text().splitlines() if line.startswith(f"{field}:"))
        return int(line.split()[1]) * 1024


@contextlib.asynccontextmanager
async def serving_worker(port: int, upstream: str, *options: str, store: Path | None = None) -> AsyncIterator[ServingWorker]:
    """A worker in front of `upstream` for both dialects, listening; killed at the end. Without a `store` it takes the default one."""
    runtime = Path(os.environ["CAVEMAN_TUI_RUNTIME"])
    control = runtime / f"worker-{port}.sock"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "caveman_tui", "serve", "--port", str(port)),
        *("--upstream-anthropic", upstream, "--upstream-openai", upstream, *options),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | ({"CAVEMAN_CCR_DB": str(store)} if store else {}),
    )
    worker = ServingWorker(process, port, control)
    try:
        await _until_it_listens(worker)
        yield worker
    finally:
        worker.kill()
        await process.communicate()


async def _until_it_listens(worker: ServingWorker) -> None:
    """The line it prints when all of it is up."""
    assert worker.process.stderr is not None
    said = b""
    async with asyncio.timeout(START_SECONDS):
        while b"listens on" not in said:
            line = await worker.process.stderr.readline()
            assert line, f"the worker did not start: {said.decode()}"
            said += line
