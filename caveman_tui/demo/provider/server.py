"""The stand-in as an HTTP server on loopback."""

import asyncio
import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace

from aiohttp import web

from caveman_tui.demo.provider import messages_api, openai_api
from caveman_tui.demo.provider.clock import Clock
from caveman_tui.demo.provider.errors import MarkerRuleBroken, Refused
from caveman_tui.demo.provider.event_stream import comment, compact, event, resplit
from caveman_tui.demo.provider.identifiers import made_id
from caveman_tui.demo.provider.prefix import Json, total_tokens
from caveman_tui.demo.provider.prompt_cache import PromptCache
from caveman_tui.demo.provider.records import Headers, Received, Records
from caveman_tui.demo.provider.replies import Ending, Failure, Reply
from caveman_tui.demo.provider.request_body import LARGEST_BODY, check_messages, parse
from caveman_tui.demo.provider.scripts import Question, Script, Turns

_HELD_PING_SECONDS = 0.05
_HELD_LIMIT_SECONDS = 30.0


class Provider:
    """A stand-in for both providers. Deterministic but for the order in which parallel requests arrive.

    `received` holds every request with its answer, `clock` the simulated time, `pace_seconds` is waited between the writes of a stream.
    """

    def __init__(self, script: Script | None = None, *, clock: Clock | None = None, pace_seconds: float = 0.0) -> None:
        self.script: Script = script or Turns()
        self.clock = clock or Clock()
        self.cache = PromptCache()
        self.received = Records()
        self.pace_seconds = pace_seconds
        self._port = 0
        self._seen: dict[bytes, int] = {}

    @property
    def url(self) -> str:
        """Base URL without a path, once running."""
        return f"http://127.0.0.1:{self._port}"

    @contextlib.asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator["Provider"]:
        """Serve on loopback, on a free port unless one is given. Raises OSError where it is taken."""
        runner = web.AppRunner(self._application(), auto_decompress=False, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        try:
            await site.start()
            self._port = runner.addresses[0][1]
            yield self
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=2 * LARGEST_BODY)
        application.router.add_post("/demo/clock", self._advance_clock)
        application.router.add_get("/demo/received", self._list_received)
        application.router.add_route("*", "/{path:.*}", self._serve)
        return application

    async def _advance_clock(self, request: web.Request) -> web.Response:
        try:
            self.clock.advance(float((await request.json())["advance"]))
        except (ValueError, KeyError, TypeError) as error:
            return web.json_response({"error": f'send {{"advance": SECONDS}}: {error!r}'}, status=400)
        return web.json_response({"now": self.clock.now()})

    async def _list_received(self, _: web.Request) -> web.Response:
        return web.json_response([_summary(received) for received in self.received])

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        received = Received(
            at=self.clock.now(),
            method=request.method,
            target=request.raw_path,
            headers=tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in request.raw_headers),
            body=await request.read(),
        )
        self.received.add(received)
        count = self._seen.get(received.body, 0)
        self._seen[received.body] = count + 1
        exchange = _Exchange(self, request, received, seed=made_id("seed", received.target, received.body, count))
        return await exchange.run()


