import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.amounts import UNKNOWN, Amount, Label, Total, known_total, total, weakest

AMOUNTS = st.one_of(st.just(UNKNOWN), st.builds(Amount, st.integers(-99, 99).map(float), st.sampled_from([Label.PROVIDER, Label.INFERRED])))


def test_zero_and_unknown_are_different_things() -> None:
    assert Amount(0.0, Label.INFERRED) != UNKNOWN
    with pytest.raises(ValueError, match="labelled"):
        Amount(0.0, Label.UNKNOWN)
    with pytest.raises(ValueError, match="labelled"):
        Amount(None, Label.PROVIDER)


def test_a_sum_keeps_the_weakest_label() -> None:
    billed, guessed = Amount(1.0, Label.PROVIDER), Amount(2.0, Label.INFERRED)
    assert billed + billed == Amount(2.0, Label.PROVIDER)
    assert billed + guessed == Amount(3.0, Label.INFERRED)
    assert billed - guessed == Amount(-1.0, Label.INFERRED)
    assert billed + UNKNOWN == UNKNOWN
    assert -UNKNOWN == UNKNOWN
    assert weakest([Label.PROVIDER, Label.UNKNOWN, Label.INFERRED]) is Label.UNKNOWN
    assert total([]) == UNKNOWN


@given(st.lists(AMOUNTS, max_size=8))
def test_totals(amounts: list[Amount]) -> None:
    values = [amount.value for amount in amounts if amount.value is not None]
    whole, known = total(amounts), known_total(amounts)
    assert known.left_out == len(amounts) - len(values)
    assert known.amount.value == (sum(values) if values else None)
    assert whole == (known.amount if known.left_out == 0 else UNKNOWN)


def test_what_is_left_out_is_counted() -> None:
    assert known_total([Amount(1.0, Label.PROVIDER), UNKNOWN]) == Total(amount=Amount(1.0, Label.PROVIDER), left_out=1)
