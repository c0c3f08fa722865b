"""The prompt cache, simulated: what a request reads, what it writes, what it is billed.

Source: Anthropic prompt caching. Entries are written only at markers, and only where the prefix reaches the model's minimum. Reads
look at each marker's position and walk back at most 20 positions from it; the longest prefix found is read. A read renews the life
of the entry, and of the entries at the request's other markers before it. Life runs from the start of the request. An entry can be
read once the response that writes it has begun.
"""

from dataclasses import dataclass, field

from caveman_tui.demo.provider.marker_rules import LIFETIMES, Marker, check_markers
from caveman_tui.demo.provider.models import price_of, smallest_prefix
from caveman_tui.demo.provider.prefix import Block, Json, blocks_of

WALK_BACK = 20
"""Positions that a read goes back from a marker."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the API reports them. `input` is what follows the last marker."""

    input: int = 0
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    output: int = 0

    @property
    def written(self) -> int:
        """All cache writes."""
        return self.write_5m + self.write_1h

    @property
    def total_input(self) -> int:
        """Everything the model read."""
        return self.input + self.read + self.written

    def cost(self, model: str) -> float | None:
        """USD at `model`'s price, None where that isn't known."""
        price = price_of(model)
        if price is None:
            return None
        micro = (
            self.input * price.input
            + self.read * price.read
            + self.write_5m * price.write_5m
            + self.write_1h * price.write_1h
            + self.output * price.output
        )
        return micro / 1e6


@dataclass(frozen=True, slots=True)
class Write:
    """An entry that a request writes."""

    digest: bytes
    ttl: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class Bill:
    """What the cache did for one request; the writes take effect with `PromptCache.publish`."""

    usage: Usage
    writes: tuple[Write, ...] = ()
    markers: tuple[Marker, ...] = ()
    read_up_to: str = ""
    """Path of the last block that was read, empty where nothing was."""


@dataclass(slots=True)
class _Entry:
    ttl: str
    expires_at: float


@dataclass(slots=True)
class PromptCache:
    """All entries of one organisation."""

    _entries: dict[bytes, _Entry] = field(default_factory=dict)

    def bill(self, request: Json, now: float) -> Bill:
        """Look `request` up at `now` (seconds). Raises MarkerRuleBroken where its markers are not allowed; then nothing is touched."""
        blocks = blocks_of(request)
        markers = check_markers(request, blocks)
        upto = _running_totals(blocks)
        minimum = smallest_prefix(str(request.get("model")))
        able = tuple(marker for marker in markers if upto[marker.position] >= minimum)
        total = upto[-1] if upto else 0
        if not able:
            return Bill(usage=Usage(input=total), markers=markers)
        read = self._longest(blocks, able, now)
        self._renew(blocks, able, read, now)
        written = {"5m": 0, "1h": 0}
        writes = []
        at = upto[read] if read is not None else 0
        for marker in able:
            if read is not None and marker.position <= read:
                continue
            written[marker.ttl] += upto[marker.position] - at
            at = upto[marker.position]
            writes.append(Write(blocks[marker.position].digest, marker.ttl, now + LIFETIMES[marker.ttl]))
        usage = Usage(input=total - at, read=upto[read] if read is not None else 0, write_5m=written["5m"], write_1h=written["1h"])
        return Bill(usage=usage, writes=tuple(writes), markers=markers, read_up_to=blocks[read].path if read is not None else "")

    def publish(self, bill: Bill) -> None:
        """The response of the request has begun: what it wrote can be read."""
        for write in bill.writes:
            known = self._entries.get(write.digest)
            if known is None or write.expires_at > known.expires_at:
                self._entries[write.digest] = _Entry(write.ttl, write.expires_at)

    def _alive(self, digest: bytes, now: float) -> _Entry | None:
        entry = self._entries.get(digest)
        if entry is not None and entry.expires_at <= now:
            del self._entries[digest]
            return None
        return entry

    def _longest(self, blocks: tuple[Block, ...], markers: tuple[Marker, ...], now: float) -> int | None:
        within_reach = {p for marker in markers for p in range(max(marker.position - WALK_BACK, 0), marker.position + 1)}
        return next((p for p in sorted(within_reach, reverse=True) if self._alive(blocks[p].digest, now)), None)

    def _renew(self, blocks: tuple[Block, ...], markers: tuple[Marker, ...], read: int | None, now: float) -> None:
        if read is None:
            return
        for position in {read, *(marker.position for marker in markers if marker.position < read)}:
            if entry := self._alive(blocks[position].digest, now):
                entry.expires_at = max(entry.expires_at, now + LIFETIMES[entry.ttl])


def _running_totals(blocks: tuple[Block, ...]) -> list[int]:
    totals: list[int] = []
    running = 0
    for block in blocks:
        running += block.tokens
        totals.append(running)
    return totals
