"""The demo end to end on a real worker process; with a fault put beside the worker it must not pass."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from caveman_tui.demo.agent import Agent
from caveman_tui.demo.catalogs import chat_tools, coding_tools
from caveman_tui.demo.plot import Conversation, Turn, call, step
from caveman_tui.demo.provider import PromptCache, Provider, Steps, Text
from caveman_tui.demo.scenario import answers
from caveman_tui.demo.session import Detour, Outcome, Session, own_home, straight
from caveman_tui.demo.summary import as_text, summarise
from caveman_tui.demo.wire import Wire
from caveman_tui.protocol.discovery import WorkerRecord, is_alive
from tests.demo.taps import Spoil, tap

SHORT_PLOT = (
    Conversation(
        name="short",
        session="11111111-2222-4333-8444-555555555555",
        model="claude-opus-4-8",
        tools=coding_tools(),
        turns=(
            Turn(
                "Look around.",
                (
                    step(Text("Looking."), call("Find", glob="*"), results=("a\nb",)),
                    step(call("Read", path="/a"), results=("äöü",)),
                    step(Text("Two files.")),
                ),
            ),
        ),
    ),
)


async def played(*, before_worker: Detour = straight, before_provider: Detour = straight) -> Outcome:
    async with (
        own_home() as home,
        Session.started(home, plot=SHORT_PLOT, before_worker=before_worker, before_provider=before_provider) as session,
    ):
        await session.play()
        return await session.judge()


def broken(outcome: Outcome) -> set[str]:
    return {breach.promise for breach in outcome.breaches}


def replacing(old: bytes, new: bytes) -> Spoil:
    def spoil(body: bytes) -> bytes:
        return body.replace(old, new, 1)

    return spoil


async def test_a_sound_session_keeps_every_promise() -> None:
    outcome = await played()
    assert outcome.breaches == ()
    summary = summarise(outcome)
    assert summary.marker_edits == {"prompt-anchored": 2, "loop-shortened": 2}
    assert [catalog.tools for catalog in summary.catalogs] == [len(coding_tools()), len(chat_tools(("ci", "chat")))]
    actual = sum(r.bill.usage.cost("claude-opus-4-8") or 0 for i in outcome.evidence for r in i.received if r.bill and i.sent.conversation)
    title = next(r.bill for i in outcome.evidence for r in i.received if r.bill and not r.bill.markers)
    assert title is not None
    actual += (title.usage.cost("claude-haiku-4-5") or 0) - (title.usage.cost("claude-opus-4-8") or 0)
    assert summary.total.both.usd == pytest.approx(actual), "the replay of what was forwarded is what the provider billed"


async def test_requests_spoiled_on_their_way_to_the_provider() -> None:
    """One fault a request, so that each can be told by its number."""
    faults = [
        (b"Look around.", b"Look around", "bytes-outside-edits"),
        (b',"required":["command"]', b"", "selection-profile"),
        (
            b'given.","cache_control":{"type":"ephemeral","ttl":"1h"',
            b'given.","cache_control":{"type":"ephemeral","ttl":"5m"',
            "marker-rules",
        ),
    ]
    expected = [promise for _, _, promise in faults]

    def spoil(body: bytes) -> bytes:
        if b'"tools":[{' in body and faults:
            old, new, _ = faults.pop(0)
            assert old in body
            return body.replace(old, new, 1)
        return body

    outcome = await played(before_provider=tap(request=spoil))
    spoiled = [item.sent.number for item in outcome.evidence if item.sent.is_messages and b'"tools":[{' in item.sent.body]
    for number, promise in zip(spoiled, expected, strict=True):
        mine = [breach for breach in outcome.breaches if breach.text.startswith(f"request {number}")]
        assert promise in {breach.promise for breach in mine}, (promise, outcome.breaches)
    assert not outcome.kept


async def test_requests_doubled_on_their_way() -> None:
    assert "forwarded-once" in broken(await played(before_provider=tap(twice=True)))


async def test_a_last_byte_lost_on_the_way_to_the_agent() -> None:
    assert broken(await played(before_worker=tap(response=lambda body: body[:-1]))) == {"every-byte"}


async def test_a_request_spoiled_before_the_worker_saw_it() -> None:
    assert "bytes-outside-edits" in broken(await played(before_worker=tap(request=replacing(b"Look around.", b"Look away."))))


async def test_after_a_long_loop_and_a_pause_the_next_prompt_reads_up_to_the_old_one() -> None:
    """Forty calls, ten minutes: the worker's anchors make the difference of reading the first prompt or only the system."""
    loop = tuple(step(call("Read", path=f"/{number}"), results=("line\n" * 100,)) for number in range(40))
    turns = (Turn("Look at everything.", (*loop, step(Text("Seen.")))), Turn("And now?", (step(Text("Nothing.")),), pause=600))
    plot = (dataclasses.replace(SHORT_PLOT[0], turns=turns),)
    async with own_home() as home, Session.started(home, plot=plot) as session:
        await session.play()
        outcome = await session.judge()
    assert outcome.breaches == ()
    last = next(item for item in reversed(outcome.evidence) if item.sent.is_messages and b"And now?" in item.sent.body)
    bill = last.received[0].bill
    assert last.exchange is not None and bill is not None
    assert [edit.reason for edit in last.exchange.marker_edits] == ["re-anchored"]
    assert bill.read_up_to == "messages.0.content.1"
    without = PromptCache()
    for item in outcome.evidence:
        received = item.received[0]
        if received.bill is not None and item is not last:
            without.publish(without.bill(json.loads(received.body), received.at))
    unanchored = json.loads(last.received[0].body)
    del unanchored["messages"][0]["content"][1]["cache_control"]
    assert without.bill(unanchored, last.received[0].at).read_up_to == "system.2"


