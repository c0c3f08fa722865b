"""Requests that are edited: what goes out, what is stored first, and what is tried when the provider refuses."""

import asyncio
import contextlib
import functools
import gzip
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from caveman_tui import places
from caveman_tui.ccr import Store, StoreLocked, open_store
from caveman_tui.core.edits import EditKind
from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.protocol import events
from caveman_tui.protocol.events import Settings
from tests.core.requests import prefix_of
from tests.proxy import rewriting
from tests.proxy.conftest import LIMIT_SECONDS, Bench, StartBench
from tests.proxy.provider import Exchange
from tests.proxy.rewriting import HANDLE, SHRUNK, TOOLS, edited, request

MESSAGES = "/v1/messages"
APPLY = Settings(shrink=ShrinkMode.APPLY)
CACHE_ERROR = (
    b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.4.cache_control.ttl: '
    b'a 1h block must not come after a 5m one. Note the order: `tools`, `system`, `messages`."}}'
)
TOOLS_ERROR = b'{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.description: too short"}}'


SOON = 0.05
"""Seconds that a request waits for a store that does not answer."""


@contextlib.contextmanager
def _stuck(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[threading.Event]:
    """Inside, calls of this method of the store begin, which sets the event, and go no further."""
    method = getattr(Store, name)
    begun, release = threading.Event(), threading.Event()

    def stuck(self: Store, *arguments: Any, **more: Any) -> Any:
        begun.set()
        release.wait(LIMIT_SECONDS)
        return method(self, *arguments, **more)

    monkeypatch.setattr(Store, name, stuck)
    try:
        yield begun
    finally:
        release.set()
        monkeypatch.setattr(Store, name, method)


@pytest.fixture(autouse=True)
def _known_rewriter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.proxy.worker.rewrite", rewriting.rewrite)
    monkeypatch.setattr("caveman_tui.proxy.summaries.with_measure", rewriting.with_measure)


@pytest.fixture
async def applying(start_bench: StartBench) -> Bench:
    return await start_bench(settings=APPLY)


async def test_the_edited_body_goes_out_once_its_original_is_stored(applying: Bench) -> None:
    stored: list[bytes] = []

    async def answer(exchange: Exchange) -> None:
        with await asyncio.to_thread(open_store) as store:
            stored.append((await asyncio.to_thread(store.get, HANDLE)).original)
        await exchange.reply(b"{}")

    applying.provider.answer = answer
    assert (await applying.post(MESSAGES, request())).status == 200
    (seen,) = applying.provider.seen
    assert seen.body == edited()
    assert seen.values("content-length") == [str(len(edited()))]
    assert stored == [TOOLS]
    exchange = await applying.ended()
    (tools,) = exchange.tools
    assert (tools.applied, tools.handle, tools.bytes_before, tools.bytes_after) == (True, HANDLE, len(TOOLS), len(SHRUNK))
    assert [(edit.before, edit.after) for edit in exchange.marker_edits] == [('"1h"', '"5m"')]
    assert exchange.bytes_after == len(edited())
    assert applying.worker.log.bodies.read(exchange.id, "request-before").data == request()
    assert applying.worker.log.bodies.read(exchange.id, "request-after").data == edited()
    detail = applying.worker.log.detail(exchange.id)
    assert detail is not None
    assert detail.header_edits == (f"content-length: {len(request())} became {len(edited())}",)
    assert applying.of(events.StoreChanged)[0].handle == HANDLE


async def test_token_counts_follow_and_reach_the_store(applying: Bench) -> None:
    await applying.post(MESSAGES, request())
    await applying.until(lambda: bool(applying.exchange.tools[0].tokens_before))
    (tools,) = applying.exchange.tools
    assert tools.tokens_before is not None and tools.tokens_after is not None
    assert tools.tokens_before > tools.tokens_after > 0
    with open_store() as store:
        record = store.record(HANDLE)
        while record.tokens_before is None:
            await asyncio.sleep(0.01)
            record = store.record(HANDLE)
    assert (record.tokens_before, record.tokens_after) == (tools.tokens_before, tools.tokens_after)
    await applying.post(MESSAGES, request(b"again"))
    assert len(applying.of(events.ExchangeRewritten)) == 3


async def test_a_chunked_request_gets_the_length_of_its_edited_body(applying: Bench) -> None:
    body = request()
    client = await applying.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
    for at in range(0, len(body), 100):
        piece = body[at : at + 100]
        client.writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    client.writer.write(b"0\r\n\r\n")
    assert (await client.receive()).status == 200
    (seen,) = applying.provider.seen
    assert (seen.body, seen.values("content-length"), seen.values("transfer-encoding")) == (edited(), [str(len(edited()))], [])


_CODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "gzip, zstd": lambda body: zstandard.ZstdCompressor().compress(gzip.compress(body)),
}


