"""What it costs to switch tool shrinking in a running conversation: its cached prefix is written once more."""

from collections.abc import Iterable
from dataclasses import dataclass

from caveman_tui.core.amounts import UNKNOWN, Amount, Label
from caveman_tui.core.pricing import input_rate, price_of
from caveman_tui.protocol.exchanges import Exchange


@dataclass(frozen=True, slots=True)
class SwitchCost:
    """The one-time cost; `tokens` is the newest known length of the cached prefix, `dollars` by the write price of its lifetime."""

    tokens: int | None
    dollars: Amount
    ttl: str
    """`1h` or `5m`: the lifetime that is taken for the whole prefix, the longest its markers say."""


def switch_cost(conversation: str, exchanges: Iterable[Exchange]) -> SwitchCost:
    """The cost for `conversation`, from the last of its exchanges (sub-agents left out) that has usage. `exchanges` is oldest first."""
    newest: Exchange | None = None
    for exchange in exchanges:
        if exchange.conversation == conversation and not exchange.agent and exchange.usage is not None:
            newest = exchange
    if newest is None or newest.usage is None:
        return SwitchCost(None, UNKNOWN, "")
    usage = newest.usage
    tokens = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    ttl = "1h" if any(marker.ttl == "1h" for marker in newest.markers_after) else "5m"
    price = price_of(newest.model)
    rate = (price.write_1h if ttl == "1h" else price.write_5m) if price else None
    if price is None or rate is None:
        return SwitchCost(tokens, UNKNOWN, ttl)
    return SwitchCost(tokens, Amount(tokens * input_rate(usage, price, rate), Label.INFERRED), ttl)
