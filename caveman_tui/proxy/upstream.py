"""The side towards the providers: one HTTP client that adds nothing, follows nothing and decodes nothing."""

import asyncio
import base64
import contextlib
import os
import socket
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from urllib.parse import unquote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from caveman_tui.config import WorkerConfig
from caveman_tui.protocol.control import Upstream
from caveman_tui.proxy import trust
from caveman_tui.proxy.body_watch import BodyWatch
from caveman_tui.proxy.errors import NotForwarded, OwnError
from caveman_tui.proxy.limits import cut
from caveman_tui.proxy.loopback import is_loopback
from caveman_tui.proxy.routes import Route

POOL_KEEPALIVE_SECONDS = 15.0
"""Shorter than what providers and load balancers keep an idle connection, so that few go stale in the pool."""
UNANSWERED_SECONDS = 60
"""What was sent and no machine acknowledged for so long went to a connection that is gone: after a sleep, or a change of networks."""
HEADER_LIMIT = 1024 * 1024
"""Bytes of one header field, and of the request and status lines."""
HEADER_COUNT = 10_000
"""Header fields of one request or response."""

Streamed = Callable[[], AsyncIterator[bytes]]
"""A body that can be read once."""
Body = bytes | Streamed | None

_AUTO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class UpstreamProblem(ValueError):
    """An upstream that can't be used as configured."""


class _ClosedEarly(Exception):
    """The provider's connection ended before a response. Of no type that aiohttp would retry on by itself."""

    def __init__(self, cause: aiohttp.ClientError) -> None:
        super().__init__(str(cause))
        self.cause = cause

    @property
    def silent(self) -> bool:
        """Whether not even part of a response came."""
        return not isinstance(self.cause, aiohttp.ServerDisconnectedError) or isinstance(self.cause.message, str)


@dataclass(slots=True)
class _Attempt:
    reused: bool = False
    """Whether the connection had carried a request before."""


@dataclass(frozen=True, slots=True)
class _Proxy:
    url: URL
    headers: dict[str, str] = field(default_factory=dict)


