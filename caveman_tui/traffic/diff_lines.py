"""What changed between two catalogs, as lines: tools that break a caller first."""

from collections import Counter

from caveman_tui.core.catalog_diff import CatalogDiff, ToolDiff
from caveman_tui.core.schema_diff import SchemaChange
from caveman_tui.traffic import format
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line

_SIGNS = {"added": ("+", Role.ADDED), "removed": ("-", Role.REMOVED), "changed": ("~", Role.ACCENT), "same": ("=", Role.MUTED)}
_VALUE_AT_MOST = 120


def diff_lines(diff: CatalogDiff, width: int) -> list[Line]:
    """A count of all tools, then each one that is not the same."""
    return [summary_line(diff), *(line for tool in changed_tools(diff) for line in (BLANK, *tool_lines(tool, width)))]


def changed_tools(diff: CatalogDiff) -> list[ToolDiff]:
    """The tools that are not the same, those that may break a caller first."""
    return sorted((tool for tool in diff.tools if tool.state != "same"), key=lambda tool: (not tool.breaking, tool.state))


def summary_line(diff: CatalogDiff) -> Line:
    """How many tools there are, by state, and whether anything breaks a caller."""
    counts = ", ".join(f"{diff.count(state):,} {state}" for state in ("added", "removed", "changed", "same"))
    breaking = sum(tool.breaking for tool in diff.tools)
    verdict = f"! {breaking:,} may break a caller" if breaking else "nothing breaks a caller"
    return Span(f"{format.plural(len(diff.tools), 'tool')}: {counts}  ", Role.STRONG), Span(verdict, Role.BAD if breaking else Role.GOOD)


def tool_lines(tool: ToolDiff, width: int) -> list[Line]:
    """One tool: what a caller may trip over, other members, and the sentences that stand on one side only."""
    sign, role = _SIGNS[tool.state]
    head = [Span(f"{sign} ", role), Span(one_line(tool.name), Role.STRONG)]
    if tool.state != "changed":
        head.append(Span(f"  {tool.state}", role))
    if tool.breaking:
        head.append(Span("  ! may break a caller", Role.BAD))
    lines: list[Line] = [tuple(head)]
    dropped = Counter(
        change.before.partition(":")[0] for change in tool.changes if change.kind == "annotation-changed" and not change.after
    )
    shown = [change for change in tool.changes if change.kind != "annotation-changed" or change.after]
    for change in (*sorted(shown, key=lambda change: not change.breaking), *tool.fields):
        lines += _change(change, width)
    if dropped:
        parts = ", ".join(f"{one_line(name)} x{count}" for name, count in dropped.most_common())
        lines += _paragraph("  - ", f"annotations dropped: {parts}", Role.MUTED, width)
    for sentence in tool.sentences:
        lines.append(line(f"  description{f' of {one_line(sentence.where)}' if sentence.where else ''}", Role.ACCENT))
        for text in sentence.removed:
            lines += _paragraph("  - ", one_line(text, 4_000), Role.REMOVED, width)
        for text in sentence.added:
            lines += _paragraph("  + ", one_line(text, 4_000), Role.ADDED, width)
    return lines


def _change(change: SchemaChange, width: int) -> list[Line]:
    sign = Span("  ! " if change.breaking else "  ~ ", Role.BAD if change.breaking else Role.MUTED)
    where = one_line(change.where) or "(schema)"
    lines: list[Line] = [(sign, Span(where, Role.STRONG if change.breaking else Role.TEXT), Span(f"  {change.kind.replace('-', ' ')}"))]
    for mark, value, role in (("    - ", change.before, Role.REMOVED), ("    + ", change.after, Role.ADDED)):
        if value:
            lines += _paragraph(mark, one_line(value, _VALUE_AT_MOST), role, width)
    return lines


def _paragraph(mark: str, text: str, role: Role, width: int) -> list[Line]:
    first, *rest = wrap(text, max(10, width - len(mark)))
    return [(Span(mark, role), Span(first, role)), *((Span(" " * len(mark)), Span(part, role)) for part in rest)]
