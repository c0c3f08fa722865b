"""The tool catalogs that passed, by conversation, and each as a row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from caveman_tui.core.amounts import Label
from caveman_tui.core.policy import Level
from caveman_tui.protocol.control import CatalogDetail, Conversation
from caveman_tui.protocol.events import ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.cache_rows import name
from caveman_tui.traffic.fit import fit
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.status_line import Part

Key = tuple[str, str, str, Level]
"""Conversation, agent, digest, level."""

_NAME, _TOOLS, _COUNT, _RATIO, _MODE, _CLOCK, _DIGEST, _REQUESTS = 9, 5, 7, 6, 10, 8, 8, 5
_MODE_FROM, _TIMES_FROM = 60, 92


@dataclass(frozen=True, slots=True)
class CatalogSeen:
    """One catalog in one conversation."""

    summary: ToolsSummary
    """As the last request told it."""
    first: Exchange
    last: Exchange
    requests: int

    @property
    def key(self) -> Key:
        """What it is a row for."""
        return self.last.conversation, self.last.agent, self.summary.digest, self.summary.level

    @property
    def title(self) -> str:
        """`3f2a9c d1e2f3a4`: conversation and digest, for a heading."""
        return f"{name(self.last)} {one_line(self.summary.digest)[:_DIGEST]}"


class CatalogBook:
    """All catalogs of all conversations, brought up to date by what changed."""

    def __init__(self) -> None:
        self._seen: dict[Key, dict[str, tuple[Exchange, ToolsSummary]]] = {}

    def load(self, exchanges: Iterable[Exchange]) -> None:
        """Start anew from all exchanges, oldest first."""
        self._seen.clear()
        for exchange in exchanges:
            self._put(exchange)

    def apply(self, changes: Changes) -> bool:
        """Take a batch over; whether any catalog may have changed."""
        # All of them must be put, so no short cut of `any`.
        return any([self._put(exchange) for exchange in (*changes.added, *changes.updated.values())])

    @property
    def catalogs(self) -> list[CatalogSeen]:
        """All of them, the one that was sent last first."""
        rows = []
        for group in self._seen.values():
            members = list(group.values())
            rows.append(CatalogSeen(summary=members[-1][1], first=members[0][0], last=members[-1][0], requests=len(members)))
        return sorted(rows, key=lambda row: -row.last.started_at)

    def _put(self, exchange: Exchange) -> bool:
        for summary in exchange.tools:
            key = (exchange.conversation, exchange.agent, summary.digest, summary.level)
            self._seen.setdefault(key, {})[exchange.id] = (exchange, summary)
        return bool(exchange.tools)


def document(catalog: CatalogDetail, *, shrunk: bool) -> bytes:
    """The catalog as one JSON array, as it came or as shrunk."""
    return b"[" + b",".join((tool.after if shrunk else tool.before).encode("utf-8", "replace") for tool in catalog.tools) + b"]"


def header(width: int) -> Line:
    """Column titles over the rows."""
    text = f"   {'CONV':<{_NAME}}  {'TOOLS':>{_TOOLS}}  {'BEFORE':>{_COUNT}} {'AFTER':>{_COUNT}} {'RATIO':>{_RATIO}}"
    text += f"  {'MODE':<{_MODE}}" if width >= _MODE_FROM else ""
    text += f"  {'REQS':>{_REQUESTS}}  {'FIRST':<{_CLOCK}}  {'LAST':<{_CLOCK}}  DIGEST" if width >= _TIMES_FROM else ""
    return (Span(text, Role.HEADING),)


def row_line(seen: CatalogSeen, width: int, zone: tzinfo | None, *, marked: bool) -> Line:
    """One catalog: sign, conversation, tools, tokens (or bytes) before and after, ratio, whether it was applied, and when."""
    summary = seen.summary
    changed = summary.bytes_before != summary.bytes_after
    counted = summary.tokens_before is not None and summary.tokens_after is not None
    before = format.count(summary.tokens_before) if counted else format.size(summary.bytes_before)
    after = format.count(summary.tokens_after) if counted else format.size(summary.bytes_after)
    ratio = format.percent(summary.ratio) if changed else "·"
    applied = summary.applied and changed
    role = Role.REMOVED if applied else Role.MUTED
    spans = [
        Span(" "),
        Span("~" if applied else "=", role),
        Span("*" if marked else " ", Role.ACCENT),
        Span(fit(name(seen.last), _NAME)),
        Span(f"  {summary.tools:>{_TOOLS},}"),
        Span(f"  {before:>{_COUNT}}", Role.MUTED),
        Span(f" {after:>{_COUNT}}"),
        Span(f" {ratio if applied or not changed else f'({ratio})':>{_RATIO}}", role),
    ]
    if width >= _MODE_FROM:
        spans.append(Span("  " + fit(_mode(summary), _MODE), role))
    if width >= _TIMES_FROM:
        times = f"  {format.clock(seen.first.started_at, zone):<{_CLOCK}}  {format.clock(seen.last.started_at, zone):<{_CLOCK}}"
        spans.append(Span(f"  {seen.requests:>{_REQUESTS},}{times}  {one_line(summary.digest)[:_DIGEST]}", Role.MUTED))
    return tuple(spans)


def status_parts(catalogs: Sequence[CatalogSeen], current: CatalogSeen | None, pins: Sequence[Conversation] | None) -> list[Part]:
    """How many there are, and what the current one's conversation is pinned to; `pins` is None where that is not known."""
    parts = [Part(0, (Span(format.plural(len(catalogs), "catalog"), Role.STRONG),))]
    if current is not None and pins is not None:
        parts.append(Part(1, (Span(f"{name(current.last)} ", Role.MUTED), Span(pinned_to(current.last.conversation, pins)))))
    parts.append(Part(2, (Span(f"tokens {Label.INFERRED.value}", Role.MUTED),)))
    return parts


def pinned_to(conversation: str, pins: Sequence[Conversation]) -> str:
    """What a conversation is pinned to, in a few words."""
    pin = next((pin for pin in pins if pin.id == conversation), None)
    if pin is None or pin.shrink is None:
        return "not pinned"
    refused = ", refused by the provider" if pin.tools_refused else ""
    return f"pinned to {pin.shrink.value}{f', {pin.level.value}' if pin.level else ''}{refused}"


def _mode(summary: ToolsSummary) -> str:
    if summary.bytes_before == summary.bytes_after:
        return "as it came"
    return "shrunk" if summary.applied else "measured"
