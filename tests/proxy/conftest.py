"""A worker in front of a raw provider, and raw clients."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from caveman_tui.config import WorkerConfig
from caveman_tui.protocol import events
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.proxy.worker import Worker
from tests.proxy.provider import RawProvider, read_body

LIMIT_SECONDS = 20.0


@dataclass
class Got:
    """A response as it came over the wire."""

    head: bytes
    body: bytes
    clean: bool
    """Whether length or final chunk was there."""

    @property
    def status(self) -> int:
        return int(self.head.split(b" ", 2)[1])

    @property
    def fields(self) -> list[tuple[str, str]]:
        lines = self.head.split(b"\r\n")[1:]
        return [(name.decode("latin-1"), value.strip().decode("latin-1")) for name, _, value in (line.partition(b":") for line in lines)]

    def values(self, name: str) -> list[str]:
        return [value for given, value in self.fields if given.lower() == name.lower()]


class Client:
    """One raw connection to the worker."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        self.reader = reader
        self.writer = writer
        self.port = port

    async def send(self, line: str, *fields: str, body: bytes | None = None, host: bool = True) -> None:
        head = [line, *([f"Host: 127.0.0.1:{self.port}"] if host else []), *fields]
        if body is not None and not any(f.lower().startswith(("content-length", "transfer-encoding")) for f in fields):
            head.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + (body or b""))
        await self.writer.drain()

    async def head(self) -> bytes:
        async with asyncio.timeout(LIMIT_SECONDS):
            return (await self.reader.readuntil(b"\r\n\r\n"))[:-4]

    async def receive(self, *, bodyless: bool = False) -> Got:
        async with asyncio.timeout(LIMIT_SECONDS):
            head = await self.head()
            if bodyless or re.match(rb"HTTP/1.1 (204|304)", head):
                return Got(head, b"", True)
            return await self._body(head)

    async def chunk(self) -> bytes:
        async with asyncio.timeout(LIMIT_SECONDS):
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            data = await self.reader.readexactly(size)
            await self.reader.readexactly(2)
            return data

    async def _body(self, head: bytes) -> Got:
        received = _Recorder(self.reader)
        try:
            body = await read_body(head, received)  # type: ignore[arg-type]
            return Got(head, body, True)
        except (asyncio.IncompleteReadError, ConnectionError):
            return Got(head, received.payload, False)

    def close(self) -> None:
        self.writer.close()


class _Recorder:
    """Remembers what a reader gave before it broke."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.payload = b""

    async def readuntil(self, separator: bytes) -> bytes:
        return await self._reader.readuntil(separator)

    async def readexactly(self, count: int) -> bytes:
        try:
            data = await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as error:
            self.payload += error.partial
            raise
        if count != 2:
            self.payload += data
        return data


@dataclass
class Bench:
    """A running worker with its provider."""

    worker: Worker
    provider: RawProvider
    events: list[AnyEvent]
    """All that were emitted, none merged."""
    clients: list[Client] = field(default_factory=list)

    async def connect(self) -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.worker.port, limit=1 << 22)
        client = Client(reader, writer, self.worker.port)
        self.clients.append(client)
        return client

    async def post(self, path: str, body: bytes, *fields: str) -> Got:
        client = await self.connect()
        await client.send(f"POST {path} HTTP/1.1", "Content-Type: application/json", *fields, body=body)
        got = await client.receive()
        client.close()
        return got

    async def ask(self, line: str, *fields: str, body: bytes | None = None) -> Got:
        client = await self.connect()
        await client.send(line, *fields, body=body)
        got = await client.receive(bodyless=line.startswith("HEAD"))
        client.close()
        return got

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def warnings(self) -> list[str]:
        return [event.code for event in self.of(events.Warned)]

    @property
    def exchange(self) -> Exchange:
        """The newest one."""
        return list(self.worker.log.exchanges())[-1]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while not condition():
                await asyncio.sleep(0.005)

    async def ended(self, number: int = 1) -> Exchange:
        """The newest exchange once `number` of them have ended."""
        await self.until(lambda: len(self.of(events.ExchangeFinished)) >= number)
        return self.exchange


StartBench = Callable[..., Awaitable[Bench]]


@pytest.fixture
async def start_bench() -> AsyncIterator[StartBench]:
    """Start a worker in front of a raw provider; keywords are fields of WorkerConfig, or arguments of Worker.

    However slow this machine's disk is, its requests wait for it, unless they are told not to.
    """
    benches: list[Bench] = []
    running = contextlib.AsyncExitStack()

    async def start(**config: Any) -> Bench:
        provider = await running.enter_async_context(RawProvider())
        upstreams = (
            Upstream(name="anthropic", base_url=provider.url, dialect="anthropic"),
            Upstream(name="openai", base_url=provider.url, dialect="openai"),
        )
        stop_seconds = config.pop("stop_seconds", 0.3)
        put_seconds = config.pop("put_seconds", LIMIT_SECONDS)
        settings = WorkerConfig(**{"port": 0, "upstreams": upstreams, **config})
        worker = Worker(settings, stop_seconds=stop_seconds, put_seconds=put_seconds)
        told: list[AnyEvent] = []
        emit = worker.log.emit

        def listen(event: AnyEvent) -> None:
            told.append(event)
            emit(event)

        worker.log.emit = listen  # type: ignore[method-assign]
        await worker.start()
        running.push_async_callback(worker.stop)
        benches.append(Bench(worker, provider, told))
        return benches[-1]

    async with running:
        yield start
        for bench in benches:
            for client in bench.clients:
                client.close()


@pytest.fixture
async def bench(start_bench: StartBench) -> Bench:
    return await start_bench()


def as_json(value: Any) -> bytes:
    return msgspec.json.encode(value)
