"""What it costs to switch tool shrinking in a running conversation: its cached prefix is written once more."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caveman_tui.core.amounts import UNKNOWN, Amount, Label
from caveman_tui.core.pricing import input_rate, price_of
from caveman_tui.protocol.control import Conversation
from caveman_tui.protocol.events import Settings
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format


@dataclass(frozen=True, slots=True)
class SwitchCost:
    """The one-time cost; `tokens` is the newest known length of the cached prefix, `dollars` by the write price of its lifetime."""

    tokens: int | None
    dollars: Amount
    ttl: str
    """`1h` or `5m`: the lifetime that is taken for the whole prefix, the longest its markers say."""


def switch_text(
    exchange: Exchange, exchanges: Iterable[Exchange], settings: Settings, pins: Sequence[Conversation] | None
) -> tuple[str, ...]:
    """What to say before the conversation of `exchange` is switched: what holds for it now, and what a switch costs, a paragraph each.

    `pins` is None where they could not be asked for. `exchanges` is oldest first.
    """
    who = f"Conversation {format.short_id(exchange.conversation)}"
    pin = next((pin for pin in pins or () if pin.id == exchange.conversation), None)
    if pins is None:
        now = f"What {who[0].lower()}{who[1:]} is pinned to is not known: the worker did not say."
    elif pin is None or pin.shrink is None:
        now = f"{who} is not pinned yet; its next request with tools takes the settings, '{settings.shrink.value}'."
    else:
        level = f", level {pin.level.value}" if pin.level else ""
        fresh = f"'{settings.shrink.value}', level {settings.level.value}"
        now = f"{who} is pinned to '{pin.shrink.value}'{level}; new conversations get {fresh}."
    cost = switch_cost(exchange.conversation, exchanges, agent=exchange.agent)
    if cost.tokens is None:
        price = "How long its cached prefix is, and so what a switch costs, is unknown."
    else:
        dollars = format.labelled(format.money(cost.dollars.value), cost.dollars.label)
        factor = {"1h": "2", "5m": "1.25"}[cost.ttl]
        price = (
            f"One-time cost of a switch to or from apply: its cached prefix, {format.exact(cost.tokens)} tokens as the provider last "
            f"reported, is written once more at {factor} times the input price: {dollars}. Between measure and off it costs nothing."
        )
    return now, price


def switch_cost(conversation: str, exchanges: Iterable[Exchange], *, agent: str = "") -> SwitchCost:
    """The cost for `conversation` (or for a sub-agent of it), from its last exchange that has usage. `exchanges` is oldest first."""
    newest: Exchange | None = None
    for exchange in exchanges:
        if exchange.conversation == conversation and exchange.agent == agent and exchange.usage is not None:
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
