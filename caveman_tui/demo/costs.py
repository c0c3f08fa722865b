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
    """A whole session under one policy. Dollars are simulated."""

    usd: float
    usage: Usage
    refused: int = 0
    """Requests that the provider would not have taken."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The session as the agent sent it, with each transform alone, and as it was forwarded."""

    neither: Cost
    loop_ttl: Cost
    shrink: Cost
    both: Cost


def replay(evidence: Iterable[Evidence], level: Level) -> Costs:
    """Bill the session's Messages requests four times over, each time in a cache of its own."""
    billed = [item for item in evidence if item.received and item.received[-1].bill is not None]
    billed.sort(key=lambda item: (item.received[-1].at, item.sent.number))
    return Costs(
        neither=_billed(billed, lambda item: item.sent.body),
        loop_ttl=_billed(billed, _rewriting(Policy(shrink=ShrinkMode.OFF))),
        shrink=_billed(billed, _rewriting(Policy(loop_ttl=LoopTtlMode.OFF, shrink=ShrinkMode.APPLY, level=level))),
        both=_billed(billed, lambda item: item.received[-1].body),
    )


def _rewriting(policy: Policy) -> Callable[[Evidence], bytes]:
    def rewritten(item: Evidence) -> bytes:
        user_agent = next((value for name, value in item.sent.headers if name.lower() == "user-agent"), None)
        return rewrite(item.sent.body, Dialect.ANTHROPIC_MESSAGES, client_kind(user_agent), policy).body

    return rewritten


def _billed(evidence: list[Evidence], body_of: Callable[[Evidence], bytes]) -> Cost:
    cache = PromptCache()
    usd, refused = 0.0, 0
    sums = [0, 0, 0, 0, 0]
    for item in evidence:
        received = item.received[-1]
        assert received.bill is not None
        request: Json = parse(body_of(item), "")
        try:
            bill = cache.bill(request, received.at)
        except MarkerRuleBroken:
            refused += 1
            continue
        cache.publish(bill)
        usage = Usage(bill.usage.input, bill.usage.read, bill.usage.write_5m, bill.usage.write_1h, received.bill.usage.output)
        usd += usage.cost(str(request.get("model"))) or 0.0
        sums = [a + b for a, b in zip(sums, (usage.input, usage.read, usage.write_5m, usage.write_1h, usage.output), strict=True)]
    return Cost(usd=usd, usage=Usage(*sums), refused=refused)
