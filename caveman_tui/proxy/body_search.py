"""Looking for a text in the bodies that are in memory."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

from caveman_tui.core.reply_text import reply_text
from caveman_tui.protocol.control import SearchEnd, SearchHit
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.proxy import codings
from caveman_tui.proxy.bodies import BodyUnavailable, KeptBody
from caveman_tui.proxy.exchange_log import ExchangeLog

_STEP_BYTES = 128 * 1024
"""Looked through at a time: between two steps the thread that streams to clients gets the interpreter."""
_BODY_LIMIT_BYTES = 256 * 1024 * 1024
"""Of one body, decoded; what lies behind it is not searched."""
_BEFORE_BYTES = 40
_AFTER_BYTES = 80
"""Of a snippet, around the text."""


class BodySearch:
    """Searches the bodies of a log in a thread of its own, one body at a time however many searches run.

    Used from the event loop's thread.
    """

    def __init__(self, log: ExchangeLog) -> None:
        self._log = log
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._running: set[Event] = set()

    def close(self) -> None:
        """End all searches after the step they are at; they come to no `SearchEnd`."""
        for stopped in self._running:
            stopped.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, text: str, ids: Sequence[str] = ()) -> AsyncGenerator[SearchHit | SearchEnd | None]:
        """A hit for each exchange whose bodies hold `text`, newest first, and at last the end; None for one that does not.

        With `ids` only these exchanges are looked into, in this order.
        ASCII letters match in either case, others where the word is spelled in one case or capitalised. Escapes of JSON count as
        what they stand for, and so does a streamed response as what its deltas say together.
        """
        needles = spellings(text)
        searched = without = 0
        stopped = Event()
        self._running.add(stopped)
        try:
            for id in ids or self._log.ids():
                if stopped.is_set():
                    return
                # As of now, not as of the beginning: an exchange may have been forgotten, or its bodies dropped, since then.
                exchange = self._log.exchange(id)
                if exchange is None:
                    continue
                bodies = self._bodies_of(exchange)
                if not bodies:
                    without += 1
                    continue
                searched += 1
                yield await asyncio.get_running_loop().run_in_executor(self._threads, self._look, id, bodies, needles, stopped)
            yield SearchEnd(searched=searched, without_bodies=without)
        finally:
            stopped.set()
            self._running.discard(stopped)

    def _bodies_of(self, exchange: Exchange) -> list[str]:
        available = self._log.bodies.available(exchange.id)
        edited = exchange.marker_edits or any(tools.applied for tools in exchange.tools)
        wanted = ("request-before", "response", *(("request-after",) if edited else ()))
        return [which for which in wanted if which in available]

    def _look(self, id: str, bodies: list[str], needles: tuple[bytes, ...], stopped: Event) -> SearchHit | None:
        for which in bodies:
            try:
                body = self._log.bodies.read(id, which)
            except (BodyUnavailable, ValueError):
                continue
            found = _find(_steps(_decoded(body), stopped), needles)
            if found is None and which == "response" and _is_event_stream(body):
                said = (text.encode("utf-8", "replace") for text in reply_text(_decoded(body)))
                found = _find(_steps(said, stopped), needles)
            if found is not None:
                return SearchHit(exchange=id, body=which, snippet=found)
        return None


def spellings(text: str) -> tuple[bytes, ...]:
    """The bytes that `text` may stand as in a body whose ASCII letters were made small: as it is, and escaped in a JSON string."""
    found: dict[bytes, None] = {}
    for cased in (text, text.lower(), text.upper(), text.title()):
        for spelled in (cased, json.dumps(cased, ensure_ascii=False)[1:-1], json.dumps(cased)[1:-1]):
            found[spelled.encode("utf-8", "replace").lower()] = None
    return tuple(found)


def _decoded(body: KeptBody) -> Iterator[bytes]:
    """The body without its content coding, as far as it can be decoded."""
    size = 0
    try:
        for piece in codings.decoder(body.content_encoding).feed(body.data):
            yield piece
            size += len(piece)
            if size > _BODY_LIMIT_BYTES:
                return
    except codings.CodingError:
        return


def _is_event_stream(body: KeptBody) -> bool:
    beginning = next(_decoded(body), b"")
    return beginning.lstrip().startswith((b"event:", b"data:", b"id:", b"retry:", b":"))


def _steps(pieces: Iterable[bytes], stopped: Event) -> Iterator[bytes]:
    """The same bytes in steps of one size, until the search is stopped."""
    step = bytearray()
    for piece in pieces:
        for start in range(0, len(piece), _STEP_BYTES):
            step += piece[start : start + _STEP_BYTES]
            if len(step) < _STEP_BYTES:
                continue
            if stopped.is_set():
                return
            yield bytes(step)
            step.clear()
            sleep(0)
    yield bytes(step)


def _find(steps: Iterator[bytes], needles: tuple[bytes, ...]) -> str | None:
    """The first place at which one of the needles stands, as a snippet."""
    longest = max(map(len, needles))
    window = b""
    for step in steps:
        window += step
        lowered = window.lower()
        found = min(((at, len(needle)) for needle in needles if (at := lowered.find(needle)) >= 0), default=None)
        if found is None:
            window = window[-(longest + _BEFORE_BYTES) :]
            continue
        start, end = found[0], sum(found)
        if end + _AFTER_BYTES > len(window):
            window += next(steps, b"")
        around = window[max(0, start - _BEFORE_BYTES) : end + _AFTER_BYTES]
        # A character may be cut at either end.
        return " ".join(around.decode("utf-8", "ignore").split())
    return None