@pytest.mark.parametrize("coding", _CODERS)
async def test_an_encoded_body_goes_out_plain_once_it_is_edited(applying: Bench, coding: str) -> None:
    encoded = _CODERS[coding](request())
    await applying.post(MESSAGES, encoded, f"Content-Encoding: {coding}")
    (seen,) = applying.provider.seen
    assert (seen.body, seen.values("content-encoding"), seen.values("content-length")) == (edited(), [], [str(len(edited()))])
    detail = applying.worker.log.detail((await applying.ended()).id)
    assert detail is not None
    assert detail.header_edits == (
        f"content-encoding: {coding} was dropped, the edited body goes out plain",
        f"content-length: {len(encoded)} became {len(edited())}",
    )


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("zstd", zstandard.ZstdCompressor().compress(request())[:-9]),
        ("zstd", b"no zstd at all"),
        ("rot13", request()),
        ("zstd", zstandard.ZstdCompressor().compress(b" " * (70 << 20))),
        ("gzip", gzip.compress(b" " * (3 << 20))),
    ],
    ids=["truncated", "broken", "unknown", "too-large", "bomb"],
)
async def test_what_cannot_be_decoded_goes_out_as_it_came(applying: Bench, coding: str, body: bytes) -> None:
    assert (await applying.post(MESSAGES, body, f"Content-Encoding: {coding}")).status == 200
    (seen,) = applying.provider.seen
    assert (seen.body, seen.values("content-encoding")) == (body, [coding])
    assert applying.warnings == ["not-decoded"]
    assert (await applying.ended()).state == "done"


@pytest.mark.parametrize("field", ["Content-Digest: sha-256=:x:", "content-MD5: x", "Signature: s", "Signature-Input: i"])
async def test_a_body_that_a_header_vouches_for_is_not_edited(applying: Bench, field: str) -> None:
    await applying.post(MESSAGES, request(), field)
    assert applying.provider.seen[0].body == request()
    assert applying.warnings == ["signed-body"]


async def test_a_body_that_is_not_json_is_not_edited(applying: Bench) -> None:
    client = await applying.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: text/plain", body=request())
    await client.receive()
    assert applying.provider.seen[0].body == request()


async def test_bodies_over_the_limit_stream_through_unedited(start_bench: StartBench) -> None:
    bench = await start_bench(settings=APPLY, editable_body_limit_bytes=1000)
    large = request(b"x" * 2000)
    await bench.post(MESSAGES, large)
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked")
    client.writer.write(f"{len(large):x}\r\n".encode() + large + b"\r\n0\r\n\r\n")
    await client.receive()
    await bench.post(MESSAGES, request())
    assert [seen.body for seen in bench.provider.seen] == [large, large, edited()]
    assert bench.warnings == ["body-over-limit"] * 2


async def test_bodies_over_the_budget_of_all_stream_through_unedited(start_bench: StartBench) -> None:
    bench = await start_bench(settings=APPLY, in_flight_budget_bytes=len(request()) + 10)
    first = await bench.connect()
    await first.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(request())}", body=b"{")
    await bench.until(lambda: bench.worker.in_flight_bytes == len(request()))
    await bench.post(MESSAGES, request())
    first.close()
    await bench.ended(2)
    assert bench.worker.in_flight_bytes == 0
    await bench.post(MESSAGES, request())
    assert [seen.body for seen in bench.provider.seen] == [request(), edited()]
    assert bench.warnings == ["body-over-budget"]


async def test_measuring_changes_and_stores_nothing(start_bench: StartBench) -> None:
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.MEASURE, loop_ttl=LoopTtlMode.OFF))
    await bench.post(MESSAGES, request())
    assert bench.provider.seen[0].body == request()
    await bench.until(lambda: len(bench.exchange.tools) == 1)
    (tools,) = bench.exchange.tools
    assert (tools.applied, tools.handle, tools.bytes_after) == (False, "", len(SHRUNK))
    assert not Path(bench.worker.status().store.path).exists()


