"""The tools of a catalog before and after: a row each, and one tool's text with what was kept and dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.core.amounts import Label
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import explain_tool
from caveman_tui.core.shrink.model import ShrunkDescription, ShrunkTool
from caveman_tui.protocol.control import CatalogDetail, CatalogTool
from caveman_tui.protocol.events import ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.body_text import indented
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line, safe

BAR_WIDTH = 10
_RATIO_WIDTH = 6
_COUNT_WIDTH = 7


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool; sizes are bytes of its JSON, token counts inferred."""

    tool: CatalogTool
    bytes_before: int
    bytes_after: int

    @property
    def ratio(self) -> float:
        """Fraction of bytes removed; negative where it grew."""
        return (self.bytes_before - self.bytes_after) / self.bytes_before if self.bytes_before else 0.0


class ToolOrder(StrEnum):
    """What the rows are ordered by."""

    SENT = "sent"
    """As they stand in the request."""
    SIZE = "size"
    SAVED = "saved"
    RATIO = "ratio"
    NAME = "name"


def arranged(rows: Sequence[ToolRow], order: ToolOrder, *, only_changed: bool) -> list[ToolRow]:
    """The rows to show, the largest first (names from A); rows that are alike stay as they were sent."""
    chosen = [row for row in rows if row.bytes_before != row.bytes_after or not only_changed]
    match order:
        case ToolOrder.SENT:
            return chosen
        case ToolOrder.SIZE:
            return sorted(chosen, key=lambda row: -row.bytes_before)
        case ToolOrder.SAVED:
            return sorted(chosen, key=lambda row: row.bytes_after - row.bytes_before)
        case ToolOrder.RATIO:
            return sorted(chosen, key=lambda row: -row.ratio)
        case ToolOrder.NAME:
            return sorted(chosen, key=lambda row: row.tool.name.casefold())


def tool_rows(catalogs: Sequence[CatalogDetail]) -> list[ToolRow]:
    """The tools of these catalogs in their order."""
    return [ToolRow(tool, _size(tool.before), _size(tool.after)) for catalog in catalogs for tool in catalog.tools]


def summary(exchange: Exchange, width: int) -> list[Line]:
    """What shrinking did to the catalogs of an exchange, a line or two each."""
    if not exchange.tools:
        return [line("No tools in this request.", Role.MUTED)]
    lines: list[Line] = []
    for tools in exchange.tools:
        lines += _one_catalog(tools, width)
    return lines


def header(rows: Sequence[ToolRow], width: int, order: ToolOrder = ToolOrder.SENT, *, only_changed: bool = False) -> Line:
    """Column titles over the rows; the one that they are ordered by is marked, and that some are left out is said."""
    name, bar = _widths(rows, width)
    tool = "TOOL↓" if order is ToolOrder.NAME else "TOOL"
    spans = [Span(f"   {fit(f'{tool} (changed)' if only_changed else tool, name)}", Role.HEADING)]
    for title, width_of, by in (
        ("BEFORE", _COUNT_WIDTH, ToolOrder.SIZE),
        ("AFTER", _COUNT_WIDTH, ToolOrder.SAVED),
        ("RATIO", _RATIO_WIDTH, ToolOrder.RATIO),
    ):
        shown = "SAVED↓" if order is by is ToolOrder.SAVED else f"{title}↓" if order is by else title
        spans.append(Span((" " if title != "BEFORE" else "  ") + shown.rjust(width_of), Role.HEADING))
    if bar:
        spans.append(Span("  KEPT", Role.HEADING))
    return tuple(spans)


