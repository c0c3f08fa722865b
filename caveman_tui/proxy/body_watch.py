"""Sees to it that whoever reads a response's body is told when its connection is gone.

Where a body breaks its own framing (a chunk size that is no number), aiohttp closes the connection and leaves the body's reader
waiting for ever.
"""

import asyncio

import aiohttp


class BodyWatch:
    """Watches the connections that responses come on. One callback a connection, however many responses it carries."""

    def __init__(self) -> None:
        self._reading: dict[asyncio.Future[None], aiohttp.StreamReader | None] = {}

    def watch(self, answer: aiohttp.ClientResponse) -> None:
        """Watch a response whose status line is here, until its body ends."""
        content, connection = answer.content, answer.connection
        if connection is None or connection.protocol is None or content.is_eof():
            return
        closed = connection.protocol.closed
        if closed is None:
            _break_off(content)
            return
        if closed not in self._reading:
            closed.add_done_callback(self._connection_ended)
        self._reading[closed] = content
        content.on_eof(lambda: self._body_ended(closed))

    def _body_ended(self, closed: "asyncio.Future[None]") -> None:
        if closed in self._reading:
            self._reading[closed] = None

    def _connection_ended(self, closed: "asyncio.Future[None]") -> None:
        if not closed.cancelled():
            # asyncio would log an exception that nobody looked at.
            closed.exception()
        if (content := self._reading.pop(closed, None)) is not None:
            _break_off(content)


def _break_off(content: aiohttp.StreamReader) -> None:
    if not content.is_eof() and content.exception() is None:
        content.set_exception(aiohttp.ClientPayloadError("the connection ended inside the body"))