class _Exchange:
    """One request on its way to a response."""

    def __init__(self, provider: Provider, request: web.Request, received: Received, seed: str) -> None:
        self._provider = provider
        self._request = request
        self._received = received
        self._seed = seed
        self._dialect = _dialect_of(request.headers)
        self._gzip: _Gzip | None = None

    async def run(self) -> web.StreamResponse:
        path = self._request.path.rstrip("/")
        try:
            match self._request.method, path:
                case "POST", "/v1/messages":
                    return await self._messages()
                case "POST", "/v1/messages/count_tokens":
                    return await self._count_tokens()
                case "POST", "/v1/chat/completions" | "/v1/responses":
                    return await self._openai("chat" if path.endswith("completions") else "responses")
                case "GET", "/v1/models":
                    return await self._whole(200, self._model_list())
                case "GET" | "HEAD", "" | "/api/hello":
                    return await self._whole(200, {"message": "hello"})
                case "GET", "/v1/responses":
                    raise Refused("This stand-in answers over HTTP only", status=426)
                case _:
                    raise Refused(f"Not found: {path}", status=404, kind="not_found_error")
        except Refused as refused:
            if isinstance(refused, MarkerRuleBroken):
                self._received.rule_broken = str(refused)
            return await self._fail(Failure(refused.status, refused.kind, str(refused)))

    def _model_list(self) -> Json:
        return messages_api.model_list() if self._dialect == "messages" else openai_api.model_list(int(self._received.at))

    async def _messages(self) -> web.StreamResponse:
        self._dialect = "messages"
        body = self._body()
        check_messages(body)
        cache = self._provider.cache
        bill = cache.bill(body, self._received.at)
        answer = self._provider.script.answer(self._question(body))
        if isinstance(answer, Failure):
            return await self._fail(answer)
        usage = replace(bill.usage, output=messages_api.output_tokens(answer))
        self._received.bill = bill = replace(bill, usage=usage)
        cache.publish(bill)
        if body.get("stream") is True:
            return await self._stream(answer, messages_api.stream(answer, body, usage, self._seed))
        self._compress(answer)
        return await self._whole(200, messages_api.message(answer, body, usage, self._seed))

    async def _count_tokens(self) -> web.StreamResponse:
        self._dialect = "messages"
        body = self._body()
        check_messages(body, counting=True)
        return await self._whole(200, {"input_tokens": total_tokens(body)})

    async def _openai(self, dialect: str) -> web.StreamResponse:
        self._dialect = dialect
        body = self._body()
        key = "messages" if dialect == "chat" else "input"
        if key not in body or "model" not in body:
            raise Refused(f"Missing required parameter: '{key if 'model' in body else 'model'}'.")
        answer = self._provider.script.answer(self._question(body))
        if isinstance(answer, Failure):
            return await self._fail(answer)
        created = int(self._received.at)
        if body.get("stream") is True:
            make = openai_api.chat_stream if dialect == "chat" else openai_api.response_stream
            return await self._stream(answer, make(answer, body, self._seed, created))
        self._compress(answer)
        whole = openai_api.chat_completion if dialect == "chat" else openai_api.response
        return await self._whole(200, whole(answer, body, self._seed, created))

    def _body(self) -> Json:
        return parse(self._received.body, self._request.headers.get("content-encoding", ""))

    def _question(self, body: Json) -> Question:
        headers: Mapping[str, str] = {key.lower(): value for key, value in reversed(self._received.headers)}
        return Question(dialect=self._dialect, headers=headers, body=body)

    async def _fail(self, failure: Failure) -> web.StreamResponse:
        if self._dialect == "messages":
            body = messages_api.error_body(failure.kind, str(failure.message), self._request_id)
        else:
            body = openai_api.error_body(failure.kind, failure.message)
        return await self._whole(failure.status, body, failure.headers)

    async def _whole(self, status: int, body: Json, extra: Headers = ()) -> web.StreamResponse:
        payload = b"" if self._request.method == "HEAD" else compact(body).encode("utf-8", "surrogatepass")
        if self._gzip is not None:
            payload = self._gzip.end(payload)
        response = web.Response(status=status, body=payload, content_type="application/json")
        self._dress(response, extra)
        self._received.sent.extend(payload)
        return response

    async def _stream(self, reply: Reply, events: Iterable[bytes]) -> web.StreamResponse:
        self._compress(reply)
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        self._dress(response, (("cache-control", "no-cache"),))
        try:
            await response.prepare(self._request)
            sent = list(events)
            if reply.ending is Ending.COMPLETE:
                await self._write_all(response, resplit(sent, reply.split))
                await self._end(response)
                return response
            await self._write_all(response, resplit(sent[: reply.ends_after], reply.split))
            await self._end_early(response, reply, sent)
        except ConnectionResetError:
            self._received.hung_up = True
        return response

    async def _end_early(self, response: web.StreamResponse, reply: Reply, events: list[bytes]) -> None:
        match reply.ending:
            case Ending.CUT:
                following = events[reply.ends_after]
                await self._write(response, following[: len(following) // 2])
                if self._request.transport is not None:
                    self._request.transport.close()
            case Ending.ERROR:
                await self._write(response, self._error_event(reply.ends_after))
                await self._end(response)
            case _:
                for _ in range(int(_HELD_LIMIT_SECONDS / _HELD_PING_SECONDS)):
                    await self._write(response, self._ping())
                    await asyncio.sleep(_HELD_PING_SECONDS)
                await self._end(response)

    def _error_event(self, number: int) -> bytes:
        if self._dialect == "messages":
            return messages_api.error_event("overloaded_error", "Overloaded", self._request_id)
        return openai_api.error_event(self._dialect, "server_error", "The server had an error while processing your request", number)

    def _ping(self) -> bytes:
        return event({"type": "ping"}, name="ping") if self._dialect == "messages" else comment("ping")

    def _compress(self, reply: Reply) -> None:
        if reply.compressed and "gzip" in self._request.headers.get("accept-encoding", "").lower():
            self._gzip = _Gzip()

    async def _write_all(self, response: web.StreamResponse, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            await self._write(response, piece)
            if self._provider.pace_seconds:
                await asyncio.sleep(self._provider.pace_seconds)

    async def _write(self, response: web.StreamResponse, piece: bytes) -> None:
        if self._gzip is not None:
            piece = self._gzip.flushed(piece)
        await response.write(piece)
        self._received.sent.extend(piece)

    async def _end(self, response: web.StreamResponse) -> None:
        if self._gzip is not None:
            rest = self._gzip.end(b"")
            await response.write(rest)
            self._received.sent.extend(rest)
        await response.write_eof()

    @property
    def _request_id(self) -> str:
        return made_id("req", self._seed)

    def _dress(self, response: web.StreamResponse, extra: Headers) -> None:
        """Status and headers as the provider sends them, and a note of what was sent."""
        id_header = "request-id" if self._dialect == "messages" else "x-request-id"
        for name, value in ((id_header, self._request_id), *_rate_limits(self._dialect, self._received.at), *extra):
            response.headers.add(name, value)
        if self._gzip is not None:
            response.headers["content-encoding"] = "gzip"
        for cookie in ("standin_route", "standin_session"):
            response.headers.add("set-cookie", f"{cookie}={made_id(cookie, self._seed)}; Path=/; HttpOnly")
        response.headers.setdefault("server", "stand-in")
        self._received.status = response.status
        self._received.sent_headers = tuple(response.headers.items())


def _rate_limits(dialect: str, now: float) -> Headers:
    if dialect != "messages":
        return (("x-ratelimit-limit-requests", "10000"), ("x-ratelimit-remaining-requests", "9999"), ("openai-processing-ms", "12"))
    five_hours = int(now // 18_000 + 1) * 18_000
    week = int(now // 604_800 + 1) * 604_800
    head = "anthropic-ratelimit-unified"
    return (
        (f"{head}-status", "allowed"),
        (f"{head}-5h-status", "allowed"),
        (f"{head}-5h-reset", str(five_hours)),
        (f"{head}-5h-utilization", "0.11"),
        (f"{head}-7d-status", "allowed"),
        (f"{head}-7d-reset", str(week)),
        (f"{head}-7d-utilization", "0.04"),
        (f"{head}-representative-claim", "five_hour"),
        (f"{head}-reset", str(five_hours)),
        ("anthropic-organization-id", "00000000-0000-4000-8000-000000000000"),
    )


def _dialect_of(headers: Mapping[str, str]) -> str:
    """Whose client asks, where the path does not say; those of OpenAI have a bearer key and name no version of Messages."""
    bearer = headers.get("authorization", "").lower().startswith("bearer ")
    return "chat" if bearer and "anthropic-version" not in headers else "messages"


class _Gzip:
    """A body in gzip, written piece by piece."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)

    def flushed(self, piece: bytes) -> bytes:
        """`piece`, so that whoever gets it can read all of it."""
        return self._compressor.compress(piece) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def end(self, piece: bytes) -> bytes:
        """`piece` and the end of the body."""
        return self._compressor.compress(piece) + self._compressor.flush()


def _summary(received: Received) -> Json:
    usage = received.bill.usage if received.bill else None
    return {
        "at": received.at,
        "method": received.method,
        "target": received.target,
        "bytes": len(received.body),
        "status": received.status,
        "rule_broken": received.rule_broken,
        "hung_up": received.hung_up,
        "markers": [{"path": m.path, "ttl": m.ttl} for m in received.bill.markers] if received.bill else [],
        "usage": json.loads(compact({name: getattr(usage, name) for name in ("input", "read", "write_5m", "write_1h", "output")}))
        if usage
        else None,
    }