def test_the_session_behind_the_screen_ends_with_its_standard_input() -> None:
    command = [sys.executable, "-m", "caveman_tui.demo", "--speed", "50"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        record = msgspec.json.decode(process.stdout.readline(), type=WorkerRecord)
        assert is_alive(record)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 0, said.decode()
    assert not is_alive(record)


async def test_an_answer_that_is_not_the_scripted_one_ends_the_conversation_and_is_told() -> None:
    provider = Provider(Steps({}))
    async with provider.running(), Wire.connected(provider.url, provider.url) as wire:
        agent = Agent(wire, SHORT_PLOT)
        await agent.run()
    assert agent.problems == ["step short/1/1: the answer calls other tools than are scripted"]


async def test_breaches_are_named_in_the_summary() -> None:
    summary = summarise(await played(before_worker=tap(response=lambda body: body[:-1])))
    text = as_text(summary)
    assert "BROKEN  the agent saw every byte" in text and "! every-byte: request 1" not in text.splitlines()[0]


def test_the_command_end_to_end() -> None:
    """As a person runs it: exit 0, every promise kept, the numbers of the full plot."""
    done = subprocess.run([sys.executable, "-m", "caveman_tui", "demo", "--json"], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    summary = json.loads(done.stdout)
    assert summary["breaches"] == []
    assert summary["messages"] >= 60 and summary["conversations"] == 3 and summary["sub_agents"] == 1
    assert summary["cancelled"] == 1 and summary["broken_off"] == 1 and summary["statuses"]["529"] == 1
    assert summary["marker_edits"]["re-anchored"] >= 1
    assert max(catalog["tools"] for catalog in summary["catalogs"]) > 40
    assert 0 < summary["tool_tokens_after"] < summary["tool_tokens_before"]
    by_name = {costs["conversation"]: costs for costs in summary["costs"]}
    assert by_name["nightly"]["loop_ttl"]["usd"] < by_name["nightly"]["neither"]["usd"], "a loop without a pause gets cheaper"
    assert by_name["shop"]["loop_ttl"]["usd"] > by_name["shop"]["neither"]["usd"], "a long pause after a long loop is shown as dearer"
    assert all(costs[which]["refused"] == 0 for costs in summary["costs"] for which in ("neither", "loop_ttl", "shrink", "both"))


def test_the_command_exits_with_1_where_a_promise_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A worker of another kind in place of ours: one that forwards but has lost the store it says it has."""
    from click.testing import CliRunner

    from caveman_tui.cli.demo import demo_command
    from caveman_tui.demo import session

    fake = tmp_path / "recover.py"
    fake.write_text("import sys; sys.stdout.write('[]')")
    monkeypatch.setattr(session, "PROGRAM", (sys.executable, str(fake)))
    monkeypatch.setattr(session, "conversations", lambda: SHORT_PLOT)
    result = CliRunner().invoke(demo_command, ["--headless"])
    assert result.exit_code == 1
    assert "BROKEN  every handle gives the exact original" in result.stdout


def test_the_plot_has_answers_for_all_its_steps() -> None:
    names = [name for conversation in SHORT_PLOT for name, _ in conversation.steps()]
    assert len(names) == len(set(names)) and set(names) <= set(answers(SHORT_PLOT))
