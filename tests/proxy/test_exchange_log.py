import asyncio
import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.core.policy import Level
from caveman_tui.core.rewrite import Reason, ToolsChange
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.core.usage import Usage
from caveman_tui.protocol import events
from caveman_tui.protocol.control import ExchangeList, HeaderField
from caveman_tui.protocol.exchanges import Exchange, fold, open_exchange
from caveman_tui.proxy.bodies import BodyUnavailable
from caveman_tui.proxy.exchange_log import ExchangeLog


def _log(**options: int) -> ExchangeLog:
    ticks = iter(range(1_000_000, 2_000_000))
    return ExchangeLog(clock=lambda: float(next(ticks)), **options)


def _whole_exchange(log: ExchangeLog, *, model: str = "opus") -> str:
    id = log.new_id()
    log.emit(events.ExchangeStarted(id=id, method="POST", path="/v1/messages", model=model))
    log.emit(events.ExchangeRewritten(id=id, bytes_after=10))
    log.emit(events.ExchangeResponding(id=id, status=200, ttfb_ms=4.0))
    log.emit(events.ExchangeUsage(id=id, usage=Usage(input_tokens=3), response_bytes=7))
    log.emit(events.ExchangeFinished(id=id, outcome="done", duration_ms=9.0, response_bytes=11))
    return id


async def _settled(log: ExchangeLog) -> None:
    """Wait until everything was compressed."""
    while not log.bodies.memory.idle:
        await asyncio.sleep(0.005)


async def _lines(log: ExchangeLog) -> list[events.AnyEvent]:
    text, _ = await log.ring.follow(0)
    return [events.load(line) for line in text.splitlines()]


async def test_events_are_numbered_and_dated_and_folded() -> None:
    log = _log()
    id = _whole_exchange(log)
    assert [event.seq for event in await _lines(log)] == [1, 2, 3, 4, 5]
    exchange = log.exchange(id)
    assert exchange is not None
    assert (exchange.state, exchange.status, exchange.response_bytes, exchange.started_at) == ("done", 200, 11, 1_000_000.0)
    assert exchange.usage == Usage(input_tokens=3)
    assert (log.open_exchanges, log.seq, len(log), log.last_exchange_at) == (0, 5, 1, 1_000_004.0)


async def test_a_screen_that_folds_the_events_has_the_same_record() -> None:
    log = _log()
    id = _whole_exchange(log)
    log.emit(events.Warned(code="store-locked", exchange=id, what="The store was locked."))
    record: Exchange | None = None
    for event in await _lines(log):
        if isinstance(event, events.ExchangeStarted):
            record = open_exchange(event)
        elif record is not None:
            fold(record, event)
    assert record == log.exchange(id)
    assert record is not None and record.warnings == ("store-locked",)


async def test_the_list_is_what_the_protocol_says_it_is() -> None:
    log = _log()
    ended = _whole_exchange(log)
    running = log.new_id()
    log.emit(events.ExchangeStarted(id=running, method="POST", path="/v1/messages"))
    listing = msgspec.json.decode(b"".join(log.exchange_list()), type=ExchangeList)
    assert (listing.instance, listing.seq) == (log.instance, 6)
    assert [exchange.id for exchange in listing.exchanges] == [ended, running]
    assert list(listing.exchanges) == list(log.exchanges())


async def test_a_long_list_comes_in_pieces_and_is_of_one_moment() -> None:
    log = _log()
    ids = [_whole_exchange(log, model="m" * 2000) for _ in range(400)]
    pieces = log.exchange_list()
    first = next(pieces)
    _whole_exchange(log)
    rest = list(pieces)
    assert len(rest) > 1 and all(len(piece) < 512 * 1024 for piece in (first, *rest))
    listing = msgspec.json.decode(first + b"".join(rest), type=ExchangeList)
    assert (listing.seq, [exchange.id for exchange in listing.exchanges]) == (2000, ids)


def test_an_empty_list_is_a_list() -> None:
    assert msgspec.json.decode(b"".join(_log().exchange_list()), type=ExchangeList).exchanges == ()


async def test_the_oldest_ended_exchanges_are_forgotten_and_running_ones_never() -> None:
    log = _log(exchange_limit=3)
    running = log.new_id()
    log.emit(events.ExchangeStarted(id=running, method="POST", path="/v1/messages"))
    ids = [_whole_exchange(log) for _ in range(5)]
    assert [exchange.id for exchange in log.exchanges()] == [running, *ids[-2:]]
    assert log.exchange(ids[0]) is None


