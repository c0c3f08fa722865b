"""How busy the screen is, and how soon it answers: `python -m tests.benchmarks.screen`.

The app runs without a terminal, in front of a source that holds 10,000 exchanges and tells 50 events a second, as a busy afternoon
would. Everything else is the product's: fold, list, layout, drawing into strips. What a terminal does with the bytes is not in it.
Times are given twice where it matters: by the clock on the wall, and as processor time of the screen's thread, since other work on
the machine stretches the former.
"""

import argparse
import asyncio
import contextlib
import gc
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import msgspec
from textual.pilot import Pilot

from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import AnyEvent, ExchangeFinished, ExchangeResponding, ExchangeRewritten, ExchangeStarted, ExchangeUsage
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.body_text import BodyDocument
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.widgets.body_view import BodyView
from tests.tui.fake_source import FakeSource
from tests.tui.session import OPUS, story

EXCHANGES = 10_000
EVENTS_A_SECOND = 50
SIZE = (120, 36)
BUSIER = {"z": "grouped by conversation", "S": "sorted by input", "C": "on the cache screen", "K": "on the tools screen"}
"""Keys after which a batch of events costs more."""
FILTERS = ("opus", "in>20k -has:warning", "cache<50%", "status:4xx model:sonnet", "conv:3f2a took>1s", "")


@dataclass(frozen=True, slots=True)
class Figure:
    """One result against its target."""

    name: str
    value: float
    unit: str
    target: float
    note: str = ""

    def __str__(self) -> str:
        verdict = "ok  " if self.value < self.target else "MISS"
        return f"{verdict} {self.name:<44} {self.value:8.1f} {self.unit:<2} target < {self.target:g} {self.unit}   {self.note}"


def afternoon(exchanges: int) -> list[Exchange]:
    """The hand-written story over and over, all ended, as it would stand in a worker's memory."""
    pattern = story().exchanges[:-1]
    rounds, rows = count(), []
    while len(rows) < exchanges:
        number = next(rounds)
        for exchange in pattern:
            started = exchange.started_at + number * 1_500
            conversation = f"{number:04x}{exchange.conversation}" if exchange.conversation else ""
            rows.append(
                msgspec.structs.replace(exchange, id=f"b-{len(rows)}", started_at=started, conversation=conversation, session=conversation)
            )
    return rows[:exchanges]


class Busy(FakeSource):
    """Tells five events an exchange, evenly, for as long as it is followed."""

    def __init__(self, exchanges: Sequence[Exchange], events_a_second: float) -> None:
        super().__init__(exchanges)
        self._interval = 1 / events_a_second
        self.told = 0

    async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        pattern = [exchange for exchange in story().exchanges if exchange.usage is not None and exchange.duration_ms is not None]
        begun = time.perf_counter()
        for number in count():
            for event in _events(f"live-{number}", pattern[number % len(pattern)]):
                self.seq += 1
                self.told += 1
                await asyncio.sleep(max(0.0, begun + self.told * self._interval - time.perf_counter()))
                yield [msgspec.structs.replace(event, seq=self.seq)]


def _events(name: str, like: Exchange) -> Iterator[AnyEvent]:
    yield ExchangeStarted(
        id=name,
        at=time.time(),
        method="POST",
        path=like.path,
        provider=like.provider,
        dialect=like.dialect,
        model=like.model,
        client=like.client,
        conversation=like.conversation,
    )
    yield ExchangeRewritten(
        id=name,
        marker_edits=like.marker_edits,
        markers_before=like.markers_before,
        markers_after=like.markers_after,
        tools=like.tools,
        reasons=like.reasons,
        bytes_after=like.bytes_after,
    )
    yield ExchangeResponding(id=name, status=200, ttfb_ms=700.0)
    yield ExchangeUsage(id=name, usage=like.usage or Usage(), response_bytes=100)
    yield ExchangeFinished(id=name, outcome="done", duration_ms=2_000.0, response_bytes=5_000)


async def busy_share(seconds: float, key: str = "") -> tuple[float, float, float]:
    """Processor time of the screen's thread as a share of the wall's, the seconds measured, and the events a second that it got.

    `key` is pressed before, for a list or a screen that has more to do.
    """
    source = Busy(afternoon(EXCHANGES), EVENTS_A_SECOND)
    async with _running(source) as (_, pilot):
        await pilot.pause(2.0)
        if key:
            await pilot.press(key)
            await pilot.pause(2.0)
        wall, cpu, told = time.perf_counter(), time.thread_time(), source.told
        await asyncio.sleep(seconds)
        spent, passed = time.thread_time() - cpu, time.perf_counter() - wall
        return spent / passed, passed, (source.told - told) / passed