def row_line(
    rows: Sequence[ToolRow], index: int, width: int, excluded: frozenset[str] = frozenset(), order: ToolOrder = ToolOrder.SENT
) -> Line:
    """One tool: sign, name, tokens (or bytes) before and after, ratio, and a bar of kept and dropped to a common scale.

    `x` marks one of the `excluded`, which new conversations send as they come. Ordered by what is saved, that stands in place of after.
    """
    name, bar = _widths(rows, width)
    row = rows[index]
    tool = row.tool
    changed = row.bytes_before != row.bytes_after
    counted = tool.tokens_before is not None and tool.tokens_after is not None
    before = format.count(tool.tokens_before) if counted else format.size(row.bytes_before)
    after = format.count(tool.tokens_after) if counted else format.size(row.bytes_after)
    if order is ToolOrder.SAVED:
        after = _saved(row)
    sign = "x" if tool.name in excluded else "~" if changed else "="
    text = one_line(tool.name) or format.UNKNOWN
    spans = [
        Span(f" {sign} ", Role.REMOVED if changed else Role.MUTED),
        Span(fit(text, name)),
        Span("  " + before.rjust(_COUNT_WIDTH), Role.MUTED),
        Span(" " + after.rjust(_COUNT_WIDTH), Role.TEXT),
        Span(" " + (format.percent(row.ratio) if changed else "·").rjust(_RATIO_WIDTH), Role.REMOVED if changed else Role.MUTED),
    ]
    if bar:
        spans += [Span("  "), *_bar(row, max(row.bytes_before for row in rows))]
    return tuple(spans)


def tool_text(row: ToolRow, level: Level, width: int, excluded: frozenset[str] = frozenset()) -> list[Line]:
    """One tool in full: each description with what was kept (blank) and dropped (`-`, with the reason), then its JSON after."""
    tool = row.tool
    lines: list[Line] = [line(part, Role.STRONG) for part in _indent_wrap(one_line(tool.name), width)]
    lines += [line(part, Role.MUTED) for part in wrap(_counts(row), width)]
    if tool.excluded:
        lines.append(line("Excluded here: it went out as it came.", Role.MUTED))
    if tool.name in excluded and not tool.excluded:
        words = "Excluded for new conversations: they send it as it comes. This one keeps what it began with."
        first, *rest = wrap(words, max(10, width - 2))
        lines += [(Span("x ", Role.WARN), Span(first)), *(line("  " + part) for part in rest)]
    elif tool.excluded and tool.name not in excluded:
        lines += [line(part, Role.MUTED) for part in wrap("No longer excluded; new conversations shrink it again.", width)]
    descriptions = explain_tool(_shrunk(tool), level)
    for description in descriptions:
        lines += [BLANK, *_description(description, width)]
    if not descriptions and not tool.excluded:
        lines += [BLANK, line("No descriptions in this tool.", Role.MUTED)]
    lines += [BLANK, line("AS SENT" if row.bytes_before != row.bytes_after else "AS IT CAME", Role.HEADING)]
    text = indented(tool.after.encode("utf-8", "surrogatepass"))
    shown = text.decode("utf-8", "replace") if text is not None else tool.after
    lines += [line(part, Role.MUTED) for raw in shown.split("\n") for part in _indent_wrap(safe(raw), width)]
    return lines


def _one_catalog(tools: ToolsSummary, width: int) -> list[Line]:
    state = Span("~ shrunk", Role.REMOVED) if tools.applied else Span("measured only", Role.MUTED)
    if tools.bytes_before == tools.bytes_after:
        state = Span("= nothing to gain", Role.MUTED)
    sizes = f"{format.size(tools.bytes_before)} > {format.size(tools.bytes_after)}"
    first = (
        Span(f"{format.plural(tools.tools, 'tool')}  ", Role.STRONG),
        state,
        Span(f"  {tools.level.value}", Role.MUTED),
        Span(f"  {sizes}  ", Role.TEXT),
        Span(format.percent(tools.ratio), Role.REMOVED if tools.applied else Role.TEXT),
    )
    tokens = f"{format.count(tools.tokens_before)} > {format.count(tools.tokens_after)} tokens"
    label = Label.UNKNOWN if tools.tokens_before is None else Label.INFERRED
    second = [Span(f"{tokens} {label.value}", Role.MUTED)]
    if tools.handle:
        second.append(Span(f"   original {tools.handle[: max(8, width - len(tokens) - 22)]}", Role.MUTED))
    return [first, tuple(second)]


