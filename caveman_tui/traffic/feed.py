"""The stream of events from the worker, kept alive: load, follow, and start again after every break."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.protocol.control import ExchangeList, Status
from caveman_tui.protocol.events import AnyEvent
from caveman_tui.traffic.source import Refused, ResyncNeeded, TrafficSource, WorkerGone

DRAIN_SECONDS = 0.1
"""Shortest time between two batches for the screen; what comes in between is collected."""
_SHARE = 0.1
"""Part of the time in which the screen may be busy before batches come less often. A grouped list of 10,000 costs more than a plain one."""
_SLOWEST_SECONDS = 1.0
_RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)


class Link(StrEnum):
    """State of the connection to the worker."""

    CONNECTING = "connecting"
    LIVE = "live"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything the worker had in memory at once."""

    status: Status
    listing: ExchangeList


@dataclass(frozen=True, slots=True)
class Arrived:
    """Events since the last message."""

    batch: list[AnyEvent]


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The connection came up or broke."""

    link: Link
    reason: str = ""


FeedMessage = Loaded | Arrived | LinkChanged


class Feed:
    """Reads a source and hands out messages, events at most every `drain_seconds` as one batch, and less often to a screen that is busy."""

    def __init__(
        self,
        source: TrafficSource,
        emit: Callable[[FeedMessage], object],
        *,
        drain_seconds: float = DRAIN_SECONDS,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        """`worked` gives the seconds of processor time that the loop's thread has used; what it draws is part of them."""
        self._source = source
        self._emit = emit
        self._drain_seconds = drain_seconds
        self._pause = pause
        self._pending: list[AnyEvent] = []
        self._drain: asyncio.TimerHandle | None = None
        self._last_drain = 0.0
        self._worked = worked
        self._worked_then = 0.0
        """Processor time at the last drain."""

    async def run(self) -> None:
        """Run until cancelled. Breaks are reported and retried after 0.2 s, growing to 2 s."""
        failures = 0
        try:
            while True:
                try:
                    status, listing = await self._source.status(), await self._source.exchanges()
                    self._flush()
                    self._emit(Loaded(status, listing))
                    self._emit(LinkChanged(Link.LIVE))
                    failures = 0
                    async for batch in self._source.follow(listing.seq):
                        self._collect(list(batch))
                    reason = "the worker closed the connection"
                except ResyncNeeded:
                    continue
                except (WorkerGone, Refused) as error:
                    reason = str(error)
                self._flush()
                self._emit(LinkChanged(Link.LOST, reason))
                await self._pause(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
                failures += 1
        finally:
            if self._drain is not None:
                self._drain.cancel()

    def _collect(self, batch: list[AnyEvent]) -> None:
        if not batch:
            return
        self._pending.extend(batch)
        if self._drain is None:
            self._drain_in(self._drain_seconds)

    def _drain_in(self, seconds: float) -> None:
        """Hand out once `seconds` have passed since the last time."""
        loop = asyncio.get_running_loop()
        self._drain = loop.call_later(max(0.0, self._last_drain + seconds - loop.time()), self._due)

    def _due(self) -> None:
        passed = asyncio.get_running_loop().time() - self._last_drain
        wanted = min((self._worked() - self._worked_then) / _SHARE, _SLOWEST_SECONDS)
        if self._drain_seconds and passed < wanted:
            self._drain_in(wanted)
        else:
            self._flush()

    def _flush(self) -> None:
        if self._drain is not None:
            self._drain.cancel()
            self._drain = None
        if self._pending:
            batch, self._pending = self._pending, []
            self._last_drain, self._worked_then = asyncio.get_running_loop().time(), self._worked()
            self._emit(Arrived(batch))