class ProviderClient:
    """Sends requests to the configured upstreams. Made and closed on the event loop's thread."""

    def __init__(self, config: WorkerConfig) -> None:
        """Raises UpstreamProblem or trust.TrustProblem where the configuration can't work."""
        for upstream in config.upstreams:
            check_base_url(upstream)
        self._connect_timeout = config.connect_timeout_seconds
        self._idle_timeout = config.idle_timeout_seconds
        self._proxies = {upstream.base_url: _proxy_for(upstream) for upstream in config.upstreams}
        self._bodies = BodyWatch()
        tls = trust.tls_context()
        self._session = self._open_session(
            aiohttp.TCPConnector(limit=0, keepalive_timeout=POOL_KEEPALIVE_SECONDS, ssl=tls, socket_factory=_socket_that_notices_loss)
        )
        # Where one connection of the pool went stale, all may have: after a sleep of the machine, or behind a router that forgot.
        self._fresh = self._open_session(aiohttp.TCPConnector(limit=0, force_close=True, ssl=tls, socket_factory=_socket_that_notices_loss))

    def _open_session(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_mark_reused)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_AUTO_HEADERS,
            requote_redirect_url=False,
            timeout=aiohttp.ClientTimeout(
                total=None, connect=self._connect_timeout, sock_connect=self._connect_timeout, sock_read=self._idle_timeout
            ),
            max_line_size=HEADER_LIMIT,
            max_field_size=HEADER_LIMIT,
            max_headers=HEADER_COUNT,
            trace_configs=[tracing],
            middlewares=(_tell_early_close,),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()
        await self._fresh.close()

    async def send(
        self, method: str, route: Route, headers: CIMultiDict[str], body: Body, sent: Callable[[], None] = lambda: None
    ) -> aiohttp.ClientResponse:
        """Send a request and wait for the status line; `sent` is called when a held body is on its way.

        A request whose body can be sent again is, once and on a connection of its own, where one from the pool turns out closed
        before any byte of a response (RFC 9112, 9.3.1). Raises NotForwarded where there is no response.
        """
        try:
            url = URL(route.url, encoded=True)
        except ValueError as error:
            raise NotForwarded(
                OwnError(400, "bad-target", f"the request target can't be sent on ({error}).", "Correct the path.")
            ) from error
        attempt = _Attempt()
        try:
            return await self._send_once(self._session, method, route, url, headers, body, sent, attempt)
        except _ClosedEarly as closed:
            if not (attempt.reused and closed.silent) or callable(body):
                raise NotForwarded(_closed(route)) from closed
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise NotForwarded(self._explain(route, error)) from error
        try:
            return await self._send_once(self._fresh, method, route, url, headers, body, sent, attempt)
        except _ClosedEarly as closed:
            raise NotForwarded(_closed(route)) from closed
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise NotForwarded(self._explain(route, error)) from error

    async def _send_once(
        self,
        session: aiohttp.ClientSession,
        method: str,
        route: Route,
        url: URL,
        headers: CIMultiDict[str],
        body: Body,
        sent: Callable[[], None],
        attempt: _Attempt,
    ) -> aiohttp.ClientResponse:
        proxy = self._proxies.get(route.upstream.base_url)
        data: AsyncIterator[bytes | memoryview] | AsyncIterator[bytes] | None
        if isinstance(body, bytes):
            headers = headers.copy()
            headers.setdefault("Content-Length", str(len(body)))
            data = cut(body, sent)
        else:
            data = body() if body is not None else None
        if proxy is not None and url.scheme == "http":
            # There is no tunnel that would carry them.
            headers = headers.copy()
            headers.update(proxy.headers)
        answer = await session.request(
            method,
            url,
            headers=headers,
            data=data,
            allow_redirects=False,
            proxy=proxy.url if proxy else None,
            proxy_headers=proxy.headers if proxy else None,
            trace_request_ctx=attempt,
        )
        self._bodies.watch(answer)
        return answer

    def _explain(self, route: Route, error: Exception) -> OwnError:
        host = URL(route.upstream.base_url).host or route.upstream.base_url
        match error:
            case aiohttp.ClientHttpProxyError() | aiohttp.ClientProxyConnectionError():
                what, todo = f"the proxy on the way to {host} refused or did not answer.", "Check HTTPS_PROXY and NO_PROXY."
                return OwnError(502, "proxy-failed", what, todo)
            case aiohttp.ClientConnectorCertificateError():
                reason = getattr(error.certificate_error, "verify_message", "") or "it could not be verified"
                what = f"the certificate of {host} is not trusted: {reason}."
                return OwnError(
                    502, "certificate", what, "Behind a company proxy, name its CA file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE."
                )
            case aiohttp.ClientConnectorSSLError():
                return OwnError(502, "tls", f"no TLS connection to {host} came about.", "Check the upstream's URL and HTTPS_PROXY.")
            case aiohttp.ClientConnectorDNSError():
                return OwnError(502, "no-such-host", f"the name {host} could not be resolved.", "Check the network, or the upstream's URL.")
            case aiohttp.ConnectionTimeoutError():
                what = f"{host} accepted no connection within {self._connect_timeout:g} s."
                return OwnError(504, "connect-timeout", what, "Check the network and HTTPS_PROXY, then try again.")
            case aiohttp.ServerTimeoutError() | TimeoutError():
                what = f"{host} sent nothing for {self._idle_timeout:g} s."
                return OwnError(504, "idle-timeout", what, "Try again.")
            case aiohttp.ClientConnectorError():
                reason = error.os_error.strerror or type(error.os_error).__name__
                return OwnError(
                    502, "no-connection", f"no connection to {host} came about: {reason}.", "Check the network and the upstream's URL."
                )
            case aiohttp.ClientResponseError():
                return OwnError(502, "bad-response", f"{host} answered something that is no HTTP response.", "Check the upstream's URL.")
            case aiohttp.ClientError() | OSError():
                return _closed(route)
            case _:
                what = f"the request can't be sent to {host} ({type(error).__name__})."
                return OwnError(502, "not-sendable", what, "Report this with the request's headers, without keys.")


