"""Headers, timing and usage of one exchange as lines."""

from datetime import tzinfo

from caveman_tui.core.amounts import Label
from caveman_tui.protocol.control import ExchangeDetail, HeaderField
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import one_line, safe

_NAME_WIDTH = 22
_VALUE_WIDTH = 14


def headers(detail: ExchangeDetail, width: int) -> list[Line]:
    """Headers of request and response; values wrapped under themselves."""
    lines: list[Line] = [line("REQUEST", Role.HEADING), *_fields(detail.request_headers, width)]
    if detail.header_edits:
        lines += [BLANK, line("CHANGED ON THE WAY OUT", Role.HEADING)]
        lines += [(Span("~ ", Role.ADDED), Span(part)) for edit in detail.header_edits for part in wrap(safe(edit), width - 2)]
    lines += [BLANK, line("RESPONSE", Role.HEADING), *_fields(detail.response_headers, width)]
    return lines


def timing(exchange: Exchange, width: int, zone: tzinfo | None) -> list[Line]:
    """Timing and usage, each number with where it comes from."""
    usage = exchange.usage
    lines: list[Line] = [line("REQUEST", Role.HEADING)]
    lines += _texts(
        width,
        ("started", format.date_and_clock(exchange.started_at, zone)),
        ("request", f"{exchange.method} {exchange.path}"),
        ("provider", exchange.provider),
        ("model", exchange.model),
        ("client", exchange.client),
        ("kind", ("headless" if exchange.client_kind.headless else "interactive") + _sign(exchange)),
        ("conversation", exchange.conversation),
        ("agent", exchange.agent),
        ("exchange", exchange.id),
    )
    lines += [BLANK, line("TIMING", Role.HEADING)]
    lines += _numbers(
        ("first byte after", format.duration(exchange.ttfb_ms), "measured here"),
        ("whole exchange", format.duration(exchange.duration_ms), "measured here"),
        ("request body", format.size(exchange.request_bytes), "measured here"),
        ("request sent", format.size(exchange.bytes_after), "measured here"),
        ("response body", format.size(exchange.response_bytes), "measured here"),
    )
    lines += [BLANK, line("USAGE", Role.HEADING)]
    provider = Label.PROVIDER.value
    read_share = format.percent(usage.cache_read_share if usage else None)
    lines += _numbers(
        ("input, all", format.exact(usage.total_input_tokens if usage else None), provider),
        ("  read from cache", format.exact(usage.cache_read_tokens if usage else None), f"{provider}, {read_share} of all"),
        ("  written to cache", format.exact(usage.cache_write_tokens if usage else None), provider),
        ("    for 5 minutes", format.exact(usage.cache_write_5m_tokens if usage else None), provider),
        ("    for 1 hour", format.exact(usage.cache_write_1h_tokens if usage else None), provider),
        ("  neither", format.exact(usage.input_tokens if usage else None), provider),
        ("output", format.exact(usage.output_tokens if usage else None), provider),
    )
    saved = [t.tokens_before - t.tokens_after for t in exchange.tools if t.tokens_before is not None and t.tokens_after is not None]
    if exchange.tools:
        applied = any(tools.applied for tools in exchange.tools)
        name = "tools, saved" if applied else "tools, would save"
        lines += _numbers((name, format.exact(sum(saved)) if saved else format.UNKNOWN, f"{Label.INFERRED.value} (o200k)"))
    if exchange.note or exchange.warnings:
        lines += [BLANK, line("NOTES", Role.HEADING)]
        lines += [line(part) for part in wrap(safe(exchange.note), width)] if exchange.note else []
        lines += [(Span("! ", Role.WARN), Span(one_line(code))) for code in exchange.warnings]
    return lines


def _sign(exchange: Exchange) -> str:
    return f", by {exchange.client_kind.sign}" if exchange.client_kind.sign else ""


def _fields(fields: tuple[HeaderField, ...], width: int) -> list[Line]:
    if not fields:
        return [line(format.UNKNOWN, Role.MUTED)]
    lines: list[Line] = []
    for field in fields:
        name = one_line(field.name)
        parts = wrap(one_line(field.value, 8000), max(10, width - len(name) - 2))
        lines.append((Span(f"{name}: ", Role.ACCENT), Span(parts[0])))
        lines += [line(" " * (len(name) + 2) + part) for part in parts[1:]]
    return lines


def _texts(width: int, *pairs: tuple[str, str]) -> list[Line]:
    lines: list[Line] = []
    for name, value in pairs:
        parts = wrap(one_line(value) or format.UNKNOWN, max(10, width - _NAME_WIDTH))
        lines.append((Span(name.ljust(_NAME_WIDTH), Role.MUTED), Span(parts[0])))
        lines += [line(" " * _NAME_WIDTH + part) for part in parts[1:]]
    return lines


def _numbers(*rows: tuple[str, str, str]) -> list[Line]:
    return [
        (
            Span(name.ljust(_NAME_WIDTH), Role.MUTED),
            Span(value.rjust(_VALUE_WIDTH), Role.STRONG),
            Span(f"  {source if value != format.UNKNOWN else Label.UNKNOWN.value}", Role.MUTED),
        )
        for name, value, source in rows
    ]
