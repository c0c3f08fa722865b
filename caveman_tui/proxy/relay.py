"""Passing a provider's response on: the bytes as they come, a copy read beside, and a broken end where the provider broke off."""

import socket
import struct
from collections.abc import AsyncIterator, Callable

import aiohttp
from aiohttp import web

from caveman_tui.proxy import headers
from caveman_tui.proxy.tee import Tee


class ProviderBroke(Exception):
    """The provider's response ended before its end. The text says how."""


class ClientLeft(Exception):
    """The client no longer reads."""


class PassedOn(web.StreamResponse):
    """A response with the provider's status line and fields."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        super().__init__(status=answer.status, reason=answer.reason or "", headers=headers.to_client(answer.raw_headers))
        self.given = frozenset(name.lower() for name in answer.headers)
        """Lower-case names of the fields that the provider sent."""
        # A body that is here already goes out with the fields in one write; a stream's fields must not wait for its first event.
        self._send_headers_immediately = not (answer.content_length and answer.content.is_eof())


async def add_nothing(request: web.Request, response: web.StreamResponse) -> None:
    """A prepare hook: take out what aiohttp adds and the provider did not send.

    `Connection` and the framing are the client connection's own and stay.
    """
    if isinstance(response, PassedOn):
        for name in ("Server", "Date", "Content-Type"):
            if name.lower() not in response.given:
                response.headers.popall(name, None)


async def pass_on(
    response: web.StreamResponse, answer: aiohttp.ClientResponse, first: tuple[bytes, ...], tee: Tee, progress: Callable[[], None]
) -> None:
    """Write the body as it comes; `first` was read before. `progress` is called after each chunk.

    Raises ProviderBroke or ClientLeft.
    """
    async for chunk in _chunks(answer, first):
        try:
            await response.write(chunk)
        except ConnectionError as error:
            raise ClientLeft from error
        tee.feed(chunk)
        progress()


def break_off(request: web.Request) -> None:
    """End the client's connection so that it can't be taken for a clean end.

    Where length or chunks frame the body, what was written still arrives, and the end is missing. A response that only the
    connection's end would frame is reset.
    """
    transport = request.transport
    if transport is None:
        return
    if request.version < aiohttp.HttpVersion11:
        if (connection := transport.get_extra_info("socket")) is not None:
            # A lingering time of zero makes closing a reset; without it the end would look like any other.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()


async def _chunks(answer: aiohttp.ClientResponse, first: tuple[bytes, ...]) -> AsyncIterator[bytes]:
    for chunk in first:
        yield chunk
    content = answer.content
    while True:
        try:
            chunk = await content.readany()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if chunk := _left_over(content):
                yield chunk
            raise ProviderBroke(_how(error)) from error
        if not chunk:
            return
        yield chunk


def _left_over(content: aiohttp.StreamReader) -> bytes:
    """What arrived before the connection broke and was not read yet; the reader only gives it out without its exception."""
    content.set_exception(None)  # type: ignore[arg-type]
    return content.read_nowait()


def _how(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the provider sent nothing for too long"
    return "the provider broke off its response"
