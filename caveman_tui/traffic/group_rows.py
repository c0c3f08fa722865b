"""The head of a conversation, or of a sub-agent in it, as a row of the traffic list."""

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.outline import Group
from caveman_tui.traffic.safe_text import one_line

_INDENT = 2
_GAP = "   "


def head_line(group: Group, width: int) -> Line:
    """Fold sign, name, counts, and what the provider reported of all its exchanges; what does not fit is left out from the end."""
    return _fitted(_start(group), [*_names(group), *_sums(group)], width)


def head_lines(group: Group, width: int) -> tuple[Line, Line]:
    """The same in two lines, for narrow screens."""
    return _fitted(_start(group), _names(group), width), _fitted([Span(" " * (3 + _INDENT * group.depth))], _sums(group), width)


def _start(group: Group) -> list[Span]:
    return [Span(" "), Span("▸" if group.folded else "▾", Role.ACCENT), Span(" " + " " * (_INDENT * group.depth))]


def _names(group: Group) -> list[Span]:
    conversation, agent = group.key
    if agent:
        name = f"sub-agent {format.short_id(one_line(agent))}"
    else:
        name = format.short_id(one_line(conversation)) if conversation else "no conversation"
    parts = [Span(name, Role.STRONG)]
    running = sum(exchange.state in ("open", "responding") for exchange in group.exchanges)
    parts.append(Span(format.plural(len(group.exchanges), "exchange")))
    if running:
        parts.append(Span(f"● {running:,} open", Role.ACCENT))
    if group.agents:
        parts.append(Span(format.plural(group.agents, "sub-agent"), Role.MUTED))
    if not agent and group.newest.client:
        parts.append(Span(one_line(group.newest.client, 30), Role.MUTED))
    return parts


def _sums(group: Group) -> list[Span]:
    usages = [exchange.usage for exchange in group.exchanges if exchange.usage is not None]
    totals = [usage.total_input_tokens for usage in usages if usage.total_input_tokens is not None]
    reads = [usage.cache_read_tokens for usage in usages if usage.total_input_tokens is not None and usage.cache_read_tokens is not None]
    parts = []
    if totals:
        parts.append(Span(f"{format.count(sum(totals))} in"))
        if reads and sum(totals):
            share = sum(reads) / sum(totals)
            parts.append(Span(f"{format.percent(share)} read", Role.GOOD if share >= 0.5 else Role.TEXT))
    if failed := sum(_failed(exchange) for exchange in group.exchanges):
        parts.append(Span(f"✗ {failed:,} failed", Role.BAD))
    return parts


def _failed(exchange: Exchange) -> bool:
    return exchange.state in ("provider-error", "broken", "failed")


def _fitted(start: list[Span], parts: list[Span], width: int) -> Line:
    spans = list(start)
    room = width - sum(columns_of(span.text) for span in start)
    for index, part in enumerate(parts):
        gap = _GAP if index else ""
        if columns_of(part.text) + len(gap) > room:
            if not index:
                spans.append(Span(fit(part.text, max(0, room)), part.role))
            break
        room -= columns_of(part.text) + len(gap)
        spans += [Span(gap), part] if gap else [part]
    return tuple(spans)
