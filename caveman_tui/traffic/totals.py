"""Sums over everything that passed, kept up to date exchange by exchange."""

from dataclasses import dataclass, fields

from caveman_tui.core.policy import Dialect
from caveman_tui.core.pricing import cost
from caveman_tui.protocol.exchanges import Exchange


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


def share(exchange: Exchange) -> Share:
    """What `exchange` contributes to the totals. Token counting requests are no spend and contribute no tokens."""
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

    def account(self, exchange: Exchange) -> None:
        """Take `exchange` in, or bring its part up to date."""
        new = share(exchange)
        old = self._shares.get(exchange.id, Share())
        if new == old:
            return
        self._shares[exchange.id] = new
        for field in fields(Share):
            setattr(self, field.name, getattr(self, field.name) + getattr(new, field.name) - getattr(old, field.name))

    def settle(self, exchange_id: str) -> None:
        """`exchange_id` will not change any more and is forgotten; its part stays."""
        self._shares.pop(exchange_id, None)
