"""Sums over everything that passed, kept up to date exchange by exchange."""

from dataclasses import dataclass, fields

from caveman_tui.core.amounts import Amount
from caveman_tui.core.policy import Dialect
from caveman_tui.core.pricing import cost
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.ttl_saving import TtlSavings


@dataclass(frozen=True, slots=True)
class Share:
    """What one exchange contributes. Token counts of tools are inferred; a missing count is counted as missing, not as 0."""

    markers_changed: int = 0
    tokens_saved: int = 0
    """By shrinking that was applied; negative where it made the catalog longer."""
    tokens_measured: int = 0
    """What shrinking would have saved where it was only measured."""
    uncounted: int = 0
    """Catalogs whose tokens were not counted (yet)."""
    cost: float = 0.0
    """USD by the dated price list, inferred."""
    priced: int = 0
    """1 where the cost is known."""
    unpriced: int = 0
    """1 where there is usage whose price is unknown."""
    ttl_saved: float = 0.0
    """USD that loop TTL saved, inferred; negative where it cost more."""
    ttl_known: int = 0
    """1 where that is known of an exchange that loop TTL had to do with."""
    ttl_unknown: int = 0
    """1 where there is usage of such a one, and what it saved is unknown."""


def share(exchange: Exchange, ttl_saving: Amount | None) -> Share:
    """What `exchange` contributes to the totals. Token counting requests are no spend and contribute no tokens.

    `ttl_saving` is None where loop TTL had nothing to do with it.
    """
    saved = measured = uncounted = 0
    if exchange.dialect != Dialect.ANTHROPIC_COUNT_TOKENS:
        for tools in exchange.tools:
            if tools.tokens_before is None or tools.tokens_after is None:
                uncounted += 1
            elif tools.applied:
                saved += tools.tokens_before - tools.tokens_after
            else:
                measured += tools.tokens_before - tools.tokens_after
    spent = cost(exchange.usage, exchange.model)
    return Share(
        markers_changed=len(exchange.marker_edits),
        tokens_saved=saved,
        tokens_measured=measured,
        uncounted=uncounted,
        cost=spent.usd if spent else 0.0,
        priced=1 if spent else 0,
        unpriced=1 if exchange.usage is not None and spent is None else 0,
        ttl_saved=(ttl_saving.value or 0.0) if ttl_saving else 0.0,
        ttl_known=1 if ttl_saving and ttl_saving.value is not None else 0,
        ttl_unknown=1 if ttl_saving and ttl_saving.value is None and exchange.usage is not None else 0,
    )


class Totals:
    """Running sums. An exchange that leaves the list keeps its part, so that totals never shrink by forgetting."""

    def __init__(self) -> None:
        self._shares: dict[str, Share] = {}
        self.markers_changed = 0
        self.tokens_saved = 0
        self.tokens_measured = 0
        self.uncounted = 0
        self.cost = 0.0
        self.priced = 0
        self.unpriced = 0
        self.ttl_saved = 0.0
        self.ttl_known = 0
        self.ttl_unknown = 0
        self._ttl_savings = TtlSavings()

    def account(self, exchange: Exchange) -> None:
        """Take `exchange` in, or bring its part up to date."""
        new = share(exchange, self._ttl_savings.of(exchange))
        old = self._shares.get(exchange.id, Share())
        if new == old:
            return
        self._shares[exchange.id] = new
        for field in fields(Share):
            setattr(self, field.name, getattr(self, field.name) + getattr(new, field.name) - getattr(old, field.name))

    def settle(self, exchange_id: str) -> None:
        """`exchange_id` will not change any more and is forgotten; its part stays."""
        self._shares.pop(exchange_id, None)
        self._ttl_savings.forget(exchange_id)
