"""Sends prepared requests over kept connections and times the answers. Plain sockets, so that it is never what limits."""

import contextlib
import re
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.provider import END

_LIMIT_SECONDS = 60.0
_AT = re.compile(rb"at=(\d+)\.")
_RECEIVED = re.compile(rb'"received":(\d+)')


class BadAnswer(Exception):
    """A server answered something else than what it was to pass on."""


def latencies(port: int, wires: Iterator[bytes], count: int) -> list[float]:
    """Milliseconds that each of the next `count` requests took, one after the other on one connection."""
    taken = []
    with socket.create_connection(("127.0.0.1", port), _LIMIT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            wire = next(wires)
            started = time.perf_counter()
            connection.sendall(wire)
            answer = b""
            while not _is_whole(answer):
                answer += _some(connection)
            taken.append((time.perf_counter() - started) * 1000)
    return taken


def received_bytes(port: int, wire: bytes) -> int:
    """How long the body was when it reached the provider."""
    with socket.create_connection(("127.0.0.1", port), _LIMIT_SECONDS) as connection:
        connection.sendall(wire)
        answer = b""
        while not _is_whole(answer):
            answer += _some(connection)
    found = _RECEIVED.search(answer)
    if found is None:
        raise BadAnswer(answer[:200].decode("latin-1"))
    return int(found[1])


def requests_per_second(port: int, wires: Sequence[Iterator[bytes]], seconds: float) -> float:
    """Answers in `seconds`, of as many connections as there are `wires`, which each send their next when the last is answered.

    The time begins when each has its first answer: what is measured is a loop under way.
    """
    answered, started = 0, 0.0
    with _connections(port, len(wires)) as (selector, connections):
        waiting = set(map(id, connections))
        for connection, own in zip(connections, wires, strict=True):
            connection.wires = own
            connection.begin(next(own))
        while waiting or (now := time.perf_counter()) - started < seconds:
            for key, mask in _ready(selector):
                connection = key.data
                if mask & selectors.EVENT_WRITE:
                    connection.send()
                elif connection.receive():
                    answered += 1
                    if waiting:
                        waiting.discard(id(connection))
                        answered, started = 0, time.perf_counter()
                    connection.begin(next(connection.wires))
    return answered / (now - started)


def event_lags(port: int, wire: bytes, streams: int) -> list[float]:
    """Milliseconds from the provider's writing of each event to its arrival, over `streams` streams at once."""
    lags: list[float] = []
    with _connections(port, streams) as (selector, connections):
        for connection in connections:
            connection.begin(wire)
        open_streams = streams
        while open_streams:
            for key, mask in _ready(selector):
                connection = key.data
                if mask & selectors.EVENT_WRITE:
                    connection.send()
                    continue
                seen = len(connection.answer)
                whole = connection.receive()
                now = time.monotonic_ns()
                # An event may be split between two reads; it counts when its time stamp is complete.
                for found in _AT.finditer(connection.answer, max(0, seen - 30)):
                    if found.end() > seen:
                        lags.append((now - int(found[1])) / 1e6)
                open_streams -= whole
    return lags


@dataclass
class _Connection:
    socket: socket.socket
    selector: selectors.BaseSelector
    answer: bytes = b""
    wires: Iterator[bytes] = field(default_factory=lambda: iter(()))
    _unsent: memoryview = field(default_factory=lambda: memoryview(b""))

    def begin(self, wire: bytes) -> None:
        self.answer = b""
        self._unsent = memoryview(wire)
        self.send()

    def send(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[self.socket.send(self._unsent) :]
        wanted = selectors.EVENT_WRITE if self._unsent else selectors.EVENT_READ
        if self.selector.get_key(self.socket).events != wanted:
            self.selector.modify(self.socket, wanted, self)

    def receive(self) -> bool:
        """Read what is there; whether the answer is whole."""
        self.answer += _some(self.socket)
        return _is_whole(self.answer)


@contextlib.contextmanager
def _connections(port: int, count: int) -> Iterator[tuple[selectors.BaseSelector, list[_Connection]]]:
    with contextlib.ExitStack() as opened:
        selector = opened.enter_context(selectors.DefaultSelector())
        connections = []
        for _ in range(count):
            connected = opened.enter_context(socket.create_connection(("127.0.0.1", port), _LIMIT_SECONDS))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setblocking(False)
            connection = _Connection(connected, selector)
            selector.register(connected, selectors.EVENT_READ, connection)
            connections.append(connection)
        yield selector, connections


def _ready(selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
    if not (ready := selector.select(_LIMIT_SECONDS)):
        raise BadAnswer(f"nothing for {_LIMIT_SECONDS:g} s")
    return ready


def _some(connection: socket.socket) -> bytes:
    if not (data := connection.recv(1 << 18)):
        raise BadAnswer("the connection was closed")
    return data


def _is_whole(answer: bytes) -> bool:
    if not answer.endswith((END, END + b"\r\n0\r\n\r\n")):
        return False
    if not answer.startswith(b"HTTP/1.1 200"):
        raise BadAnswer(answer[:200].decode("latin-1"))
    return answer.endswith(b"0\r\n\r\n") or b"chunked" not in answer[: answer.index(b"\r\n\r\n")].lower()
