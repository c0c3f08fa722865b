"""The listening side: an HTTP server that hands every request, whatever its method and path, to the forwarder."""

import logging
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web

from caveman_tui.proxy import relay
from caveman_tui.proxy.upstream import HEADER_COUNT, HEADER_LIMIT

STOP_SECONDS = 5.0
"""What running exchanges get to end by themselves when the worker stops; then they are broken off."""

_BACKLOG = 128

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ProxyServer:
    """Listens on one loopback address."""

    def __init__(self, handler: _Handler, *, stop_seconds: float = STOP_SECONDS) -> None:
        self._handler = handler
        self._stop_seconds = stop_seconds
        self._runner: web.AppRunner | None = None
        self.stopping = False
        """Whether no new requests are taken."""
        self.port = 0

    async def start(self, listener: socket.socket) -> None:
        """Serve on a bound socket, which is closed with the server."""
        # A middleware sees every request; the route leaves out targets that are no path, but saves all others an error for no route.
        app = web.Application(middlewares=[self._everything])
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.on_response_prepare.append(relay.add_nothing)
        self._runner = web.AppRunner(
            app,
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            logger=_silent_logger(),
            max_line_size=HEADER_LIMIT,
            max_field_size=HEADER_LIMIT,
            max_headers=HEADER_COUNT,
            # aiohttp waits so long twice: for the handler, and again after it broke off the request's body.
            shutdown_timeout=self._stop_seconds / 2,
        )
        await self._runner.setup()
        await web.SockSite(self._runner, listener, backlog=_BACKLOG).start()
        self.port = listener.getsockname()[1]

    async def stop(self) -> None:
        """Take no more requests, let running ones end for a while, break off the rest."""
        self.stopping = True
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        return await self._handler(request)

    @web.middleware
    async def _everything(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        return await self._handler(request)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens on a loopback address: connections wait until it is served. Raises OSError, EADDRINUSE where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _silent_logger() -> logging.Logger:
    """aiohttp logs malformed requests with the lines that were wrong, and those may hold keys."""
    logger = logging.getLogger("caveman_tui.proxy.http")
    logger.propagate = False
    logger.disabled = True
    return logger
