"""What loop TTL saved on the exchanges that passed, in US dollars: inferred from the provider's usage and the dated price list."""

from caveman_tui.core.amounts import Amount
from caveman_tui.core.savings import lapsed_tokens, loop_ttl_saving
from caveman_tui.protocol.exchanges import Exchange

_SHORT = '"5m"'
"""As an edit spells it."""


class TtlSavings:
    """Remembers of each exchange which one came before it, so that entries that lapsed early are counted against what was saved.

    A conversation's caches are told apart by model. Exchanges are to come in order of their start, and may come again once more is
    known of them.
    """

    def __init__(self) -> None:
        self._known: dict[str, Exchange] = {}
        self._before: dict[str, str] = {}
        """Ids, and those of the exchange before."""
        self._last: dict[tuple[str, str], str] = {}

    def of(self, exchange: Exchange) -> Amount | None:
        """What this exchange saved, negative where it cost more; None where its markers were not shortened and nothing lapsed."""
        if exchange.conversation and exchange.id not in self._known:
            key = (exchange.conversation, exchange.model)
            if key in self._last:
                self._before[exchange.id] = self._last[key]
            self._last[key] = exchange.id
        self._known[exchange.id] = exchange
        before = self._last_with_usage(exchange)
        lapsed = 0
        if before is not None and _shortened(before):
            lapsed = lapsed_tokens(before.usage, exchange.usage, exchange.started_at - before.started_at)
        shortened = _shortened(exchange)
        if not shortened and not lapsed:
            return None
        own = sum(marker.ttl == "5m" for marker in exchange.markers_before)
        return loop_ttl_saving(exchange.usage, exchange.model, shortened, own_5m=own, lapsed=lapsed)

    def forget(self, exchange_id: str) -> None:
        """It will not come again; what comes after it goes by what is left."""
        self._known.pop(exchange_id, None)
        self._before.pop(exchange_id, None)

    def _last_with_usage(self, exchange: Exchange) -> Exchange | None:
        """The exchange before this one, those left out that ended without telling what they used."""
        before = self._known.get(self._before.get(exchange.id, ""))
        while before is not None and before.usage is None:
            before = self._known.get(self._before.get(before.id, ""))
        return before


def _shortened(exchange: Exchange) -> int:
    """Markers that became 5 minutes."""
    return sum(edit.after == _SHORT for edit in exchange.marker_edits)
