"""What changed between two catalogs, as rows and as text, changes that may break a caller marked."""

from collections.abc import Sequence

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.catalog_diff import CatalogDiff, SentenceChange, ToolDiff
from caveman_tui.core.schema_diff import SchemaChange
from caveman_tui.traffic import format
from caveman_tui.traffic.body_text import indented
from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line, safe
from caveman_tui.traffic.status_line import Part

_SIGNS = {"added": ("+", Role.ADDED), "removed": ("-", Role.REMOVED), "changed": ("~", Role.ADDED), "same": ("=", Role.MUTED)}
_VALUE_LIMIT = 400


def shown_tools(diff: CatalogDiff, *, only_changed: bool) -> list[ToolDiff]:
    """The tools to list: those that may break a caller first, then other changes, then what is the same."""
    chosen = [tool for tool in diff.tools if tool.state != "same" or not only_changed]
    return sorted(chosen, key=lambda tool: (not tool.breaking, tool.state == "same"))


def header(tools: Sequence[ToolDiff], width: int) -> Line:
    """Column titles over the rows."""
    return (Span(f"    {fit('TOOL', _name_width(tools, width))}  CHANGES", Role.HEADING),)


def row_line(tools: Sequence[ToolDiff], index: int, width: int) -> Line:
    """One tool: its state, `!` where a caller may break, its name, and what changed in a few words."""
    tool = tools[index]
    sign, role = _SIGNS[tool.state]
    room = _name_width(tools, width)
    return (
        Span(" "),
        Span(sign, role),
        Span("! " if tool.breaking else "  ", Role.BAD),
        Span(fit(one_line(tool.name) or format.UNKNOWN, room)),
        Span("  " + fit(_in_short(tool), width - 4 - room - 2), Role.BAD if tool.breaking else Role.MUTED),
    )


def status_parts(diff: CatalogDiff, before: str, after: str) -> list[Part]:
    """Which two, and how many tools of each kind."""
    counts = [f"{diff.count(state)} {state}" for state in ("added", "removed", "changed", "same") if diff.count(state)]
    breaking = sum(tool.breaking for tool in diff.tools)
    parts = [
        Part(1, (Span(f"{one_line(before)} > {one_line(after)}", Role.STRONG),)),
        Part(0, (Span(f"! {breaking} may break a caller", Role.BAD) if breaking else Span("nothing breaks a caller", Role.GOOD),)),
        Part(2, (Span(", ".join(counts) or "no tools", Role.MUTED),)),
    ]
    return parts


def definitions(document: bytes) -> dict[str, bytes]:
    """The JSON of each tool of a document by name, of several of one name the last. Raises JsonRefused."""
    return {tool.name: document[tool.start : tool.end] for tool in find_tools(document)}


def tool_text(tool: ToolDiff, width: int, definition: bytes = b"") -> list[Line]:
    """One tool in full: schema changes, sentences that stand on one side only, other members.

    `definition` is the JSON of a tool that one side does not have.
    """
    sign, role = _SIGNS[tool.state]
    lines: list[Line] = [(Span(f"{sign} ", role), Span(one_line(tool.name), Role.STRONG), Span(f"  {tool.state}", Role.MUTED))]
    if tool.state == "removed":
        lines += [(Span("! ", Role.BAD), Span("Calls to it are refused now."))]
    if tool.changes:
        lines += [BLANK, line("SCHEMA", Role.HEADING)]
        for change in sorted(tool.changes, key=lambda change: not change.breaking):
            lines += _change(change, width)
    for sentences in tool.sentences:
        lines += [BLANK, *_sentences(sentences, width)]
    if tool.fields:
        lines += [BLANK, line("OTHER MEMBERS", Role.HEADING)]
        for change in tool.fields:
            lines += _change(change, width)
    if definition:
        shown = (indented(definition) or definition).decode("utf-8", "replace")
        lines += [BLANK, *(line(part, Role.MUTED) for raw in shown.split("\n") for part in wrap(safe(raw), max(10, width)))]
    if tool.state == "same":
        lines.append(line("Nothing of it changed.", Role.MUTED))
    return lines


def _name_width(tools: Sequence[ToolDiff], width: int) -> int:
    longest = max((columns_of(one_line(tool.name)) for tool in tools), default=0)
    return max(8, min(longest, (width - 6) * 3 // 5))


def _in_short(tool: ToolDiff) -> str:
    if tool.state in ("added", "removed"):
        return f"{tool.state}, calls are refused" if tool.breaking else tool.state
    words = []
    breaking = [change for change in tool.changes if change.breaking]
    harmless = len(tool.changes) - len(breaking)
    if breaking:
        more = f" +{len(breaking) - 1}" if len(breaking) > 1 else ""
        words.append(f"{breaking[0].kind} {one_line(breaking[0].where)}{more}".rstrip())
    if harmless:
        words.append(format.plural(harmless, "schema change"))
    removed = sum(len(sentences.removed) for sentences in tool.sentences)
    added = sum(len(sentences.added) for sentences in tool.sentences)
    if removed or added:
        words.append(f"text -{removed} +{added}")
    if tool.fields:
        words.append(", ".join(one_line(change.where) for change in tool.fields))
    return "; ".join(words)


def _change(change: SchemaChange, width: int) -> list[Line]:
    mark = Span("! ", Role.BAD) if change.breaking else Span("~ ", Role.MUTED)
    where = one_line(change.where) or "the schema"
    lines: list[Line] = [(mark, Span(where, Role.ACCENT), Span(f"  {change.kind}", Role.BAD if change.breaking else Role.MUTED))]
    for text, sign, role in ((change.before, "-", Role.REMOVED), (change.after, "+", Role.ADDED)):
        if text:
            parts = wrap(one_line(text, _VALUE_LIMIT), max(10, width - 4))
            lines += [(Span(f"  {sign} ", role), Span(part)) for part in parts]
    return lines


def _sentences(change: SentenceChange, width: int) -> list[Line]:
    lines: list[Line] = [line(f"TEXT OF {one_line(change.where).upper() or 'THE TOOL'}", Role.HEADING)]
    for texts, sign, role in ((change.removed, "- ", Role.REMOVED), (change.added, "+ ", Role.ADDED)):
        for text in texts:
            lines += [(Span(sign, role), Span(part)) for part in wrap(safe(text), max(10, width - 2))]
    return lines
