"""What the transforms saved: the bill as it was against the bill without our edits. Inferred, and negative where they cost more.

Assumed throughout: without the edit the provider would have read and written the same stretches of the prompt, at the other price.
"""

from caveman_tui.core.amounts import UNKNOWN, Amount, Label, Total, known_total, total, weakest
from caveman_tui.core.pricing import Price, input_rate, price_of, written_by_ttl
from caveman_tui.core.usage import Usage

__all__ = ["UNKNOWN", "Amount", "Label", "Total", "known_total", "lapsed_tokens", "loop_ttl_saving", "shrink_saving", "total", "weakest"]

_FIVE_MINUTES = 300.0
_ONE_HOUR = 3600.0


def loop_ttl_saving(usage: Usage | None, model: str, shortened: int, *, own_5m: int = 0, lapsed: int = 0) -> Amount:
    """USD that shortened markers saved on one exchange: its 5-minute writes would have been 1-hour writes, at 2 instead of 1.25.

    `shortened`: markers of this request that became 5m. `own_5m`: 5m markers that it came with; their writes cannot be told from
    ours, so the saving is unknown. `lapsed`: tokens that were written again because a shortened entry had lapsed, see
    `lapsed_tokens`; with a 1-hour entry they would have been read. Writes of server tools, beyond the reported split, are not ours.
    Exactly 0 where nothing was shortened and nothing lapsed.
    """
    if shortened == 0 and lapsed == 0:
        return Amount(0.0, Label.INFERRED)
    price = price_of(model)
    if usage is None or price is None or price.write_5m is None or price.write_1h is None:
        return UNKNOWN
    written = written_by_ttl(usage, price)
    if written is None or (shortened and own_5m):
        return UNKNOWN
    ours = (usage.cache_write_5m_tokens or 0) if shortened else 0
    again = min(lapsed, sum(written))
    again_short = min(again, ours)
    gained = (ours - again_short) * (price.write_1h - price.write_5m)
    # Written for 5 minutes again, or for an hour at the next prompt; a living entry would have been read.
    lost = again_short * (price.write_5m - price.read) + (again - again_short) * (price.write_1h - price.read)
    return Amount(input_rate(usage, price, gained - lost), Label.INFERRED)


def lapsed_tokens(before: Usage | None, after: Usage | None, gap_seconds: float) -> int:
    """Tokens of `after`'s writes that an entry of the exchange before would have served, had it lived an hour instead of 5 minutes.

    `before` is the last exchange of the same conversation whose markers were shortened, `gap_seconds` the time between the starts of
    the two requests. 0 where the pause was not between 5 and 60 minutes.
    """
    if before is None or after is None or not _FIVE_MINUTES < gap_seconds <= _ONE_HOUR:
        return 0
    cached = (before.cache_read_tokens or 0) + (before.cache_write_tokens or 0)
    reread = after.cache_read_tokens or 0
    return max(0, min(cached - reread, after.cache_write_tokens or 0))


def shrink_saving(tokens_before: int | None, tokens_after: int | None, usage: Usage | None, model: str) -> Amount:
    """USD that a shorter catalog saved on one exchange. Negative where it became longer.

    Tools stand first in the prompt, so the tokens that are gone would have cost what its beginning cost: a cache read where any of
    it was read, else a write (of the longer lifetime, which comes first), else plain input. What switching a running conversation
    costs once is not in it. Unknown where the shorter prompt may have missed the model's smallest cacheable prefix: without the
    shrinking it might have been cached.
    """
    price = price_of(model)
    if tokens_before is None or tokens_after is None or usage is None or usage.input_tokens is None or price is None:
        return UNKNOWN
    removed = tokens_before - tokens_after
    rate = _rate_of_first_tokens(usage, price, removed)
    if rate is None:
        return UNKNOWN
    return Amount(removed * input_rate(usage, price, rate), Label.INFERRED)


def _rate_of_first_tokens(usage: Usage, price: Price, removed: int) -> float | None:
    if usage.cache_read_tokens:
        return price.read
    if usage.cache_write_tokens:
        written = written_by_ttl(usage, price)
        if written is None:
            return None
        return price.write_1h if written[1] else price.write_5m
    size = usage.total_input_tokens
    if size is not None and price.minimum_prefix is not None and size < price.minimum_prefix <= size + removed:
        return None
    return price.input
