"""Requests and responses pass byte for byte, whatever their method, path, fields and framing."""

import gzip

import pytest

from caveman_tui.protocol import events
from caveman_tui.protocol.control import Upstream
from tests.proxy.conftest import Bench, StartBench, as_json
from tests.proxy.provider import Exchange, RawProvider

MESSAGES = "/v1/messages?beta=true"


async def test_untouched_request_goes_out_byte_for_byte_with_its_fields_in_order(bench: Bench) -> None:
    body = b'{ "model" :"claude-x","max_tokens":1.0, "messages":[{"role":"user","content":"<a>&</a> \\u2028 1E5"}]}'
    client = await bench.connect()
    await client.send(
        f"POST {MESSAGES} HTTP/1.1",
        "X-Api-Key: sk-secret",
        "anthropic-VERSION: 2023-06-01",
        "content-type: application/json",
        "Accept-Encoding: gzip, br",
        "X-Twice: one",
        "anthropic-beta: a,b",
        "X-Twice: two",
        body=body,
    )
    assert (await client.receive()).status == 200
    (seen,) = bench.provider.seen
    assert seen.body == body
    assert seen.line == f"POST {MESSAGES} HTTP/1.1"
    assert seen.fields == [
        ("Host", f"127.0.0.1:{bench.provider.port}"),
        ("X-Api-Key", "sk-secret"),
        ("anthropic-VERSION", "2023-06-01"),
        ("content-type", "application/json"),
        ("Accept-Encoding", "gzip, br"),
        ("X-Twice", "one"),
        ("anthropic-beta", "a,b"),
        ("X-Twice", "two"),
        ("Content-Length", str(len(body))),
    ]


async def test_nothing_is_added_to_a_bare_request(bench: Bench) -> None:
    assert (await bench.ask("GET /v1/models?limit=1000 HTTP/1.1", "anthropic-version: 1")).status == 200
    (seen,) = bench.provider.seen
    assert seen.fields == [("Host", f"127.0.0.1:{bench.provider.port}"), ("anthropic-version", "1")]


async def test_nothing_is_added_to_or_taken_from_a_response(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(
            b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nrequest-ID: req_1\r\nset-cookie: b=2; Path=/\r\n"
            b"X-Odd: \xc3\xa9\r\ncontent-length: 2\r\n\r\nhi"
        )

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}")
    assert got.head.startswith(b"HTTP/1.1 200 Fine\r\n")
    assert got.body == b"hi"
    assert got.fields == [
        ("Set-Cookie", "a=1"),
        ("request-ID", "req_1"),
        ("Set-Cookie", "b=2; Path=/"),
        ("X-Odd", "\xc3\xa9"),
        ("content-length", "2"),
    ]


async def test_server_date_and_content_type_of_the_provider_pass(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"{}", "Server: cloud", "Date: Mon, 01 Jan 2024 00:00:00 GMT", kind="application/x-odd")

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}")
    assert got.values("server") == ["cloud"]
    assert got.values("date") == ["Mon, 01 Jan 2024 00:00:00 GMT"]
    assert got.values("content-type") == ["application/x-odd"]


