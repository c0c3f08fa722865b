import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from threading import Event

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui import places
from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.protocol import events
from caveman_tui.protocol.control import SearchEnd, SearchHit, SearchResult
from caveman_tui.protocol.discovery import WorkerRecord, records
from caveman_tui.proxy import body_search
from caveman_tui.proxy.body_search import BodySearch, spellings
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.traffic.source import Refused, WorkerGone
from tests.proxy.conftest import Bench
from tests.proxy.provider import Exchange as Answering


def keep(log: ExchangeLog, request: bytes = b"{}", response: bytes = b"{}", coding: str = "", edits: tuple[Edit, ...] = ()) -> str:
    id = log.new_id()
    log.emit(events.ExchangeStarted(id=id, method="POST", path="/v1/messages"))
    marker_edits = tuple(events.MarkerEdit(pointer=e.pointer, kind=e.kind, before="", after="", reason=e.reason) for e in edits)
    log.emit(events.ExchangeRewritten(id=id, marker_edits=marker_edits))
    log.keep_request(id, request, edits, (), ())
    log.keep_response(id, response, coding, ())
    log.emit(events.ExchangeFinished(id=id, outcome="done", duration_ms=1.0, response_bytes=len(response)))
    return id


@pytest.fixture
async def log() -> AsyncIterator[ExchangeLog]:
    log = ExchangeLog()
    yield log
    log.close()


async def found(log: ExchangeLog, text: str) -> tuple[list[SearchHit], SearchEnd]:
    search = BodySearch(log)
    results = [result async for result in search.run(text) if result is not None]
    search.close()
    *hits, end = results
    assert isinstance(end, SearchEnd)
    return [hit for hit in hits if isinstance(hit, SearchHit)], end


async def test_hits_come_newest_first_with_the_body_and_what_stands_around(log: ExchangeLog) -> None:
    first = keep(log, b'{"messages":[{"role":"user","content":"why is the Parser slow?"}]}')
    keep(log, b'{"messages":"nothing of it"}')
    third = keep(log, response=b'{"content":"the parser\\nreads twice"}')
    hits, end = await found(log, "pArSer")
    assert [(hit.exchange, hit.body) for hit in hits] == [(third, "response"), (first, "request-before")]
    assert hits[1].snippet == '":[{"role":"user","content":"why is the Parser slow?"}]}'
    assert end == SearchEnd(searched=3, without_bodies=0)


async def test_what_is_not_in_memory_is_counted_and_not_searched(log: ExchangeLog) -> None:
    log.emit(events.ExchangeStarted(id="x", method="HEAD", path="/"))
    keep(log, b"abc")
    hits, end = await found(log, "abc")
    assert len(hits) == 1
    assert end == SearchEnd(searched=1, without_bodies=1)


async def test_the_request_as_it_went_out_is_searched_where_it_differs(log: ExchangeLog) -> None:
    body = b'{"ttl":"1h"}'
    edit = Edit(pointer="/ttl", start=7, end=11, kind=EditKind.TTL, before=b'"1h"', after=b'"5m"', reason="loop-shortened")
    id = keep(log, body, edits=(edit,))
    keep(log, body)
    hits, _ = await found(log, '"ttl":"5m"')
    assert [(hit.exchange, hit.body, hit.snippet) for hit in hits] == [(id, "request-after", '{"ttl":"5m"}')]


CODINGS = {"": bytes, "gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("coding", CODINGS)
async def test_responses_are_decoded_first(log: ExchangeLog, coding: str) -> None:
    keep(log, response=CODINGS[coding](b"x" * 1_000_000 + b'"a needle"' + b"y" * 1_000_000), coding=coding)
    (hit,), _ = await found(log, "needle")
    assert hit.snippet == "x" * 37 + '"a needle"' + "y" * 79


async def test_bodies_that_cannot_be_decoded_are_searched_as_far_as_they_come(log: ExchangeLog) -> None:
    keep(log, response=b"not gzip at all: needle", coding="gzip")
    keep(log, response=b"needle", coding="of-tomorrow")
    keep(log, response=gzip.compress(b"needle" + bytes(range(256)) * 4000)[:-500], coding="gzip")
    hits, end = await found(log, "needle")
    assert (len(hits), end.searched) == (1, 3)


async def test_a_streamed_response_is_searched_as_what_it_says(log: ExchangeLog) -> None:
    deltas = [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}} for text in ("The quick b", "rown", " fox")]
    stream = b"".join(b"event: content_block_delta\ndata: " + json.dumps(delta).encode() + b"\n\n" for delta in deltas)
    keep(log, response=gzip.compress(stream), coding="gzip")
    (hit,), _ = await found(log, "quick brown fox")
    assert (hit.body, hit.snippet) == ("response", "The quick brown fox")


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("über", "ÜBER"),
        ("Über", "über"),
        ("straße", "Straße"),
        ('say "hi"', json.dumps('say "hi"')),
        ("naïve 漢字 🎉", json.dumps("naïve 漢字 🎉")),
        ("naïve", json.dumps("NAÏVE")),
        (r"C:\dir", json.dumps(r"C:\dir")),
        ("\ud800", r"\ud800"),
    ],
)
async def test_a_text_is_found_however_json_spells_it(log: ExchangeLog, text: str, body: str) -> None:
    keep(log, body.encode())
    hits, _ = await found(log, text)
    assert len(hits) == 1


