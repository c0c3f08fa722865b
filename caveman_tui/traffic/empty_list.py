"""What stands in place of the traffic list where it has no rows."""

from caveman_tui.traffic import format, status_line
from caveman_tui.traffic.feed import Link
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.log import TrafficLog
from caveman_tui.traffic.view import TrafficView

_INDENTED_FROM = 60


def empty_lines(log: TrafficLog, view: TrafficView, link: Link, link_reason: str, width: int) -> list[Line]:
    """Why there is no row, and what to do next. `link_reason` says why the connection broke, where it did."""
    if view.cleared and not view.filter:
        return _cleared(view.cleared, width)
    if view.filter:
        says = f"None of {len(log):,} exchanges matches:  {view.filter.explain()}"
        undo = (Span("esc", Role.ACCENT), Span(" shows all again", Role.MUTED))
        return [BLANK, *(line(part) for part in wrap(says, width)), BLANK, undo]
    if link is Link.LOST:
        return [
            BLANK,
            line("✗ The worker can't be reached.", Role.BAD),
            *(line(part, Role.MUTED) for part in wrap(link_reason, width)),
            BLANK,
            *(line(part) for part in wrap("It is tried again every two seconds. 'caveman-tui' starts a worker.", width)),
        ]
    if link is Link.CONNECTING:
        return [BLANK, line("Connecting to the worker …", Role.MUTED)]
    settings = log.settings
    on = f"Loop TTL: {settings.loop_ttl.value} (t changes it). Tool shrinking: {settings.shrink.value} (s changes it)."
    return _first_run(status_line.connect_line(log), status_line.base_url(log), on, width)


def _cleared(count: int, width: int) -> list[Line]:
    says = f"{format.plural(count, 'exchange')} cleared from the display, and still in memory. New ones appear here."
    undo = (Span("esc", Role.ACCENT), Span(" shows all again", Role.MUTED))
    return [BLANK, *(line(part) for part in wrap(says, width)), BLANK, undo]


def _first_run(export: str, url: str, on: str, width: int) -> list[Line]:
    def text(words: str) -> list[Line]:
        return [line(part, Role.MUTED) for part in wrap(words, width)]

    indent = "  " if width >= _INDENTED_FROM else ""
    return [
        BLANK,
        line("Waiting for the first request.", Role.STRONG),
        BLANK,
        *text("Point Claude Code at this worker, in the shell where you start it:"),
        BLANK,
        *(line(indent + export[start : start + width], Role.ACCENT) for start in range(0, len(export), width)),
        BLANK,
        (Span(f"{indent}y", Role.ACCENT), Span(" sends that line to the clipboard", Role.MUTED)),
        BLANK,
        *text("With MCP tools also set ENABLE_TOOL_SEARCH=true there: behind another base URL Claude Code sends them all otherwise."),
        BLANK,
        *text("Or let us start the client; nothing is written to its settings:"),
        BLANK,
        line(f"{indent}caveman-tui exec -- claude", Role.ACCENT),
        line(f"{indent}codex -c openai_base_url='\"{url}/v1\"'", Role.ACCENT),
        BLANK,
        *text(f"{on} Of a conversation nothing is written to disk but originals that were replaced; ? says where they lie."),
        BLANK,
        *text("Just looking? 'caveman-tui demo' plays a whole session without network or key."),
    ]
