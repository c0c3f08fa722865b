"""Numbers with their origin: what a person may believe of them travels with the value."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Label(StrEnum):
    """Where a number comes from."""

    PROVIDER = "provider"
    """The provider reported it."""
    INFERRED = "inferred"
    """Anything of ours is in it: a tokenizer, a price table, a counterfactual."""
    UNKNOWN = "unknown"
    """There is no number; shown as `–`, never as 0."""


_STRENGTH = (Label.UNKNOWN, Label.INFERRED, Label.PROVIDER)


def weakest(labels: Iterable[Label]) -> Label:
    """The label of a number made of numbers with these labels; of none of them, `provider`."""
    return min(labels, key=_STRENGTH.index, default=Label.PROVIDER)


class Amount(msgspec.Struct, frozen=True):
    """A value, in the unit its user states, and its label. The label is `unknown` exactly where the value is None."""

    value: float | None = None
    label: Label = Label.UNKNOWN

    def __post_init__(self) -> None:
        if (self.value is None) != (self.label is Label.UNKNOWN):
            raise ValueError(f"an amount of {self.value} cannot be labelled {self.label}")

    def __add__(self, other: "Amount") -> "Amount":
        if self.value is None or other.value is None:
            return UNKNOWN
        return Amount(self.value + other.value, weakest((self.label, other.label)))

    def __neg__(self) -> "Amount":
        return self if self.value is None else Amount(-self.value, self.label)

    def __sub__(self, other: "Amount") -> "Amount":
        return self + -other


UNKNOWN = Amount()
"""No number at all."""


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """A sum of what is known, and how many amounts are not in it. A screen shows both: the sum alone would claim too much."""

    amount: Amount
    left_out: int


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum, with the weakest label; unknown if one of them is, or if there are none."""
    result: Amount | None = None
    for amount in amounts:
        result = amount if result is None else result + amount
    return UNKNOWN if result is None else result


def known_total(amounts: Iterable[Amount]) -> Total:
    """The sum of the known ones, with the number of the others; unknown where none is known."""
    every = list(amounts)
    known = [amount for amount in every if amount.value is not None]
    return Total(amount=total(known), left_out=len(every) - len(known))