@given(st.text(min_size=1, max_size=20), st.booleans())
def test_every_text_has_a_spelling_that_stands_in_its_json(text: str, ascii_only: bool) -> None:
    written = json.dumps({"a": text}, ensure_ascii=ascii_only).encode("utf-8", "replace").lower()
    assert any(spelling in written for spelling in spellings(text))


@given(st.integers(0, 300), st.text(alphabet="ab", min_size=1, max_size=9), st.integers(1, 16))
def test_a_text_is_found_across_steps(at: int, text: str, step: int) -> None:
    body = b"." * at + text.encode() + b"." * 100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(body_search, "_STEP_BYTES", step)
        snippet = body_search._find(body_search._steps([body], Event()), spellings(text))
    assert snippet is not None and text in snippet


async def test_a_search_that_is_left_reads_no_further(log: ExchangeLog, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        keep(log, b"needle %d" % number)
    read: list[str] = []
    take = log.bodies.read
    monkeypatch.setattr(log.bodies, "read", lambda id, which: (read.append(id), take(id, which))[1])
    search = BodySearch(log)
    results = search.run("needle")
    await anext(results)
    await results.aclose()
    search.close()
    assert len(read) == 1


async def test_a_search_that_is_ended_from_our_side_claims_no_end(log: ExchangeLog) -> None:
    keep(log, b"needle")
    keep(log, b"needle")
    search = BodySearch(log)
    results = search.run("needle")
    assert isinstance(await anext(results), SearchHit)
    search.close()
    assert [result async for result in results] == []


def test_a_stopped_search_ends_within_a_body() -> None:
    stopped = Event()
    steps = body_search._steps([bytes(10 * body_search._STEP_BYTES)], stopped)
    assert len(next(steps)) == body_search._STEP_BYTES
    stopped.set()
    assert list(steps) == []


async def _search(client: WorkerClient, text: str) -> list[SearchResult]:
    return [result async for result in client.search(text)]


def record() -> WorkerRecord:
    (only,) = records(places.state_dir())
    return only


async def test_over_the_control_socket(bench: Bench) -> None:
    async def answer(exchange: Answering) -> None:
        await exchange.reply(b'{"type":"message","content":[{"type":"text","text":"a rare word: quokka"}]}')

    bench.provider.answer = answer
    await bench.post("/v1/messages", b'{"model":"m","messages":[{"role":"user","content":"x & y = 50%?"}]}')
    exchange = await bench.ended()
    async with WorkerClient(record()) as client:
        hit, end = await _search(client, "QUOKKA")
        assert isinstance(hit, SearchHit) and (hit.exchange, hit.body) == (exchange.id, "response")
        assert end == SearchEnd(searched=1, without_bodies=0)
        assert len(await _search(client, "x & y = 50%?")) == 2
        some = [result async for result in client.search("QUOKKA", [exchange.id, "another"])]
        assert some == [hit, SearchEnd(searched=1, without_bodies=0)]
        assert await _search(client, "wombat") == [SearchEnd(searched=1, without_bodies=0)]
        for text in ("", "x" * 201):
            with pytest.raises(Refused, match="Give it 1 to 200"):
                await _search(client, text)
        assert (await client.exchange(exchange.id)).url == f"{bench.provider.url}/v1/messages"


async def test_to_hang_up_ends_the_search(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker learns of it by itself, and searches on for nobody."""
    ended = asyncio.Event()

    async def run(self: BodySearch, text: str, ids: Sequence[str]) -> AsyncIterator[SearchHit]:
        try:
            yield SearchHit(exchange="a", body="response", snippet=text)
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(BodySearch, "run", run)
    async with WorkerClient(record()) as client:
        results = client.search("messages")
        assert isinstance(await anext(results), SearchHit)
        assert not ended.is_set()
        await results.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(20):
            await ended.wait()


async def test_a_worker_that_stops_in_the_middle_is_no_complete_search(tmp_path: Path) -> None:
    """A stream without its end must not read as 'found nothing more'."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"type":"hit","exchange":"a","body":"response","snippet":""}\n')
        writer.close()

    server = await asyncio.start_unix_server(answer, tmp_path / "s")
    async with server, WorkerClient(tmp_path / "s") as client:
        results = client.search("x")
        assert isinstance(await anext(results), SearchHit)
        with pytest.raises(WorkerGone, match="in the middle of a search"):
            await anext(results)


async def test_a_search_can_be_of_some_exchanges_only(log: ExchangeLog) -> None:
    first, _, third = keep(log, b"needle"), keep(log, b"needle"), keep(log, b"needle")
    search = BodySearch(log)
    results = [result async for result in search.run("needle", [first, "forgotten", third]) if result is not None]
    search.close()
    assert [result.exchange for result in results if isinstance(result, SearchHit)] == [first, third]
    assert results[-1] == SearchEnd(searched=2, without_bodies=0)