async def test_hop_by_hop_fields_end_here(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"{}", "Connection: x-hop", "X-Hop: 1", "Keep-Alive: timeout=5", "X-End: 1")

    bench.provider.answer = answer
    got = await bench.post(
        MESSAGES, b"{}", "Connection: keep-alive, X-Mine", "X-Mine: 1", "TE: trailers", "Proxy-Authorization: Basic x", "X-End: 2"
    )
    (seen,) = bench.provider.seen
    for name in ("connection", "x-mine", "te", "proxy-authorization"):
        assert seen.values(name) == []
    assert seen.values("x-end") == ["2"]
    assert got.values("x-hop") == [] and got.values("keep-alive") == [] and got.values("x-end") == ["1"]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("HEAD / HTTP/1.1", ()),
        ("HEAD /api/hello HTTP/1.1", ()),
        ("OPTIONS /v1/messages HTTP/1.1", ("Origin: http://localhost:3000",)),
        ("GET /v1/models?limit=1000 HTTP/1.1", ("x-api-key: k",)),
        ("DELETE /v1/files/a%2Fb?x=%20 HTTP/1.1", ("authorization: Bearer k",)),
        ("PATCH //odd/../path HTTP/1.1", ()),
        ("PUT /unknown?a=b&a=c;d HTTP/1.1", ()),
    ],
)
async def test_any_method_and_path_is_forwarded_as_spelled(bench: Bench, line: str, fields: tuple[str, ...]) -> None:
    got = await bench.ask(line, *fields)
    assert got.status == 200
    assert bench.provider.seen[0].line == line
    assert (await bench.ended()).state == "done"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_responses_without_a_body(bench: Bench, status: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(f"HTTP/1.1 {status}\r\nETag: x\r\n\r\n".encode())

    bench.provider.answer = answer
    client = await bench.connect()
    for _ in range(2):
        await client.send("GET /v1/thing HTTP/1.1")
        got = await client.receive()
        assert got.head == f"HTTP/1.1 {status}\r\nETag: x".encode()


async def test_head_keeps_the_length_it_speaks_of(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n")

    bench.provider.answer = answer
    client = await bench.connect()
    for _ in range(2):
        await client.send("HEAD /v1/thing HTTP/1.1")
        assert (await client.receive(bodyless=True)).values("content-length") == ["1234"]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_response_that_only_its_end_frames(bench: Bench, version: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(f"HTTP/{version} 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it".encode())
        exchange.cut()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}")
    assert (got.body, got.clean, got.values("content-length")) == (b"all of it", True, [])
    assert (await bench.ended()).state == "done"


async def test_an_answer_that_comes_before_the_request_is_through(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b'{"error":"too large"}', "connection: close", status="413 Content Too Large")
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    bench.provider.reads_bodies = False
    got = await bench.post(MESSAGES, b'{"a":"' + b"x" * 8_000_000 + b'"}')
    assert (got.status, got.body) == (413, b'{"error":"too large"}')
    assert (await bench.ended()).state == "provider-error"


async def test_an_old_client_gets_its_body_up_to_the_end_of_the_connection(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream(kind="text/plain")
        await exchange.chunk(b"one")
        await exchange.chunk(b"two")
        await exchange.end_stream()

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send("GET /v1/thing HTTP/1.0")
    assert (await client.head()).startswith(b"HTTP/1.0 200 OK")
    assert await client.reader.read() == b"onetwo"


async def test_redirects_go_back_to_the_client(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"", "Location: /elsewhere", status="307 Temporary Redirect")

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}")
    assert (got.status, got.values("location")) == (307, ["/elsewhere"])
    assert len(bench.provider.seen) == 1


async def test_cookies_of_one_client_never_reach_another(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"{}", "Set-Cookie: session=1")

    bench.provider.answer = answer
    await bench.post(MESSAGES, b"{}")
    await bench.post(MESSAGES, b"{}")
    assert bench.provider.seen[1].values("cookie") == []


async def test_errors_pass_with_status_fields_and_body(bench: Bench) -> None:
    error = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'

    async def answer(exchange: Exchange) -> None:
        await exchange.reply(error, "retry-after: 7", "anthropic-ratelimit-unified-status: x", status="529 Site Overloaded")

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b'{"model":"m"}')
    assert got.head.startswith(b"HTTP/1.1 529 Site Overloaded")
    assert (got.body, got.values("retry-after"), got.values("x-caveman-error")) == (error, ["7"], [])
    exchange = await bench.ended()
    assert (exchange.state, exchange.status) == ("provider-error", 529)


async def test_other_bodies_stream_both_ways_before_they_end(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        assert await exchange.reader.readexactly(8) == b"3\r\none\r\n"
        await exchange.begin_stream(kind="text/plain")
        await exchange.chunk(b"yes")
        assert await exchange.reader.readexactly(13) == b"3\r\ntwo\r\n0\r\n\r\n"
        await exchange.chunk(b"done")
        await exchange.end_stream()

    bench.provider.answer = answer
    bench.provider.reads_bodies = False
    client = await bench.connect()
    await client.send("POST /v1/files HTTP/1.1", "x-api-key: k", "Transfer-Encoding: chunked", "Content-Type: multipart/form-data")
    client.writer.write(b"3\r\none\r\n")
    await client.head()
    assert await client.chunk() == b"yes"
    client.writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
    assert [await client.chunk(), await client.chunk()] == [b"done", b""]
    assert (await bench.ended()).state == "done"


async def test_a_large_editable_body_arrives_whole(bench: Bench) -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"' + b"x" * 11_700_000 + b'"}]}'
    assert (await bench.post(MESSAGES, body)).status == 200
    assert bench.provider.seen[0].body == body


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/messages/count_tokens"])
async def test_an_encoded_body_without_edits_keeps_its_coding(bench: Bench, path: str) -> None:
    body = gzip.compress(as_json({"model": "m", "messages": [{"role": "user", "content": "hi"}]}))
    assert (await bench.post(path, body, "Content-Encoding: gzip")).status == 200
    (seen,) = bench.provider.seen
    assert (seen.body, seen.values("content-encoding")) == (body, ["gzip"])
    assert (await bench.ended()).model == "m"