def _widths(rows: Sequence[ToolRow], width: int) -> tuple[int, int]:
    fixed = 3 + 2 + _COUNT_WIDTH + 1 + _COUNT_WIDTH + 1 + _RATIO_WIDTH
    bar = BAR_WIDTH if width >= 60 else 0
    longest = max((columns_of(one_line(row.tool.name)) for row in rows), default=0)
    return max(8, min(longest, width - fixed - (bar + 3 if bar else 1))), bar


def _bar(row: ToolRow, largest: int) -> list[Span]:
    whole = max(1, round(BAR_WIDTH * row.bytes_before / largest)) if largest else 0
    kept = min(whole, round(BAR_WIDTH * row.bytes_after / largest)) if largest else 0
    if row.bytes_after and not kept:
        kept = 1
    return [Span("█" * kept, Role.ACCENT), Span("░" * (whole - kept), Role.REMOVED), Span(" " * (BAR_WIDTH - whole))]


def _saved(row: ToolRow) -> str:
    tool = row.tool
    if tool.tokens_before is not None and tool.tokens_after is not None:
        return format.count(tool.tokens_before - tool.tokens_after)
    return format.size(row.bytes_before - row.bytes_after)


def _counts(row: ToolRow) -> str:
    tool = row.tool
    sizes = f"{format.size(row.bytes_before)} > {format.size(row.bytes_after)}"
    if tool.tokens_before is None or tool.tokens_after is None:
        return sizes
    return f"{sizes}   {format.count(tool.tokens_before)} > {format.count(tool.tokens_after)} tokens {Label.INFERRED.value}"


def _description(description: ShrunkDescription, width: int) -> list[Line]:
    place = one_line(description.pointer)
    if description.before == description.after:
        head: Line = (Span("= ", Role.MUTED), Span(place, Role.ACCENT), Span("  kept whole", Role.MUTED))
        return [head, *(line("  " + part) for part in _paragraph(description.before, width - 2))]
    removed = 1 - len(description.after) / len(description.before) if description.before else 0.0
    lines: list[Line] = [(Span("~ ", Role.REMOVED), Span(place, Role.ACCENT), Span(f"  {format.percent(removed)} dropped", Role.REMOVED))]
    if not description.units:
        lines += [(Span("- ", Role.REMOVED), Span(part, Role.REMOVED)) for part in _paragraph(description.before, width - 2)]
        lines += [(Span("+ ", Role.ADDED), Span(part)) for part in _paragraph(description.after, width - 2)]
        return lines
    for unit in description.units:
        text = description.before[unit.start : unit.end]
        if not text.strip():
            continue
        if unit.kept:
            lines += [line("  " + part) for part in _paragraph(text, width - 2)]
        else:
            lines += [(Span("- ", Role.REMOVED), Span(part, Role.REMOVED)) for part in _paragraph(text, width - 2)]
            because = f"because {one_line(unit.why or unit.kind)}"
            lines += [line("    " + part, Role.MUTED) for part in wrap(because, max(10, width - 4))]
    return lines


def _paragraph(text: str, width: int) -> list[str]:
    return [part for raw in text.strip("\n").split("\n") for part in wrap(safe(raw), max(10, width))]


def _indent_wrap(text: str, width: int) -> list[str]:
    width = max(10, width)
    return [text[start : start + width] for start in range(0, len(text), width)] or [""]


def _shrunk(tool: CatalogTool) -> ShrunkTool:
    return ShrunkTool(
        name=tool.name,
        pointer="",
        before=tool.before.encode("utf-8", "surrogatepass"),
        after=tool.after.encode("utf-8", "surrogatepass"),
        excluded=tool.excluded,
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