async def key_latency(presses: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a key to the screen drawn anew, on the wall and of the thread, while events come in."""
    walls, cpus = [], []
    async with _running(Busy(afternoon(EXCHANGES), EVENTS_A_SECOND)) as (app, pilot):
        await pilot.pause(1.0)
        keys = ("k", "k", "pageup", "j", "g", "G", "k", "pagedown", "k", "f")
        for number in range(presses):
            await asyncio.sleep(0.013)
            wall, cpu = await _answered(app, keys[number % len(keys)])
            walls.append(wall)
            cpus.append(cpu)
    return walls, cpus


async def filter_times() -> list[tuple[str, float, float]]:
    """For each filter the milliseconds until the list stands, on the wall and of the thread."""
    found = []
    async with _running(FakeSource(afternoon(EXCHANGES))) as (app, pilot):
        await pilot.pause(0.5)
        screen = app.screen
        for text in FILTERS:
            wall, cpu = time.perf_counter(), time.thread_time()
            screen._set_filter(text)  # type: ignore[attr-defined]
            await _drawn(app)
            found.append((text or "(none)", (time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000))
    return found


def conversation(size: int) -> bytes:
    """A request of `size` bytes with long texts, as agents send them."""
    text = 'The quick brown fox jumps over the lazy dog. 解析器 \\\\ \\"quoted\\" ' * 40
    one = msgspec.json.encode({"role": "user", "content": [{"type": "text", "text": text}]})
    messages = b",".join([one] * (size // len(one) + 1))
    return b'{"model":"' + OPUS.encode() + b'","messages":[' + messages + b"]}"


def records(size: int) -> bytes:
    """A request of `size` bytes that is more than a million short lines once it is indented."""
    one = msgspec.json.encode({"k": 1234567, "name": "n1234567", "ok": True})
    return b'{"messages":[' + b",".join([one] * (size // (len(one) + 1) + 1)) + b"]}"


async def body_times(body: bytes) -> tuple[float, float]:
    """Milliseconds from the key that opens a body to its first rows drawn, all of it laid out; and of these the screen's thread."""
    source = FakeSource(story().exchanges)
    source.bodies["5f0c-25", "request-before"] = body
    async with _running(source) as (app, pilot):
        await pilot.press("up")
        await pilot.pause(0.3)
        wall, cpu = time.perf_counter(), time.thread_time()
        app.simulate_key("3")
        while True:  # the screen says nothing when a body is there
            await asyncio.sleep(0.002)
            views = app.screen.query(BodyView)
            if views and isinstance(views.first().document, BodyDocument):
                break
        await _drawn(app)
        return (time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000


async def _answered(app: CavemanApp, key: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.thread_time()
    app.simulate_key(key)
    taken = asyncio.Event()
    app.call_later(taken.set)
    await taken.wait()
    assert app._delivery is not None
    await app._delivery
    await app._settled()
    await _drawn(app)
    return (time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000


async def _drawn(app: CavemanApp) -> None:
    """Until everything that waited at this moment is handled and drawn."""
    done = asyncio.Event()
    app.call_later(lambda: app.screen.call_after_refresh(done.set))
    await done.wait()


@contextlib.asynccontextmanager
async def _running(source: FakeSource) -> AsyncIterator[tuple[CavemanApp, Pilot[int]]]:
    gc.collect()  # what the apps of other measurements left
    app = CavemanApp(source, clock=time.time)
    async with app.run_test(size=SIZE) as pilot:
        yield app, pilot
        app.exit()


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 stay under."""
    return statistics.quantiles(values, n=20)[-1]


async def measure(seconds: float, presses: int) -> list[Figure]:
    """All figures."""
    share, passed, rate = await busy_share(seconds)
    walls, cpus = await key_latency(presses)
    filters = await filter_times()
    slowest = max(filters, key=lambda found: found[1])
    figures = [Figure("screen's thread busy, 10,000 rows, following", share * 100, "%", 15, f"{rate:.0f} events/s over {passed:.0f} s")]
    for key, name in BUSIER.items():
        share, passed, rate = await busy_share(seconds / 2, key)
        figures.append(Figure(f"  {name}", share * 100, "%", 15, f"{rate:.0f} events/s over {passed:.0f} s"))
    bodies = [("texts", *await body_times(conversation(10_000_000))), ("1.2 million lines", *await body_times(records(10_000_000)))]
    return [
        *figures,
        Figure("key to screen drawn, p95", p95(walls), "ms", 50, f"median {statistics.median(walls):.1f}, own CPU p95 {p95(cpus):.1f} ms"),
        Figure("filter over 10,000, slowest", slowest[1], "ms", 150, f"'{slowest[0]}', own CPU {slowest[2]:.0f} ms"),
        *(
            Figure(f"opening a body of 10 MB, {name}", wall, "ms", 300, f"of these the screen's thread {cpu:.0f} ms")
            for name, wall, cpu in bodies
        ),
    ]


def main() -> int:
    """Measure and print; the exit code is 1 where a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the busy share is measured")
    parser.add_argument("--presses", type=int, default=300, help="keys that are pressed")
    given = parser.parse_args()
    figures = asyncio.run(measure(given.seconds, given.presses))
    for figure in figures:
        print(figure)
    return int(any(figure.value >= figure.target for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
