"""Prices and smallest cacheable prefixes of the models the stand-in serves. As of 2026; both change, so they stand in one place."""

import re
from dataclasses import dataclass

MODEL_IDS = (
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
    "claude-opus-4-6",
    "claude-opus-4-5",
    "claude-sonnet-5",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
)
"""What `GET /v1/models` lists for clients of Messages."""

OPENAI_MODEL_IDS = ("gpt-5", "gpt-5-codex", "gpt-5-mini")
"""What it lists for clients of OpenAI."""

_SMALLEST_PREFIX = {
    "claude-opus-5": 512,
    "claude-opus-4-8": 1024,
    "claude-sonnet-5": 1024,
    "claude-sonnet-4-6": 1024,
    "claude-sonnet-4-5": 1024,
    "claude-sonnet-4": 1024,
    "claude-opus-4-1": 1024,
    "claude-opus-4": 1024,
    "claude-opus-4-7": 2048,
    "claude-3-5-haiku": 2048,
    "claude-opus-4-6": 4096,
    "claude-opus-4-5": 4096,
    "claude-haiku-4-5": 4096,
}
_SMALLEST_PREFIX_ELSEWHERE = 1024


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float


def _price(input_usd: float, output_usd: float) -> Price:
    return Price(input=input_usd, write_5m=input_usd * 1.25, write_1h=input_usd * 2, read=input_usd * 0.1, output=output_usd)


_OPUS = _price(5, 25)
_SONNET = _price(3, 15)
_OLD_OPUS = _price(15, 75)
_PRICES = {
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5": _price(2, 10),
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET,
    "claude-sonnet-4": _SONNET,
    "claude-haiku-4-5": _price(1, 5),
    "claude-opus-4-1": _OLD_OPUS,
    "claude-opus-4": _OLD_OPUS,
}

_DATE = re.compile(r"-\d{8}$")


def family(model: str) -> str:
    """The model id without its date and without a context-window suffix such as `[1m]`."""
    return _DATE.sub("", model.split("[", 1)[0])


def price_of(model: str) -> Price | None:
    """The price of `model`, None where it isn't known."""
    return _PRICES.get(family(model))


def smallest_prefix(model: str) -> int:
    """Tokens that a prefix needs before it is cached."""
    return _SMALLEST_PREFIX.get(family(model), _SMALLEST_PREFIX_ELSEWHERE)