def check_base_url(upstream: Upstream) -> URL:
    """The upstream's URL, parsed. Raises UpstreamProblem where it is no plain http or https URL."""
    try:
        url = URL(upstream.base_url)
        usable = url.scheme in {"http", "https"} and bool(url.host)
    except ValueError:
        usable = False
    if not usable:
        raise UpstreamProblem(f"the upstream '{upstream.name}' is '{upstream.base_url}', which is no http or https URL. Correct it.")
    if url.raw_user or url.raw_password or url.raw_query_string or url.raw_fragment:
        raise UpstreamProblem(
            f"the URL of the upstream '{upstream.name}' ({url.host}) carries a user, a query or a fragment; keys come from the client. "
            "Give scheme, host and path only."
        )
    return url


async def points_at(upstreams: Sequence[Upstream], address: tuple[str, int]) -> Upstream | None:
    """The upstream that is the listening `address` itself, if there is one; names are resolved."""
    loop = asyncio.get_running_loop()
    for upstream in upstreams:
        url = check_base_url(upstream)
        if url.port != address[1]:
            continue
        try:
            found = await loop.getaddrinfo(url.host, url.port)
        except OSError:
            continue
        if any(info[4][0] == address[0] for info in found):
            return upstream
    return None


def _socket_that_notices_loss(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket whose connection ends when the other side is gone without a word, be it while we send or while we wait."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {"TCP_KEEPIDLE": UNANSWERED_SECONDS, "TCP_KEEPALIVE": UNANSWERED_SECONDS, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}
    options["TCP_USER_TIMEOUT"] = UNANSWERED_SECONDS * 1000
    for name, value in options.items():
        # Each system has some of them; without one its own, longer limit holds.
        if (option := getattr(socket, name, None)) is not None:
            with contextlib.suppress(OSError):
                made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _proxy_for(upstream: Upstream) -> _Proxy | None:
    """The proxy that the environment (or the system) asks for. Never for loopback.

    aiohttp's own reading of the environment also takes credentials from a netrc file, which are none of ours to send.
    """
    url = check_base_url(upstream)
    host = url.host or ""
    if is_loopback(host) or urllib.request.proxy_bypass(f"{host}:{url.port}") or urllib.request.proxy_bypass(host):
        return None
    given = urllib.request.getproxies()
    text = given.get(url.scheme) or given.get("all")
    if not text:
        return None
    proxy = URL(text if "://" in text else f"http://{text}")
    if proxy.scheme not in {"http", "https"} or not proxy.host:
        setting = "HTTPS_PROXY" if url.scheme == "https" else "HTTP_PROXY"
        raise UpstreamProblem(
            f"{setting} (or ALL_PROXY) asks for a {proxy.scheme or 'nameless'} proxy; only http and https ones work here."
        )
    if proxy.raw_user is None:
        return _Proxy(proxy)
    pair = f"{unquote(proxy.raw_user)}:{unquote(proxy.raw_password or '')}"
    return _Proxy(proxy.with_user(None), {"Proxy-Authorization": "Basic " + base64.b64encode(os.fsencode(pair)).decode("ascii")})


def _closed(route: Route) -> OwnError:
    host = URL(route.upstream.base_url).host
    return OwnError(502, "closed", f"{host} closed the connection before it answered.", "Try again.")


async def _mark_reused(session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceConnectionReuseconnParams) -> None:
    context.trace_request_ctx.reused = True


async def _tell_early_close(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    try:
        return await handler(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        raise
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
        raise _ClosedEarly(error) from error
