"""What is known of an exchange: the fold of its events. The worker and the screen keep the same record the same way."""

from typing import Literal

import msgspec

from caveman_tui.core.cache_markers import Marker, Violation
from caveman_tui.core.policy import ClientKind
from caveman_tui.core.prefix_digests import PrefixDigests
from caveman_tui.core.rewrite import Reason
from caveman_tui.core.usage import Usage
from caveman_tui.protocol import events
from caveman_tui.protocol.events import MarkerEdit, ToolsSummary

State = Literal["open", "responding", "done", "provider-error", "cancelled", "broken", "failed"]


class Exchange(msgspec.Struct, kw_only=True):
    """One request with its response."""

    id: str
    started_at: float
    method: str
    path: str
    provider: str = ""
    dialect: str = ""
    model: str = ""
    client: str = ""
    client_kind: ClientKind = ClientKind()
    conversation: str = ""
    agent: str = ""
    parent_agent: str = ""
    session: str = ""
    request_bytes: int | None = None
    bytes_after: int | None = None
    marker_edits: tuple[MarkerEdit, ...] = ()
    markers_before: tuple[Marker, ...] = ()
    markers_after: tuple[Marker, ...] = ()
    violations: tuple[Violation, ...] = ()
    tools: tuple[ToolsSummary, ...] = ()
    reasons: tuple[Reason, ...] = ()
    prefix: PrefixDigests | None = None
    """Of what went out; None where that is not known."""
    status: int | None = None
    ttfb_ms: float | None = None
    usage: Usage | None = None
    response_bytes: int = 0
    duration_ms: float | None = None
    state: State = "open"
    note: str = ""
    warnings: tuple[str, ...] = ()
    """Codes of the warnings that name this exchange."""


def open_exchange(event: events.ExchangeStarted) -> Exchange:
    """The record that a started event begins."""
    return Exchange(
        id=event.id,
        started_at=event.at,
        method=event.method,
        path=event.path,
        provider=event.provider,
        dialect=event.dialect,
        model=event.model,
        client=event.client,
        client_kind=event.client_kind,
        conversation=event.conversation,
        agent=event.agent,
        parent_agent=event.parent_agent,
        session=event.session,
        request_bytes=event.request_bytes,
    )


def fold(exchange: Exchange, event: events.AnyEvent) -> None:
    """Bring `exchange` up to date with one of its events; others are ignored."""
    match event:
        case events.ExchangeRewritten():
            exchange.marker_edits = event.marker_edits
            exchange.markers_before = event.markers_before
            exchange.markers_after = event.markers_after
            exchange.violations = event.violations
            exchange.tools = event.tools
            exchange.reasons = event.reasons
            exchange.prefix = event.prefix
            exchange.bytes_after = event.bytes_after
        case events.ExchangeResponding():
            exchange.status = event.status
            exchange.ttfb_ms = event.ttfb_ms
            if exchange.state == "open":
                exchange.state = "responding"
        case events.ExchangeUsage():
            exchange.usage = event.usage
            exchange.response_bytes = max(exchange.response_bytes, event.response_bytes)
        case events.ExchangeFinished():
            exchange.state = _STATES.get(event.outcome, "failed")
            exchange.duration_ms = event.duration_ms
            exchange.response_bytes = event.response_bytes
            exchange.note = event.note or exchange.note
        case events.Warned():
            exchange.warnings = (*exchange.warnings, event.code)
            exchange.note = exchange.note or event.what
        case _:
            pass


_STATES: dict[str, State] = {
    "done": "done",
    "provider-error": "provider-error",
    "cancelled": "cancelled",
    "broken": "broken",
    "failed": "failed",
}