async def test_events_of_unknown_exchanges_pass_without_a_record() -> None:
    log = _log()
    log.emit(events.ExchangeFinished(id="never-started", outcome="done", duration_ms=1.0, response_bytes=0))
    log.emit(events.Warned(code="store-full", what="The disk is full."))
    assert len(log) == 0 and log.seq == 2


def test_ids_of_two_workers_differ() -> None:
    assert len({log.new_id() for log in (_log(), _log()) for _ in range(3)}) == 6


@pytest.mark.parametrize("character", ["x", "\x00", "é", "\U0001f600", "\ud800", '"'])
async def test_an_event_never_passes_16_kb_whatever_its_texts_are(character: str) -> None:
    log = _log()
    id = log.new_id()
    long = character * 5_000
    log.emit(events.ExchangeStarted(id=id, method="POST", path=long, model=long, client=long, conversation=long, session=long, agent=long))
    markers = tuple(Marker(pointer=long, section="messages", ttl=long, role=long, block_type=long) for _ in range(40))
    reasons = tuple(Reason(code="some-code", text=long, pointer=long) for _ in range(40))
    edits = tuple(events.MarkerEdit(pointer=long, kind="ttl", before=long, after=long, reason="r") for _ in range(40))
    log.emit(events.ExchangeRewritten(id=id, markers_before=markers, markers_after=markers, reasons=reasons, marker_edits=edits))
    log.emit(events.Warned(code="c", exchange=id, what=long, done=long, todo=long))
    text, _ = await log.ring.follow(0)
    assert [len(line) <= events.MAX_BYTES for line in text.splitlines(keepends=True)] == [True] * 3
    assert all(getattr(event, "id", id) == id for event in await _lines(log))


async def test_an_event_that_fits_travels_unchanged() -> None:
    log = _log()
    text = "wide 漢字 and \u2028 and ‮right-to-left"
    log.emit(events.ExchangeStarted(id="x", method="POST", path="/v1/messages", model=text))
    (event,) = await _lines(log)
    assert isinstance(event, events.ExchangeStarted) and event.model == text


@given(st.text(max_size=50), st.text(max_size=50))
def test_any_text_can_be_emitted(model: str, path: str) -> None:
    log = _log()
    log.emit(events.ExchangeStarted(id="x", method="POST", path=path, model=model))
    log.emit(events.ExchangeFinished(id="x", outcome="done", duration_ms=1.0, response_bytes=0))
    exchange = log.exchange("x")
    assert exchange is not None and exchange.model == model.encode("utf-8", "replace").decode()


def _edit(body: bytes, before: bytes, after: bytes) -> Edit:
    start = body.index(before)
    return Edit(pointer="/x", start=start, end=start + len(before), kind=EditKind.TTL, before=before, after=after, reason="loop")


async def test_the_body_that_went_out_is_rebuilt_from_the_edits() -> None:
    log = _log()
    id = _whole_exchange(log)
    body = json.dumps({"ttl": "1h", "filler": "word " * 5000}).encode()
    log.keep_request(id, body, (_edit(body, b'"1h"', b'"5m"'),), (HeaderField(name="Accept", value="*/*"),), ("length changed",))
    response = gzip.compress(b"answer" * 1000)
    log.keep_response(id, response, "gzip", (HeaderField(name="request-id", value="r"),))
    await _settled(log)
    assert log.bodies.read(id, "request-before").data == body
    assert log.bodies.read(id, "request-after").data == body.replace(b"1h", b"5m")
    kept = log.bodies.read(id, "response")
    assert (kept.data, kept.content_encoding) == (response, "gzip")
    detail = log.detail(id)
    assert detail is not None
    assert detail.bodies == ("request-before", "request-after", "response")
    assert detail.request_headers == (HeaderField(name="Accept", value="*/*"),)
    assert detail.response_headers == (HeaderField(name="request-id", value="r"),)
    assert detail.header_edits == ("length changed",)
    log.close()


@pytest.mark.parametrize("kept_before_the_end", [True, False])
async def test_bodies_are_compressed_once_the_exchange_has_ended_not_before(kept_before_the_end: bool) -> None:
    log = _log()
    id = log.new_id()
    body = b"word " * 20_000
    log.emit(events.ExchangeStarted(id=id, method="POST", path="/v1/messages"))
    log.keep_request(id, body, (), (), ())
    if kept_before_the_end:
        log.keep_response(id, body, "", ())
    await _settled(log)
    assert log.bodies.size >= len(body)
    log.emit(events.ExchangeFinished(id=id, outcome="done", duration_ms=1.0, response_bytes=len(body)))
    if not kept_before_the_end:
        log.keep_response(id, body, "", ())
    await _settled(log)
    assert log.bodies.size < len(body) // 10
    kept = {blob for entry in log.bodies._entries.values() for blob in entry.blobs()}
    headers_size = sum(entry.headers_size for entry in log.bodies._entries.values())
    assert log.bodies.size == sum(blob.size for blob in kept) + headers_size
    assert log.bodies.read(id, "request-before").data == log.bodies.read(id, "response").data == body
    log.close()


