"""The cases: what provider and client do, and what may differ. One line of the table each."""

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.faults import Answer, Behaviour, ClientEnd, ProviderEnd
from tests.conformance.wire import Message

BODY = b'{ "model":"m", "max_tokens": 1.0,"messages":[{"role":"user","content":"hi \\ud800 1E5"}]}'
EVENTS = b'event: message_start\ndata: {"type":"message_start"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n'
LONG = b"x" * (8 << 20)
_MUCH = 48 << 20
"""Bytes, more than all buffers on the way hold."""
_OK = b"HTTP/1.1 200 OK\r\n"
_JSON = _OK + b"Content-Type: application/json\r\n"
_STREAM = _OK + b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, eq=False)
class Case:
    """One fault, and what it may lead to."""

    name: str
    answer: Answer
    client: Behaviour
    differences: tuple[str, ...] = ()
    """Names of the forced differences that show; all others have to be absent."""
    error: str = ""
    """Code of the error of ours that the client gets in place of what it would have seen."""
    own_status: int = 0
    """Status of an answer that the worker's HTTP parser gives, without a code, to what is no HTTP request."""
    listens: bool = True
    reads_requests: bool = True
    config: Mapping[str, Any] = field(default_factory=dict)
    """Fields of WorkerConfig."""


def replies(*data: bytes, end: str = "") -> Answer:
    """Send these bytes; then `cut` or `reset` the connection, or `stall`."""

    async def answer(provider: ProviderEnd) -> None:
        await provider.send(*data)
        match end:
            case "cut":
                provider.cut()
            case "reset":
                provider.reset()
            case "stall":
                await provider.stall()

    return answer


def breaks_in_body(*data: bytes, received: int, end: str) -> Answer:
    """Send these bytes, and end once the client has `received` bytes of the body, so that none is lost on the way."""

    async def answer(provider: ProviderEnd) -> None:
        await provider.send(*data)
        await provider.signals.until_client_has(received)
        provider.cut() if end == "cut" else provider.reset()

    return answer


async def then_garbage(provider: ProviderEnd) -> None:
    await provider.send(_JSON + b"Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n")
    await provider.signals.until_client_has(4)
    await provider.send(b"zz\r\n")
    provider.cut()


