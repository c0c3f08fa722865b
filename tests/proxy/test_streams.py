"""Streams pass as they come and end as they ended."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from caveman_tui.protocol import events
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange

MESSAGES = "/v1/messages"
REQUEST = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
START = (
    b'event: message_start\r\ndata: {"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":7,'
    b'"output_tokens":1}}}\r\n\r\n'
)
PING = b": keep-alive\n\nevent: ping\ndata: {}\n\n"
DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"ü  "}}\n\n'.encode()
END = (
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":9}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
WHOLE = START + PING + DELTA + END


async def test_each_piece_passes_before_the_next_is_there(bench: Bench) -> None:
    at = DELTA.index("ü".encode()) + 1
    pieces = [START, PING, DELTA[:at], DELTA[at:], END]
    client = await bench.connect()
    received: list[bytes] = []

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream("x-first: 1")
        await client.head()
        for piece in pieces:
            await exchange.chunk(piece)
            received.append(await client.chunk())
        await exchange.end_stream()

    bench.provider.answer = answer
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    await bench.until(lambda: len(received) == len(pieces))
    assert received == pieces
    assert await client.chunk() == b""
    exchange = await bench.ended()
    assert exchange.state == "done"
    assert exchange.usage is not None
    assert (exchange.usage.input_tokens, exchange.usage.cache_read_tokens, exchange.usage.output_tokens) == (5, 7, 9)
    assert exchange.response_bytes == len(WHOLE)


_CODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("coding", _CODERS)
@pytest.mark.parametrize("kind", ["text/event-stream; charset=utf-8", "application/json"])
async def test_encoded_responses_pass_raw_and_are_read_from_a_copy(bench: Bench, coding: str, kind: str) -> None:
    plain = WHOLE if "event" in kind else b'{"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":9}}'
    encoded = _CODERS[coding](plain)

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream(f"content-encoding: {coding}", kind=kind)
        for at in range(0, len(encoded), 7):
            await exchange.chunk(encoded[at : at + 7])
        await exchange.end_stream()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.body, got.values("content-encoding")) == (encoded, [coding])
    exchange = await bench.ended()
    assert exchange.state == "done"
    assert exchange.usage is not None and exchange.usage.output_tokens == 9
    assert bench.worker.log.bodies.read(exchange.id, "response").data == encoded


async def test_an_unknown_coding_passes_and_its_usage_is_unknown(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"???", "content-encoding: rot13")

    bench.provider.answer = answer
    assert (await bench.post(MESSAGES, REQUEST)).body == b"???"
    exchange = await bench.ended()
    assert (exchange.usage, exchange.state, bench.warnings) == (None, "done", ["usage-unread"])


async def test_a_response_that_inflates_without_end_is_passed_and_not_read_on(bench: Bench) -> None:
    bomb = zstandard.ZstdCompressor().compress(b" " * (3 << 20))

    async def answer(exchange: Exchange) -> None:
        await exchange.reply(bomb, "content-encoding: zstd")

    bench.provider.answer = answer
    assert (await bench.post(MESSAGES, REQUEST)).body == bomb
    assert (await bench.ended()).state == "done"
    assert bench.warnings == ["usage-unread"]


@pytest.mark.parametrize("way", ["cut", "reset"])
async def test_a_provider_that_breaks_off_breaks_the_client_off(bench: Bench, way: str) -> None:
    client = await bench.connect()

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START + DELTA[:20])
        await client.head()
        assert await client.chunk() == START + DELTA[:20]
        getattr(exchange, way)()

    bench.provider.answer = answer
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    exchange = await bench.ended()
    assert await client.reader.read() == b""
    assert (exchange.state, exchange.response_bytes) == ("broken", len(START) + 20)
    assert exchange.usage is not None and exchange.usage.input_tokens == 5
    assert bench.worker.log.bodies.read(exchange.id, "response").data == START + DELTA[:20]


async def test_what_came_before_the_break_arrives_at_a_slow_client(bench: Bench) -> None:
    sent = b"x" * 3_000_000

    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\ncontent-type: application/json\r\n\r\n" + sent)
        exchange.cut()

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    got = await client.receive()
    assert not got.clean
    assert got.body == sent
    assert (await bench.ended()).state == "broken"


@pytest.mark.parametrize(
    ("received", "note"),
    [(b"", "The stream ended without content."), (START + DELTA[:-1], "The stream ended inside an event.")],
)
async def test_a_stream_that_ends_early_is_a_failure_on_both_sides(bench: Bench, received: bytes, note: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        if received:
            await exchange.chunk(received)
        await exchange.end_stream()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.body, got.clean) == (received, False)
    exchange = await bench.ended()
    assert (exchange.state, exchange.note) == ("broken", note)


async def test_a_stream_without_its_closing_event_is_recorded_as_broken(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START + DELTA)
        await exchange.end_stream()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.body, got.clean) == (START + DELTA, True)
    exchange = await bench.ended()
    assert (exchange.state, exchange.note) == ("broken", "The stream ended without its closing event.")


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b"data: [DONE]", b'data: {"choices":[]}\n'])
async def test_chat_completions_may_end_untidily(bench: Bench, end: bytes) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(b': OPENROUTER PROCESSING\n\ndata: {"choices":[{"delta":{"content":"x"}}]}\n\n' + end)
        await exchange.end_stream()

    bench.provider.answer = answer
    got = await bench.post("/v1/chat/completions", REQUEST)
    assert got.clean
    assert (await bench.ended()).state == "done"


async def test_an_error_event_after_200_is_the_providers_error(bench: Bench) -> None:
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START + error)
        await exchange.end_stream()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.body, got.clean) == (START + error, True)
    exchange = await bench.ended()
    assert exchange.state == "provider-error"
    assert "Overloaded" in exchange.note


async def test_a_client_that_hangs_up_ends_the_providers_connection(bench: Bench) -> None:
    closed: list[bool] = []
    client = await bench.connect()

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START)
        await client.head()
        await client.chunk()
        client.close()
        await exchange.closed_by_peer()
        closed.append(True)

    bench.provider.answer = answer
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    exchange = await bench.ended()
    await bench.until(lambda: bool(closed))
    assert (exchange.state, exchange.response_bytes) == ("cancelled", len(START))
    assert exchange.usage is not None and exchange.usage.cache_read_tokens == 7
    assert len(bench.of(events.ExchangeFinished)) == 1
    assert bench.worker.log.bodies.read(exchange.id, "response").data == START


async def test_a_client_that_hangs_up_once_it_has_the_closing_event_has_all(bench: Bench) -> None:
    client = await bench.connect()

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(WHOLE)
        await client.head()
        assert await client.chunk() == WHOLE
        client.close()
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    exchange = await bench.ended()
    assert exchange.state == "done"
    assert exchange.usage is not None and exchange.usage.output_tokens == 9


async def test_a_client_that_hangs_up_before_the_answer(bench: Bench) -> None:
    closed: list[bool] = []
    client = await bench.connect()

    async def answer(exchange: Exchange) -> None:
        client.close()
        await exchange.closed_by_peer()
        closed.append(True)

    bench.provider.answer = answer
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=REQUEST)
    exchange = await bench.ended()
    await bench.until(lambda: bool(closed))
    assert (exchange.state, exchange.status, exchange.usage) == ("cancelled", None, None)


async def test_a_client_that_hangs_up_while_it_sends(bench: Bench) -> None:
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", "Content-Length: 500", body=b"{")
    await bench.until(lambda: bool(bench.worker.log.new_id()))
    client.close()
    exchange = await bench.ended()
    assert exchange.state == "cancelled"
    assert bench.provider.seen == []


async def test_a_silent_provider_is_given_up_after_the_idle_limit(start_bench: StartBench) -> None:
    bench = await start_bench(idle_timeout_seconds=0.2)

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START)
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.body, got.clean) == (START, False)
    exchange = await bench.ended()
    assert (exchange.state, exchange.note) == ("broken", "The provider sent nothing for too long.")


async def test_a_provider_that_never_answers_gives_504_in_its_own_shape(start_bench: StartBench) -> None:
    bench = await start_bench(idle_timeout_seconds=0.2)

    async def answer(exchange: Exchange) -> None:
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, REQUEST)
    assert (got.status, got.values("x-caveman-error")) == (504, ["idle-timeout"])
    assert got.body.startswith(b'{"type":"error","error":{"type":"api_error","message":"caveman-tui: ')
    assert (await bench.ended()).state == "failed"


async def test_an_old_client_gets_a_reset_since_only_the_end_frames_its_body(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(START)
        await bench.until(lambda: bool(bench.of(events.ExchangeUsage)))
        exchange.cut()

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.0", "Content-Type: application/json", body=REQUEST)
    with pytest.raises(ConnectionError):
        await client.reader.read()
        await client.reader.read()
    assert (await bench.ended()).state == "broken"
