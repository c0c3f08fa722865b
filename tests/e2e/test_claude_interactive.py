"""Claude Code on a terminal, a person typing, with and without the worker between it and a stand-in."""

import time
from pathlib import Path

import pytest

from caveman_tui.core.policy import ShrinkMode
from caveman_tui.demo.provider import Provider
from caveman_tui.protocol.events import Settings
from tests.e2e import scripts
from tests.e2e.agents import Agent, claude
from tests.e2e.comparison import compare, model_requests
from tests.e2e.terminal import ESCAPE, sitting_before
from tests.e2e.transcripts import conversations, texts

ALLOWED = ("--allowedTools", "Bash,Agent")
HANG_UP_SECONDS = 1.0
"""How much later than without the worker the provider may see that a person pressed Esc."""

both_lifetimes = pytest.mark.parametrize("hour_markers", [True, False], ids=["hour", "five-minutes"])


@both_lifetimes
async def test_two_prompts_with_a_loop_each(claude_program: str, tmp_path: Path, hour_markers: bool) -> None:
    async def play(agent: Agent, _: Provider) -> object:
        async with sitting_before(agent, *ALLOWED) as terminal:
            for prompt, answer in (("Make three files", "Three files are there."), ("Now the fourth", "And a fourth one.")):
                await terminal.enter(prompt)
                await terminal.until(lambda answer=answer: answer in texts(agent.home), f"'{answer}'")
        return conversations(agent.home)

    compared = await compare(
        lambda: scripts.CLAUDE_TWO_PROMPTS,
        lambda home, url: claude(claude_program, home, url, hour_markers=hour_markers),
        play,
        tmp_path,
        Settings(shrink=ShrinkMode.APPLY),
    )
    first, *loop, second, second_loop = [exchange for exchange in compared.exchanges if exchange.tools]
    assert [bool(exchange.marker_edits) for exchange in loop] == [hour_markers] * 3
    assert not any(exchange.marker_edits for exchange in (first, second, second_loop))
    # Claude Code sends the later prompts of a session as plain text once they are answered, which takes no marker.
    assert ("prompt-is-text" in {reason.code for reason in second_loop.reasons}) == hour_markers
    assert not first.client_kind.headless


@both_lifetimes
async def test_a_sub_agent(claude_program: str, tmp_path: Path, hour_markers: bool) -> None:
    async def play(agent: Agent, _: Provider) -> object:
        async with sitting_before(agent, *ALLOWED) as terminal:
            await terminal.enter("Send somebody")
            await terminal.until(lambda: "Two files are there." in texts(agent.home), "the answer")
        return conversations(agent.home)

    compared = await compare(
        lambda: scripts.CLAUDE_SUB_AGENT,
        lambda home, url: claude(claude_program, home, url, hour_markers=hour_markers),
        play,
        tmp_path,
        Settings(shrink=ShrinkMode.APPLY),
    )
    with_tools = [exchange for exchange in compared.exchanges if exchange.tools]
    for thread in ([exchange for exchange in with_tools if exchange.agent], [exchange for exchange in with_tools if not exchange.agent]):
        assert [bool(exchange.marker_edits) for exchange in thread] == [False, hour_markers, hour_markers]


@both_lifetimes
async def test_escape_in_the_middle_of_an_answer(claude_program: str, tmp_path: Path, hour_markers: bool) -> None:
    seconds: list[float] = []

    async def play(agent: Agent, provider: Provider) -> object:
        async with sitting_before(agent, *ALLOWED) as terminal:
            await terminal.enter("Make a file")
            await terminal.until(lambda: terminal.shows(scripts.Interrupted.FIRST_WORDS), "the answer to begin")
            terminal.press(ESCAPE)
            pressed = time.monotonic()
            await terminal.until(lambda: any(received.hung_up for received in provider.received), "the provider's connection to close")
            seconds.append(time.monotonic() - pressed)
            await terminal.until(lambda: any("interrupted" in text for text in texts(agent.home)), "the interruption to be noted")
            await terminal.enter("Once more")
            await terminal.until(lambda: "Made after all." in texts(agent.home), "the answer to the next prompt")
        return conversations(agent.home)

    compared = await compare(
        lambda: scripts.Interrupted("Once more"),
        lambda home, url: claude(claude_program, home, url, hour_markers=hour_markers),
        play,
        tmp_path,
        Settings(shrink=ShrinkMode.APPLY),
    )
    direct, through = seconds
    assert through < direct + HANG_UP_SECONDS
    states = [exchange.state for exchange in compared.exchanges if exchange.tools]
    assert states == ["done", "cancelled", "done", "done"]
    (cancelled,) = [exchange for exchange in compared.exchanges if exchange.state == "cancelled"]
    assert cancelled.usage is not None and cancelled.usage.total_input_tokens
    assert [received.hung_up for received in model_requests(compared.behind)].count(True) == 1
