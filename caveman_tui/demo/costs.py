"""What the session would have cost with other policies: its own requests, as they came, billed again by the simulated cache."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import Dialect, Level, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from caveman_tui.demo.promises import Evidence
from caveman_tui.demo.provider import MarkerRuleBroken, PromptCache, Usage
from caveman_tui.demo.provider.prefix import Json
from caveman_tui.demo.provider.request_body import parse


@dataclass(frozen=True, slots=True)
class Cost:
    """What a stretch of the session is billed under one policy; dollars are simulated."""

    usd: float = 0.0
    input: int = 0
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    output: int = 0
    refused: int = 0
    """Requests that the provider would not have taken."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            usd=self.usd + other.usd,
            input=self.input + other.input,
            read=self.read + other.read,
            write_5m=self.write_5m + other.write_5m,
            write_1h=self.write_1h + other.write_1h,
            output=self.output + other.output,
            refused=self.refused + other.refused,
        )


@dataclass(frozen=True, slots=True)
class Costs:
    """A conversation, or all of them, four times over."""

    conversation: str
    neither: Cost = Cost()
    """As the agent sent it."""
    loop_ttl: Cost = Cost()
    shrink: Cost = Cost()
    both: Cost = Cost()
    """As it was forwarded."""

    def __add__(self, other: "Costs") -> "Costs":
        return Costs(
            conversation=self.conversation,
            neither=self.neither + other.neither,
            loop_ttl=self.loop_ttl + other.loop_ttl,
            shrink=self.shrink + other.shrink,
            both=self.both + other.both,
        )


def replay(evidence: Iterable[Evidence], level: Level) -> tuple[Costs, ...]:
    """Bill the session's Messages requests four times, each time in a cache of its own; one result for each conversation."""
    billed = [item for item in evidence if item.received and item.received[-1].bill is not None]
    billed.sort(key=lambda item: (item.received[-1].at, item.sent.number))
    neither = _billed(billed, lambda item: item.sent.body)
    loop_ttl = _billed(billed, _rewriting(Policy(shrink=ShrinkMode.OFF)))
    shrink = _billed(billed, _rewriting(Policy(loop_ttl=LoopTtlMode.OFF, shrink=ShrinkMode.APPLY, level=level)))
    both = _billed(billed, lambda item: item.received[-1].body)
    return tuple(Costs(name, neither[name], loop_ttl[name], shrink[name], both[name]) for name in neither)


def _rewriting(policy: Policy) -> Callable[[Evidence], bytes]:
    def rewritten(item: Evidence) -> bytes:
        user_agent = next((value for name, value in item.sent.headers if name.lower() == "user-agent"), None)
        return rewrite(item.sent.body, Dialect.ANTHROPIC_MESSAGES, client_kind(user_agent), policy).body

    return rewritten


def _billed(evidence: list[Evidence], body_of: Callable[[Evidence], bytes]) -> dict[str, Cost]:
    """Costs by conversation, in the order in which those begin."""
    cache = PromptCache()
    costs: dict[str, Cost] = {}
    for item in evidence:
        name = item.sent.conversation
        costs[name] = costs.get(name, Cost()) + _one(cache, parse(body_of(item), ""), item)
    return costs


def _one(cache: PromptCache, request: Json, item: Evidence) -> Cost:
    received = item.received[-1]
    assert received.bill is not None
    try:
        bill = cache.bill(request, received.at)
    except MarkerRuleBroken:
        return Cost(refused=1)
    cache.publish(bill)
    usage = Usage(bill.usage.input, bill.usage.read, bill.usage.write_5m, bill.usage.write_1h, received.bill.usage.output)
    usd = usage.cost(str(request.get("model"))) or 0.0
    return Cost(usd, usage.input, usage.read, usage.write_5m, usage.write_1h, usage.output)
