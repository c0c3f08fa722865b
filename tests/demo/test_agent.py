"""The agent against the stand-in, nothing in between."""

from collections import Counter

from caveman_tui.demo.agent import Agent
from caveman_tui.demo.provider import Provider, Steps
from caveman_tui.demo.scenario import answers, conversations
from caveman_tui.demo.wire import Wire


async def test_it_plays_all_conversations_and_hears_what_was_said() -> None:
    plot = conversations()
    async with Provider(Steps(answers(plot))).running() as provider, Wire.connected(provider.url, provider.url) as wire:
        agent = Agent(wire, plot)
        await agent.run()
        assert agent.problems == []
        messages = [sent for sent in wire.sent if sent.is_messages]
        assert len(messages) >= 60
        assert {sent.conversation for sent in messages} >= {"shop", "nightly", "office", "scout"}
        statuses = Counter(sent.status for sent in wire.sent)
        assert statuses[529] == 1 and statuses[400] == 1 and statuses[404] == 1
        assert sum(sent.hung_up for sent in wire.sent) == 1
        assert sum(bool(sent.broke_off) for sent in wire.sent) == 1
        for sent in wire.sent:
            (received,) = provider.received.with_header("x-demo-request", str(sent.number))
            assert received.body == sent.body
            assert (bytes(received.sent).startswith if sent.hung_up else bytes(received.sent).__eq__)(bytes(sent.received))
            assert not received.rule_broken


async def test_two_runs_are_the_same() -> None:
    runs = []
    for _ in range(2):
        plot = conversations()
        async with Provider(Steps(answers(plot))).running() as provider, Wire.connected(provider.url, provider.url) as wire:
            await Agent(wire, plot).run()
            runs.append(sorted((r.target, r.at, r.body, r.status, b"" if r.hung_up else bytes(r.sent)) for r in provider.received))
    assert runs[0] == runs[1]
