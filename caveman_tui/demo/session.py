"""The demo's session: the product itself between the scripted agent and the stand-in, and the evidence of what passed."""

import asyncio
import contextlib
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from caveman_tui.core.policy import Level
from caveman_tui.demo.agent import Agent
from caveman_tui.demo.costs import Costs, replay
from caveman_tui.demo.plot import Conversation
from caveman_tui.demo.promises import Breach, Evidence, breaches
from caveman_tui.demo.provider import Provider, Steps
from caveman_tui.demo.scenario import answers, conversations
from caveman_tui.demo.wire import REQUEST_HEADER, Wire
from caveman_tui.demo.worker_process import PROGRAM, Home, worker_process
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.control import WorkerClient

Detour = Callable[[str], AbstractAsyncContextManager[str]]
"""Takes a URL and gives the URL of something that stands in front of it. Tests put faults there."""

_SETTLE_SECONDS = 20.0
_RECOVER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A session that was played to its end."""

    evidence: tuple[Evidence, ...]
    breaches: tuple[Breach, ...]
    costs: tuple[Costs, ...]
    """By conversation; the first may be without a name, for requests outside any."""
    conversations: int
    seconds: float
    """Real time from start to judgement."""

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return not self.breaches


@contextlib.asynccontextmanager
async def straight(url: str) -> AsyncIterator[str]:
    """No detour."""
    yield url


@contextlib.asynccontextmanager
async def own_home(store: Path | None = None) -> AsyncIterator[Home]:
    """A temporary home for the worker; the store lies in it unless one is given. Removed at the end."""
    with tempfile.TemporaryDirectory(prefix="caveman-demo-", ignore_cleanup_errors=True) as directory:
        yield Home(directory=Path(directory), store=store or Path(directory) / "ccr.db")


class Session:
    """A running provider, worker and agent. `record` says where the worker is."""

    def __init__(
        self, plot: tuple[Conversation, ...], provider: Provider, wire: Wire, record: WorkerRecord, home: Home, level: Level
    ) -> None:
        self.record = record
        self._plot = plot
        self._provider = provider
        self._wire = wire
        self._agent = Agent(wire, plot)
        self._home = home
        self._level = level
        self._began = time.monotonic()

    @staticmethod
    @contextlib.asynccontextmanager
    async def started(
        home: Home,
        *,
        plot: tuple[Conversation, ...] | None = None,
        level: Level = Level.STANDARD,
        pace_seconds: float = 0.0,
        before_worker: Detour = straight,
        before_provider: Detour = straight,
    ) -> AsyncIterator["Session"]:
        """Everything running, nothing sent yet; `plot` is the demo's own unless given. Raises WorkerNotStarted."""
        plot = conversations() if plot is None else plot
        provider = Provider(Steps(answers(plot)), pace_seconds=pace_seconds)
        async with (
            provider.running(),
            before_provider(provider.url) as upstream_url,
            worker_process(home, upstream_url, level) as record,
            before_worker(record.url) as worker_url,
            Wire.connected(worker_url, provider.url) as wire,
        ):
            yield Session(plot, provider, wire, record, home, level)

    async def play(self, pause: Callable[[float], Awaitable[None]] | None = None) -> None:
        """Play the plot to its end. `pause` as for the agent."""
        self._agent.pause = pause
        await self._agent.run()

    @property
    def problems(self) -> list[str]:
        """What did not go as scripted so far, a sentence each."""
        return self._agent.problems

    async def judge(self) -> Outcome:
        """Lay all sides beside each other, once the plot has been played."""
        evidence = await self._evidence()
        handles = {handle for item in evidence for _, handle in item.applied_tools if handle}
        originals = await _recovered(sorted(handles), self._home)
        found = breaches(evidence, originals) + tuple(Breach("script", problem) for problem in self._agent.problems)
        costs = await asyncio.to_thread(replay, evidence, self._level)
        return Outcome(evidence, found, costs, conversations=len(self._plot), seconds=time.monotonic() - self._began)

    async def _evidence(self) -> tuple[Evidence, ...]:
        exchanges = await self._recorded()
        return tuple(
            Evidence(
                sent=sent,
                received=tuple(self._provider.received.with_header(REQUEST_HEADER, str(sent.number))),
                exchange=exchanges.get(str(sent.number)),
            )
            for sent in self._wire.sent
        )

    async def _recorded(self) -> dict[str, Exchange]:
        """The worker's records by the agent's request number, once the worker has come to rest."""
        by_number: dict[str, Exchange] = {}
        async with WorkerClient(self.record) as client:
            deadline = time.monotonic() + _SETTLE_SECONDS
            listing = await client.exchanges()
            while not all(_settled(exchange) for exchange in listing.exchanges) and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
                listing = await client.exchanges()
            for exchange in listing.exchanges:
                detail = await client.exchange(exchange.id)
                number = next((field.value for field in detail.request_headers if field.name.lower() == REQUEST_HEADER), "")
                by_number[number] = exchange
        return by_number


def _settled(exchange: Exchange) -> bool:
    return exchange.state not in ("open", "responding") and all(tools.tokens_after is not None for tools in exchange.tools)


async def _recovered(handles: list[str], home: Home) -> dict[str, bytes | None]:
    """What each handle gives in a process of its own; None where it gives nothing."""

    def recover(handle: str) -> bytes | None:
        command = [*PROGRAM, "recover", handle]
        try:
            done = subprocess.run(
                command, capture_output=True, env=home.environment(), cwd=home.directory, timeout=_RECOVER_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None

    return dict(zip(handles, await asyncio.gather(*(asyncio.to_thread(recover, handle) for handle in handles)), strict=True))
