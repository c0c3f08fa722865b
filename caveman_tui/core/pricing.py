"""What a usage costs by the dated price list in `prices.json`. Always inferred; None where a price or a count is unknown.

Assumed: the standard tier of the provider's own API. Batch, priority and fast tiers, regional surcharges, a router's or cloud's own
prices and per-call fees of server tools are not in the list and not in the numbers.
"""

import functools
import importlib.resources
import re

import msgspec

from caveman_tui.core.amounts import Amount, Label
from caveman_tui.core.usage import Usage

_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """Prices of one model, in USD per million tokens."""

    model: str
    """Normalised name, see `normalise_model`."""
    input: float
    output: float
    read: float
    """Of a token read from the cache."""
    write_5m: float | None = None
    """Of a token written to the cache for 5 minutes; None where the provider charges no writes, or does not say."""
    write_1h: float | None = None
    minimum_prefix: int | None = None
    """Tokens below which a prefix is not cached; None where that is not known."""
    long_over: int | None = None
    """A request with more input tokens than this is priced by the two factors below, all of it."""
    long_input_factor: float = 1.0
    """Also of cache reads and writes."""
    long_output_factor: float = 1.0


class PriceList(msgspec.Struct, frozen=True, kw_only=True):
    """All prices that came with this version."""

    as_of: str
    """Month in which the list was read, `2026-11`."""
    unit: str
    sources: tuple[str, ...]
    models: tuple[Price, ...]


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """USD that a usage costs, by what it was spent on."""

    input: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    output: float
    label: Label = Label.INFERRED

    @property
    def usd(self) -> float:
        """All of it."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h + self.output

    @property
    def amount(self) -> Amount:
        """All of it, for sums."""
        return Amount(self.usd, self.label)


@functools.cache
def price_list() -> PriceList:
    """The list in `prices.json`."""
    data = importlib.resources.files("caveman_tui.core").joinpath("prices.json").read_bytes()
    return msgspec.json.decode(data, type=PriceList)


def price_of(model: str) -> Price | None:
    """The price of a model as clients and providers spell it, None where it is not in the list."""
    return _by_name().get(normalise_model(model))


def minimum_prefix(model: str) -> int | None:
    """Fewest tokens that `model` caches; a shorter prefix gives no error, just zeros. None where unknown."""
    price = price_of(model)
    return price.minimum_prefix if price else None


def cost(usage: Usage | None, model: str) -> Cost | None:
    """What `usage` costs on `model`; None where the model, a count it needs or a price it needs is unknown.

    Cache writes beyond the reported split are server tools' own 5-minute ones. Writes without any split have no known price where
    the two lifetimes differ in price, so there is no known cost.
    """
    price = price_of(model)
    if usage is None or price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    written = written_by_ttl(usage, price)
    if written is None:
        return None
    five, hour = written
    input_factor, output_factor = _factors(usage, price)
    scale = input_factor / _MILLION
    return Cost(
        input=usage.input_tokens * price.input * scale,
        cache_read=(usage.cache_read_tokens or 0) * price.read * scale,
        cache_write_5m=five * (price.write_5m or 0.0) * scale,
        cache_write_1h=hour * (price.write_1h or 0.0) * scale,
        output=usage.output_tokens * price.output * output_factor / _MILLION,
    )


def written_by_ttl(usage: Usage, price: Price) -> tuple[int, int] | None:
    """Tokens written to the cache for 5 minutes and for an hour, None where that is not known well enough to price them."""
    every = usage.cache_write_tokens or 0
    if every == 0:
        return 0, 0
    if price.write_5m is None or price.write_1h is None:
        return None
    if usage.cache_write_5m_tokens is None and usage.cache_write_1h_tokens is None:
        return (every, 0) if price.write_5m == price.write_1h else None
    hour = usage.cache_write_1h_tokens or 0
    return max(every - hour, 0), hour


def input_rate(usage: Usage, price: Price, per_million: float) -> float:
    """USD for one token of a prompt part priced `per_million`, in a request of the size that `usage` has."""
    return per_million * _factors(usage, price)[0] / _MILLION


def normalise_model(name: str) -> str:
    """The list's name for a model: `anthropic/claude-sonnet-4.5`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0` and
    `claude-sonnet-4-5@20250929` are all `claude-sonnet-4-5`. A variant with a word of its own (`-fast`) stays another model.
    """
    text = name.strip().lower()
    if found := _CLAUDE.search(text):
        family = found["family"] or found["family_last"]
        version = (found["version"] or found["version_first"]).replace(".", "-")
        if _CLAUDE_TAIL.fullmatch(text, found.end()):
            return f"claude-{family}-{version}"
        return text
    return _OPENAI_TAIL.sub("", text.rpartition("/")[2])


_VERSION = r"\d{1,2}(?:[.-]\d{1,2})?(?!\d)"
_CLAUDE = re.compile(
    rf"(?:^|[/.:])claude-(?:(?P<family>[a-z]+)-(?P<version>{_VERSION})|(?P<version_first>{_VERSION})-(?P<family_last>[a-z]+)(?![a-z]))"
)
_CLAUDE_TAIL = re.compile(r"(?:[-@](?:\d{8}|latest|default|thinking|v\d+(?::\d+(?::\d+k)?)?)|:(?:thinking|beta|extended)|\[1m\])*")
_OPENAI_TAIL = re.compile(r"(?:-\d{4}-\d{2}-\d{2}|-latest)$")


@functools.cache
def _by_name() -> dict[str, Price]:
    return {price.model: price for price in price_list().models}


def _factors(usage: Usage, price: Price) -> tuple[float, float]:
    read = usage.total_input_tokens
    if price.long_over is None or read is None or read <= price.long_over:
        return 1.0, 1.0
    return price.long_input_factor, price.long_output_factor
