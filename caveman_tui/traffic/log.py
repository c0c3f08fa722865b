"""All exchanges that the screen knows of: the fold of the worker's events, with the settings and the store's state."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from caveman_tui.protocol.control import ExchangeList, Status, StoreStatus
from caveman_tui.protocol.events import AnyEvent, ExchangeStarted, Settings, SettingsChanged, StoreChanged, Warned
from caveman_tui.protocol.exchanges import Exchange, fold, open_exchange
from caveman_tui.traffic.totals import Totals

_SLACK = 500
"""How far the list may grow over its limit before the oldest go, so that they go in one cut and not one by one."""


@dataclass(slots=True)
class Changes:
    """What a batch of events did to the log."""

    added: list[Exchange] = field(default_factory=list)
    updated: dict[str, Exchange] = field(default_factory=dict)
    reloaded: bool = False
    """Rows may have come, gone or changed anywhere."""
    settings: bool = False
    store: bool = False
    warnings: list[Warned] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation as far as its exchanges tell."""

    id: str
    client: str
    exchanges: int
    agents: int
    last_at: float


class TrafficLog:
    """Exchanges in order of arrival, at most about `limit` of them."""

    def __init__(self, limit: int = 10_000) -> None:
        self.limit = limit
        self.exchanges: dict[str, Exchange] = {}
        self.instance = ""
        self.seq = 0
        self.status: Status | None = None
        self.settings = Settings()
        self.store = StoreStatus(path="")
        self.warnings: deque[Warned] = deque(maxlen=200)
        self.totals = Totals()
        self._arrivals: dict[str, int] = {}
        self._next_arrival = 0
        self._open: set[str] = set()

    def __len__(self) -> int:
        return len(self.exchanges)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self.exchanges.values())

    def get(self, exchange_id: str) -> Exchange | None:
        """The exchange of that id, None where it is not (or no longer) here."""
        return self.exchanges.get(exchange_id)

    def arrival(self, exchange_id: str) -> int:
        """Position in the order of arrival; grows from exchange to exchange and never changes. -1 for what is not (or no longer) here."""
        return self._arrivals.get(exchange_id, -1)

    @property
    def next_arrival(self) -> int:
        """The position that the next exchange gets."""
        return self._next_arrival

    @property
    def open_exchanges(self) -> int:
        """How many have not ended."""
        return len(self._open)

    @property
    def last_activity(self) -> float | None:
        """When the newest exchange started."""
        newest = next(reversed(self.exchanges.values()), None)
        return newest.started_at if newest else None

    def load(self, status: Status, listing: ExchangeList) -> Changes:
        """Start from what the worker has in memory; exchanges that only we remember stay.

        Where another worker took the place of the one before, what was open in that one has ended without our seeing how.
        """
        if listing.instance != self.instance:
            for exchange in self:
                if exchange.state in ("open", "responding"):
                    exchange.state = "broken"
                    exchange.note = "the worker ended"
            self._open.clear()
            self.instance = listing.instance
        self.seq = listing.seq
        self.status = status
        self.settings = status.settings
        self.store = status.store
        for exchange in listing.exchanges:
            self._put(exchange)
        self._trim()
        return Changes(reloaded=True, settings=True, store=True)

    def apply(self, batch: Iterable[AnyEvent]) -> Changes:
        """Fold `batch` in. Events at or below the newest sequence number are known already and skipped."""
        changes = Changes()
        for event in batch:
            if event.seq and event.seq <= self.seq:
                continue
            self.seq = max(self.seq, event.seq)
            self._apply_one(event, changes)
        for exchange in (*changes.added, *changes.updated.values()):
            self.totals.account(exchange)
        changes.reloaded = self._trim()
        return changes

    def conversations(self) -> list[ConversationSummary]:
        """All conversations, the one that was busy last first."""
        groups: dict[str, list[Exchange]] = {}
        for exchange in self:
            groups.setdefault(exchange.conversation, []).append(exchange)
        return sorted((_summary(name, group) for name, group in groups.items()), key=lambda c: c.last_at, reverse=True)

    def _apply_one(self, event: AnyEvent, changes: Changes) -> None:
        match event:
            case ExchangeStarted():
                exchange = open_exchange(event)
                self._put(exchange)
                changes.added.append(exchange)
            case SettingsChanged():
                self.settings = event.settings
                changes.settings = True
            case StoreChanged():
                self.store = StoreStatus(
                    path=self.store.path,
                    problem=event.problem,
                    originals=event.originals if event.originals is not None else self.store.originals,
                    payload_bytes=event.payload_bytes if event.payload_bytes is not None else self.store.payload_bytes,
                    budget_bytes=self.store.budget_bytes,
                )
                changes.store = True
            case _:
                if isinstance(event, Warned):
                    self.warnings.append(event)
                    changes.warnings.append(event)
                known = self.exchanges.get(event.exchange if isinstance(event, Warned) else event.id)
                if known is not None:
                    fold(known, event)
                    self._note_state(known)
                    changes.updated[known.id] = known

    def _put(self, exchange: Exchange) -> None:
        if exchange.id not in self._arrivals:
            self._arrivals[exchange.id] = self._next_arrival
            self._next_arrival += 1
        self.exchanges[exchange.id] = exchange
        self._note_state(exchange)
        self.totals.account(exchange)

    def _note_state(self, exchange: Exchange) -> None:
        if exchange.state in ("open", "responding"):
            self._open.add(exchange.id)
        else:
            self._open.discard(exchange.id)

    def _trim(self) -> bool:
        if len(self.exchanges) <= self.limit + _SLACK:
            return False
        for exchange_id in list(self.exchanges)[: len(self.exchanges) - self.limit]:
            del self.exchanges[exchange_id]
            del self._arrivals[exchange_id]
            self._open.discard(exchange_id)
            self.totals.settle(exchange_id)
        return True


def _summary(name: str, group: Sequence[Exchange]) -> ConversationSummary:
    return ConversationSummary(
        id=name,
        client=group[-1].client,
        exchanges=len(group),
        agents=len({exchange.agent for exchange in group if exchange.agent}),
        last_at=group[-1].started_at,
    )
