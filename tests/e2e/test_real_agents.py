"""Claude Code and Codex themselves, with and without the worker between them and a stand-in that enforces the marker rules."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from caveman_tui.config import WorkerConfig
from caveman_tui.core.policy import ShrinkMode
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.demo.provider import Failure, Provider, Received, Reply, Text, Thinking, ToolUse, Turns, say
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.worker import Worker
from caveman_tui.traffic.control import WorkerClient
from tests.e2e.conftest import Agent, claude, codex


def _bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "Run a command"})


CLAUDE_LOOP = Turns(
    (
        Reply((Thinking("First a look around."), Text("Looking."), _bash("echo one > one.txt"), _bash("echo two > two.txt"))),
        Reply((_bash("cat /nowhere/at/all"),)),
        Reply((Text("That is missing; one more."), _bash("cat one.txt two.txt > three.txt"))),
        say("Three files are there."),
    )
)
CODEX_LOOP = Turns(
    (
        Reply((Text("Looking."), ToolUse("exec_command", {"cmd": "echo one > one.txt"}))),
        Reply((ToolUse("exec_command", {"cmd": "cat one.txt > two.txt"}),)),
        say("Two files are there."),
    )
)


@asynccontextmanager
async def worker_before(provider: Provider, settings: Settings, folder: Path) -> AsyncIterator[tuple[Worker, WorkerClient]]:
    upstreams = tuple(Upstream(name=name, base_url=provider.url, dialect=name) for name in ("anthropic", "openai"))
    socket = folder / "w.sock"
    worker = Worker(
        WorkerConfig(port=0, upstreams=upstreams, settings=settings, socket_path=str(socket), store_path=str(folder / "ccr.db"))
    )
    await worker.start()
    try:
        async with WorkerClient(socket) as client:
            yield worker, client
    finally:
        await worker.stop()


def model_requests(provider: Provider) -> list[Received]:
    return [received for received in provider.received if received.method == "POST"]


def changed_places(before: Any, after: Any, path: str = "") -> set[str]:
    """Pointers of the smallest values in which two documents differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = set()
        for key in before.keys() | after.keys():
            if key in before and key in after:
                found |= changed_places(before[key], after[key], f"{path}/{key}")
            else:
                found.add(f"{path}/{key}")
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return set().union(*(changed_places(x, y, f"{path}/{i}") for i, (x, y) in enumerate(zip(before, after, strict=True))))
    return set() if before == after else {path}


async def check_every_difference_is_recorded(provider: Provider, client: WorkerClient) -> int:
    """What the provider received against what the client sent: nothing but recorded edits. Returns how many requests had any."""
    arrived = model_requests(provider)
    exchanges = [exchange for exchange in (await client.exchanges()).exchanges if exchange.method == "POST"]
    assert len(exchanges) == len(arrived)
    edited = 0
    for exchange, received in zip(exchanges, arrived, strict=True):
        sent = await client.body(exchange.id, "request-before")
        assert received.rule_broken == ""
        assert received.status == 200
        if not exchange.marker_edits and not any(tools.applied for tools in exchange.tools):
            assert received.body == sent
            continue
        edited += 1
        recorded = {edit.pointer for edit in exchange.marker_edits}
        tools = [summary for summary in exchange.tools if summary.applied]
        places = changed_places(json.loads(sent), json.loads(received.body))
        assert {place for place in places if not any(place.startswith(summary.pointer + "/") for summary in tools)} <= recorded
        assert all("cache_control" in place for place in recorded)
        for summary in tools:
            assert summary.handle
            assert selection_profile(sent) == selection_profile(received.body)
    return edited


async def direct_and_through(agent_for: Any, arguments: Any, script: Turns, tmp_path: Path, settings: Settings) -> int:
    """Run the agent both ways, compare what it said, did and asked; how many requests were edited on the second way."""
    async with Provider(script).running() as direct:
        alone: Agent = agent_for(tmp_path / "alone", direct.url)
        first = await alone.run(*arguments(direct.url))
    async with Provider(script).running() as behind, worker_before(behind, settings, tmp_path) as (worker, client):
        url = f"http://127.0.0.1:{worker.port}"
        through: Agent = agent_for(tmp_path / "through", url)
        second = await through.run(*arguments(url))
        edited = await check_every_difference_is_recorded(behind, client)
    assert first[0] == 0, first[1]
    assert second == first
    assert through.files() == alone.files() != {}
    assert len(model_requests(behind)) == len(model_requests(direct)) > 2
    return edited


async def test_claude_code_headless_with_hour_markers(claude_program: str, tmp_path: Path) -> None:
    edited = await direct_and_through(
        lambda home, url: claude(claude_program, home, url),
        lambda url: ("-p", "Make three files", "--allowedTools", "Bash"),
        CLAUDE_LOOP,
        tmp_path,
        Settings(shrink=ShrinkMode.APPLY),
    )
    assert edited == 4


async def test_claude_code_as_if_interactive(claude_program: str, tmp_path: Path) -> None:
    edited = await direct_and_through(
        lambda home, url: claude(claude_program, home, url),
        lambda url: ("-p", "Make three files", "--allowedTools", "Bash"),
        CLAUDE_LOOP,
        tmp_path,
        Settings(headless="no", shrink=ShrinkMode.OFF),
    )
    assert edited == 3  # all but the person's prompt


async def test_claude_code_with_five_minute_markers_is_left_alone(claude_program: str, tmp_path: Path) -> None:
    edited = await direct_and_through(
        lambda home, url: claude(claude_program, home, url, hour_markers=False),
        lambda url: ("-p", "Make three files", "--allowedTools", "Bash"),
        CLAUDE_LOOP,
        tmp_path,
        Settings(),
    )
    assert edited == 0


async def test_codex(codex_program: str, tmp_path: Path) -> None:
    def agent(home: Path, _: str) -> Agent:
        (home / ".codex").mkdir(parents=True)
        return codex(codex_program, home)

    edited = await direct_and_through(
        agent,
        lambda url: (
            *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            *("-c", f'openai_base_url="{url}/v1"', "Make two files"),
        ),
        CODEX_LOOP,
        tmp_path,
        Settings(shrink=ShrinkMode.APPLY),
    )
    assert edited == 3


async def test_claude_code_survives_an_overloaded_provider(claude_program: str, tmp_path: Path) -> None:
    class OverloadedOnce:
        def __init__(self) -> None:
            self.asked = 0

        def answer(self, question: Any) -> Any:
            self.asked += 1
            return Failure(529, "overloaded_error", "Overloaded") if self.asked == 1 else CLAUDE_LOOP.answer(question)

    async with Provider(OverloadedOnce()).running() as provider, worker_before(provider, Settings(), tmp_path) as (worker, client):
        agent = claude(claude_program, tmp_path / "home", f"http://127.0.0.1:{worker.port}")
        code, said = await agent.run("-p", "Make three files", "--allowedTools", "Bash")
        states = [(e.status, e.state) for e in (await client.exchanges()).exchanges if e.method == "POST"]
    assert code == 0
    assert "Three files" in said
    assert states[0] == (529, "provider-error")
    assert {state for _, state in states[1:]} == {"done"}
