"""One exchange from its first byte to its end."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from caveman_tui.core.edits import EditKind
from caveman_tui.core.policy import ClientKind, Dialect
from caveman_tui.core.rewrite import MARKER_EDITS, TOOLS_EDITS
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy import codings, headers, limits, loopback, refusals, relay
from caveman_tui.proxy.bodies import Likeness
from caveman_tui.proxy.conversations import Conversations
from caveman_tui.proxy.errors import NotForwarded, OwnError, error_response
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.identity import Identity
from caveman_tui.proxy.limits import Holding, InFlightBudget, TooMuch, read_whole
from caveman_tui.proxy.recording import Recording
from caveman_tui.proxy.relay import ClientLeft, PassedOn, ProviderBroke
from caveman_tui.proxy.routes import NoUpstream, Route, error_family, family, route
from caveman_tui.proxy.summaries import Summaries, Told
from caveman_tui.proxy.tee import Tee
from caveman_tui.proxy.transform import Prepared, Transformer
from caveman_tui.proxy.upstream import Body, ProviderClient


@dataclass(frozen=True, kw_only=True)
class Forwarder:
    """What all exchanges share; called with a request, it gives the response."""

    log: ExchangeLog
    conversations: Conversations
    transformer: Transformer
    summaries: Summaries
    provider: ProviderClient
    upstreams: tuple[Upstream, ...]
    settings: Callable[[], Settings]
    client_kind: Callable[[str, Settings], ClientKind]
    """User-Agent and settings to the kind of client."""
    budget: InFlightBudget
    editable_limit: int
    stopping: Callable[[], bool] = lambda: False

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Forward one request. Raises CancelledError where the client hung up."""
        return await _Exchange(self, request).run()


