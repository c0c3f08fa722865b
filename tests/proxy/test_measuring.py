"""What shrinking would save is measured after a request has gone out."""

import asyncio
import threading
from typing import Any
from unittest.mock import AsyncMock

import pytest

from caveman_tui.core.policy import Level, ShrinkMode
from caveman_tui.core.rewrite import Rewrite, ToolsChange
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.last_requests import LastRequests
from caveman_tui.proxy.summaries import Summaries
from tests.proxy import rewriting
from tests.proxy.conftest import LIMIT_SECONDS, StartBench
from tests.proxy.provider import Exchange
from tests.proxy.rewriting import request

MESSAGES = "/v1/messages"
CACHE_ERROR = b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.cache_control.ttl: no"}}'


@pytest.fixture(autouse=True)
def _known_rewriter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.proxy.worker.rewrite", rewriting.rewrite)


async def test_no_request_waits_for_being_measured(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def measure(*arguments: Any) -> Rewrite:
        assert answered.wait(LIMIT_SECONDS), "the request waited for its measurement"
        return rewriting.with_measure(*arguments)

    monkeypatch.setattr("caveman_tui.proxy.summaries.with_measure", measure)
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.MEASURE))
    await bench.post(MESSAGES, request())
    assert (await bench.ended()).tools == ()
    answered.set()
    await bench.until(lambda: len(bench.exchange.tools) == 1)
    assert [edit.kind for edit in bench.exchange.marker_edits] == ["ttl"]


async def test_what_was_measured_is_no_word_on_what_went_out_after_a_refusal(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = threading.Event()

    def measure(*arguments: Any) -> Rewrite:
        refused.wait(LIMIT_SECONDS)
        return rewriting.with_measure(*arguments)

    async def answer(exchange: Exchange) -> None:
        if len(bench.provider.seen) == 1:
            await exchange.reply(CACHE_ERROR, status="400 Bad Request")
        else:
            refused.set()
            await exchange.reply(b"{}")

    monkeypatch.setattr("caveman_tui.proxy.summaries.with_measure", measure)
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.MEASURE))
    bench.provider.answer = answer
    await bench.post(MESSAGES, request())
    await bench.until(lambda: len(bench.exchange.tools) == 1)
    assert bench.exchange.marker_edits == ()


async def test_bodies_that_wait_to_be_measured_are_bounded() -> None:
    summaries = Summaries(ExchangeLog(), AsyncMock(), LastRequests())
    with summaries.room_to_measure(50 << 20) as first, summaries.room_to_measure(20 << 20) as second:
        assert (first, second) == (True, False)
    with summaries.room_to_measure(60 << 20) as third:
        assert third
    await summaries.close()


async def test_a_catalog_that_is_being_counted_is_not_counted_again() -> None:
    released = threading.Event()
    counted: list[bytes] = []

    def count(tools: bytes) -> int:
        counted.append(tools)
        released.wait(LIMIT_SECONDS)
        return len(tools)

    summaries = Summaries(ExchangeLog(), AsyncMock(), LastRequests(), count=count)
    catalog = ShrunkCatalog(before=b"[long]", after=b"[s]", level=Level.STANDARD)
    change = ToolsChange(pointer="/tools", start=0, end=6, catalog=catalog, applied=True)
    several = [asyncio.ensure_future(summaries.count(change, "digest", stored=False)) for _ in range(3)]
    await asyncio.sleep(0)
    released.set()
    await asyncio.gather(*several)
    assert counted == [b"[long]", b"[s]"]
    assert summaries.counts(change, "digest") == (6, 3)
    await summaries.close()
