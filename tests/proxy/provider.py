"""A provider on loopback that records the bytes it gets and answers with the bytes it is told to: no HTTP library in between."""

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.closing import close_server


@dataclass
class Seen:
    """A request as it came over the wire."""

    head: bytes
    body: bytes
    connection: int
    """Number of the connection it came on, from 0."""

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    @property
    def fields(self) -> list[tuple[str, str]]:
        lines = self.head.split(b"\r\n")[1:]
        return [(name.decode("latin-1"), value.strip().decode("latin-1")) for name, _, value in (line.partition(b":") for line in lines)]

    def values(self, name: str) -> list[str]:
        return [value for given, value in self.fields if given.lower() == name.lower()]


class Exchange:
    """What an answer may do."""

    def __init__(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen = seen
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, body: bytes, *fields: str, status: str = "200 OK", kind: str = "application/json") -> None:
        head = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}", *fields]
        await self.send("\r\n".join(head).encode() + b"\r\n\r\n" + (b"" if self.seen.line.startswith("HEAD ") else body))

    async def begin_stream(self, *fields: str, kind: str = "text/event-stream") -> None:
        head = ["HTTP/1.1 200 OK", f"content-type: {kind}", "transfer-encoding: chunked", *fields]
        await self.send("\r\n".join(head).encode() + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end_stream(self) -> None:
        await self.send(b"0\r\n\r\n")

    def cut(self) -> None:
        """Close with a FIN."""
        self.writer.close()

    def reset(self) -> None:
        """Close with a RST."""
        reset(self.writer)

    async def closed_by_peer(self) -> None:
        """Wait until the other side closed."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass


Answer = Callable[[Exchange], Awaitable[None]]


async def answer_empty(exchange: Exchange) -> None:
    await exchange.reply(b"{}")


@dataclass
class RawProvider:
    answer: Answer = answer_empty
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    failures: list[BaseException] = field(default_factory=list)
    reads_bodies: bool = True
    """False leaves the body to the answer."""

    async def __aenter__(self) -> "RawProvider":
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await close_server(self._server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.failures:
            raise self.failures[0]

    async def quiet(self) -> None:
        """Wait until all connections have ended, and with them all that came over them was read."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        number = self.connections
        self.connections += 1
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                seen = Seen(head, await read_body(head, reader) if self.reads_bodies else b"", number)
                self.seen.append(seen)
                await self.answer(Exchange(seen, reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        except BaseException as error:
            self.failures.append(error)
        finally:
            self._tasks.discard(task)
            writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with a RST: with a lingering time of zero, since an abort alone closes like any other."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def read_body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    if length := re.search(rb"(?im)^content-length: *(\d+)", head):
        return await reader.readexactly(int(length[1]))
    if not re.search(rb"(?im)^transfer-encoding: *chunked", head):
        return b""
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return body