async def test_edits_with_large_texts_cost_little_beside_their_body() -> None:
    log = _log()
    tools = json.dumps([{"name": f"tool_{n}", "description": f"{n * 7919} does {n * 104729}"} for n in range(2000)]).encode()
    body = b'{"tools":' + tools + b"}"
    log.keep_request("plain", body, (), (), ())
    log.emit(events.ExchangeStarted(id="plain", method="POST", path="/"))
    log.emit(events.ExchangeFinished(id="plain", outcome="done", duration_ms=1.0, response_bytes=0))
    await _settled(log)
    alone = log.bodies.size
    log.keep_request("edited", body, (_edit(body, tools, tools.replace(b"does", b"is")),), (), ())
    log.emit(events.ExchangeStarted(id="edited", method="POST", path="/"))
    log.emit(events.ExchangeFinished(id="edited", outcome="done", duration_ms=1.0, response_bytes=0))
    await _settled(log)
    assert log.bodies.size < alone * 3
    log.close()


async def test_the_oldest_bodies_go_when_the_budget_is_spent_and_the_records_stay() -> None:
    log = _log(body_budget_bytes=10_000)
    ids = [_whole_exchange(log) for _ in range(4)]
    noise = bytes(range(256))
    for number, id in enumerate(ids):
        log.keep_response(id, noise * 16 + bytes([number]), "br", ())
    assert log.bodies.size <= 10_000
    assert [log.bodies.available(id) for id in ids] == [(), (), ("response",), ("response",)]
    with pytest.raises(BodyUnavailable):
        log.bodies.read(ids[0], "response")
    assert log.detail(ids[0]) is not None
    log.close()


async def test_a_body_larger_than_the_budget_is_not_kept() -> None:
    log = _log(body_budget_bytes=1000)
    id = _whole_exchange(log)
    log.keep_request(id, b"x" * 5000, (), (), ())
    assert (log.bodies.size, log.bodies.available(id)) == (0, ())
    log.close()


async def test_a_forgotten_exchange_takes_its_bodies_along() -> None:
    log = _log(exchange_limit=1)
    first = _whole_exchange(log)
    log.keep_response(first, b"x" * 100, "", ())
    _whole_exchange(log)
    assert log.bodies.size == 0
    log.close()


def _change(before: bytes, after: bytes, level: Level = Level.STANDARD) -> ToolsChange:
    return ToolsChange(
        pointer="/tools", start=0, end=len(before), catalog=ShrunkCatalog(before=before, after=after, level=level), applied=True
    )


def test_a_catalog_is_kept_once_by_its_original_with_every_level_seen() -> None:
    log = _log()
    digest = log.keep_catalog(_change(b"[long]", b"[mid]"))
    assert log.keep_catalog(_change(b"[long]", b"[s]", Level.TERSE)) == digest
    standard, terse = log.catalogs.get(digest, Level.STANDARD), log.catalogs.get(digest, Level.TERSE)
    assert standard is not None and terse is not None
    assert (standard.after, terse.after) == (b"[mid]", b"[s]")
    other = log.catalogs.get(digest, Level.CAREFUL)
    assert other is not None and other.before == b"[long]"
    assert log.catalogs.get("0" * 64) is None


def test_catalogs_stay_within_their_budget() -> None:
    from caveman_tui.proxy.catalog_memory import CatalogMemory

    memory = CatalogMemory(budget_bytes=1000)
    digests = [memory.put(_change(b"%d" % n * 300, b"").catalog) for n in range(9)]
    assert [memory.get(digest) is not None for digest in digests] == [False] * 6 + [True] * 3


def test_a_streamed_request_has_headers_and_no_body() -> None:
    log = _log()
    id = _whole_exchange(log)
    log.keep_headers(id, (HeaderField(name="accept", value="*/*"),))
    detail = log.detail(id)
    assert detail is not None
    assert (detail.request_headers, detail.bodies) == ((HeaderField(name="accept", value="*/*"),), ())
