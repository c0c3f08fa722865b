"""A provider stand-in that costs next to nothing: run as a process, it prints its port and answers until it is killed."""

import asyncio
import re
import time

END = b"~~~"
"""What every answer's body ends with, whatever frames it."""
STREAM_FIELD = "X-Events"
"""The request field that asks for so many streamed events."""
EVENT_SECONDS = 0.02

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_EVENTS = re.compile(rb"\r\nx-events: *(\d+)", re.IGNORECASE)
_START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],'
    b'"model":"claude-opus-4-8","usage":{"input_tokens":9,"cache_creation_input_tokens":10,"cache_read_input_tokens":90000,'
    b'"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":0},"output_tokens":1}}}\n\n'
)
_STOP = (
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n: ' + END
)


class _Connection(asyncio.Protocol):
    """Counts the bytes of each request's body and answers with their number."""

    def __init__(self) -> None:
        self._head = b""
        self._length = 0
        self._missing = 0
        self._events = 0
        self._streams: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._missing:
            self._missing -= len(data)
        else:
            self._head += data
            head, found, rest = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            self._head = b""
            length, events = _LENGTH.search(head), _EVENTS.search(head)
            self._length = int(length[1]) if length else 0
            self._events = int(events[1]) if events else 0
            self._missing = self._length - len(rest)
        if self._missing == 0:
            self._answer()

    def connection_lost(self, error: Exception | None) -> None:
        for stream in self._streams:
            stream.cancel()

    def _answer(self) -> None:
        if self._events:
            task = asyncio.get_running_loop().create_task(self._stream(self._events))
            self._streams.add(task)
            task.add_done_callback(self._streams.discard)
            return
        body = b'{"type":"message","usage":{"input_tokens":9,"output_tokens":2},"received":%d,"end":"' % self._length + END
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def _stream(self, events: int) -> None:
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + _chunk(_START))
        for _ in range(events):
            await asyncio.sleep(EVENT_SECONDS)
            text = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"at=%d."}}' % time.monotonic_ns()
            self._transport.write(_chunk(b"event: content_block_delta\ndata: " + text + b"\n\n"))
        self._transport.write(_chunk(_STOP) + b"0\r\n\r\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n" % len(data) + data + b"\r\n"


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
