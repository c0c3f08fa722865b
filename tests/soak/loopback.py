"""A worker between a raw provider and raw clients, on an event loop that a generated test can call into."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from caveman_tui.config import WorkerConfig
from caveman_tui.core.edits import Edit
from caveman_tui.protocol.control import HeaderField, Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.bodies import Likeness
from caveman_tui.proxy.worker import Worker
from tests.proxy.conftest import Client, Got
from tests.proxy.provider import Exchange, RawProvider, Seen
from tests.soak.generated import Field, GeneratedRequest, GeneratedResponse

FRAMING = frozenset({"content-length", "transfer-encoding"})


@dataclass
class Recorded:
    """What the worker keeps of a request that it read."""

    id: str
    body: bytes
    edits: tuple[Edit, ...]
    header_edits: tuple[str, ...]


@dataclass
class Loopback:
    """Call `start`, then `pass_through` and `direct` any number of times, then `stop`; all on one runner's loop."""

    settings: Settings
    runner: asyncio.Runner
    recorded: list[Recorded] = field(default_factory=list)
    _response: GeneratedResponse | None = None

    def __enter__(self) -> "Loopback":
        self.runner.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.run(self._stop())

    def pass_through(self, request: GeneratedRequest, response: GeneratedResponse) -> tuple[Seen, Got]:
        """What provider and client got with the worker between them."""
        return self.runner.run(self._exchange(self.worker.port, request, response))

    def direct(self, request: GeneratedRequest, response: GeneratedResponse) -> tuple[Seen, Got]:
        """The same without it."""
        return self.runner.run(self._exchange(self.provider.port, request, response))

    async def _start(self) -> None:
        self.provider = await RawProvider(self._answer).__aenter__()
        upstreams = tuple(Upstream(name=name, base_url=self.provider.url, dialect=name) for name in ("anthropic", "openai"))
        self.worker = Worker(WorkerConfig(port=0, upstreams=upstreams, settings=self.settings), stop_seconds=0.3)
        keep = self.worker.log.keep_request

        def listen(
            id: str,
            body: bytes,
            edits: tuple[Edit, ...],
            headers: tuple[HeaderField, ...],
            header_edits: tuple[str, ...],
            like: Likeness | None,
        ) -> None:
            self.recorded.append(Recorded(id, body, edits, header_edits))
            keep(id, body, edits, headers, header_edits, like)

        self.worker.log.keep_request = listen  # type: ignore[method-assign]
        await self.worker.start()

    async def _stop(self) -> None:
        await self.worker.stop()
        await self.provider.__aexit__()

    async def _answer(self, exchange: Exchange) -> None:
        assert self._response is not None
        response = self._response
        await exchange.send(head(f"HTTP/1.1 {response.status}", response.fields, response.body, response.chunk_size))
        await exchange.send(framed(response.body, response.chunk_size))

    async def _exchange(self, port: int, request: GeneratedRequest, response: GeneratedResponse) -> tuple[Seen, Got]:
        self._response = response
        self.recorded.clear()
        self.provider.seen.clear()
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        client = Client(reader, writer, port)
        try:
            fields = (("Host", f"127.0.0.1:{port}"), *request.fields)
            writer.write(head(f"POST {request.path} HTTP/1.1", fields, request.body, request.chunk_size))
            writer.write(framed(request.body, request.chunk_size))
            got = await client.receive()
        finally:
            writer.close()
        (seen,) = self.provider.seen
        return seen, got


def head(line: str, fields: tuple[Field, ...], body: bytes, chunk_size: int) -> bytes:
    framing = ("Transfer-Encoding", "chunked") if chunk_size else ("Content-Length", str(len(body)))
    return "\r\n".join([line, *(f"{name}: {value}" for name, value in (*fields, framing))]).encode() + b"\r\n\r\n"


def framed(body: bytes, chunk_size: int) -> bytes:
    if not chunk_size:
        return body
    pieces = [body[at : at + chunk_size] for at in range(0, len(body), chunk_size)]
    return b"".join(b"%x\r\n" % len(piece) + piece + b"\r\n" for piece in pieces) + b"0\r\n\r\n"


def without_framing(fields: list[Field], *more: str) -> list[Any]:
    """Fields but for those that say how long the body is: whoever holds the connection chooses between length and chunks."""
    return [(name, value) for name, value in fields if name.lower() not in FRAMING.union(more)]
