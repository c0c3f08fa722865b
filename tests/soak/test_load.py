"""64 streams at once with the events followed: no error, no lost event, and memory that stops growing."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from caveman_tui.protocol import events
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.traffic.control import WorkerClient
from tests.proxy.provider import Exchange, RawProvider
from tests.soak.agent_requests import AgentRequest, agent_request
from tests.soak.conftest import FULL, Report, ServingWorker, serving_worker, whole_or_sample

SECONDS = whole_or_sample(600, 6)
STREAMS = 64
EVENTS_OF_A_STREAM = 60
EVENT_SECONDS = 0.03
FILLING = whole_or_sample(10_500, 0)
"""Short exchanges before the clock starts: as many as the worker remembers, so that what is bounded is full."""
WARM_SECONDS = 60.0
"""Memory may still grow so long."""
FLAT = 1.05
"""By how much the last minute's median may pass that of the minute after the warm one."""
BODY_MEMORY_MIB = 32

_START = b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n'
_STOP = (
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":60}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)


@dataclass
class Followed:
    """What came over the control socket."""

    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    """Kinds of events by exchange, ended ones that are right taken out."""
    whole: int = 0
    numbers: int = 0
    last: int = 0
    warnings: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    usage_told: set[str] = field(default_factory=set)

    def take(self, event: AnyEvent) -> None:
        assert event.seq > self.last, f"event {event.seq} came after {self.last}"
        self.last, self.numbers = event.seq, self.numbers + 1
        match event:
            case events.ExchangeFinished():
                self.outcomes[event.outcome] += 1
                self._count(event.id, "finished")
            case events.ExchangeStarted():
                self._count(event.id, "started")
            case events.ExchangeRewritten():
                self._count(event.id, "rewritten")
            case events.ExchangeResponding():
                self._count(event.id, "responding")
            case events.Warned():
                self.warnings.append(event.code)
            case _:
                pass

    def _count(self, id: str, kind: str) -> None:
        self.kinds.setdefault(id, Counter())[kind] += 1

    def check(self, exchanges: int) -> None:
        """Of each exchange each kind once; the rewrite once more where its tokens were counted after it had gone out."""
        assert len(self.kinds) == exchanges
        for id, kinds in self.kinds.items():
            assert (kinds["started"], kinds["responding"], kinds["finished"]) == (1, 1, 1), (id, kinds)
            assert kinds["rewritten"] in (1, 2), (id, kinds)


async def test_many_streams_with_the_events_followed(free_port: int, randomness: random.Random, tmp_path: Path, report: Report) -> None:
    (tmp_path / "config.toml").write_text(f"body_memory_mib = {BODY_MEMORY_MIB}\n")
    requests = [agent_request(randomness, tool_count=30, text_bytes=20_000) for _ in range(STREAMS)]
    memory: list[tuple[float, int]] = []
    options = ("--shrink", "apply", "--config", str(tmp_path / "config.toml"))
    async with (
        RawProvider(_stream) as provider,
        serving_worker(free_port, provider.url, *options) as worker,
        WorkerClient(worker.socket) as control,
    ):
        followed, following = await _follow(control)
        await _fill(worker, requests)
        provider.seen.clear()
        watch = asyncio.create_task(_watch_memory(worker, provider, memory))
        ends = time.monotonic() + SECONDS
        counts = await asyncio.gather(*(_stream_until(ends, worker.port, request) for request in requests))
        watch.cancel()
        exchanges = sum(counts) + FILLING
        async with asyncio.timeout(30):
            # Counting tokens, and telling of them, may come after the last end.
            while (status := await control.status()).seq > followed.last or sum(followed.outcomes.values()) < exchanges:
                await asyncio.sleep(0.05)
        following.cancel()
    assert not provider.failures
    followed.check(exchanges)
    assert followed.outcomes == {"done": exchanges}
    # A store that is slow for a moment costs that request's shrinking, as it should, and nothing else.
    assert set(followed.warnings) <= {"store-slow"}
    merged = status.seq - followed.numbers
    first, last = _median(memory, WARM_SECONDS, WARM_SECONDS + 60), _median(memory, SECONDS - 60, SECONDS)
    report(
        f"{STREAMS} streams for {SECONDS} s: {sum(counts)} exchanges, {followed.numbers} events followed, {merged} usage events merged,"
        f" {len(followed.warnings)} waits for the store cut short; memory {first / 1e6:.0f} MB after the first minute,"
        f" {last / 1e6:.0f} MB at the end"
    )
    if FULL:
        assert last <= first * FLAT


async def _stream(exchange: Exchange) -> None:
    if exchange.seen.values("x-short"):
        await exchange.reply(b'{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}')
        return
    await exchange.begin_stream()
    await exchange.chunk(_START)
    for number in range(EVENTS_OF_A_STREAM):
        await asyncio.sleep(EVENT_SECONDS)
        await exchange.chunk(_delta(number))
    await exchange.chunk(_STOP)
    await exchange.end_stream()


def _delta(number: int) -> bytes:
    return (
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%d"}}\n\n' % number
    )


_WHOLE = _START + b"".join(_delta(number) for number in range(EVENTS_OF_A_STREAM)) + _STOP


async def _follow(control: WorkerClient) -> tuple[Followed, "asyncio.Task[None]"]:
    followed = Followed()
    listing = await control.exchanges()
    followed.last = listing.seq

    async def follow() -> None:
        async for batch in control.follow(listing.seq):
            for event in batch:
                followed.take(event)

    followed.numbers = listing.seq
    return followed, asyncio.create_task(follow())


async def _fill(worker: ServingWorker, requests: list[AgentRequest]) -> None:
    """Short exchanges, 8 at a time."""
    left = iter(range(FILLING))

    async def send() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
        for number in left:
            writer.write(_wire(worker.port, requests[number % len(requests)], "X-Short: 1"))
            await _answer(reader)
        writer.close()

    await asyncio.gather(*(send() for _ in range(8)))


async def _stream_until(ends: float, port: int, request: AgentRequest) -> int:
    """How many streams one client read to their ends, one after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.monotonic() < ends:
        writer.write(_wire(port, request))
        assert await _answer(reader) == _WHOLE
        count += 1
    writer.close()
    return count


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if b"chunked" not in head.lower():
        length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
        return await reader.readexactly(int(length))
    pieces = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        pieces.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(pieces)


def _wire(port: int, request: AgentRequest, *more: str) -> bytes:
    fields = (f"Host: 127.0.0.1:{port}", *request.fields(*more), f"Content-Length: {len(request.body)}")
    return "\r\n".join(("POST /v1/messages HTTP/1.1", *fields)).encode() + b"\r\n\r\n" + request.body


async def _watch_memory(worker: ServingWorker, provider: RawProvider, memory: list[tuple[float, int]]) -> None:
    began = time.monotonic()
    while True:
        memory.append((time.monotonic() - began, worker.memory("VmRSS")))
        # What the stand-in saw is not needed, and would fill this process.
        provider.seen.clear()
        await asyncio.sleep(1)


def _median(memory: list[tuple[float, int]], start: float, end: float) -> float:
    """Of the readings between two moments, or of all where there are none."""
    values = sorted(size for at, size in memory if start <= at <= end) or sorted(size for _, size in memory)
    return values[len(values) // 2]
