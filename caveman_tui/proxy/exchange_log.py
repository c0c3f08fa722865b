"""What the worker remembers of its traffic: the events, the exchanges they fold into, bodies and catalogs."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec

from caveman_tui.core.edits import Edit
from caveman_tui.core.rewrite import ToolsChange
from caveman_tui.protocol import events
from caveman_tui.protocol.control import ExchangeDetail, HeaderField
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.protocol.exchanges import Exchange, fold, open_exchange
from caveman_tui.proxy.bodies import Bodies, KeptHeaders, Likeness
from caveman_tui.proxy.catalog_memory import CatalogMemory
from caveman_tui.proxy.event_ring import EventRing

_BODY_BUDGET_BYTES = 256 * 1024 * 1024
_EXCHANGE_LIMIT = 10_000
_PIECE_BYTES = 256 * 1024

_encoder = msgspec.json.Encoder()
_record_decoder = msgspec.json.Decoder(Exchange)


class ExchangeLog:
    """Events with their numbers, and what they say of each exchange. All in memory, all bounded.

    Used from the event loop's thread only; `bodies.read` alone may run in another.
    """

    def __init__(
        self,
        *,
        exchange_limit: int = _EXCHANGE_LIMIT,
        body_budget_bytes: int = _BODY_BUDGET_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.instance = secrets.token_hex(8)
        """Of this worker; numbers of events mean nothing beside another's."""
        self.ring = EventRing()
        self.catalogs = CatalogMemory()
        self.followers = 0
        """How many screens follow the events."""
        self.last_exchange_at: float | None = None
        self._clock = clock
        self._ids = 0
        self._limit = exchange_limit
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="bodies")
        self.bodies = Bodies(body_budget_bytes, self._threads)
        self._open: set[str] = set()
        # Ended exchanges are kept as JSON: ten thousand records of objects would be walked by every full garbage collection,
        # in the process that streams. The list that a screen asks for is then no more than these pieces put together.
        self._records: OrderedDict[str, Exchange | bytes] = OrderedDict()

    @property
    def seq(self) -> int:
        """Number of the newest event, 0 before the first."""
        return self.ring.seq

    @property
    def open_exchanges(self) -> int:
        """How many exchanges have not ended."""
        return len(self._open)

    def __len__(self) -> int:
        return len(self._records)

    def new_id(self) -> str:
        """An id for the next exchange; ids of different worker instances differ too."""
        self._ids += 1
        return f"{self.instance[:4]}-{self._ids}"

    def emit(self, event: AnyEvent) -> None:
        """Number and date the event, bring its exchange up to date and hand it to all followers."""
        event, line = events.wire_form(msgspec.structs.replace(event, seq=self.ring.seq + 1, at=self._clock()))
        self._fold(event)
        match event:
            case events.ExchangeUsage():
                self.ring.append(line, replaces=event.id)
            case events.ExchangeFinished():
                self.ring.append(line)
                self.ring.end_series(event.id)
                self.bodies.settle(event.id)
            case _:
                self.ring.append(line)

    def keep_request(
        self,
        id: str,
        body: bytes,
        edits: tuple[Edit, ...],
        headers: tuple[HeaderField, ...],
        header_edits: tuple[str, ...],
        like: Likeness | None = None,
    ) -> None:
        """Keep a request: `body` as it came, decoded from its content coding; `headers` with secrets already replaced."""
        self.bodies.put_request(id, body, edits, KeptHeaders(headers=headers, edits=header_edits), like)
        self._settle_if_ended(id)

    def keep_headers(self, id: str, headers: tuple[HeaderField, ...], header_edits: tuple[str, ...] = ()) -> None:
        """Keep the headers, secrets already replaced, of a request whose body streams through and is not kept."""
        self.bodies.put_request_headers(id, KeptHeaders(headers=headers, edits=header_edits))

    def keep_response(self, id: str, body: bytes, content_encoding: str, headers: tuple[HeaderField, ...]) -> None:
        """Keep a response as it was received; `headers` with secrets already replaced."""
        self.bodies.put_response(id, body, content_encoding, KeptHeaders(headers=headers))
        self._settle_if_ended(id)

    def keep_catalog(self, change: ToolsChange) -> str:
        """Keep a tools array with its shrunk form; return its digest (SHA-256 of the original bytes, hex)."""
        return self.catalogs.put(change.catalog)

    def exchange(self, id: str) -> Exchange | None:
        """The exchange of this id as far as it has come, or None where it is unknown or forgotten."""
        record = self._records.get(id)
        return _record_decoder.decode(record) if isinstance(record, bytes) else record

    def detail(self, id: str) -> ExchangeDetail | None:
        """The exchange with its headers, or None as for `exchange`."""
        exchange = self.exchange(id)
        if exchange is None:
            return None
        request, response = self.bodies.headers(id)
        return ExchangeDetail(
            exchange=exchange,
            request_headers=request.headers,
            response_headers=response.headers,
            header_edits=request.edits,
            bodies=self.bodies.available(id),
        )

    def ids(self) -> list[str]:
        """Ids of all exchanges in memory, newest first."""
        return list(reversed(self._records))

    def exchanges(self) -> Iterator[Exchange]:
        """All exchanges in memory, oldest first."""
        for record in self._records.values():
            yield _record_decoder.decode(record) if isinstance(record, bytes) else record

    def exchange_list(self) -> Iterator[bytes]:
        """`protocol.control.ExchangeList` as JSON, as of now, in pieces of some hundred KB: the whole may be tens of MB."""
        head = _encoder.encode({"instance": self.instance, "seq": self.seq})
        records = [record if isinstance(record, bytes) else _encoder.encode(record) for record in self._records.values()]
        return _pieces(head[:-1] + b',"exchanges":[', records)

    def close(self) -> None:
        """End the compressing thread; what it hasn't started stays as it is."""
        self.bodies.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _fold(self, event: AnyEvent) -> None:
        match event:
            case events.ExchangeStarted():
                self._records[event.id] = open_exchange(event)
                self._open.add(event.id)
                self.last_exchange_at = event.at
                self._forget_oldest()
            case events.StoreChanged() | events.SettingsChanged():
                pass
            case _:
                id = event.exchange if isinstance(event, events.Warned) else event.id
                exchange = self.exchange(id)
                if exchange is None:
                    return
                fold(exchange, event)
                if isinstance(event, events.ExchangeFinished):
                    self._open.discard(id)
                    self.last_exchange_at = event.at
                self._records[id] = exchange if id in self._open else _encoder.encode(exchange)

    def _settle_if_ended(self, id: str) -> None:
        if id in self._records and id not in self._open:
            self.bodies.settle(id)

    def _forget_oldest(self) -> None:
        while len(self._records) > self._limit:
            oldest = next((id for id in self._records if id not in self._open), None)
            if oldest is None:
                return
            del self._records[oldest]
            self.bodies.drop(oldest)


def _pieces(head: bytes, records: list[bytes]) -> Iterator[bytes]:
    pending, size = [head], len(head)
    for number, record in enumerate(records):
        pending.append(b"," + record if number else record)
        size += len(record)
        if size >= _PIECE_BYTES:
            yield b"".join(pending)
            pending, size = [], 0
    yield b"".join([*pending, b"]}"])
