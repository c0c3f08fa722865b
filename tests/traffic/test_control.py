"""The client in front of servers that are no worker, or no longer one. With a real control API: tests/proxy/test_control_api.py."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from caveman_tui.protocol import events
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.traffic.source import Refused, WorkerGone

STATUS_LINE = b"HTTP/1.1 200 OK\r\n"


class Scripted:
    """Answers each connection with the same bytes, in the pieces given, then closes it."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.hold = asyncio.Event()
        self.hold.set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in self.pieces:
            writer.write(piece)
            await writer.drain()
        await self.hold.wait()
        writer.close()


@pytest.fixture
def socket_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s") / "w.sock"


@pytest.fixture
async def server(socket_path: Path) -> AsyncIterator[Scripted]:
    scripted = Scripted()
    listener = await asyncio.start_unix_server(scripted.answer, socket_path)
    yield scripted
    listener.close()
    await listener.wait_closed()


@pytest.fixture
async def client(socket_path: Path) -> AsyncIterator[WorkerClient]:
    async with WorkerClient(socket_path) as client:
        yield client


def _whole(content: bytes, status: bytes = STATUS_LINE) -> bytes:
    return status + b"content-length: %d\r\n\r\n" % len(content) + content


async def _events(client: WorkerClient, after: int = 0) -> list[AnyEvent]:
    return [event async for batch in client.follow(after) for event in batch]


async def test_no_socket_and_a_dead_one_say_that_no_worker_answers(socket_path: Path) -> None:
    async with WorkerClient(socket_path) as client:
        with pytest.raises(WorkerGone, match=r"No worker answers at .*w\.sock"):
            await client.status()
        with pytest.raises(WorkerGone, match="No worker answers"):
            await _events(client)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"<html>", b'{"instance": 7}'])
async def test_an_answer_of_something_else_is_refused_with_what_to_do(server: Scripted, client: WorkerClient, content: bytes) -> None:
    server.pieces = [_whole(content)]
    with pytest.raises(Refused, match="caveman-tui stop") as refused:
        await client.status()
    assert refused.value.problem.code == "unreadable-answer"


async def test_an_error_without_a_problem_keeps_its_status(server: Scripted, client: WorkerClient) -> None:
    server.pieces = [_whole(b"oops", b"HTTP/1.1 503 Busy\r\n")]
    with pytest.raises(Refused, match="503"):
        await client.stop()
    with pytest.raises(Refused, match="503"):
        await _events(client)


@pytest.mark.parametrize("pieces", [[b""], [b"nonsense\r\n\r\n"], [STATUS_LINE + b"content-length: 99\r\n\r\nshort"]])
async def test_a_connection_that_breaks_is_a_worker_gone(server: Scripted, client: WorkerClient, pieces: list[bytes]) -> None:
    server.pieces = pieces
    with pytest.raises(WorkerGone, match="broke"):
        await client.status()


async def test_events_come_whole_however_the_stream_is_cut(server: Scripted, client: WorkerClient) -> None:
    sent = [events.Warned(seq=number, at=1.0, code="c", what="wide 漢字 é") for number in range(1, 4)]
    lines = b"\n" + b"".join(map(events.dump, sent)) + b"\n" + b'{"type":"of-tomorrow","seq":4}\n'
    for size in (1, 7, 64, len(lines)):
        cut = [lines[at : at + size] for at in range(0, len(lines), size)]
        server.pieces = [STATUS_LINE + b"connection: close\r\n\r\n", *cut]
        assert await _events(client) == sent


async def test_a_stream_that_breaks_off_gives_what_came_and_then_says_so(server: Scripted, client: WorkerClient) -> None:
    line = events.dump(events.Warned(seq=1, at=1.0, code="c", what="w"))
    server.pieces = [STATUS_LINE + b"transfer-encoding: chunked\r\n\r\n%x\r\n" % len(line) + line + b"\r\n"]
    received: list[AnyEvent] = []
    with pytest.raises(WorkerGone, match="broke"):
        async for batch in client.follow(0):
            received += batch
    assert [event.seq for event in received] == [1]


async def test_a_reader_may_leave_in_the_middle(server: Scripted, client: WorkerClient) -> None:
    server.hold.clear()
    server.pieces = [STATUS_LINE + b"\r\n" + events.dump(events.Warned(seq=1, at=1.0, code="c", what="w"))]
    async for batch in client.follow(0):
        assert len(batch) == 1
        break
    server.hold.set()
