"""Every edit of an exchange as a pair: what came, what went out, and why."""

from caveman_tui.core.reasons import REASONS
from caveman_tui.protocol.events import MarkerEdit, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line


def edit_pairs(exchange: Exchange, width: int) -> list[Line]:
    """The edits of the body in lines, markers first; what changed in the headers stands with the headers."""
    applied = [tools for tools in exchange.tools if tools.applied]
    count = len(exchange.marker_edits) + len(applied)
    if not count:
        return [line("= This request went out as it came.", Role.MUTED)]
    sizes = f"{format.exact(exchange.request_bytes)} > {format.exact(exchange.bytes_after)} bytes; everything else is as it came"
    lines: list[Line] = [(Span(f"~ {format.plural(count, 'edit')}", Role.STRONG), Span(f"   {sizes}", Role.MUTED))]
    for number, edit in enumerate(exchange.marker_edits, 1):
        lines += [BLANK, *_marker(number, edit, width)]
    for number, tools in enumerate(applied, len(exchange.marker_edits) + 1):
        lines += [BLANK, *_tools(number, tools, width)]
    return lines


def _marker(number: int, edit: MarkerEdit, width: int) -> list[Line]:
    return [
        _head(number, edit.pointer, edit.reason),
        *_side("- ", edit.before or "nothing", Role.REMOVED, width),
        *_side("+ ", edit.after or "nothing", Role.ADDED, width),
        *_why(REASONS.get(edit.reason, ""), width),
    ]


def _tools(number: int, tools: ToolsSummary, width: int) -> list[Line]:
    before = f"{format.plural(tools.tools, 'tool')}, {format.exact(tools.bytes_before)} bytes, {format.exact(tools.tokens_before)} tokens"
    after = f"{format.plural(tools.tools, 'tool')}, {format.exact(tools.bytes_after)} bytes, {format.exact(tools.tokens_after)} tokens"
    lines = [
        _head(number, tools.pointer, "tools-shrunk"),
        *_side("- ", f"{before} inferred", Role.REMOVED, width),
        *_side("+ ", f"{after} inferred", Role.ADDED, width),
        *_why(f"{REASONS.get('tools-shrunk', '')} Tab 2 shows it tool by tool, each dropped text with its reason.", width),
    ]
    if tools.handle:
        lines += _why(f"Original: {tools.handle}; r writes it to a file.", width)
    return lines


def _head(number: int, pointer: str, reason: str) -> Line:
    return (Span(f"{number:>2} ", Role.MUTED), Span(one_line(pointer) or "/", Role.ACCENT), Span(f"  {one_line(reason)}", Role.MUTED))


def _side(sign: str, text: str, role: Role, width: int) -> list[Line]:
    parts = wrap(one_line(text, 2_000), max(10, width - 5))
    return [(Span("   " + (sign if not index else "  "), role), Span(part, role)) for index, part in enumerate(parts)]


def _why(text: str, width: int) -> list[Line]:
    return [line("     " + part, Role.MUTED) for part in wrap(text.strip(), max(10, width - 5))] if text.strip() else []
