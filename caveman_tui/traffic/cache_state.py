"""What the provider's cache holds of each conversation now, as far as its exchanges tell.

The length of a prefix is what the provider reported as read and written. Lifetimes are those of the markers that went out, counted from
the start of the last request that wrote or read the entry; that is inferred, for no provider says what it still holds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from caveman_tui.core.policy import Dialect
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.cache_miss import LIFETIMES, Cause, Miss, cached_tokens, find_miss, first_miss
from caveman_tui.traffic.log import Changes

PAUSE_SECONDS = 60.0
"""Between the starts of two requests; shorter ones are the work of a loop."""
_PAUSES_KEPT = 5
_LOOKED_AT = 500
"""Exchanges of one conversation that are looked at, the newest ones."""
_ALL_CHANGE = frozenset({Cause.MODEL, Cause.TOOLS, Cause.SYSTEM, Cause.SWITCHES, Cause.MESSAGE, Cause.REWOUND, Cause.NEW})
"""Causes after which an entry of before is no prefix of this conversation any more."""

Key = tuple[str, str, str]
"""Conversation, agent, model: what shares cache entries."""


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """One entry of the cache."""

    ttl: str
    tokens: int | None
    """Its length, by the provider's usage; None where that cannot be told from it."""
    since: float
    """Start of the last request that wrote or read it."""
    pointer: str
    """The marker that it ends at, empty for the automatic one."""

    def left(self, now: float) -> float:
        """Seconds until it lapses; zero or less once it has."""
        return self.since + LIFETIMES[self.ttl] - now


@dataclass(frozen=True, slots=True)
class Pause:
    """A stretch without requests."""

    ended_at: float
    seconds: float
    share: float | None
    """How much of its input the request after it read from the cache, 0 to 1."""


@dataclass(frozen=True, slots=True)
class CacheState:
    """A conversation (or a sub-agent of one) with one model."""

    last: Exchange
    """Its newest request."""
    requests: int
    prefix: int | None
    """Tokens of the longest prefix that is cached, or was; None where the provider said nothing of it."""
    entries: tuple[CachedPrefix, ...]
    """The longest of each lifetime, an hour's first."""
    pauses: tuple[Pause, ...]
    """Newest first."""
    miss: Miss | None
    """The last one."""

    @property
    def key(self) -> Key:
        """What it is a row for."""
        return key_of(self.last)

    @property
    def running(self) -> bool:
        """Whether a request is under way."""
        return self.last.state in ("open", "responding")

    def left(self, now: float) -> float | None:
        """Seconds until its last entry lapses; None where no lifetime is known."""
        return max((entry.left(now) for entry in self.entries), default=None)


class CacheBook:
    """The states of all conversations, brought up to date by what changed."""

    def __init__(self) -> None:
        self._exchanges: dict[str, dict[str, Exchange]] = {}
        self._states: dict[str, list[CacheState]] = {}

    def load(self, exchanges: Iterable[Exchange]) -> None:
        """Start anew from all exchanges, oldest first."""
        self._exchanges.clear()
        for exchange in exchanges:
            self._put(exchange)
        self._states = {conversation: list(_states(members.values())) for conversation, members in self._exchanges.items()}

    def apply(self, changes: Changes) -> bool:
        """Take a batch over; whether any state may have changed."""
        touched = {exchange.conversation for exchange in (*changes.added, *changes.updated.values()) if self._put(exchange)}
        for conversation in touched:
            self._states[conversation] = list(_states(self._exchanges[conversation].values()))
        return bool(touched)

    @property
    def states(self) -> list[CacheState]:
        """All of them, the one with the newest request first."""
        return sorted((state for group in self._states.values() for state in group), key=lambda state: -state.last.started_at)

    def _put(self, exchange: Exchange) -> bool:
        if not exchange.conversation or exchange.dialect in ("", Dialect.ANTHROPIC_COUNT_TOKENS):
            return False
        members = self._exchanges.setdefault(exchange.conversation, {})
        members[exchange.id] = exchange
        while len(members) > _LOOKED_AT:
            del members[next(iter(members))]
        return True


def key_of(exchange: Exchange) -> Key:
    """What its cache entries are shared by."""
    return exchange.conversation, exchange.agent, exchange.model


def _states(exchanges: Iterable[Exchange]) -> Iterator[CacheState]:
    """The states of one conversation's exchanges, oldest first."""
    groups: dict[Key, list[Exchange]] = {}
    others: dict[Key, Exchange | None] = {}
    newest: dict[tuple[str, str], Exchange] = {}
    for exchange in exchanges:
        if not _caches(exchange):
            continue
        key = key_of(exchange)
        others.setdefault(key, newest.get(key[:2]))
        groups.setdefault(key, []).append(exchange)
        newest[key[:2]] = exchange
    for key, group in groups.items():
        yield _state(group, others[key])


def _caches(exchange: Exchange) -> bool:
    """Whether it asked for caching or got it. Side requests of clients (titles, probes) do neither, and tell nothing of the rest."""
    if exchange.state in ("failed", "provider-error"):
        return False
    if exchange.dialect == Dialect.ANTHROPIC_MESSAGES:
        return bool(exchange.markers_after) or bool(cached_tokens(exchange))
    return True


def _state(group: list[Exchange], other_model: Exchange | None) -> CacheState:
    entries: dict[str, CachedPrefix] = {}
    miss: Miss | None = None
    pauses: list[Pause] = []
    settled: Exchange | None = None
    for exchange in group:
        if cached_tokens(exchange) is None:
            continue
        if settled is None:
            found: Miss | None = first_miss(exchange, other_model)
        else:
            found = find_miss(settled, exchange)
            seconds = exchange.started_at - settled.started_at
            if seconds >= PAUSE_SECONDS:
                pauses.append(Pause(exchange.started_at, seconds, exchange.usage.cache_read_share if exchange.usage else None))
        if found is not None:
            miss = found
            if found.cause in _ALL_CHANGE:
                entries.clear()
        entries.update(_entries(exchange, entries))
        settled = exchange
    return CacheState(
        last=group[-1],
        requests=len(group),
        prefix=cached_tokens(settled) if settled else None,
        entries=tuple(entries[ttl] for ttl in ("1h", "5m") if ttl in entries),
        pauses=tuple(reversed(pauses[-_PAUSES_KEPT:])),
        miss=miss,
    )


def _entries(exchange: Exchange, known: dict[str, CachedPrefix]) -> dict[str, CachedPrefix]:
    """What a request wrote or read, by lifetime: each of its markers ends an entry that lives on from the request's start."""
    total, usage = cached_tokens(exchange), exchange.usage
    found: dict[str, CachedPrefix] = {}
    if not total or usage is None:
        # Below the shortest prefix that is cached a provider reports zeros.
        return found
    last = exchange.markers_after[-1] if exchange.markers_after else None
    for marker in exchange.markers_after:
        if marker.ttl not in LIFETIMES or marker.ineligible:
            continue
        tokens: int | None = None
        if marker is last:
            tokens = total
        elif marker.ttl == "1h" and usage.cache_write_1h_tokens:
            # An hour's markers come before the others, so what was read and what was written for an hour end at the last of them.
            tokens = (usage.cache_read_tokens or 0) + usage.cache_write_1h_tokens
        elif (before := known.get(marker.ttl)) is not None and before.pointer == marker.pointer:
            # Where it was read whole the entry is still the one whose length was seen when it was written.
            tokens = before.tokens if before.tokens is not None and before.tokens <= (usage.cache_read_tokens or 0) else None
        found[marker.ttl] = CachedPrefix(marker.ttl, tokens, exchange.started_at, marker.pointer)
    return found
