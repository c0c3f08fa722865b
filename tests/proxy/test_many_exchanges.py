"""Whatever happens to them, exchanges begin once, end once, and give back what they held."""

import asyncio
import collections
import random

import pytest

from caveman_tui.core.policy import ClientKind, ShrinkMode
from caveman_tui.core.usage import Usage
from caveman_tui.protocol import events
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.recording import Recording, client_name
from tests.proxy import rewriting
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange
from tests.proxy.test_streams import DELTA, END, START

MESSAGES = "/v1/messages"
_ENDS = frozenset({"done", "provider-error", "cancelled", "broken", "failed"})


async def _faulty(exchange: Exchange) -> None:
    """Answers, fails or breaks off as the request's text says."""
    what = exchange.seen.body.rpartition(b"do-")[2][:5]
    match what:
        case b"reply":
            await exchange.reply(b'{"usage":{"input_tokens":1}}')
        case b"error":
            await exchange.reply(b'{"error":1}', status="500 Oh")
        case b"tools":
            await exchange.reply(b'{"error":"tools"}', status="400 Bad Request")
        case b"close":
            exchange.cut()
        case b"midst":
            await exchange.begin_stream()
            await exchange.chunk(START + DELTA[:9])
            exchange.reset()
        case b"never":
            await exchange.closed_by_peer()
        case _:
            await exchange.begin_stream()
            for piece in (START, DELTA, END):
                await exchange.chunk(piece)
            await exchange.end_stream()


async def _one(bench: Bench, chance: random.Random) -> None:
    what = chance.choice(["reply", "error", "tools", "close", "midst", "never", "streams"])
    leave = "never" if what == "never" else chance.choice(["never", "stay", "stay", "sending", "head"])
    client = await bench.connect()
    body = rewriting.request(f"{chance.random()} do-{what}".encode() + b"x" * chance.choice([0, 0, 100_000]))
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}", f"x-claude-code-session-id: {chance.randrange(5)}")
    await client.send(f"POST {MESSAGES} HTTP/1.1", *fields, body=body[: len(body) // 2] if leave == "sending" else body)
    if leave == "stay":
        await client.receive()
    elif leave == "head" and what not in {"close", "never"}:
        await client.head()
    elif what == "never":
        await bench.until(lambda: any(body[-60:-10] in seen.body for seen in bench.provider.seen))
    client.close()


@pytest.mark.parametrize("seed", range(3))
async def test_every_exchange_begins_once_and_ends_once(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr("caveman_tui.proxy.worker.rewrite", rewriting.rewrite)
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.APPLY), in_flight_budget_bytes=400_000)
    bench.provider.answer = _faulty
    chance = random.Random(seed)
    for _ in range(4):
        await asyncio.gather(*(_one(bench, chance) for _ in range(12)))
    await bench.until(lambda: bench.worker.log.open_exchanges == 0 and bench.worker.in_flight_bytes == 0)
    order = collections.defaultdict(list)
    for event in bench.events:
        if not isinstance(event, events.StoreChanged | events.SettingsChanged):
            order[event.exchange if isinstance(event, events.Warned) else event.id].append(event)
    assert len(order) <= 48
    for told in order.values():
        kinds = [type(event) for event in told]
        assert kinds[0] is events.ExchangeStarted
        assert [kinds.count(kind) for kind in (events.ExchangeStarted, events.ExchangeFinished)] == [1, 1]
        assert kinds.count(events.ExchangeResponding) <= 1
        after = kinds[kinds.index(events.ExchangeFinished) + 1 :]
        assert set(after) <= {events.ExchangeRewritten, events.Warned}
    assert {exchange.state for exchange in bench.worker.log.exchanges()} <= _ENDS
    bench.provider.failures.clear()


def _started(recording: Recording) -> None:
    recording.start(method="POST", target="/v1/messages", provider="a", dialect=None, user_agent="x/1 (y)", client_kind=ClientKind())


def test_nothing_is_told_before_the_start_or_after_the_end() -> None:
    log, told = ExchangeLog(), []
    log.emit = told.append  # type: ignore[method-assign]
    recording = Recording(log)
    recording.finish("done")
    recording.warn("early", "something")
    _started(recording)
    _started(recording)
    recording.finish("done", 3)
    recording.finish("cancelled")
    recording.responding(200)
    recording.usage(Usage(input_tokens=1), 3, last=True)
    assert [type(event) for event in told] == [events.ExchangeStarted, events.Warned, events.ExchangeFinished]


def test_usage_is_told_when_it_changes_and_not_too_often() -> None:
    now = [0.0]
    log, told = ExchangeLog(), []
    log.emit = told.append  # type: ignore[method-assign]
    recording = Recording(log, clock=lambda: now[0])
    _started(recording)
    for at, count in ((1.0, 1), (1.1, 2), (1.2, 2), (2.0, 2), (3.0, 2)):
        now[0] = at
        recording.usage(Usage(output_tokens=count), count)
    recording.usage(Usage(output_tokens=3), 9, last=True)
    recording.usage(None, 9, last=True)
    assert [event.usage.output_tokens for event in told[1:]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("claude-cli/2.1.316 (external, cli)", "claude-cli/2.1.316"),
        ("codex_cli_rs/0.171.0 (Linux)", "codex"),
        ("", ""),
        ("curl/8", "curl/8"),
    ],
)
def test_client_names(user_agent: str, name: str) -> None:
    assert client_name(user_agent) == name
