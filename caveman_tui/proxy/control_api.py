"""The control API: what the worker knows, for screens and the command line. Routes are listed in `protocol.control`."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from aiohttp import web

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.protocol.control import (
    INSTANCE_HEADER,
    SEARCH_TEXT_LIMIT,
    CatalogDetail,
    ConversationList,
    ExchangeDetail,
    PinChange,
    Problem,
    SettingsChange,
    Status,
)
from caveman_tui.protocol.discovery import WorkerRecord, remove_record, write_record
from caveman_tui.protocol.events import Settings, Warned
from caveman_tui.proxy import codings
from caveman_tui.proxy.bodies import BodyUnavailable, KeptBody
from caveman_tui.proxy.body_search import BodySearch
from caveman_tui.proxy.catalog_memory import catalog_detail
from caveman_tui.proxy.control_socket import open_control_socket, remove_control_socket
from caveman_tui.proxy.conversations import Conversations
from caveman_tui.proxy.event_ring import EventsForgotten
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.routes import url_at

KEEPALIVE_SECONDS = 15.0
"""A silent event stream carries a blank line this often, so that either side notices when the other is gone."""

_DISPLAY_LIMIT_BYTES = 256 * 1024 * 1024
_REQUEST_LIMIT_BYTES = 1024 * 1024

T = TypeVar("T")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WorkerFacade(Protocol):
    """What the control API asks of the worker around it."""

    def status(self) -> Status:
        """What the worker says of itself."""

    def change_settings(self, settings: Settings) -> None:
        """Take these settings, and tell the followers."""

    def request_stop(self) -> None:
        """End once running exchanges have; returns at once."""

    def shrink_catalog(self, tools: bytes, level: Level) -> ShrunkCatalog:
        """A tools array as it becomes at this level. Called in a thread; may take a second for a large one."""


class ControlApi:
    """Serves the control API on a Unix socket (0600 in a 0700 directory), or on loopback TCP behind a token without one."""

    def __init__(
        self,
        log: ExchangeLog,
        conversations: Conversations,
        worker: WorkerFacade,
        *,
        socket_path: Path | None,
        records: Path | None = None,
    ) -> None:
        """`socket_path` None means loopback TCP; `records` is the directory in which others look for running workers."""
        self.socket_path = socket_path
        self.port = 0
        """Of loopback TCP, once started without a socket."""
        self.token = "" if socket_path else secrets.token_urlsafe(32)
        self._log = log
        self._search = BodySearch(log)
        self._conversations = conversations
        self._worker = worker
        self._records = records
        self._record: WorkerRecord | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Begin to listen, and leave a record that says so; the proxy's port has to be known by now.

        Raises OSError where the socket can't be made or belongs to a live worker. A record that can't be written is a warning.
        """
        app = web.Application(client_max_size=_REQUEST_LIMIT_BYTES, middlewares=[self._guard])
        app.router.add_get("/v1/status", self._status)
        app.router.add_get("/v1/events", self._events)
        app.router.add_get("/v1/exchanges", self._exchanges)
        app.router.add_get("/v1/exchanges/{id}", self._exchange)
        app.router.add_get("/v1/exchanges/{id}/bodies/{which}", self._body)
        app.router.add_get("/v1/search", self._find)
        app.router.add_get("/v1/catalogs/{digest}", self._catalog)
        app.router.add_get("/v1/conversations", self._list_conversations)
        app.router.add_put("/v1/conversations/{id}/shrink", self._force_shrink)
        app.router.add_patch("/v1/settings", self._change_settings)
        app.router.add_post("/v1/stop", self._stop)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        try:
            listener = open_control_socket(self.socket_path)
            if self.socket_path is None:
                self.port = listener.getsockname()[1]
            await web.SockSite(runner, listener).start()
            self._runner = runner
            await self._leave_record()
        except BaseException:
            await runner.cleanup()
            raise

    async def stop(self) -> None:
        """Let followers read to the end, close, and remove record and socket."""
        self._log.ring.close()
        self._search.close()
        if self._records is not None and self._record is not None:
            await asyncio.to_thread(remove_record, self._records, self._record.port, self._record.instance)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
            if self.socket_path is not None:
                remove_control_socket(self.socket_path)

    async def _leave_record(self) -> None:
        if self._records is None:
            return
        status = self._worker.status()
        record = WorkerRecord(
            pid=status.pid,
            instance=status.instance,
            version=status.version,
            host=status.host,
            port=status.port,
            started_at=status.started_at,
            socket=str(self.socket_path or ""),
            control_port=self.port,
            token=self.token,
            settings=status.settings,
            upstreams=status.upstreams,
        )
        try:
            await asyncio.to_thread(write_record, self._records, record)
            self._record = record
        except OSError as error:
            self._log.emit(
                Warned(
                    code="no-record",
                    what=f"The worker's record in {self._records} can't be written ({error.strerror or error}).",
                    done="screens don't find this worker by themselves",
                    todo=f"Name its socket: caveman-tui attach {self.socket_path or ''}",
                )
            )

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        if self.token and not secrets.compare_digest(request.headers.get("authorization", ""), f"Bearer {self.token}"):
            return _problem(401, "unauthorized", "The control API was called without its token.", "It stands in the worker's record.")
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _problem(error.status, "bad-request", f"{request.method} {request.path}: {error.reason}.")
        except _Refusal as refusal:
            return refusal.response
        except (OSError, asyncio.CancelledError):
            raise
        except Exception as error:
            # Whatever fails here must reach the one who asked, and nobody else: requests to providers go on beside it.
            return _problem(500, "internal", f"The worker failed to answer {request.path} ({type(error).__name__}: {error}).")

    async def _status(self, _: web.Request) -> web.Response:
        return _json(self._worker.status())

    async def _events(self, request: web.Request) -> web.StreamResponse:
        ring = self._log.ring
        try:
            after = int(request.query.get("after", ring.seq))
            ring.check(after)
        except ValueError:
            return _problem(400, "bad-request", f"after={request.query['after']} is no number.")
        except EventsForgotten:
            return _problem(410, "forgotten", "Events after this number are no longer in memory.", "Start again from /v1/exchanges.")
        response = web.StreamResponse(headers={"content-type": "application/x-ndjson", INSTANCE_HEADER: self._log.instance})
        await response.prepare(request)
        self._log.followers += 1
        try:
            with contextlib.suppress(EventsForgotten, ConnectionError):
                while True:
                    try:
                        async with asyncio.timeout(KEEPALIVE_SECONDS):
                            lines, after = await ring.follow(after)
                    except TimeoutError:
                        lines = b"\n"
                    if not lines:
                        break
                    await response.write(lines)
        finally:
            self._log.followers -= 1
        return response

    async def _exchanges(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        pieces = self._log.exchange_list()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            # A reader that keeps up would never make `write` wait, and streams to clients must get their turn.
            await asyncio.sleep(0)
        return response

    async def _exchange(self, request: web.Request) -> web.Response:
        detail = self._log.detail(request.match_info["id"])
        if detail is None:
            raise _Refusal(404, "unknown-exchange", f"There is no exchange {request.match_info['id']} in memory.")
        return _json(msgspec.structs.replace(detail, url=self._url(detail)))

    def _url(self, detail: ExchangeDetail) -> str:
        name = detail.exchange.provider
        upstream = next((upstream for upstream in self._worker.status().upstreams if upstream.name == name), None)
        return url_at(upstream, detail.exchange.path) if upstream else ""

    async def _find(self, request: web.Request) -> web.StreamResponse:
        text = request.query.get("q", "")
        if not 0 < len(text) <= SEARCH_TEXT_LIMIT:
            raise _Refusal(400, "bad-request", f"q has {len(text)} characters.", f"Give it 1 to {SEARCH_TEXT_LIMIT}.")
        response = web.StreamResponse(headers={"content-type": "application/x-ndjson"})
        await response.prepare(request)
        clock = asyncio.get_running_loop().time
        told_at = clock()
        async with contextlib.aclosing(self._search.run(text, request.query.getall("in", []))) as results:
            async for result in results:
                if result is None and clock() - told_at < KEEPALIVE_SECONDS:
                    continue
                await response.write(msgspec.json.encode(result) + b"\n" if result else b"\n")
                told_at = clock()
        return response

    async def _body(self, request: web.Request) -> web.Response:
        id, which = request.match_info["id"], request.match_info["which"]
        try:
            body = await asyncio.to_thread(self._log.bodies.read, id, which)
        except BodyUnavailable:
            exchange = self._log.exchange(id)
            if exchange is None or which not in {"request-before", "request-after", "response"}:
                raise _Refusal(404, "unknown-exchange", f"There is no {which} of exchange {id}.") from None
            raise _Refusal(404, "body-gone", *_why_gone(which, exchange.state in {"open", "responding"})) from None
        headers = {"content-type": "application/octet-stream", "x-caveman-content-encoding": body.content_encoding or "identity"}
        if request.query.get("raw") == "1":
            return web.Response(body=body.data, headers=headers)
        return web.Response(body=await asyncio.to_thread(_decoded, body), headers=headers)

    async def _catalog(self, request: web.Request) -> web.Response:
        digest = request.match_info["digest"]
        level = _parsed(Level, request.query["level"], "level") if "level" in request.query else None
        catalog = self._log.catalogs.get(digest, level)
        if catalog is None:
            raise _Refusal(404, "unknown-catalog", f"The catalog {digest[:12]}… is not, or no longer, in memory.")
        return _json(await asyncio.to_thread(self._described, catalog, digest, level or catalog.level))

    def _described(self, catalog: ShrunkCatalog, digest: str, level: Level) -> CatalogDetail:
        if catalog.level is not level:
            catalog = self._worker.shrink_catalog(catalog.before, level)
        return catalog_detail(catalog, digest)

    async def _list_conversations(self, _: web.Request) -> web.Response:
        return _json(ConversationList(conversations=self._conversations.list()))

    async def _force_shrink(self, request: web.Request) -> web.Response:
        change = _message(await request.read(), PinChange)
        try:
            return _json(self._conversations.force(request.match_info["id"], change, self._worker.status().settings))
        except KeyError:
            what = f"There is no conversation {request.match_info['id']}: its last request may be more than an hour ago."
            raise _Refusal(404, "unknown-conversation", what, "New conversations take the settings.") from None

    async def _change_settings(self, request: web.Request) -> web.Response:
        change = _message(await request.read(), SettingsChange)
        settings = change.applied_to(self._worker.status().settings)
        self._worker.change_settings(settings)
        if self._record is not None:
            await self._leave_record()
        return _json(settings)

    async def _stop(self, _: web.Request) -> web.Response:
        self._worker.request_stop()
        return web.Response(status=202)


class _Refusal(Exception):
    def __init__(self, status: int, code: str, what: str, todo: str = "") -> None:
        super().__init__(what)
        self.response = _problem(status, code, what, todo)


def _why_gone(which: str, running: bool) -> tuple[str, str]:
    if running and which == "response":
        return "The response is not complete yet.", "Open it again when the exchange has ended."
    return "The body is not in memory: it was never read whole, or later ones took its place.", ""


def _decoded(body: KeptBody) -> bytes:
    """A body for the screen. One that broke off is shown as far as it came."""
    pieces: list[bytes] = []
    size = 0
    try:
        decoder = codings.decoder(body.content_encoding)
        for piece in decoder.feed(body.data):
            size += len(piece)
            if size > _DISPLAY_LIMIT_BYTES:
                raise codings.CodingError(f"it inflates to more than {_DISPLAY_LIMIT_BYTES} bytes")
            pieces.append(piece)
    except codings.CodingError as error:
        if not pieces or size > _DISPLAY_LIMIT_BYTES:
            what = f"The body can't be decoded: {error}."
            raise _Refusal(422, "undecodable", what, "With ?raw=1 it comes as it was received.") from None
    return b"".join(pieces)


def _message(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _Refusal(400, "bad-request", f"The body is no {kind.__name__}: {error}.") from None


def _parsed(kind: type[T], value: str, name: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _Refusal(400, "bad-request", f"{name}={value}: {error}.") from None


def _problem(status: int, code: str, what: str, todo: str = "") -> web.Response:
    return _json(Problem(code=code, what=what, todo=todo), status=status)


def _json(message: msgspec.Struct, status: int = 200) -> web.Response:
    return _json_bytes(msgspec.json.encode(message), status)


def _json_bytes(content: bytes, status: int = 200) -> web.Response:
    return web.Response(body=content, status=status, content_type="application/json")
