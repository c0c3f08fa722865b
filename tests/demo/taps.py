"""Faults for the demo's session: a plain proxy that stands beside the worker and spoils what passes."""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import aiohttp
from aiohttp import web
from yarl import URL

from caveman_tui.demo.promises import HOP_BY_HOP
from caveman_tui.demo.session import Detour

Spoil = Callable[[bytes], bytes]


def unspoiled(body: bytes) -> bytes:
    """No fault."""
    return body


def tap(*, request: Spoil = unspoiled, response: Spoil = unspoiled, twice: bool = False) -> Detour:
    """A detour that puts request and response bodies through these functions, and may send each Messages request twice."""

    def detour(url: str) -> AbstractAsyncContextManager[str]:
        return _listening(url, request, response, twice)

    return detour


@contextlib.asynccontextmanager
async def _listening(upstream: str, spoil_request: Spoil, spoil_response: Spoil, twice: bool) -> AsyncIterator[str]:
    async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=30)) as session:

        async def handle(request: web.Request) -> web.StreamResponse:
            url = URL(upstream + request.raw_path, encoded=True)
            headers = [(k.decode(), v.decode()) for k, v in request.raw_headers if k.decode().lower() not in HOP_BY_HOP]
            body = spoil_request(await request.read()) or None
            for last in (False, True) if twice else (True,):
                async with session.request(request.method, url, data=body, headers=headers, skip_auto_headers=["User-Agent"]) as answer:
                    with contextlib.suppress(aiohttp.ClientPayloadError):
                        said = await answer.read()
                    kept = [(k.decode(), v.decode()) for k, v in answer.raw_headers if k.decode().lower() not in HOP_BY_HOP]
                if last:
                    response = web.Response(status=answer.status, body=spoil_response(said))
                    response.headers.clear()
                    for name, value in kept:
                        response.headers.add(name, value)
            return response

        application = web.Application(client_max_size=1 << 26)
        application.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(application, auto_decompress=False, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()
