"""kill -9 of the worker at random moments: whatever was shrunk on its way to the provider can be recovered."""

import asyncio
import contextlib
import random
import time
from pathlib import Path

from caveman_tui.ccr import open_store
from tests.proxy.provider import Exchange, RawProvider, Seen
from tests.soak.agent_requests import AgentRequest, agent_request
from tests.soak.conftest import START_SECONDS, Report, ServingWorker, handle_of, serving_worker, whole_or_sample

KILLS = whole_or_sample(1_000, 8)
CLIENTS = 4
KILLS_PER_STORE = 50
"""Checking a store reads all of it, so it must not grow for ever."""
MOST_REQUESTS = 8
LONGEST_WAIT_SECONDS = 0.1
ANSWER = b'{"type":"message","usage":{"input_tokens":1,"output_tokens":1}}'


class Tally:
    """What was sent, and what of it came to the provider."""

    def __init__(self, sent: dict[str, AgentRequest] | None = None) -> None:
        """`sent` by tag: what was sent before, so that no tag means two requests."""
        self.sent = {} if sent is None else sent
        self.edited = 0
        self.checked = 0
        self.cut_short = 0


async def test_every_edited_request_can_be_undone_after_a_kill(
    tmp_path: Path, free_port: int, randomness: random.Random, report: Report
) -> None:
    """A request counts from its head on: the length in there tells of the edit, though the body may never have come to its end."""
    starts: list[float] = []
    totals, sent = Tally(), dict[str, AgentRequest]()
    for first in range(0, KILLS, KILLS_PER_STORE):
        (folder := tmp_path / f"from-{first}").mkdir()
        (folder / "config.toml").write_text("")
        async with _headwise_provider() as provider:
            for _ in range(min(KILLS_PER_STORE, KILLS - first)):
                tally, provider.seen = Tally(sent), []
                began = time.monotonic()
                store = folder / "ccr.db"
                async with serving_worker(free_port, provider.url, "--shrink", "apply", store=store) as worker:
                    starts.append(time.monotonic() - began)
                    await _send_until_killed(worker, provider, tally, randomness)
                # What a dead worker had written may still be on its way.
                await provider.quiet()
                await asyncio.to_thread(_check, store, provider.seen, tally)
                totals.edited += tally.edited
                totals.checked += len(provider.seen)
                totals.cut_short += tally.cut_short
    report(
        f"{KILLS} kills; the provider saw {totals.checked} requests, {totals.edited} of them with edited tools, {totals.cut_short} cut"
        f" short; every original recovered, every store whole; the next worker listened after {max(starts):.2f} s at most"
    )
    assert totals.edited > 0


def _headwise_provider() -> RawProvider:
    """Records a request as soon as its head is there, then what comes of its body."""

    async def answer(exchange: Exchange) -> None:
        seen = exchange.seen
        missing = int(seen.values("content-length")[0])
        while missing and (piece := await exchange.reader.read(min(missing, 1 << 16))):
            seen.body += piece
            missing -= len(piece)
        if not missing:
            await exchange.reply(ANSWER)

    return RawProvider(answer, reads_bodies=False)


async def _send_until_killed(worker: ServingWorker, provider: RawProvider, tally: Tally, randomness: random.Random) -> None:
    """The moment is random in what has come to the provider, however slow the machine, and in time."""
    clients = [asyncio.create_task(_send_for_ever(worker.port, tally, randomness)) for _ in range(CLIENTS)]
    wanted = randomness.randint(0, MOST_REQUESTS)
    async with asyncio.timeout(START_SECONDS):
        while len(provider.seen) < wanted:
            await asyncio.sleep(0.001)
    await asyncio.sleep(randomness.uniform(0, LONGEST_WAIT_SECONDS))
    worker.kill()
    await worker.process.wait()
    await asyncio.gather(*clients)


async def _send_for_ever(port: int, tally: Tally, randomness: random.Random) -> None:
    """New catalogs with most requests, so that commits happen all the time; ends when the worker is dead."""
    request = agent_request(randomness, tool_count=6)
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                if randomness.random() < 0.8:
                    request = agent_request(randomness, tool_count=randomness.randint(1, 12))
                tag = str(len(tally.sent))
                tally.sent[tag] = request
                fields = (f"Host: 127.0.0.1:{port}", *request.fields(f"X-Tag: {tag}"), f"Content-Length: {len(request.body)}")
                writer.write("\r\n".join(("POST /v1/messages HTTP/1.1", *fields)).encode() + b"\r\n\r\n" + request.body)
                await writer.drain()
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200"), head
                await reader.readexactly(len(ANSWER))
        finally:
            writer.close()


def _check(path: Path, seen: list[Seen], tally: Tally) -> None:
    edited: list[AgentRequest] = []
    for one in seen:
        request = tally.sent[one.values("x-tag")[0]]
        length = int(one.values("content-length")[0])
        # Only shrinking changes the length. Of a body that was cut short, the beginning came.
        whole = request.with_tools(request.tools) if length == len(request.body) else request.expected
        assert length == len(whole)
        assert one.body == whole[: len(one.body)]
        tally.cut_short += len(one.body) < length
        if length != len(request.body):
            edited.append(request)
    tally.edited = len(edited)
    if edited or path.exists():
        with open_store(path, create=False) as store:
            for request in edited:
                assert store.get(handle_of(request.tools)).original == request.tools
            assert store.check().sound
