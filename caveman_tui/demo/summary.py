"""The session in numbers, for a person and as JSON. Dollars are simulated, token counts of tools inferred, bytes counted."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

from caveman_tui.demo.costs import Cost, Costs
from caveman_tui.demo.promises import PROMISES, Breach
from caveman_tui.demo.session import Outcome
from caveman_tui.protocol.events import ToolsSummary

_SHOWN_BREACHES = 20
_SHOWN_CATALOGS = 6


@dataclass(frozen=True, slots=True)
class Catalog:
    """A tools array that was replaced, and the handle of its original."""

    handle: str
    tools: int
    bytes_before: int
    bytes_after: int
    tokens_before: int | None
    tokens_after: int | None
    requests: int
    """How many requests carried it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """All that `demo --headless` says."""

    requests: int
    messages: int
    """Requests for an answer of the model, retries included."""
    conversations: int
    sub_agents: int
    seconds: float
    statuses: dict[str, int]
    cancelled: int
    broken_off: int
    """Streams that the provider broke off."""
    marker_edits: dict[str, int]
    """By reason."""
    requests_edited: int
    bytes_sent: int
    """Request bodies as the agent sent them."""
    bytes_forwarded: int
    tool_bytes_before: int
    """Over all requests whose tools were replaced."""
    tool_bytes_after: int
    tool_tokens_before: int | None
    """Inferred (o200k); None where one of them is not known."""
    tool_tokens_after: int | None
    catalogs: tuple[Catalog, ...]
    costs: tuple[Costs, ...]
    """By conversation."""
    total: Costs
    checked: dict[str, int]
    """Requests, or handles, that each promise was checked on."""
    breaches: tuple[Breach, ...]


def summarise(outcome: Outcome) -> Summary:
    """The numbers of a session."""
    evidence = outcome.evidence
    exchanges = [item.exchange for item in evidence if item.exchange is not None]
    replaced = [tools for exchange in exchanges for tools in exchange.tools if tools.applied]
    by_digest = {tools.digest: tools for tools in replaced if tools.handle}
    uses = Counter(tools.digest for tools in replaced)
    costs = tuple(costs for costs in outcome.costs if costs.conversation)
    edited = [item for item in evidence if item.received and item.received[-1].body != item.sent.body]
    handles = len({tools.handle for tools in replaced if tools.handle})
    return Summary(
        requests=len(evidence),
        messages=sum(item.sent.is_messages for item in evidence),
        conversations=outcome.conversations,
        sub_agents=len({exchange.agent for exchange in exchanges if exchange.agent}),
        seconds=round(outcome.seconds, 2),
        statuses=dict(sorted(Counter(str(item.sent.status) for item in evidence).items())),
        cancelled=sum(item.sent.hung_up for item in evidence),
        broken_off=sum(bool(item.sent.broke_off) for item in evidence),
        marker_edits=dict(Counter(edit.reason for exchange in exchanges for edit in exchange.marker_edits).most_common()),
        requests_edited=len(edited),
        bytes_sent=sum(len(item.sent.body) for item in evidence),
        bytes_forwarded=sum(len(received.body) for item in evidence for received in item.received),
        tool_bytes_before=sum(tools.bytes_before for tools in replaced),
        tool_bytes_after=sum(tools.bytes_after for tools in replaced),
        tool_tokens_before=_sum_known([tools.tokens_before for tools in replaced]),
        tool_tokens_after=_sum_known([tools.tokens_after for tools in replaced]),
        catalogs=tuple(_catalog(tools, uses[tools.digest]) for tools in sorted(by_digest.values(), key=lambda tools: -tools.bytes_before)),
        costs=costs,
        total=reduce(add, costs, Costs("all")),
        checked={promise: handles if promise == "handle-resolves" else len(evidence) for promise in PROMISES},
        breaches=outcome.breaches,
    )


def _catalog(tools: ToolsSummary, requests: int) -> Catalog:
    return Catalog(
        handle=tools.handle,
        tools=tools.tools,
        bytes_before=tools.bytes_before,
        bytes_after=tools.bytes_after,
        tokens_before=tools.tokens_before,
        tokens_after=tools.tokens_after,
        requests=requests,
    )


def as_text(summary: Summary) -> str:
    """For a person, without colour, at most 100 columns unless a breach is longer."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    yield (
        f"{summary.requests} requests ({summary.messages} for the model) in {summary.conversations} conversations and "
        f"{summary.sub_agents} sub-agent, {summary.seconds:.1f} s."
    )
    statuses = ", ".join(f"{status} x{count}" for status, count in summary.statuses.items())
    yield f"Answers: {statuses}; {summary.cancelled} cancelled by the person, {summary.broken_off} broken off by the provider."
    yield ""
    yield f"Markers: {sum(summary.marker_edits.values())} changed"
    yield from (f"  {count:>5}  {reason}" for reason, count in summary.marker_edits.items())
    yield ""
    yield "Requests, bytes and tokens"
    yield f"  bodies       {_change(summary.bytes_sent, summary.bytes_forwarded)} bytes; {summary.requests_edited} requests were edited"
    yield f"  tools        {_change(summary.tool_bytes_before, summary.tool_bytes_after)} bytes"
    yield f"  tools        {_change(summary.tool_tokens_before, summary.tool_tokens_after)} tokens (inferred, o200k)"
    yield ""
    yield "Cost in USD, simulated: the same requests billed under each policy"
    yield f"  {'':<14}{'as sent':>10}{'loop TTL':>20}{'shrink':>20}{'both':>20}"
    for costs in (*summary.costs, summary.total):
        others = (costs.loop_ttl, costs.shrink, costs.both)
        yield f"  {costs.conversation:<14}{costs.neither.usd:>10.4f}" + "".join(_against(costs.neither, cost) for cost in others)
    if dearer := [costs.conversation for costs in summary.costs if costs.loop_ttl.usd > costs.neither.usd]:
        yield f"  Loop TTL made {', '.join(dearer)} dearer: after a pause of more than five minutes a loop is written once more."
    yield ""
    yield "Originals, recovered by handle in another process"
    for catalog in summary.catalogs[:_SHOWN_CATALOGS]:
        size = _change(catalog.bytes_before, catalog.bytes_after)
        yield f"  {catalog.handle}  {catalog.tools:>3} tools  {size} bytes  x{catalog.requests}"
    if len(summary.catalogs) > _SHOWN_CATALOGS:
        yield f"  and {len(summary.catalogs) - _SHOWN_CATALOGS} smaller ones; --json lists all"
    yield ""
    yield "Promises"
    broken = Counter(breach.promise for breach in summary.breaches)
    for promise, text in PROMISES.items():
        checked = summary.checked[promise]
        yield f"  BROKEN  {text} ({broken[promise]} of {checked})" if broken[promise] else f"  kept    {text} ({checked})"
    for breach in summary.breaches[:_SHOWN_BREACHES]:
        yield f"  ! {breach.promise}: {breach.text}"
    if len(summary.breaches) > _SHOWN_BREACHES:
        yield f"  ! and {len(summary.breaches) - _SHOWN_BREACHES} more; --json lists all"


def _change(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "–"
    ratio = (after - before) / before if before else 0.0
    return f"{before:>11,} -> {after:>11,} ({ratio:+.1%})"


def _against(base: Cost, cost: Cost) -> str:
    share = (cost.usd - base.usd) / base.usd if base.usd else 0.0
    return f"{cost.usd:>11.4f} {f'({share:+.1%})':<8}"


def _sum_known(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