async def test_a_conversation_keeps_what_it_began_with(start_bench: StartBench) -> None:
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.OFF))
    await bench.post(MESSAGES, request())
    bench.worker.change_settings(Settings(shrink=ShrinkMode.APPLY, loop_ttl=LoopTtlMode.OFF))
    await bench.post(MESSAGES, request())
    await bench.post(MESSAGES, request(), "x-claude-code-session-id: another")
    assert [TOOLS in seen.body for seen in bench.provider.seen] == [True, True, False]
    assert len(bench.of(events.SettingsChanged)) == 1


SHRUNK_MORE = b'[ {"name":"read","description":"A file."} ]'


def _upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed from now on shrinks differently."""
    shrink = functools.partial(rewriting.shrink, after=SHRUNK_MORE)
    monkeypatch.setattr("caveman_tui.proxy.worker.SHRINKER_VERSION", "2-other")
    monkeypatch.setattr("caveman_tui.proxy.worker.shrink_catalog", shrink)
    monkeypatch.setattr("caveman_tui.proxy.worker.rewrite", functools.partial(rewriting.rewrite, shrink=shrink))


async def test_an_upgrade_that_shrinks_differently_changes_no_running_conversation(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await start_bench(settings=APPLY)
    await first.post(MESSAGES, request())
    await first.worker.stop()
    _upgrade(monkeypatch)
    second = await start_bench(settings=APPLY, port=first.worker.port)
    for body in (request(), request(b"again")):
        await second.post(MESSAGES, body)
    await second.post("/v1/messages/count_tokens", request())
    await second.post(MESSAGES, request(), "x-claude-code-session-id: one that begins now")
    shrunk = [SHRUNK in seen.body for seen in second.provider.seen]
    assert shrunk == [True, True, True, False]
    assert SHRUNK_MORE in second.provider.seen[3].body
    assert second.warnings == []
    await second.worker.stop()
    third = await start_bench(settings=APPLY, port=first.worker.port)
    await third.post(MESSAGES, request(b"once more"))
    assert third.provider.seen[0].body == edited(b"once more")


async def test_an_upgrade_without_what_was_shrunk_before_is_announced_once(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await start_bench(settings=APPLY)
    await first.post(MESSAGES, request())
    await first.worker.stop()
    _upgrade(monkeypatch)
    for path in places.state_dir().glob("shrunk-*"):
        path.unlink()
    second = await start_bench(settings=APPLY, port=first.worker.port)
    await second.post(MESSAGES, request())
    await second.post(MESSAGES, request())
    assert [SHRUNK_MORE in seen.body for seen in second.provider.seen] == [True, True]
    assert second.warnings == ["shrinker-changed"]


async def test_count_tokens_is_shrunk_like_its_conversation_and_writes_no_store(applying: Bench) -> None:
    count = "/v1/messages/count_tokens?beta=true"
    await applying.post(count, request())
    assert applying.provider.seen[0].body == request()
    await applying.post(MESSAGES, request())
    assert applying.provider.seen[1].body == edited()
    with open_store() as store:
        store.delete(HANDLE)
        await applying.post(count, request())
        assert store.stats().originals == 0
    assert applying.provider.seen[2].body == request(tools=SHRUNK)


async def test_without_a_store_the_tools_go_out_as_they_came(start_bench: StartBench, tmp_path: Path) -> None:
    bad = tmp_path / "ccr.db"
    bad.write_bytes(b"this is no database, and stays what it is" * 100)
    before = bad.read_bytes()
    bench = await start_bench(settings=APPLY, store_path=str(bad))
    await bench.post(MESSAGES, request())
    assert bench.provider.seen[0].body == request(ttl=b'"5m"')
    assert bad.read_bytes() == before
    exchange = await bench.ended()
    assert [edit.kind for edit in exchange.marker_edits] == [EditKind.TTL]
    assert (exchange.tools[0].applied, exchange.tools[0].handle) == (False, "")
    assert bench.warnings == ["store-corrupt"]
    assert bench.worker.status().store.problem
    assert "tools-undone" in [reason.code for reason in exchange.reasons]


async def test_a_slow_store_costs_this_request_its_shrinking_and_is_filled_all_the_same(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await start_bench(settings=APPLY, put_seconds=SOON)
    with _stuck(monkeypatch, "put"):
        await bench.post(MESSAGES, request())
        assert bench.provider.seen[0].body == request(ttl=b'"5m"')
        assert bench.warnings == ["store-slow"]
    await bench.until(lambda: bool(bench.of(events.StoreChanged)))
    with open_store() as store:
        assert store.get(HANDLE).original == TOOLS
    await bench.post(MESSAGES, request())
    assert bench.provider.seen[1].body == edited()


async def _shrunk_once(bench: Bench) -> None:
    """Ask until the original is known to be stored, and forget how that went."""
    while not bench.provider.seen or bench.provider.seen[-1].body != edited():
        await bench.post(MESSAGES, request())
    bench.provider.seen.clear()
    bench.events.clear()


async def test_a_store_that_becomes_slow_changes_no_running_conversation(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = await start_bench(settings=APPLY, put_seconds=SOON)
    await _shrunk_once(bench)
    with _stuck(monkeypatch, "record"):
        await bench.post(MESSAGES, request())
        await bench.post(MESSAGES, request(b"and another one"))
    assert [seen.body for seen in bench.provider.seen] == [edited(), edited(b"and another one")]
    assert bench.exchange.tools[0].handle == HANDLE
    assert bench.warnings == []


async def test_a_store_that_is_locked_for_readers_changes_no_running_conversation(applying: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await _shrunk_once(applying)

    def locked(*_: Any) -> Any:
        raise StoreLocked("locked")

    monkeypatch.setattr(Store, "record", locked)
    await applying.post(MESSAGES, request())
    assert (applying.provider.seen[0].body, applying.warnings) == (edited(), [])


async def test_what_was_deleted_and_is_only_being_put_again_is_not_taken_for_stored(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await start_bench(settings=APPLY, put_seconds=SOON)
    await _shrunk_once(bench)
    with open_store() as store:
        store.delete(HANDLE)
    with _stuck(monkeypatch, "put") as reached:
        await bench.post(MESSAGES, request())
        assert reached.is_set()
    assert bench.provider.seen[0].body == request(ttl=b'"5m"')
    assert bench.warnings == ["store-slow"]


async def test_counts_of_what_was_deleted_do_not_bring_it_back(applying: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    set_tokens = Store.set_tokens
    asked = threading.Event()

    def delete_first(self: Store, handle: str, before: int, after: int) -> None:
        self.delete(handle)
        try:
            set_tokens(self, handle, before, after)
        finally:
            asked.set()

    monkeypatch.setattr(Store, "set_tokens", delete_first)
    await applying.post(MESSAGES, request())
    await applying.until(asked.is_set)
    with open_store() as store:
        assert store.stats().originals == 0


async def test_the_store_is_opened_before_the_first_request_that_needs_it(start_bench: StartBench) -> None:
    measuring = await start_bench(settings=Settings(shrink=ShrinkMode.MEASURE))
    await measuring.post(MESSAGES, request())
    path = Path(measuring.worker.status().store.path)
    assert not path.exists()
    measuring.worker.change_settings(APPLY)
    await measuring.until(lambda: measuring.worker.status().store.originals == 0)
    with open_store() as store:
        store.put(b"x", content_type="t", compressor="c", tokens_before=0, tokens_after=0)
    applying = await start_bench(settings=APPLY)
    await applying.until(lambda: applying.worker.status().store.originals == 1)
    await applying.post(MESSAGES, request())
    await applying.worker.stop()
    again = await start_bench(settings=Settings(shrink=ShrinkMode.OFF), port=applying.worker.port)
    await again.until(lambda: again.worker.status().store.originals == 2)


async def test_a_store_that_cannot_be_opened_at_the_start_is_told(start_bench: StartBench, tmp_path: Path) -> None:
    bad = tmp_path / "ccr.db"
    bad.write_bytes(b"this is no database, and stays what it is" * 100)
    bench = await start_bench(settings=APPLY, store_path=str(bad))
    await bench.until(lambda: bool(bench.of(events.StoreChanged)))
    assert "damaged" in bench.of(events.StoreChanged)[0].problem
    assert bench.worker.status().store.problem


async def test_what_a_person_deletes_is_put_again(applying: Bench) -> None:
    await applying.post(MESSAGES, request())
    with open_store() as store:
        store.delete(HANDLE)
    await applying.post(MESSAGES, request())
    with open_store() as store:
        assert store.get(HANDLE).original == TOOLS
        path = store.path
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        name.unlink(missing_ok=True)
    await applying.post(MESSAGES, request())
    assert [seen.body for seen in applying.provider.seen] == [edited()] * 3
    with open_store() as store:
        assert store.get(HANDLE).original == TOOLS


async def test_a_failing_rewriter_costs_the_edits_only(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("boom")

    monkeypatch.setattr("caveman_tui.proxy.worker.rewrite", fail)
    bench = await start_bench(settings=APPLY)
    assert (await bench.post(MESSAGES, request())).status == 200
    assert bench.provider.seen[0].body == request()
    assert bench.warnings == ["rewrite-failed"]


def _refusing(*errors: bytes) -> Any:
    """Answers with these 400s in turn, then with 200."""
    left = list(errors)

    async def answer(exchange: Exchange) -> None:
        if left:
            await exchange.reply(left.pop(0), status="400 Bad Request")
        else:
            await exchange.reply(b'{"ok":1}')

    return answer


async def test_a_400_about_markers_is_sent_again_with_the_markers_as_they_came(applying: Bench) -> None:
    applying.provider.answer = _refusing(CACHE_ERROR)
    got = await applying.post(MESSAGES, request())
    assert (got.status, got.body) == (200, b'{"ok":1}')
    assert [seen.body for seen in applying.provider.seen] == [edited(), request(tools=SHRUNK)]
    exchange = await applying.ended()
    assert (exchange.status, exchange.marker_edits, exchange.tools[0].applied) == (200, (), True)
    assert applying.warnings == ["edit-refused"]
    assert applying.worker.log.bodies.read(exchange.id, "request-after").data == request(tools=SHRUNK)
    await applying.post(MESSAGES, request())
    assert applying.provider.seen[2].body == request(tools=SHRUNK)


async def test_a_400_about_tools_is_sent_again_as_it_came(applying: Bench) -> None:
    encoded = gzip.compress(request())
    applying.provider.answer = _refusing(TOOLS_ERROR)
    assert (await applying.post(MESSAGES, encoded, "Content-Encoding: gzip")).status == 200
    assert [seen.body for seen in applying.provider.seen] == [edited(), encoded]
    assert applying.provider.seen[1].values("content-encoding") == ["gzip"]
    exchange = await applying.ended()
    assert (exchange.marker_edits, exchange.tools[0].applied, exchange.tools[0].handle) == ((), False, "")
    await applying.post(MESSAGES, request())
    assert applying.provider.seen[2].body == request()


async def test_a_second_400_is_sent_again_as_it_came_and_a_third_passes(applying: Bench) -> None:
    applying.provider.answer = _refusing(CACHE_ERROR, b'{"error":"whatever"}', b'{"error":"third"}')
    got = await applying.post(MESSAGES, request())
    assert (got.status, got.body) == (400, b'{"error":"third"}')
    assert [seen.body for seen in applying.provider.seen] == [edited(), request(tools=SHRUNK), request()]
    assert applying.warnings == ["edit-refused"] * 2
    assert (await applying.ended()).state == "provider-error"
    await applying.post(MESSAGES, request())
    assert applying.provider.seen[3].body == edited(), "the fault was not ours, so nothing is latched"


async def test_what_the_second_try_did_not_prove_is_not_remembered(applying: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        if len(applying.provider.seen) == 1:
            await exchange.reply(TOOLS_ERROR, status="400 Bad Request")
        else:
            await exchange.reply(b"{}", status="529 Overloaded")

    applying.provider.answer = answer
    assert (await applying.post(MESSAGES, request())).status == 529
    await applying.post(MESSAGES, request())
    assert [seen.body for seen in applying.provider.seen] == [edited(), request(), edited()]


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "413 Too Large", "429 Slow", "500 Oh", "529 Overloaded"])
async def test_other_errors_pass_at_once(applying: Bench, status: str) -> None:
    error = b'{"error":"prompt is too long"}' if status.startswith("400") else CACHE_ERROR

    async def answer(exchange: Exchange) -> None:
        await exchange.reply(error, "request-id: r", status=status)

    applying.provider.answer = answer
    got = await applying.post(MESSAGES, request())
    assert (got.body, got.values("request-id"), len(applying.provider.seen), applying.warnings) == (error, ["r"], 1, [])


async def test_a_400_without_an_edit_of_ours_passes(start_bench: StartBench) -> None:
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.OFF))
    bench.provider.answer = _refusing(CACHE_ERROR)
    got = await bench.post(MESSAGES, request())
    assert (got.status, got.body, len(bench.provider.seen)) == (400, CACHE_ERROR, 1)


async def test_an_encoded_400_is_read_from_a_copy(applying: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        if len(applying.provider.seen) == 1:
            await exchange.reply(gzip.compress(TOOLS_ERROR), "content-encoding: gzip", status="400 Bad Request")
        else:
            await exchange.reply(b"{}")

    applying.provider.answer = answer
    assert (await applying.post(MESSAGES, request())).status == 200
    assert applying.provider.seen[1].body == request()


async def test_when_the_second_try_finds_no_provider_the_first_answer_passes(applying: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        if len(applying.provider.seen) == 1:
            await exchange.reply(TOOLS_ERROR, "x-is: first", status="400 Bad Request")
        else:
            exchange.cut()

    applying.provider.answer = answer
    got = await applying.post(MESSAGES, request())
    assert (got.status, got.body, got.values("x-is")) == (400, TOOLS_ERROR, ["first"])


async def test_a_very_long_400_passes_whole(applying: Bench) -> None:
    long = b'{"error":"tools ' + b"x" * 2_000_000 + b'"}'
    applying.provider.answer = _refusing(long)
    got = await applying.post(MESSAGES, request())
    assert (got.status, got.body, len(applying.provider.seen)) == (400, long, 1)


@pytest.mark.parametrize("text", [b"hi", b"long " * 20_000], ids=["short", "long"])
async def test_the_prefix_that_went_out_is_digested(applying: Bench, text: bytes) -> None:
    assert (await applying.post(MESSAGES, request(text))).status == 200
    await applying.until(lambda: applying.exchange.prefix is not None)
    assert applying.exchange.prefix == prefix_of(edited(text)) != prefix_of(request(text))


@pytest.mark.parametrize("text", [b"hi", b"long " * 20_000], ids=["short", "long"])
async def test_after_a_refusal_the_prefix_is_that_of_what_was_accepted(applying: Bench, text: bytes) -> None:
    applying.provider.answer = _refusing(TOOLS_ERROR)
    assert (await applying.post(MESSAGES, request(text))).status == 200
    await applying.until(lambda: applying.exchange.prefix == prefix_of(request(text)))


async def test_an_original_of_an_earlier_worker_is_enough_while_the_store_is_locked(applying: Bench) -> None:
    path = Path(applying.worker.status().store.path)
    with open_store(path) as store:
        store.put(TOOLS, content_type="toolschema", compressor="earlier", tokens_before=0, tokens_after=0)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await applying.post(MESSAGES, request())
    assert applying.provider.seen[0].body == edited()
    (tools,) = (await applying.ended()).tools
    assert (tools.handle, applying.warnings) == (HANDLE, [])
