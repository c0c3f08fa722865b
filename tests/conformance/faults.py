"""The two ends of a case: a provider that does what it is told to, byte by byte, and a client likewise."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.closing import close_server
from tests.conformance.wire import LIMIT_SECONDS, READER_LIMIT, Message, Reading
from tests.proxy.provider import reset


@dataclass
class Signals:
    """What the two ends of one run tell each other, so that no order is left to chance."""

    silent: asyncio.Event = field(default_factory=asyncio.Event)
    """The provider sends nothing more and keeps its connection."""
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    """The provider has sent what it sends before it waits for the client."""
    received: int = 0
    """Bytes of the response's body that the client has."""
    client_moved: asyncio.Event = field(default_factory=asyncio.Event)
    client_gone: asyncio.Event = field(default_factory=asyncio.Event)
    provider_lost: asyncio.Event = field(default_factory=asyncio.Event)
    """The provider found its connection closed by the other side before it was done."""
    sent: int = 0
    """Bytes of a long body that the provider got rid of."""
    held_back: bool = False
    """Whether the provider had to wait for the client to read."""
    request_begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Bytes of a request have reached the provider."""

    def client_has(self, count: int) -> None:
        self.received = count
        self.client_moved.set()

    async def until_client_has(self, count: int) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while self.received < count:
                self.client_moved.clear()
                await self.client_moved.wait()


@dataclass
class ProviderEnd:
    """A provider's side of one connection, while it answers one request."""

    request: Message
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    signals: Signals

    async def send(self, *data: bytes) -> None:
        for piece in data:
            self.writer.write(piece)
            await self.writer.drain()

    def cut(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        reset(self.writer)

    async def stall(self) -> None:
        """Send nothing more, until the other side closes."""
        self.signals.silent.set()
        await self.until_closed()

    async def until_closed(self) -> None:
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass
        self.signals.provider_lost.set()


Answer = Callable[[ProviderEnd], Awaitable[None]]


class FaultyProvider:
    """Listens on loopback, records what comes, and answers with `answer`."""

    def __init__(self, answer: Answer, signals: Signals) -> None:
        self._answer = answer
        self._signals = signals
        self._tasks: set[asyncio.Task[None]] = set()
        self.seen: list[Message] = []
        self.failure: BaseException | None = None
        self.listens = True
        self.reads_requests = True
        """False leaves the request to the answer."""

    async def __aenter__(self) -> "FaultyProvider":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=READER_LIMIT)
        self.port: int = self._server.sockets[0].getsockname()[1]
        if not self.listens:
            self._server.close()
            await self._server.wait_closed()
        return self

    async def __aexit__(self, *_: object) -> None:
        await close_server(self._server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while not writer.is_closing():
                reading = Reading(reader, asyncio.Event(), lambda _: self._signals.request_begun.set())
                request = await reading.request() if self.reads_requests else Message()
                if request.line:
                    self.seen.append(request)
                if self.reads_requests and request.ending != "whole":
                    if request.line or reading.began:
                        self._signals.provider_lost.set()
                    return
                await self._answer(ProviderEnd(request, reader, writer, self._signals))
        except ConnectionError:
            self._signals.provider_lost.set()
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self.failure = error
        finally:
            self._tasks.discard(task)
            writer.close()


@dataclass
class ClientEnd:
    """A client's connection to the provider, or to the worker before it."""

    port: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    signals: Signals
    silent: asyncio.Event
    """Set once nothing more will come."""

    def head(self, line: str, *fields: str, host: str = "Host: 127.0.0.1:{port}") -> bytes:
        return "\r\n".join([line, *([host.format(port=self.port)] if host else []), *fields]).encode("latin-1") + b"\r\n\r\n"

    async def send(self, *data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            for piece in data:
                self.writer.write(piece)
                await self.writer.drain()

    async def post(self, body: bytes, *fields: str, path: str = "/v1/messages", length: bool = True) -> None:
        framing = (f"Content-Length: {len(body)}",) if length else ()
        await self.send(self.head(f"POST {path} HTTP/1.1", "Content-Type: application/json", *fields, *framing) + body)

    async def receive(self, *, bodyless: bool = False) -> Message:
        return await Reading(self.reader, self.silent, self.signals.client_has).response(bodyless=bodyless)

    def hang_up(self) -> None:
        self.writer.transport.abort()
        self.signals.client_gone.set()


Behaviour = Callable[[ClientEnd], Awaitable[tuple[Message, ...]]]