def response(body: bytes, *fields: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def sends(line: str = "", *fields: str, body: bytes | None = BODY, responses: int = 1) -> Behaviour:
    """Send one request and read its responses; by default a small POST to /v1/messages."""
    bodyless = line.startswith("HEAD")

    async def client(end: ClientEnd) -> tuple[Message, ...]:
        if not line:
            await end.post(body or b"", *fields)
        else:
            length = (f"Content-Length: {len(body)}",) if body is not None else ()
            await end.send(end.head(line, *fields, *length) + (body or b""))
        return tuple([await end.receive(bodyless=bodyless) for _ in range(responses)])

    return client


POST = sends()


def get(line: str, *fields: str) -> Behaviour:
    return sends(line, *fields, body=None)


def raw(text: bytes, *, bodyless: bool = False, responses: int = 1) -> Behaviour:
    """Send these bytes; `HOST` in them becomes the address that is connected to."""

    async def client(end: ClientEnd) -> tuple[Message, ...]:
        await end.send(text.replace(b"HOST", f"127.0.0.1:{end.port}".encode()))
        return tuple([await end.receive(bodyless=bodyless) for _ in range(responses)])

    return client


FINE = replies(response(b'{"ok":1}'))


# ---- clients with habits of their own


async def reads_slowly(end: ClientEnd) -> tuple[Message, ...]:
    """Does not read until the provider gets rid of nothing more."""
    await end.post(BODY)
    await end.signals.answering.wait()
    before = -1
    while end.signals.sent != before:
        before = end.signals.sent
        await asyncio.sleep(0.2)
    end.signals.held_back = end.signals.sent < _MUCH
    return (await end.receive(),)


async def sends_much(provider: ProviderEnd) -> None:
    await provider.send(_OK + f"Content-Length: {_MUCH}\r\n\r\n".encode())
    provider.signals.answering.set()
    while provider.signals.sent < _MUCH:
        await provider.send(LONG[: 1 << 20])
        provider.signals.sent += 1 << 20


def writes_slowly(path: str) -> Behaviour:
    async def client(end: ClientEnd) -> tuple[Message, ...]:
        request = end.head(f"POST {path} HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(BODY)}") + BODY
        for at in range(len(request)):
            await end.send(request[at : at + 1])
            await asyncio.sleep(0)
        return (await end.receive(),)

    return client


async def half_closes(end: ClientEnd) -> tuple[Message, ...]:
    await end.post(BODY)
    end.writer.write_eof()
    return (await end.receive(),)


async def pipelines(end: ClientEnd) -> tuple[Message, ...]:
    one = end.head("GET /v1/models?n=1 HTTP/1.1")
    await end.send(one + one.replace(b"n=1", b"n=2"))
    return (await end.receive(), await end.receive())


async def names_what_was_asked(provider: ProviderEnd) -> None:
    await provider.send(response(provider.request.line.encode()))


def hangs_up_at(count: int, path: str = "/v1/messages") -> Behaviour:
    """Leave after `count` bytes of the body; negative: so many bytes before the end of the head."""

    async def client(end: ClientEnd) -> tuple[Message, ...]:
        head = end.head(f"POST {path} HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(BODY)}")
        await end.send((head + BODY)[: len(head) + count])
        if count > 0 and path != "/v1/messages":
            await end.signals.request_begun.wait()
        end.hang_up()
        return ()

    return client


async def hangs_up_before_the_answer(end: ClientEnd) -> tuple[Message, ...]:
    await end.post(BODY)
    await end.signals.answering.wait()
    end.hang_up()
    return ()


async def hangs_up_in_the_answer(end: ClientEnd) -> tuple[Message, ...]:
    await end.post(BODY)
    await end.reader.readuntil(b"message_start\n")
    end.hang_up()
    return ()


async def waits_to_be_left(provider: ProviderEnd) -> None:
    provider.signals.answering.set()
    await provider.until_closed()


async def streams_until_left(provider: ProviderEnd) -> None:
    await provider.send(_STREAM + chunk(EVENTS[:70]))
    await provider.until_closed()


async def answers_before_the_request_is_through(provider: ProviderEnd) -> None:
    await provider.send(response(b'{"error":"too large"}', "Connection: close", status="413 Content Too Large"))
    await provider.until_closed()


async def sends_more_than_is_read(end: ClientEnd) -> tuple[Message, ...]:
    sending = asyncio.ensure_future(end.post(LONG))
    try:
        return (await end.receive(),)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def uploads_in_chunks(end: ClientEnd) -> tuple[Message, ...]:
    head = end.head("POST /v1/files HTTP/1.1", "Content-Type: application/octet-stream", "Transfer-Encoding: chunked")
    await end.send(head, chunk(b"one"), chunk(b"two"), b"0\r\n\r\n")
    return (await end.receive(),)


def _chunked_request(path: str, end: bytes) -> bytes:
    return (
        b"POST %b HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()
        + chunk(BODY[:20])
        + chunk(BODY[20:])
        + end
    )


PROVIDER = (
    Case("refuses the connection", FINE, POST, error="no-connection", listens=False),
    Case("closes without a byte", replies(end="cut"), POST, error="closed"),
    Case("resets without a byte", replies(end="reset"), POST, error="closed"),
    Case("closes at byte 5, inside the status line", replies(_JSON[:5], end="cut"), POST, error="closed"),
    Case("resets at byte 30, inside the fields", replies(_JSON[:30], end="reset"), POST, error="closed"),
    Case("closes at byte 0 of a body of known length", replies(response(b"x" * 9)[:-9], end="cut"), POST),
    Case("closes at byte 7 of 9", breaks_in_body(response(b"x" * 9)[:-2], received=7, end="cut"), POST),
    Case("resets at byte 7 of 9", breaks_in_body(response(b"x" * 9)[:-2], received=7, end="reset"), POST, ("reset",)),
    Case("closes inside a stream, between events", breaks_in_body(_STREAM + chunk(EVENTS[:53]), received=53, end="cut"), POST),
    Case(
        "resets inside a stream, inside a chunk", breaks_in_body(_STREAM + chunk(EVENTS)[:30], received=26, end="reset"), POST, ("reset",)
    ),
    Case("never answers", replies(end="stall"), POST, error="idle-timeout", config={"idle_timeout_seconds": 0.3}),
    Case("stalls inside the fields", replies(_JSON[:30], end="stall"), POST, error="idle-timeout", config={"idle_timeout_seconds": 0.3}),
    Case(
        "stalls inside a stream",
        replies(_STREAM + chunk(EVENTS[:53]), end="stall"),
        POST,
        ("idle-limit",),
        config={"idle_timeout_seconds": 2.0},
    ),
    Case("answers garbage", replies(b"\x16\x03\x01 no HTTP at all\r\n\r\n", end="cut"), POST, error="bad-response"),
    Case("answers text without a status line", replies(b"hello\r\n\r\n", end="cut"), POST, error="bad-response"),
    Case("has a status of two digits", replies(b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"), POST, error="bad-response"),
    Case("has a field without a colon", replies(_OK + b"no colon\r\nContent-Length: 0\r\n\r\n"), POST, error="bad-response"),
    Case("says a length that is no number", replies(_OK + b"Content-Length: nine\r\n\r\nxxxxxxxxx", end="cut"), POST, error="bad-response"),
    Case(
        "says two lengths",
        replies(_OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nxxxxx", end="cut"),
        POST,
        error="bad-response",
    ),
    Case("sends more than its length", replies(response(b"1234") + b"extra", end="cut"), POST, error="bad-response"),
    Case(
        "sends a chunk size that is no number",
        replies(_JSON + b"Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\nzz\r\n", end="cut"),
        POST,
        error="bad-response",
    ),
    Case("sends one once part of the body has arrived", then_garbage, POST),
    Case("says gzip and sends none", replies(response(b'{"usage":{}}', "Content-Encoding: gzip")), POST),
    Case("says a coding that nobody knows", replies(response(b"???", "Content-Encoding: rot13")), POST),
    Case("sends gzip that is cut short", replies(response(gzip.compress(BODY)[:-9], "Content-Encoding: gzip")), POST),
    Case(
        "answers 100, 102 and 103 first",
        replies(
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 102 Processing\r\n\r\n",
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
            response(b"{}"),
        ),
        POST,
        ("interim",),
    ),
    Case(
        "sends trailers",
        replies(
            _JSON + b"Trailer: X-End\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"{}") + b"0\r\nX-End: 1\r\n\r\n",
        ),
        POST,
        ("trailers",),
    ),
    Case("sends chunks with extensions", replies(_JSON + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n"), POST),
    Case("answers 204", replies(b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"), get("GET /v1/files/a HTTP/1.1")),
    Case("answers 304", replies(b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'), get("GET /v1/models HTTP/1.1")),
    Case("answers HEAD with a length", replies(_JSON + b"Content-Length: 1234\r\n\r\n"), get("HEAD /api/hello HTTP/1.1")),
    Case("answers HEAD without one", replies(_OK + b"X-A: 1\r\n\r\n"), get("HEAD / HTTP/1.1")),
    Case("frames its body by closing", replies(_JSON + b"\r\nall of it", end="cut"), POST, ("end-framing",)),
    Case("speaks HTTP/1.0", replies(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", end="cut"), POST, ("version",)),
    Case("sends a field of 512 KB", replies(response(b"{}", "X-Big: " + "b" * (512 << 10))), POST),
    Case("sends a thousand fields", replies(response(b"{}", *(f"X-{number}: {number}" for number in range(1000)))), POST),
    Case("sends a field of 2 MB", replies(response(b"{}", "X-Big: " + "b" * (2 << 20))), POST, error="bad-response"),
    Case("repeats fields", replies(response(b"{}", "Set-Cookie: a=1", "X-A: 1", "Set-Cookie: b=2; Path=/", "X-A: 2")), POST),
    Case("repeats a field in other capitals", replies(response(b"{}", "X-Twice: 1", "x-TWICE: 2")), POST, ("name-case",)),
    Case("sends a field in ISO 8859-1", replies(response(b"{}", "X-Latin: caf\xe9")), POST, ("encoding",)),
    Case(
        "sends fields of its connection",
        replies(response(b"{}", "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5")),
        POST,
        ("hop-by-hop",),
    ),
    Case("redirects", replies(response(b"", "Location: https://elsewhere.test/", status="307 Temporary Redirect")), POST),
    Case("is overloaded", replies(response(b'{"type":"error"}', "Retry-After: 7", status="529 Overloaded")), POST),
    Case("limits the rate", replies(response(b'{"type":"error"}', "retry-after: 2", status="429 Too Many Requests")), POST),
    Case("has a reason phrase of its own", replies(response(b"{}", status="200 Quite All Right")), POST),
    Case(
        "sends an error event after 200",
        replies(_STREAM + chunk(b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n') + b"0\r\n\r\n"),
        POST,
    ),
    Case("ends a stream inside an event", replies(_STREAM + chunk(EVENTS[:30]) + b"0\r\n\r\n"), POST, ("untidy-end",)),
    Case("ends a stream without content", replies(_STREAM + b"0\r\n\r\n"), POST, ("untidy-end",)),
    Case(
        "answers before the request is through",
        answers_before_the_request_is_through,
        sends_more_than_is_read,
        ("hop-by-hop",),
        reads_requests=False,
    ),
)

CLIENT = (
    Case("reads slowly", sends_much, reads_slowly),
    Case("writes byte by byte, a body that may be edited", FINE, writes_slowly("/v1/messages")),
    Case("writes byte by byte, another body", FINE, writes_slowly("/v1/files")),
    Case("closes its sending side", FINE, half_closes, ("half-close",)),
    Case("sends two requests at once", names_what_was_asked, pipelines),
    Case("hangs up inside the head", FINE, hangs_up_at(-10)),
    Case("hangs up inside a body that may be edited", FINE, hangs_up_at(20), ("read-whole",)),
    Case("hangs up inside another body", FINE, hangs_up_at(20, "/v1/files")),
    Case("hangs up before the answer", waits_to_be_left, hangs_up_before_the_answer),
    Case("hangs up inside a stream", streams_until_left, hangs_up_in_the_answer),
    Case("sends a body in chunks that may be edited", FINE, raw(_chunked_request("/v1/messages", b"0\r\n\r\n")), ("request-framing",)),
    Case("sends another body in chunks", FINE, uploads_in_chunks),
    Case("sends trailers", FINE, raw(_chunked_request("/v1/files", b"0\r\nX-End: 1\r\n\r\n")), ("trailers",)),
    Case(
        "waits for 100-continue",
        FINE,
        raw(b"POST /v1/files HTTP/1.1\r\nHost: HOST\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"),
        ("expect",),
    ),
    Case("repeats fields", FINE, get("GET /v1/models HTTP/1.1", "X-A: 1", "Anthropic-Beta: a", "X-A: 2")),
    Case("repeats a field in other capitals", FINE, get("GET /v1/models HTTP/1.1", "X-Twice: 1", "x-TWICE: 2"), ("name-case",)),
    Case(
        "sends fields of its connection",
        FINE,
        get("GET /v1/models HTTP/1.1", "Connection: keep-alive, X-Hop", "X-Hop: 1", "TE: trailers"),
        ("hop-by-hop",),
    ),
    Case("sends a field of 512 KB", FINE, get("GET /v1/models HTTP/1.1", "X-Big: " + "b" * (512 << 10))),
    Case("sends a thousand fields", FINE, get("GET /v1/models HTTP/1.1", *(f"X-{number}: {number}" for number in range(1000)))),
    Case("sends a path that needs escaping", FINE, get("GET /v1/a%2Fb//../c?x=%20&y=;z HTTP/1.1")),
    Case("sends a method of its own", FINE, sends("PROPFIND /v1/models HTTP/1.1", body=b"<a/>")),
    Case("deletes, without a body", FINE, get("DELETE /v1/files/a HTTP/1.1"), ("empty-length",)),
    Case(
        "asks for a WebSocket", FINE, get("GET /v1/responses HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket"), error="no-websocket"
    ),
    Case("names another host", FINE, raw(b"GET /v1/models HTTP/1.1\r\nHost: evil.test\r\n\r\n"), error="foreign-host"),
    Case("sends no host", FINE, raw(b"GET /v1/models HTTP/1.1\r\n\r\n"), own_status=400),
    Case("sends JSON that is none", FINE, sends(body=b'{"model": nonsense')),
    Case("says zstd and sends none", FINE, sends("", "Content-Encoding: zstd", body=b"not zstd")),
    Case(
        "says a length beside chunks",
        FINE,
        raw(
            b"POST /v1/files HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
            + chunk(b"abcd")
            + b"0\r\n\r\n"
        ),
        own_status=400,
    ),
    Case("sends what is no HTTP", FINE, raw(b"\x16\x03\x01\x00 hello\r\n\r\n"), own_status=400),
    Case("sends a NUL in a field", FINE, raw(b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX-A: a\x00b\r\n\r\n"), own_status=400),
)


def tool_request() -> bytes:
    """A request whose tools shrink, with an original that does not fit a page of the store."""
    properties = {
        f"p{number}": {"type": "string", "title": f"Title {number} of a property", "description": f"Value {number}, as it is stored."}
        for number in range(400)
    }
    tool = {"name": "read", "description": "Reads.", "input_schema": {"type": "object", "title": "Arguments", "properties": properties}}
    return json.dumps({"model": "m", "max_tokens": 1, "tools": [tool], "messages": [{"role": "user", "content": "hi"}]}).encode()
