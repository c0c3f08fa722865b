"""A conversation's requests begin alike: what the worker remembers of one changes nothing that it does with the next, but the work."""

import json
from typing import Any

import pytest

from caveman_tui.core import body_growth
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import Dialect, Level, Policy, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy import bodies as bodies_module
from caveman_tui.proxy.last_requests import LastRequest, LastRequests, key_of
from tests.core.requests import HOUR, assistant, call, prefix_of, result, text, user
from tests.proxy.conftest import Bench, StartBench

SESSION = "X-Claude-Code-Session-Id: s"
AGENT = "claude-cli/2.1.0 (external, cli)"
TOOLS = [
    {
        "name": "read",
        "description": "Reads one file. " + "This wonderful tool is loved by developers all over the world and easy to use. " * 4,
        "input_schema": {"type": "object", "title": "ReadArguments", "properties": {"path": {"type": "string", "title": "Path"}}},
    }
]


def step(number: int, *, tools: Any = TOOLS, system: str = "Be brief.", size: int = 9_000, **more: Any) -> bytes:
    """The request after so many tool calls; the marker stands on its last block."""
    messages = [user(text("Fix the tests. " * 400))]
    for index in range(number):
        marker = {"marker": HOUR} if index == number - 1 else {}
        messages += [assistant(call(index)), user(result(index, content=f"{index} " + "x" * size, **marker))]
    members = {"model": "m", "messages": messages, "system": [text(system, HOUR)], "tools": tools, "max_tokens": 10}
    return json.dumps(members | more).encode()


@pytest.fixture
async def bench(start_bench: StartBench) -> Bench:
    return await start_bench(settings=Settings(shrink=ShrinkMode.APPLY, level=Level.STANDARD))


async def check(bench: Bench, bodies: list[bytes]) -> None:
    """Send these; each must fare as if the worker had seen none before."""
    policy = Policy(shrink=ShrinkMode.APPLY, level=Level.STANDARD)
    for number, body in enumerate(bodies, 1):
        expected = rewrite(body, Dialect.ANTHROPIC_MESSAGES, client_kind(AGENT), policy)
        assert (await bench.post("/v1/messages", body, SESSION, f"User-Agent: {AGENT}")).status == 200
        exchange = await bench.ended(number)
        assert bench.provider.seen[-1].body == expected.body
        assert bench.worker.log.bodies.read(exchange.id, "request-before").data == body
        assert bench.worker.log.bodies.read(exchange.id, "request-after").data == expected.body
        await bench.until(lambda: bench.exchange.prefix is not None)
        assert bench.exchange.prefix == prefix_of(expected.body)
        assert bench.exchange.markers_after == expected.markers_after
    assert bench.warnings == []


async def test_every_step_of_a_loop_fares_as_if_it_were_the_first(bench: Bench) -> None:
    await check(bench, [step(number) for number in (1, 2, 3, 4, 5)])


async def test_what_changes_in_the_middle_or_around_it_is_seen(bench: Bench) -> None:
    other = [TOOLS[0] | {"description": "Reads. " + "This tool is truly wonderful and beloved by all of its many users. " * 4}]
    compacted = step(2).replace(b'"0 xxx', b'"0 yyy')
    bodies = [step(3), step(3, system="Be long."), step(4, tools=other), compacted, step(1), step(6, stream=True), step(6, stream=True)]
    await check(bench, bodies)


async def test_long_bodies_are_read_in_a_thread_once_and_then_where_they_grew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    whole = JsonDocument.__init__

    def noted(self: JsonDocument, body: bytes, **options: Any) -> None:
        read.append(0 if "read" in options else len(body))
        whole(self, body, **options)

    monkeypatch.setattr(JsonDocument, "__init__", noted)
    for number in (30, 31):
        assert (await bench.post("/v1/messages", step(number), SESSION, f"User-Agent: {AGENT}")).status == 200
        await bench.until(lambda: bench.exchange.prefix is not None)
    assert max(read) == len(step(30))
    assert sum(read) < len(step(30)) * 1.2


async def test_bodies_share_what_they_have_in_common(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.proxy.blobs._compressed", lambda blobs: [blob.read() for blob in blobs])
    steps = [step(number, size=20_000) for number in range(3, 9)]
    await check(bench, steps)
    assert len(steps[-1]) < bench.worker.log.bodies.size < len(steps[-1]) * 1.3
    first = bench.worker.log.ids()[-1]
    bench.worker.log.bodies.drop(first)
    newest = bench.worker.log.ids()[0]
    assert bench.worker.log.bodies.read(newest, "request-before").data == steps[-1]
    for id in bench.worker.log.ids():
        bench.worker.log.bodies.drop(id)
    assert bench.worker.log.bodies.size == 0


async def test_a_body_in_very_many_parts_is_kept_whole_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies_module, "_MOST_PARTS", 4)
    await check(bench, [step(number) for number in range(1, 9)])
    parts = [len(entry.request or ()) for entry in bench.worker.log.bodies._entries.values()]
    assert max(parts) <= 6 and parts.count(1) >= 2


def remembered(body: bytes) -> LastRequest:
    return LastRequest("x", JsonDocument(body), None)


def test_the_last_requests_stay_within_their_budget_the_latest_longest() -> None:
    bodies = [step(2, size=10_000 + number) for number in range(4)]
    memory = LastRequests(budget_bytes=3 * len(bodies[0]) + 100)
    for number, body in enumerate(bodies):
        memory.remember((str(number),), remembered(body))
    assert [memory.find((str(number),)) is not None for number in range(4)] == [False, True, True, True]
    for _ in range(5):
        memory.remember(("3",), remembered(bodies[3]))
    assert memory.find(("1",)) is not None


async def test_nothing_that_was_read_of_a_very_long_body_is_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.proxy.transform.MOST_BYTES", 50_000)
    monkeypatch.setattr("caveman_tui.proxy.last_requests.MOST_BYTES", 50_000)
    await check(bench, [step(number) for number in (5, 6, 7)])
    assert not bench.worker.log.bodies._entries[bench.exchange.id].request[1:]  # type: ignore[index]


def test_short_and_very_long_requests_are_not_remembered() -> None:
    memory = LastRequests()
    for body in (step(0), json.dumps({"messages": [{"content": "x" * (5 << 20)}]}).encode()):
        memory.remember(("k",), remembered(body))
        assert memory.find(("k",)) is None


def test_sessions_agents_and_openings_are_told_apart() -> None:
    body = step(1)
    keys = {
        key_of({}, body),
        key_of({"session-id": "a"}, body),
        key_of({"x-claude-code-session-id": "a"}, body),
        key_of({"x-claude-code-session-id": "a", "x-claude-code-agent-id": "1"}, body),
        key_of({}, body.replace(b"Fix", b"See", 1)),
    }
    assert len(keys) == 5
    assert key_of({"user-agent": "a"}, body) == key_of({}, body)


def test_the_messages_are_found_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    document = JsonDocument(step(2))
    body_growth.open_for_growth(document)
    monkeypatch.setattr("caveman_tui.core.json_spans.msgspec", None)
    assert body_growth.shared_start(step(3), document).items == 4
