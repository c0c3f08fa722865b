"""The same session twice: the agent straight in front of the stand-in, and with the worker between."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caveman_tui.ccr import open_store
from caveman_tui.config import WorkerConfig
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.demo.provider import Provider, Received, Script
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.proxy.worker import Worker
from caveman_tui.traffic.control import WorkerClient
from tests.e2e.agents import LIMIT_SECONDS, Agent

AgentFor = Callable[[Path, str], Agent]
"""An agent for a home and a base URL."""
Play = Callable[[Agent, Provider], Awaitable[object]]
"""Plays a session with an agent; what comes out of it is compared."""


@dataclass
class Compared:
    """Two sessions that were the same to the agent."""

    direct: Provider
    behind: Provider
    exchanges: list[Exchange]
    """What the worker recorded of the second one's requests to the model, in the order of their arrival."""

    @property
    def edited(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.marker_edits or any(tools.applied for tools in exchange.tools)]


@asynccontextmanager
async def worker_before(provider: Provider, settings: Settings, folder: Path) -> AsyncIterator[tuple[Worker, WorkerClient]]:
    upstreams = tuple(Upstream(name=name, base_url=provider.url, dialect=name) for name in ("anthropic", "openai"))
    socket = folder / "w.sock"
    worker = Worker(
        WorkerConfig(port=0, upstreams=upstreams, settings=settings, socket_path=str(socket), store_path=str(folder / "ccr.db")),
        # However slow this machine's disk is, it decides nothing.
        put_seconds=LIMIT_SECONDS,
    )
    await worker.start()
    try:
        async with WorkerClient(socket) as client:
            yield worker, client
    finally:
        await worker.stop()


async def compare(script: Callable[[], Script], agent_for: AgentFor, play: Play, tmp_path: Path, settings: Settings) -> Compared:
    """Play a session both ways. What the agent said, did and asked must be the same, and every difference on the wire recorded."""
    async with Provider(script()).running() as direct:
        alone = agent_for(tmp_path / "alone", direct.url)
        first = await play(alone, direct)
    async with Provider(script()).running() as behind, worker_before(behind, settings, tmp_path) as (worker, client):
        through = agent_for(tmp_path / "through", f"http://127.0.0.1:{worker.port}")
        second = await play(through, behind)
        exchanges = await _check_every_difference_is_recorded(behind, client, tmp_path / "ccr.db")
    assert second == first
    assert through.files() == alone.files() != {}
    assert _asked(behind) == _asked(direct)
    return Compared(direct, behind, exchanges)


def model_requests(provider: Provider) -> list[Received]:
    return [received for received in provider.received if received.method == "POST"]


def _asked(provider: Provider) -> Counter[tuple[str, str, bool, tuple[str, ...]]]:
    """What arrived: method, target, whether of a sub-agent, and the names of the header fields in their order and case.

    Leaves out what is known to differ: attempts at a WebSocket, which the worker refuses itself; fields about the connection; and
    the place of Host, which HTTP libraries choose.
    """
    return Counter(
        (
            received.method,
            received.target,
            bool(received.header("x-claude-code-agent-id")),
            tuple(name for name, _ in received.headers if name.lower() not in {"host", "connection"}),
        )
        for received in provider.received
        if not received.header("upgrade")
    )


async def _check_every_difference_is_recorded(provider: Provider, client: WorkerClient, store: Path) -> list[Exchange]:
    """What the provider received against what the client sent: nothing but recorded edits."""
    arrived = {received.body: received for received in model_requests(provider)}
    exchanges = [exchange for exchange in (await client.exchanges()).exchanges if exchange.method == "POST"]
    assert len(exchanges) == len(arrived) == len(model_requests(provider))
    for exchange in exchanges:
        sent = await client.body(exchange.id, "request-before")
        received = arrived.pop(await client.body(exchange.id, "request-after"))
        assert received.rule_broken == ""
        assert received.status == exchange.status
        if not exchange.marker_edits and not any(tools.applied for tools in exchange.tools):
            assert received.body == sent
            continue
        recorded = {edit.pointer for edit in exchange.marker_edits}
        tools = [summary for summary in exchange.tools if summary.applied]
        places = _changed_places(json.loads(sent), json.loads(received.body))
        assert {place for place in places if not any(place.startswith(summary.pointer + "/") for summary in tools)} <= recorded
        assert all("cache_control" in place for place in recorded)
        for summary in tools:
            with open_store(store, create=False) as opened:
                assert opened.get(summary.handle).original in sent
            assert selection_profile(sent) == selection_profile(received.body)
    return exchanges


def _changed_places(before: Any, after: Any, path: str = "") -> set[str]:
    """Pointers of the smallest values in which two documents differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = set()
        for key in before.keys() | after.keys():
            if key in before and key in after:
                found |= _changed_places(before[key], after[key], f"{path}/{key}")
            else:
                found.add(f"{path}/{key}")
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return set().union(*(_changed_places(x, y, f"{path}/{i}") for i, (x, y) in enumerate(zip(before, after, strict=True))))
    return set() if before == after else {path}
