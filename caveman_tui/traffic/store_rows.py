"""The recovery store as rows and text."""

from collections.abc import Sequence

from caveman_tui.ccr import Record, StoreStats
from caveman_tui.core.amounts import Label
from caveman_tui.traffic import format
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.status_line import Part

_HANDLE_WIDTH = 14
_HANDLE_WIDTH_NARROW = 8
_NARROW_BELOW = 46
_DATED_FROM = 60
"""Columns from which the year is shown."""
_SIZE_WIDTH = 8


def header(records: Sequence[Record], width: int) -> Line:
    """Column titles over the rows."""
    kind = _kind_width(records, width)
    titles = f"   {'STORED':<{_time_width(width)}}  {'HANDLE':<{_handle_width(width)}}  {fit('TYPE', kind)}  {'SIZE':>{_SIZE_WIDTH}}"
    return (Span(titles + (f"  {'TOKENS':>14}" if _with_tokens(width) else ""), Role.HEADING),)


def row_line(records: Sequence[Record], index: int, width: int) -> Line:
    """One original; `?` marks one whose hash cannot be checked."""
    record = records[index]
    kind = _kind_width(records, width)
    sign = Span(" ? ", Role.WARN) if not record.verified else Span("   ")
    spans = [
        sign,
        Span(f"{stored_at(record)[-_time_width(width) :]:<{_time_width(width)}}  ", Role.MUTED),
        Span(fit(one_line(record.handle), _handle_width(width)) + "  "),
        Span(fit(_kind(record), kind), Role.MUTED if record.is_object else Role.TEXT),
        Span(f"  {format.size(record.original_bytes):>{_SIZE_WIDTH}}"),
    ]
    if _with_tokens(width):
        counts = f"{format.count(record.tokens_before)} > {format.count(record.tokens_after)}"
        spans.append(Span(f"  {counts if record.tokens_before is not None else format.UNKNOWN:>14}", Role.MUTED))
    return tuple(spans)


def stored_at(record: Record) -> str:
    """`2026-11-29 21:03`, UTC as it stands in the store."""
    return one_line(record.created_at)[:16].replace("T", " ")


def facts(record: Record) -> list[Line]:
    """What is known of an original beside its bytes."""
    tokens = format.UNKNOWN
    if record.tokens_before is not None:
        tokens = f"{format.exact(record.tokens_before)} > {format.exact(record.tokens_after)} {Label.INFERRED.value}"
    rows = [
        ("handle", one_line(record.handle)),
        ("stored", f"{one_line(record.created_at)[:19].replace('T', ' ')} UTC"),
        ("type", one_line(record.content_type) + (", a session object of another tool" if record.is_object else "")),
        ("size", f"{format.exact(record.original_bytes)} bytes"),
        ("tokens", tokens),
    ]
    if record.session:
        rows.append(("session", one_line(record.session)))
    if not record.verified:
        rows.append(("hash", "can't be checked: it was stored shorter than its original"))
    return [(Span(name.ljust(9), Role.MUTED), Span(value)) for name, value in rows]


def stats_parts(stats: StoreStats, shown: int, search: str) -> list[Part]:
    """Path, counts and budget."""
    used = format.percent(stats.payload_bytes / stats.budget_bytes if stats.budget_bytes else None)
    everything = stats.originals + stats.objects
    count = f"{shown:,} of {everything:,} contain {one_line(search)}" if search else format.plural(everything, "original")
    return [
        Part(0, (Span(count, Role.STRONG),)),
        Part(1, (Span(f"{format.size(stats.payload_bytes)} of {format.size(stats.budget_bytes)}, {used}"),)),
        Part(2, (Span(one_line(stats.path), Role.MUTED),)),
    ]


def _with_tokens(width: int) -> bool:
    return width >= 78


def _time_width(width: int) -> int:
    return len("2026-11-29 21:03") if width >= _DATED_FROM else len("11-29 21:03")


def _handle_width(width: int) -> int:
    return _HANDLE_WIDTH if width >= _NARROW_BELOW else _HANDLE_WIDTH_NARROW


def _kind(record: Record) -> str:
    what = one_line(record.content_type, 60)
    if record.compressor and record.compressor != record.content_type:
        what += f" · {one_line(record.compressor, 60)}"
    return what


def _kind_width(records: Sequence[Record], width: int) -> int:
    fixed = 3 + _time_width(width) + 2 + _handle_width(width) + 2 + 2 + _SIZE_WIDTH + (16 if _with_tokens(width) else 0)
    longest = max((columns_of(_kind(record)) for record in records), default=0)
    return max(2, min(longest, width - fixed))