class _Exchange:
    """The state of one request on its way."""

    def __init__(self, shared: Forwarder, request: web.Request) -> None:
        self.shared = shared
        self.request = request
        self.recording = Recording(shared.log)
        self.holding = Holding(shared.budget)
        self.fields = headers.lower_map(request.raw_headers)
        self.target = request.raw_path
        self.user_agent = self.fields.get("user-agent", "")
        self.client = shared.client_kind(self.user_agent, shared.settings())
        self.route: Route | None = None
        self.answer: aiohttp.ClientResponse | None = None
        self.response: PassedOn | None = None
        self.tee: Tee | None = None

    async def run(self) -> web.StreamResponse:
        try:
            return await self._forward()
        except NotForwarded as refused:
            return self._own_error(refused.error)
        except asyncio.CancelledError:
            self._end_early()
            raise
        except (ClientLeft, web.RequestPayloadError, ConnectionError):
            self._end_early()
            relay.break_off(self.request)
            return self.response or web.Response(status=400)
        except Exception as error:
            return self._own_fault(error)
        finally:
            self.holding.release()
            if self.answer is not None and not self.answer.closed:
                self.answer.close()

    async def _forward(self) -> web.StreamResponse:
        self._check_origin()
        self.route = self._route()
        held = await self._to_provider(self.route)
        # The body of the request is not needed any more, and streams may take minutes.
        self.holding.release()
        assert self.answer is not None
        return await self._pass_on(self.answer, held)

    async def _to_provider(self, target: Route) -> tuple[bytes, ...]:
        """Send the request; `answer` is then set. Returns what was read of the answer's body."""
        dialect = target.dialect if self._may_be_read(target) else None
        if dialect is None:
            return await self._stream_through(self._streamed_body())
        length = self.request.content_length
        body = await read_whole(self.request.content, length, self.shared.editable_limit, self.holding)
        if isinstance(body, TooMuch):
            self._warn_too_much(body.why)
            return await self._stream_through(body.pieces)
        return await self._edited(body.data, dialect)

    # Before anything is sent

    def _check_origin(self) -> None:
        """Refuse what is not meant for this proxy, before anything is read."""
        authorities = [self.fields.get("host", "")]
        if "://" in self.target.split("?", 1)[0]:
            rest = self.target.split("://", 1)[1]
            authority, slash, path = rest.partition("/")
            authorities.append(authority)
            self.target = slash + path or "/"
        if not all(loopback.authority_is_loopback(authority) for authority in authorities):
            raise NotForwarded(
                OwnError(403, "foreign-host", "the request names another host than this machine.", "Use http://127.0.0.1 and the port.")
            )
        if loopback.page_is_foreign(origin := self.fields.get("origin"), self.fields.get("sec-fetch-site")):
            what = f"a page of {(origin or 'another site')[:80]} in a browser made the request."
            raise NotForwarded(OwnError(403, "foreign-page", what, "Pages of this machine may."))
        if "websocket" in self.fields.get("upgrade", "").lower():
            raise NotForwarded(OwnError(426, "no-websocket", "WebSockets are not forwarded.", "Use HTTP with server-sent events."))
        if not self.target.startswith("/"):
            raise NotForwarded(OwnError(400, "bad-target", f"the request target '{self.target[:80]}' can't be sent on.", "Use a path."))

    def _route(self) -> Route:
        try:
            return route(self.request.method, self.target, self.fields, self.shared.upstreams)
        except NoUpstream as missing:
            raise NotForwarded(
                OwnError(502, "no-upstream", f"no {missing} upstream is configured.", "Add one to the config file.")
            ) from missing

    def _may_be_read(self, target: Route) -> bool:
        """Whether the body is JSON that nothing vouches for."""
        if target.dialect is None:
            return False
        kind = self.fields.get("content-type", "application/json")
        if "json" not in kind.lower():
            return False
        if found := next((name for name in headers.INTEGRITY if name in self.fields), None):
            self.recording.warn(
                "signed-body", f"the header {found} vouches for the body's bytes", "the request went out as it came, unread", ""
            )
            return False
        return True

    def _streamed_body(self) -> Body:
        return (lambda: limits.stream(self.request.content)) if self.request.body_exists else None

    def _warn_too_much(self, why: str) -> None:
        if why == "over-limit":
            what = f"the body is longer than {self.shared.editable_limit} bytes"
        else:
            what = f"all bodies under way together pass {self.shared.budget.total} bytes"
        self.recording.warn(f"body-{why}", what, "the request went out as it came, unread")

    def _start(self, model: str = "", identity: Identity | None = None, request_bytes: int | None = None) -> None:
        self.recording.start(
            method=self.request.method,
            target=self.target,
            provider=self.route.upstream.name if self.route else "",
            dialect=self.route.dialect if self.route else None,
            user_agent=self.user_agent,
            client_kind=self.client,
            model=model,
            identity=identity,
            request_bytes=request_bytes if request_bytes is not None else self.request.content_length,
        )

    # The two ways out

    async def _stream_through(self, body: Body) -> tuple[bytes, ...]:
        self._start()
        assert self.route is not None
        fields = headers.to_provider(self.request.raw_headers)
        self.recording.keep(self.shared.log.keep_headers, headers.shown_raw(self.request.raw_headers))
        self.answer = await self.shared.provider.send(self.request.method, self.route, fields, body)
        return ()

    async def _edited(self, encoded: bytes, dialect: Dialect) -> tuple[bytes, ...]:
        shared, recording = self.shared, self.recording
        examined = await shared.transformer.examine(encoded, self.fields, dialect, recording, self.holding.take)
        self._start(examined.model, examined.identity, len(encoded))
        if examined.body is None:
            self.answer = await self._send(Prepared(examined))
            return ()
        settings = shared.settings()
        policy = shared.conversations.policy_for(examined.identity, dialect, settings, examined.has_tools, time.time())
        if shared.conversations.shrinker_changed(examined.identity):
            recording.warn(
                "shrinker-changed",
                "this version shrinks tools differently from the one this conversation began with",
                "the provider's cache of the conversation is written again once",
            )
        prepared = await shared.transformer.prepare(examined, dialect, self.client, policy, recording)
        told = Told(shared.summaries, prepared, dialect, recording)
        return await self._send_until_accepted(prepared, told)

    async def _send_until_accepted(self, prepared: Prepared, told: Told) -> tuple[bytes, ...]:
        """Send, and after a 400 that our edits may have caused send again, twice at most. Returns what was read of the last answer.

        What was undone is remembered for the conversation only where the more timid form was accepted: else the fault was not ours.
        """
        self.answer = await self._send(prepared, told)
        held: tuple[bytes, ...] = ()
        undone: frozenset[EditKind] = frozenset()
        while self.answer.status == refusals.REFUSED and prepared.edits:
            error, held, whole = await self._read_error(self.answer)
            kinds = refusals.to_undo(prepared.edits, error, first=not undone) if whole else frozenset()
            if not kinds:
                return held
            refused, prepared = self.answer, prepared.undo(kinds)
            self.recording.warn(
                "edit-refused",
                f"the provider refused the edited request: {error[:300].decode('utf-8', 'replace')}",
                f"sent again {'with the cache markers as they came' if prepared.edits else 'exactly as it came'}",
                "Nothing; this conversation goes on without what was undone.",
            )
            try:
                self.answer = await self._send(prepared)
            except NotForwarded:
                self.answer = refused
                return held
            refused.close()
            held = ()
            undone |= kinds
            told.changed(prepared)
        if undone and self.answer.status < 400:
            identity = prepared.examined.identity
            if undone & MARKER_EDITS:
                self.shared.conversations.refuse_markers(identity)
            if undone & TOOLS_EDITS:
                self.shared.conversations.refuse_tools(identity)
        return held

    async def _send(self, prepared: Prepared, told: Told | None = None) -> aiohttp.ClientResponse:
        assert self.route is not None
        fields, edits = self._fields_for(prepared)
        recorded = False

        def record() -> None:
            """Once the bytes are on their way; or when they could not be sent."""
            nonlocal recorded
            if not recorded:
                recorded = True
                self._keep(prepared, edits)
                if told is not None:
                    told.forwarded()

        try:
            return await self.shared.provider.send(self.request.method, self.route, fields, prepared.outgoing, record)
        finally:
            record()

    def _keep(self, prepared: Prepared, header_edits: tuple[str, ...]) -> None:
        shown, log, examined = headers.shown_raw(self.request.raw_headers), self.shared.log, prepared.examined
        if examined.body is None:
            self.recording.keep(log.keep_headers, shown)
        else:
            like = Likeness(examined.earlier.exchange, examined.shared) if examined.earlier else None
            self.recording.keep(log.keep_request, examined.body, prepared.edits, shown, header_edits, like)

    def _fields_for(self, prepared: Prepared) -> tuple[CIMultiDict[str], tuple[str, ...]]:
        """The header fields that fit the body, and what was changed in them, a sentence each."""
        raw = self.request.raw_headers
        if not prepared.edits:
            return headers.to_provider(raw), ()
        edits = []
        length = str(len(prepared.outgoing))
        without: frozenset[str] = frozenset()
        if prepared.decoded:
            without = frozenset({"content-encoding"})
            edits.append(f"content-encoding: {prepared.examined.content_encoding} was dropped, the edited body goes out plain")
        fields = headers.to_provider(raw, without=without)
        before = fields.get("content-length")
        if before != length:
            fields["content-length" if before is None else _spelling(fields, "content-length")] = length
            edits.append(f"content-length: {before or 'none'} became {length}")
        return fields, tuple(edits)

    async def _read_error(self, answer: aiohttp.ClientResponse) -> tuple[bytes, tuple[bytes, ...], bool]:
        """The decoded text of a short error body, the bytes read, and whether that is all of it."""
        pieces: list[bytes] = []
        size = 0
        try:
            while piece := await answer.content.readany():
                pieces.append(piece)
                size += len(piece)
                if size > refusals.BODY_LIMIT:
                    return b"", tuple(pieces), False
            text = codings.decode(b"".join(pieces), answer.headers.get("content-encoding", ""), limit=refusals.BODY_LIMIT)
        except (codings.CodingError, aiohttp.ClientError, TimeoutError, OSError):
            return b"", tuple(pieces), False
        return text, tuple(pieces), True

    # The way back

    async def _pass_on(self, answer: aiohttp.ClientResponse, held: tuple[bytes, ...]) -> web.StreamResponse:
        assert self.route is not None
        dialect = self.route.dialect
        self.recording.responding(answer.status)
        self.response = response = PassedOn(answer)
        self.tee = tee = Tee(
            dialect,
            content_type=answer.headers.get("content-type", ""),
            content_encoding=answer.headers.get("content-encoding", ""),
        )
        try:
            await response.prepare(self.request)
        except ConnectionError as error:
            raise ClientLeft from error
        try:
            await relay.pass_on(response, answer, held, tee, lambda: self.recording.usage(tee.usage, tee.received))
        except ProviderBroke as broke:
            self._finish("broken", f"{str(broke).capitalize()}.")
            relay.break_off(self.request)
            return response
        await tee.finish()
        outcome, note, whole = self._judge(answer, tee)
        self._finish(outcome, note)
        if not whole:
            relay.break_off(self.request)
        return response

    def _judge(self, answer: aiohttp.ClientResponse, tee: Tee) -> tuple[str, str, bool]:
        """Outcome, note, and whether the client may see a clean end."""
        if answer.status >= 400:
            return "provider-error", "", True
        if answer.status != 200 or not tee.streaming or self.request.method == "HEAD":
            return "done", "", True
        if tee.error:
            return "provider-error", f"The stream carried an error: {tee.error}", True
        if tee.received == 0:
            return "broken", "The stream ended without content.", False
        if tee.inside_event:
            return "broken", "The stream ended inside an event.", False
        if not tee.ended:
            return "broken", "The stream ended without its closing event.", True
        return "done", "", True

    @staticmethod
    def _client_has_all(answer: aiohttp.ClientResponse, tee: Tee) -> bool:
        tee.finish_now()
        return tee.finished or (answer.content_length is not None and tee.received >= answer.content_length)

    # Ends

    def _finish(self, outcome: str, note: str = "") -> None:
        received = 0
        if (tee := self.tee) is not None:
            received = tee.received
            tee.finish_now()
            self.recording.usage(tee.usage, received, last=True)
            if tee.trouble:
                self.recording.warn(
                    "usage-unread", f"usage could not be read from the response: {tee.trouble}", "the response passed as it came"
                )
        pause = self._pause_note()
        self.recording.finish(outcome, received, note or pause)
        if self.tee is not None and self.answer is not None and (kept := self.tee.kept) is not None:
            shown = headers.shown_raw(self.answer.raw_headers)
            self.recording.keep(self.shared.log.keep_response, kept, self.tee.content_encoding, shown)

    def _pause_note(self) -> str:
        """What the pause before this exchange cost; a second end of it is told nowhere, and counts nowhere."""
        exchange = None if self.recording.finished else self.shared.log.exchange(self.recording.id)
        return self.shared.conversations.pauses.take(exchange) if exchange else ""

    def _end_early(self) -> None:
        """The client hung up, or the worker is being stopped. Without an await, so that a cancelled task gets it done.

        Many clients hang up as soon as they have what they wait for, before the last chunk: that is no breaking off.
        """
        self._start()
        if self.answer is not None and self.tee is not None and self._client_has_all(self.answer, self.tee):
            outcome, note, _ = self._judge(self.answer, self.tee)
            self._finish(outcome, note)
        elif self.shared.stopping():
            self._finish("broken", "The worker was stopped.")
        else:
            self._finish("cancelled")

    def _own_error(self, error: OwnError) -> web.StreamResponse:
        self._start()
        if self.route is not None:
            shape = error_family(self.route.dialect, self.route.upstream)
        else:
            shape = family(self.target.split("?", 1)[0], self.fields)
        self.recording.responding(error.status)
        if error.status == 426:
            self.recording.finish("done", note="A WebSocket was declined, so that the client posts instead.")
        else:
            self.recording.finish("failed", note=error.text)
        return error_response(error, shape)

    def _own_fault(self, error: Exception) -> web.StreamResponse:
        what = f"the proxy itself failed ({type(error).__name__})."
        if self.response is None or not self.response.prepared:
            return self._own_error(OwnError(502, "internal", what, "Try again, and report it."))
        self._start()
        self._finish("broken", f"caveman-tui: {what}")
        relay.break_off(self.request)
        return self.response


def _spelling(fields: CIMultiDict[str], name: str) -> str:
    return next((given for given in fields if given.lower() == name), name)
