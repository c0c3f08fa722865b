"""Claude Code without a terminal, with and without the worker between it and a stand-in that enforces the marker rules."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.core.policy import ShrinkMode
from caveman_tui.demo.provider import OVERLOADED, Provider, Turns
from caveman_tui.protocol.events import Settings
from tests.e2e import scripts
from tests.e2e.agents import Agent, claude
from tests.e2e.comparison import Compared, compare, worker_before
from tests.e2e.transcripts import conversations

Run = Callable[..., Awaitable[Compared]]


async def _play(agent: Agent, _: Provider) -> object:
    return await agent.run("-p", "Make three files", "--allowedTools", "Bash,Agent"), conversations(agent.home)


@pytest.fixture
def run(claude_program: str, tmp_path: Path) -> Run:
    async def run(script: Turns, settings: Settings, *, hour_markers: bool = True) -> Compared:
        def agent_for(home: Path, url: str) -> Agent:
            return claude(claude_program, home, url, hour_markers=hour_markers)

        return await compare(lambda: script, agent_for, _play, tmp_path, settings)

    return run


async def test_a_loop_with_hour_markers(run: Run) -> None:
    compared = await run(scripts.CLAUDE_LOOP, Settings(shrink=ShrinkMode.APPLY))
    assert len(compared.edited) == len(compared.exchanges) == 4


async def test_a_loop_taken_for_interactive(run: Run) -> None:
    compared = await run(scripts.CLAUDE_LOOP, Settings(headless="no", shrink=ShrinkMode.OFF))
    assert compared.edited == compared.exchanges[1:] != []


async def test_a_loop_with_five_minute_markers_is_left_alone(run: Run) -> None:
    compared = await run(scripts.CLAUDE_LOOP, Settings(), hour_markers=False)
    assert (len(compared.exchanges), compared.edited) == (4, [])


async def test_a_loop_with_five_minute_markers_keeps_them_when_its_tools_are_shrunk(run: Run) -> None:
    compared = await run(scripts.CLAUDE_LOOP, Settings(shrink=ShrinkMode.APPLY), hour_markers=False)
    assert len(compared.edited) == 4
    assert not any(exchange.marker_edits for exchange in compared.exchanges)


@pytest.mark.parametrize("hour_markers", [True, False], ids=["hour", "five-minutes"])
async def test_a_sub_agent(run: Run, hour_markers: bool) -> None:
    compared = await run(scripts.CLAUDE_SUB_AGENT, Settings(shrink=ShrinkMode.APPLY), hour_markers=hour_markers)
    own = [exchange for exchange in compared.exchanges if exchange.agent]
    assert (len(compared.exchanges), len(own), len(compared.edited)) == (6, 3, 6)
    assert len({exchange.session for exchange in compared.exchanges}) == 1
    assert {exchange.conversation for exchange in own}.isdisjoint(
        exchange.conversation for exchange in compared.exchanges if not exchange.agent
    )
    assert any(exchange.marker_edits for exchange in own) == hour_markers


async def test_an_overloaded_provider_is_asked_again(claude_program: str, tmp_path: Path) -> None:
    class OverloadedOnce:
        def __init__(self) -> None:
            self.asked = 0

        def answer(self, question: Any) -> Any:
            self.asked += 1
            return OVERLOADED if self.asked == 1 else scripts.CLAUDE_LOOP.answer(question)

    async with Provider(OverloadedOnce()).running() as provider, worker_before(provider, Settings(), tmp_path) as (worker, client):
        agent = claude(claude_program, tmp_path / "home", f"http://127.0.0.1:{worker.port}")
        said = await agent.run("-p", "Make three files", "--allowedTools", "Bash")
        states = [(e.status, e.state) for e in (await client.exchanges()).exchanges if e.method == "POST"]
    assert "Three files" in said
    assert states[0] == (529, "provider-error")
    assert {state for _, state in states[1:]} == {"done"}
