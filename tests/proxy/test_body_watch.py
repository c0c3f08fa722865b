"""Bodies that break their own framing end, and connections that last hold nothing of the responses they carried."""

import gc
import logging

import aiohttp
import pytest

from caveman_tui.proxy.body_watch import BodyWatch
from tests.conformance.wire import LIMIT_SECONDS
from tests.proxy.provider import Exchange, RawProvider


async def _get(session: aiohttp.ClientSession, provider: RawProvider, watch: BodyWatch) -> aiohttp.ClientResponse:
    answer = await session.get(f"{provider.url}/", timeout=aiohttp.ClientTimeout(LIMIT_SECONDS))
    watch.watch(answer)
    return answer


async def test_a_reader_of_a_body_that_breaks_its_framing_is_told() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(b"one")
        await exchange.reader.readexactly(1)
        await exchange.send(b"no number\r\n")

    async with RawProvider(answer) as provider, aiohttp.ClientSession() as session:
        found = await _get(session, provider, BodyWatch())
        assert await found.content.readany() == b"one"
        assert found.connection is not None and found.connection.transport is not None
        found.connection.transport.write(b"!")
        with pytest.raises(aiohttp.ClientPayloadError):
            await found.content.readany()
        found.close()


async def test_a_lasting_connection_keeps_nothing_of_its_responses(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.seen.line.startswith("DELETE"):
            exchange.reset()
            return
        await exchange.begin_stream()
        await exchange.chunk(b"x")
        await exchange.reader.readexactly(1)
        await exchange.end_stream()

    watch = BodyWatch()
    async with RawProvider(answer) as provider, aiohttp.ClientSession() as session:
        for _ in range(3):
            found = await _get(session, provider, watch)
            assert found.connection is not None and found.connection.transport is not None
            found.connection.transport.write(b"!")
            assert await found.read() == b"x"
        assert provider.connections == 1
        assert list(watch._reading.values()) == [None]
        with pytest.raises(aiohttp.ClientError):
            await session.delete(provider.url)
        assert watch._reading == {}
    with caplog.at_level(logging.ERROR, "asyncio"):
        gc.collect()
    assert caplog.text == ""