async def test_header_fields_of_half_a_megabyte_pass_both_ways(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"{}", f"x-long: {'b' * 500_000}")

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}", f"x-long: {'a' * 500_000}")
    assert bench.provider.seen[0].values("x-long") == ["a" * 500_000]
    assert got.values("x-long") == ["b" * 500_000]


async def test_a_client_that_waits_for_100_continue_gets_it(bench: Bench) -> None:
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Expect: 100-continue", "Content-Length: 2", "Content-Type: application/json")
    assert await client.head() == b"HTTP/1.1 100 Continue"
    client.writer.write(b"{}")
    assert (await client.receive()).status == 200
    assert bench.provider.seen[0].values("expect") == []


async def test_events_come_in_order_with_one_end(bench: Bench) -> None:
    body = b'{"type":"message","usage":{"input_tokens":3,"output_tokens":4}}'

    async def answer(exchange: Exchange) -> None:
        await exchange.reply(body)

    bench.provider.answer = answer
    await bench.post(
        MESSAGES, b'{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}', "User-Agent: claude-cli/2.1.316 (external, cli)"
    )
    await bench.ended()
    assert [type(event) for event in bench.events] == [
        events.ExchangeStarted,
        events.ExchangeRewritten,
        events.ExchangeResponding,
        events.ExchangeUsage,
        events.ExchangeFinished,
    ]
    exchange = bench.exchange
    assert (exchange.client, exchange.model, exchange.provider, exchange.path) == ("claude-cli/2.1.316", "claude-x", "anthropic", MESSAGES)
    assert exchange.usage is not None and (exchange.usage.input_tokens, exchange.usage.output_tokens) == (3, 4)
    assert exchange.response_bytes == len(body)


async def test_prefixed_upstreams_get_their_path_without_the_prefix(start_bench: StartBench) -> None:
    async with RawProvider() as other:
        bench = await start_bench(
            upstreams=(Upstream(name="router", base_url=f"{other.url}/api/v1", dialect="openai", path_prefix="/router"),)
        )
        got = await bench.post("/router/chat/completions?x=1", b'{"model":"m"}')
        assert got.status == 200
        assert other.seen[0].line == "POST /api/v1/chat/completions?x=1 HTTP/1.1"
        assert (bench.exchange.provider, bench.exchange.dialect) == ("router", "openai-chat")


async def test_without_an_upstream_for_it_a_request_gets_our_error(start_bench: StartBench) -> None:
    bench = await start_bench(upstreams=())
    got = await bench.post("/v1/chat/completions", b"{}")
    assert (got.status, got.values("x-caveman-error")) == (502, ["no-upstream"])
    assert b'"error":{"message":' in got.body
