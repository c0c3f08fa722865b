"""The columns of the traffic list: what each shows of an exchange, how wide it is, and which ones fit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.policy import Dialect
from caveman_tui.core.reasons import BODY_REFUSALS
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.format import UNKNOWN
from caveman_tui.traffic.lines import Role, Span
from caveman_tui.traffic.safe_text import one_line

WIDE_FROM = 100
"""Screen width in columns from which all columns are shown; below it the core ones."""
TWO_LINES_BELOW = 60
_NOTE_AT_LEAST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Its cell never draws more than `width` columns."""

    id: str
    title: str
    width: int
    align: Literal["left", "right"]
    core: bool
    rank: int
    """Columns with a high rank are the first to go where the width is short."""
    cell: Callable[[Exchange, tzinfo | None], Span]


_SHORT_REASONS = {
    "loop-shortened": "loop to 5m",
    "nested-shortened": "nested to 5m",
    "automatic-shortened": "automatic to 5m",
    "headless-shortened": "headless to 5m",
    "headless-system-shortened": "system to 5m",
    "prompt-anchored": "prompt +1h",
    "prompt-raised": "prompt to 1h",
    "re-anchored": "re-anchored",
}
"""Reason codes of marker edits (`core.reasons`), short enough for a list."""


def sign(exchange: Exchange) -> Span:
    """The state of an exchange as one character."""
    if exchange.state in ("open", "responding"):
        return Span("●", Role.ACCENT)
    if exchange.state in ("provider-error", "broken", "failed"):
        return Span("✗", Role.BAD)
    if exchange.warnings or exchange.violations:
        return Span("!", Role.WARN)
    if exchange.state == "cancelled":
        return Span("-", Role.MUTED)
    return Span("✓", Role.GOOD)


def short_model(name: str) -> str:
    """A model's name without the maker and the date."""
    return re.sub(r"^(?:anthropic/|openai/)?(?:claude-)?|-20\d{6}$", "", name)


def ttl_letters(markers: tuple[Marker, ...]) -> str:
    """Markers in prefix order, a letter each: `h` one hour, `m` five minutes, `?` anything else."""
    return "".join({"1h": "h", "5m": "m"}.get(marker.ttl, "?") for marker in markers)


def note(exchange: Exchange) -> Span:
    """What there is to say about an exchange, in a few words."""
    if exchange.note:
        return Span(one_line(exchange.note), Role.WARN if exchange.warnings or exchange.state != "done" else Role.MUTED)
    if exchange.violations:
        return Span(one_line(f"{exchange.violations[0].code} {exchange.violations[0].culprit}"), Role.WARN)
    if not exchange.dialect:
        return Span(one_line(f"{exchange.method} {exchange.path}"), Role.MUTED)
    if exchange.dialect == Dialect.ANTHROPIC_COUNT_TOKENS:
        return Span("counts tokens", Role.MUTED)
    refused = [reason.code for reason in exchange.reasons if reason.code in BODY_REFUSALS]
    if refused:
        return Span(refused[0], Role.MUTED)
    counts: dict[str, int] = {}
    for edit in exchange.marker_edits:
        counts[edit.reason] = counts.get(edit.reason, 0) + 1
    said = [f"{_SHORT_REASONS.get(code, code)}{f' x{count}' if count > 1 else ''}" for code, count in counts.items()]
    return Span(one_line(", ".join(said)), Role.MUTED)


def _time(exchange: Exchange, zone: tzinfo | None) -> Span:
    return Span(format.clock(exchange.started_at, zone), Role.MUTED)


def _conversation(exchange: Exchange, _: tzinfo | None) -> Span:
    if not exchange.conversation:
        return Span(UNKNOWN, Role.MUTED)
    agent = f"›{format.short_id(one_line(exchange.agent), 2)}" if exchange.agent else ""
    return Span(format.short_id(one_line(exchange.conversation)) + agent)


def _model(exchange: Exchange, _: tzinfo | None) -> Span:
    if not exchange.model:
        return Span(UNKNOWN, Role.MUTED)
    return Span(one_line(short_model(exchange.model)), Role.STRONG)


def _status(exchange: Exchange, _: tzinfo | None) -> Span:
    if exchange.status is None:
        return Span("…" if exchange.state == "open" else UNKNOWN, Role.MUTED)
    return Span(str(exchange.status), Role.BAD if exchange.status >= 400 else Role.TEXT)


def _input(exchange: Exchange, _: tzinfo | None) -> Span:
    return Span(format.count(exchange.usage.total_input_tokens if exchange.usage else None))


def _read(exchange: Exchange, _: tzinfo | None) -> Span:
    value = exchange.usage.cache_read_share if exchange.usage else None
    return Span(format.percent(value), Role.GOOD if value is not None and value >= 0.5 else Role.TEXT)


def _markers(exchange: Exchange, _: tzinfo | None) -> Span:
    if exchange.dialect == "" or (not exchange.markers_before and not exchange.markers_after):
        return Span("·", Role.MUTED)
    before, after = ttl_letters(exchange.markers_before), ttl_letters(exchange.markers_after)
    if not exchange.marker_edits:
        return Span(before, Role.MUTED)
    return Span(f"{before or '·'}>{after}"[:9], Role.ADDED)


def _tools(exchange: Exchange, _: tzinfo | None) -> Span:
    if not exchange.tools:
        return Span("·", Role.MUTED)
    before = sum(tools.bytes_before for tools in exchange.tools)
    after = sum(tools.bytes_after for tools in exchange.tools)
    ratio = format.percent((before - after) / before if before else 0.0)
    if any(tools.applied for tools in exchange.tools):
        return Span(ratio, Role.REMOVED)
    return Span(f"({ratio})", Role.MUTED)


def _ttfb(exchange: Exchange, _: tzinfo | None) -> Span:
    return Span(format.duration(exchange.ttfb_ms))


def _took(exchange: Exchange, _: tzinfo | None) -> Span:
    return Span(format.duration(exchange.duration_ms))


COLUMNS: tuple[Column, ...] = (
    Column("time", "TIME", 8, "left", True, 4, _time),
    Column("conversation", "CONV", 9, "left", True, 6, _conversation),
    Column("model", "MODEL", 13, "left", True, 0, _model),
    Column("status", "ST", 3, "left", True, 1, _status),
    Column("input", "INPUT", 6, "right", True, 2, _input),
    Column("read", "READ", 4, "right", True, 3, _read),
    Column("markers", "MARKERS", 9, "left", True, 2, _markers),
    Column("tools", "TOOLS", 6, "right", True, 3, _tools),
    Column("ttfb", "TTFB", 5, "right", False, 8, _ttfb),
    Column("took", "TOOK", 5, "right", True, 5, _took),
)
SIGN_WIDTH = 3
"""The cursor's bar, the sign and a blank."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that fit a width, the gap between two, and what is left for the note (0: no note)."""

    columns: tuple[Column, ...]
    gap: int
    note: int


def layout(width: int, *, wide: bool) -> Layout:
    """Choose columns for `width`; `wide` says whether the screen is wide enough for more than the core."""
    chosen = [column for column in COLUMNS if wide or column.core]
    while len(chosen) > 1 and _used(chosen, 1) > width:
        chosen.remove(max(chosen, key=lambda column: column.rank))
    gap = 2 if width - _used(chosen, 2) >= 20 else 1
    rest = width - _used(chosen, gap) - gap
    return Layout(tuple(chosen), gap, rest if rest >= _NOTE_AT_LEAST else 0)


def _used(columns: list[Column], gap: int) -> int:
    return SIGN_WIDTH + sum(column.width for column in columns) + gap * (len(columns) - 1)
