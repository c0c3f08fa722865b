"""Which exchanges hold the texts of a `body:` filter, as far as the worker has looked."""

import contextlib
from collections.abc import Callable, Iterable, Sequence

from caveman_tui.protocol.control import SearchEnd
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.source import TrafficSource

_AT_A_TIME = 100
"""Exchanges that one request names."""


class BodyHits:
    """Looks for texts in all bodies that the worker has in memory, and then in those of every exchange that ends after that."""

    def __init__(self, source: TrafficSource, hit: Callable[[str], object]) -> None:
        """`hit` is told the id of an exchange each time a text was found in it."""
        self._source = source
        self._hit = hit
        self.found: dict[str, set[str]] = {}
        """Texts that were looked for, with the ids of the exchanges that hold them."""
        self._texts: Sequence[str] = ()
        self._seen: set[str] = set()
        """Exchanges that had ended when they were looked into, or that are waiting for it."""
        self._waiting: list[str] = []

    def begin(self, texts: Sequence[str], exchanges: Iterable[Exchange]) -> None:
        """Look for `texts` from now on, in place of those before; `exchanges` are all that are known."""
        self._texts = texts
        self.found.update({text: set() for text in texts})
        self._seen = {exchange.id for exchange in exchanges if _ended(exchange)} if texts else set()
        self._waiting = []

    async def search_all(self) -> SearchEnd:
        """Look into everything in memory, newest first; what was looked through for the last text. Raises WorkerGone, Refused."""
        end = SearchEnd(searched=0, without_bodies=0)
        for text in self._texts:
            end = await self._search(text) or end
        return end

    def note(self, exchanges: Iterable[Exchange]) -> bool:
        """Remember those of `exchanges` that have ended and were not looked into since; whether there are any."""
        if self._texts:
            fresh = [exchange.id for exchange in exchanges if _ended(exchange) and exchange.id not in self._seen]
            self._seen.update(fresh)
            self._waiting += fresh
        return bool(self._waiting)

    async def search_noted(self) -> None:
        """Look into what `note` remembered, until nothing is left. Raises WorkerGone, Refused."""
        while self._waiting:
            ids, self._waiting = self._waiting[:_AT_A_TIME], self._waiting[_AT_A_TIME:]
            for text in self._texts:
                await self._search(text, ids)

    async def _search(self, text: str, ids: Sequence[str] = ()) -> SearchEnd | None:
        async with contextlib.aclosing(self._source.search(text, ids)) as results:
            async for result in results:
                if isinstance(result, SearchEnd):
                    return result
                self.found[text].add(result.exchange)
                self._hit(result.exchange)
        return None


def _ended(exchange: Exchange) -> bool:
    return exchange.duration_ms is not None
