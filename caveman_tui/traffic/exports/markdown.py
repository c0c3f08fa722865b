"""A report in Markdown, for people: what passed, what was changed and why, what it cost, each number with its label."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from caveman_tui.core.amounts import UNKNOWN, Amount, Label, Total, known_total
from caveman_tui.core.policy import Dialect
from caveman_tui.core.pricing import cost
from caveman_tui.core.reasons import REASONS
from caveman_tui.core.usage import add_usage
from caveman_tui.protocol.events import ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.exports.format import bodies_of, was_edited
from caveman_tui.traffic.exports.material import Material, without_secrets_of
from caveman_tui.traffic.safe_text import one_line, safe
from caveman_tui.traffic.ttl_saving import TtlSavings

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&])")
_LEGEND = (
    "Numbers are labelled *provider* (the provider reported them), *inferred* (anything of ours is in them: a tokenizer, the dated price "
    "list) or *counted* (what this program did itself). What is not known is –, and left out of sums. Times are UTC."
)
_COUNTED = "counted"


class Markdown:
    """The format `markdown`."""

    suffix = ".md"

    def __init__(self, *, with_bodies: bool) -> None:
        self.remarks: list[str] = []
        self.left_out = 0
        self._with_bodies = with_bodies
        self._details = 0

    def wanted(self, exchange: Exchange) -> Sequence[str]:
        """All bodies that differ, if any are to be in it."""
        return bodies_of(exchange) if self._with_bodies else ()

    def begin(self, exchanges: Sequence[Exchange]) -> bytes:
        """Totals, conversations, changes and the list of exchanges."""
        clean = [without_secrets_of(exchange) for exchange in exchanges]
        ttl_savings = _ttl_savings(clean)
        sections = (_head(clean), _totals(clean, ttl_savings), _conversations(clean, ttl_savings), _changes(clean), _exchanges(clean))
        return "\n\n".join(filter(None, sections)).encode("utf-8", "replace") + b"\n"

    def entry(self, material: Material) -> bytes:
        """A section on an exchange that was edited or warned about, or whose bodies are to be in it; nothing on others."""
        exchange = material.exchange
        lines = [*_edits(exchange), *_findings(exchange), *(f"- Header: {_cell(edit)}" for edit in material.header_edits)]
        if not lines and not material.bodies:
            return b""
        heading = "" if self._details else "\n## Exchanges in detail\n"
        self._details += 1
        text = f"{heading}\n### {_cell(exchange.id)}\n\n" + "".join(f"{line}\n" for line in lines)
        return text.encode("utf-8", "replace") + b"".join(_fenced(which, body) for which, body in material.bodies.items())

    def end(self) -> bytes:
        """Nothing."""
        return b""


def _head(exchanges: Sequence[Exchange]) -> str:
    conversations = len({exchange.conversation for exchange in exchanges if exchange.conversation})
    what = f"{format.plural(len(exchanges), 'exchange')} in {format.plural(conversations, 'conversation')}"
    if exchanges:
        what += f", from {format.date_and_clock(exchanges[0].started_at)} to {format.date_and_clock(exchanges[-1].started_at)}"
    return f"# Traffic report\n\n{what}.\n\n{_LEGEND}"


def _totals(exchanges: Sequence[Exchange], ttl_savings: Mapping[str, Amount]) -> str:
    billed = [exchange for exchange in exchanges if _billed(exchange)]
    rows = [
        _total_row("input tokens, all", _reported(billed, "total_input_tokens")),
        _total_row("of these read from the cache", _reported(billed, "cache_read_tokens")),
        _total_row("of these written to the cache", _reported(billed, "cache_write_tokens")),
        _total_row("output tokens", _reported(billed, "output_tokens")),
        _total_row("cost in US dollars", known_total(_cost(exchange) for exchange in billed), money=True),
        _total_row("US dollars that loop TTL saved", known_total(ttl_savings.values()), money=True),
        _total_row("tokens of tools taken out by shrinking", _shrunk(billed, applied=True)),
        _total_row("tokens of tools that shrinking would take out", _shrunk(billed, applied=False)),
        ("cache markers changed", format.exact(sum(len(exchange.marker_edits) for exchange in exchanges)), _COUNTED, ""),
        ("requests edited", format.exact(sum(map(was_edited, exchanges))), _COUNTED, ""),
    ]
    return "## Totals\n\n" + _table(("what", ">value", "label", ">exchanges without it"), rows)


def _conversations(exchanges: Sequence[Exchange], ttl_savings: Mapping[str, Amount]) -> str:
    groups: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        groups.setdefault(exchange.conversation, []).append(exchange)
    columns = (
        "conversation",
        "client",
        "models",
        ">exchanges",
        ">input (provider)",
        ">read from cache (provider)",
        ">written (provider)",
        ">output (provider)",
        ">cost (inferred)",
        ">markers changed",
        ">saved by loop TTL (inferred)",
        ">tool tokens taken out (inferred)",
    )
    return "## Conversations\n\n" + _table(columns, [_conversation(name, group, ttl_savings) for name, group in groups.items()])


def _conversation(name: str, group: Sequence[Exchange], ttl_savings: Mapping[str, Amount]) -> tuple[str, ...]:
    billed = [exchange for exchange in group if _billed(exchange)]
    usage = None
    for exchange in billed:
        usage = add_usage(usage, exchange.usage)
    return (
        name or "(none)",
        group[-1].client or format.UNKNOWN,
        ", ".join(dict.fromkeys(exchange.model for exchange in group if exchange.model)) or format.UNKNOWN,
        format.exact(len(group)),
        format.exact(usage.total_input_tokens if usage else None),
        _with_share(usage.cache_read_tokens if usage else None, usage.cache_read_share if usage else None),
        format.exact(usage.cache_write_tokens if usage else None),
        format.exact(usage.output_tokens if usage else None),
        format.money(known_total(_cost(exchange) for exchange in billed).amount.value),
        format.exact(sum(len(exchange.marker_edits) for exchange in group)),
        format.money(known_total(ttl_savings[exchange.id] for exchange in group if exchange.id in ttl_savings).amount.value),
        _number(_shrunk(billed, applied=True).amount),
    )


def _changes(exchanges: Sequence[Exchange]) -> str:
    edits = Counter(edit.reason for exchange in exchanges for edit in exchange.marker_edits)
    edits.update("tools-shrunk" for exchange in exchanges for tools in exchange.tools if tools.applied)
    others = Counter(reason.code for exchange in exchanges for reason in exchange.reasons if reason.code not in edits)
    changed = _table(("reason", ">times", "what it means"), _by_reason(edits)) if edits else "Nothing was changed."
    text = f"## What was changed and why\n\n{changed}"
    if catalogs := _catalogs(exchanges):
        text += f"\n\n### Tools\n\n{catalogs}"
    if others:
        text += "\n\n### What else was found, and why things were left alone\n\n"
        text += _table(("reason", ">times", "what it means"), _by_reason(others))
    return text


def _catalogs(exchanges: Sequence[Exchange]) -> str:
    seen: dict[tuple[str, str, bool], list[ToolsSummary]] = {}
    for exchange in exchanges:
        for tools in exchange.tools:
            seen.setdefault((tools.digest, tools.level, tools.applied), []).append(tools)
    rows = [
        (
            format.short_id(tools.digest, 12),
            str(tools.level),
            "shrunk" if tools.applied else "measured only",
            format.exact(len(times)),
            format.exact(tools.tools),
            format.exact(tools.tokens_before),
            format.exact(tools.tokens_after),
            format.percent(tools.ratio),
            tools.handle or format.UNKNOWN,
        )
        for times in seen.values()
        for tools in (times[-1],)
    ]
    columns = ("catalog", "level", "what was done", ">times", ">tools", ">tokens before (inferred)", ">tokens after (inferred)")
    return _table((*columns, ">bytes removed", "original"), rows) if rows else ""


def _exchanges(exchanges: Sequence[Exchange]) -> str:
    columns = ("exchange", "started", "conversation", "model", "status", ">input (provider)", ">read from cache (provider)")
    rows = [
        (
            exchange.id,
            format.date_and_clock(exchange.started_at),
            format.short_id(exchange.conversation),
            exchange.model or format.UNKNOWN,
            f"{exchange.status or format.UNKNOWN} {exchange.state}",
            format.exact(exchange.usage.total_input_tokens if exchange.usage else None),
            format.percent(exchange.usage.cache_read_share if exchange.usage else None),
            format.exact(len(exchange.marker_edits)),
            format.duration(exchange.duration_ms),
            exchange.note,
        )
        for exchange in exchanges
    ]
    return "## Exchanges\n\n" + _table((*columns, ">markers changed", ">took", "note"), rows)


def _edits(exchange: Exchange) -> Iterable[str]:
    for edit in exchange.marker_edits:
        why = _cell(REASONS.get(edit.reason, edit.reason))
        yield f"- `{_code(edit.pointer)}`: `{_code(edit.before)}` became `{_code(edit.after)}`. {why}"
    for tools in exchange.tools:
        if tools.applied:
            tokens = f"{format.exact(tools.tokens_before)} to {format.exact(tools.tokens_after)} tokens (inferred)"
            original = f", original {_cell(tools.handle)}" if tools.handle else ""
            yield f"- `{_code(tools.pointer)}`: {format.plural(tools.tools, 'tool')} shrunk at level {tools.level}, {tokens}{original}."


def _findings(exchange: Exchange) -> Iterable[str]:
    yield from (f"- Rule broken at `{_code(v.pointer)}`, at fault `{_code(v.culprit)}`: {_cell(v.text)}" for v in exchange.violations)
    yield from (f"- Warning: {_cell(code)}" for code in exchange.warnings)


def _fenced(which: str, body: bytes) -> bytes:
    """A body as it is, but for what a terminal would obey; the fence is longer than any in it."""
    text = "\n".join(map(safe, body.decode("utf-8", "replace").split("\n")))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"\n{which}, {format.size(len(body))}:\n\n{fence}\n{text}\n{fence}\n".encode("utf-8", "replace")


def _billed(exchange: Exchange) -> bool:
    """Whether usage is to be expected: counting tokens, refused requests and other paths cost nothing."""
    refused = exchange.status is not None and exchange.status >= 400
    return bool(exchange.dialect) and exchange.dialect != Dialect.ANTHROPIC_COUNT_TOKENS and not refused


def _reported(exchanges: Sequence[Exchange], name: str) -> Total:
    counts = [getattr(exchange.usage, name) if exchange.usage else None for exchange in exchanges]
    return known_total(UNKNOWN if count is None else Amount(count, Label.PROVIDER) for count in counts)


def _ttl_savings(exchanges: Sequence[Exchange]) -> dict[str, Amount]:
    """By id, of the exchanges that loop TTL had to do with and that were billed."""
    savings = TtlSavings()
    return {exchange.id: saved for exchange in exchanges if (saved := savings.of(exchange)) is not None and _billed(exchange)}


def _cost(exchange: Exchange) -> Amount:
    found = cost(exchange.usage, exchange.model)
    return found.amount if found else UNKNOWN


def _shrunk(exchanges: Sequence[Exchange], *, applied: bool) -> Total:
    return known_total(_removed(tools) for exchange in exchanges for tools in exchange.tools if tools.applied is applied)


def _removed(tools: ToolsSummary) -> Amount:
    if tools.tokens_before is None or tools.tokens_after is None:
        return UNKNOWN
    return Amount(tools.tokens_before - tools.tokens_after, Label.INFERRED)


def _total_row(what: str, total: Total, *, money: bool = False) -> tuple[str, ...]:
    value = format.money(total.amount.value) if money else _number(total.amount)
    return what, value, total.amount.label.value, format.exact(total.left_out) if total.left_out else ""


def _number(amount: Amount) -> str:
    return format.exact(None if amount.value is None else round(amount.value))


def _with_share(count: int | None, share: float | None) -> str:
    return format.exact(count) if share is None else f"{format.exact(count)} ({format.percent(share)})"


def _by_reason(counted: "Counter[str]") -> list[tuple[str, ...]]:
    return [(code, format.exact(times), REASONS.get(code, "")) for code, times in counted.most_common()]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a column whose name begins with `>` holds numbers."""
    head = [_cell(column.removeprefix(">")) for column in columns]
    rule = ["---:" if column.startswith(">") else "---" for column in columns]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *([_cell(cell) for cell in row] for row in rows)))


def _cell(text: str) -> str:
    """Text on one line that is no markup."""
    return _MARKUP.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    """Text on one line between backticks."""
    return one_line(text).replace("`", "'")
