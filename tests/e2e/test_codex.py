"""Codex, with and without the worker between it and a stand-in."""

from pathlib import Path

from caveman_tui.core.policy import ShrinkMode
from caveman_tui.demo.provider import Provider
from caveman_tui.protocol.events import Settings
from tests.e2e import scripts
from tests.e2e.agents import Agent, codex
from tests.e2e.comparison import compare


async def test_a_loop(codex_program: str, tmp_path: Path) -> None:
    urls: dict[Path, str] = {}

    def agent_for(home: Path, url: str) -> Agent:
        urls[home] = url
        return codex(codex_program, home)

    async def play(agent: Agent, _: Provider) -> object:
        return await agent.run(
            *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            *("-c", f'openai_base_url="{urls[agent.home]}/v1"', "Make two files"),
        )

    compared = await compare(lambda: scripts.CODEX_LOOP, agent_for, play, tmp_path, Settings(shrink=ShrinkMode.APPLY))
    assert len(compared.edited) == len(compared.exchanges) == 4
