"""What the status line and the totals line say, in parts of which the least important go first where room is short."""

from dataclasses import dataclass

from caveman_tui.core.amounts import Label
from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.traffic import format
from caveman_tui.traffic.feed import Link
from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import Line, Role, Span, plain
from caveman_tui.traffic.log import TrafficLog
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.view import SortKey, TrafficView


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line; those with a high rank are the first to go."""

    rank: int
    spans: Line

    @property
    def width(self) -> int:
        """Columns it takes."""
        return columns_of(plain(self.spans))


def address(log: TrafficLog) -> str:
    """`host:port` of the worker's proxy, `–` before it is known."""
    if log.status is None:
        return format.UNKNOWN
    host = f"[{log.status.host}]" if ":" in log.status.host else log.status.host
    return f"{host}:{log.status.port}"


def base_url(log: TrafficLog) -> str:
    """What a client's base URL is set to."""
    return f"http://{address(log)}"


def connect_line(log: TrafficLog) -> str:
    """The shell line that sends Claude Code through the worker."""
    return f"export ANTHROPIC_BASE_URL={base_url(log)}"


def status_parts(log: TrafficLog, link: Link) -> list[Part]:
    """Worker, policies, store, open exchanges."""
    settings = log.settings
    parts = [Part(0, _link(log, link))]
    if log.status is None:
        return parts
    parts.append(Part(1, _pair("shrink", _shrink(settings.shrink, settings.level.value), _mode_role(settings.shrink is ShrinkMode.APPLY))))
    ttl_on = settings.loop_ttl is LoopTtlMode.APPLY
    parts.append(Part(2, _pair("loop ttl", settings.loop_ttl.value, _mode_role(ttl_on))))
    parts.append(Part(4, _store(log)))
    parts.append(Part(3, _pair("open", str(log.open_exchanges), Role.ACCENT if log.open_exchanges else Role.TEXT)))
    return parts


def totals_parts(log: TrafficLog, view: TrafficView) -> list[Part]:
    """Counts over everything that passed, each with its label, and how the list follows."""
    totals = log.totals
    shown, everything = len(view.rows), len(log)
    rows = format.plural(everything, "exchange") if shown == everything else f"{shown:,} of {format.plural(everything, 'exchange')}"
    parts = [Part(0, (Span(rows, Role.STRONG if shown != everything else Role.TEXT),))]
    parts.append(Part(4, _pair("markers changed", format.exact(totals.markers_changed), Role.TEXT)))
    inferred: list[tuple[int, str, str]] = []
    if totals.tokens_saved:
        inferred.append((1, "tools saved", f"{format.count(totals.tokens_saved)} tokens"))
    if totals.tokens_measured:
        inferred.append((5, "apply would save", f"{format.count(totals.tokens_measured)} tokens"))
    if totals.priced:
        missing = f", {totals.unpriced:,} unpriced" if totals.unpriced else ""
        inferred.append((2, "cost", f"{format.money(totals.cost)}{missing}"))
    if totals.ttl_known or totals.ttl_unknown:
        missing = f", {totals.ttl_unknown:,} unknown" if totals.ttl_unknown else ""
        inferred.append((3, "loop ttl saved", f"{format.money(totals.ttl_saved if totals.ttl_known else None)}{missing}"))
    for index, (rank, name, value) in enumerate(inferred):
        label = (Span(f"{Label.INFERRED.value}: ", Role.MUTED),) if index == 0 else ()
        parts.append(Part(1 if index == 0 else rank, (*label, *_pair(name, value, Role.TEXT))))
    if view.marks:
        parts.append(Part(1, (Span(f"* {len(view.marked()):,} marked", Role.ACCENT),)))
    if view.cleared:
        parts.append(Part(1, (Span(f"{view.cleared:,} cleared", Role.MUTED),)))
    if view.sort is not SortKey.STARTED:
        way = "falling" if view.descending else "rising"
        parts.append(Part(1, _pair("by", f"{view.sort.value}, {way}", Role.TEXT)))
    return parts


def follow_part(view: TrafficView) -> Line:
    """Whether the list stands still or follows the tail, and what came while it did not."""
    if view.paused:
        return (Span("paused", Role.WARN), Span(f", {view.unseen:,} new" if view.unseen else "", Role.ACCENT))
    if view.unseen:
        return (Span(f"{view.unseen:,} new ↓", Role.ACCENT),)
    if view.following:
        return (Span("following ↓", Role.MUTED),)
    return ()


def fitting(parts: list[Part], width: int, gap: int = 3) -> list[Part]:
    """As many parts as fit `width`, in their order."""
    chosen = list(parts)
    while len(chosen) > 1 and sum(part.width for part in chosen) + gap * (len(chosen) - 1) > width:
        chosen.remove(max(chosen, key=lambda part: part.rank))
    return chosen


def _link(log: TrafficLog, link: Link) -> Line:
    match link:
        case Link.LIVE:
            return (Span("● ", Role.GOOD), Span(address(log), Role.STRONG))
        case Link.LOST:
            name = "worker" if log.status is None else address(log)
            return (Span("✗ ", Role.BAD), Span(f"{name} gone, reconnecting", Role.BAD))
        case Link.CONNECTING:
            return (Span("○ ", Role.MUTED), Span("connecting", Role.MUTED))


def _pair(name: str, value: str, role: Role) -> Line:
    return (Span(f"{name} ", Role.MUTED), Span(value, role))


def _mode_role(on: bool) -> Role:
    return Role.ACCENT if on else Role.TEXT


def _shrink(mode: ShrinkMode, level: str) -> str:
    return mode.value if mode is ShrinkMode.OFF else f"{mode.value} {level}"


def _store(log: TrafficLog) -> Line:
    if log.store.problem:
        return (Span("store ", Role.MUTED), Span(f"✗ {one_line(log.store.problem, 40)}", Role.BAD))
    if log.store.originals is None:
        return _pair("store", format.UNKNOWN, Role.TEXT)
    return _pair("store", f"{log.store.originals:,} · {format.size(log.store.payload_bytes)}", Role.TEXT)
