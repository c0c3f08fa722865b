import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.edits import Edit, EditKind, apply_edits


def edit(start: int, end: int, before: bytes, after: bytes) -> Edit:
    return Edit(pointer="/x", start=start, end=end, kind=EditKind.TTL, before=before, after=after, reason="loop-shortened")


def test_without_edits_the_very_same_bytes_come_back() -> None:
    body = b"as it came"
    assert apply_edits(body, ()) is body


def test_replacements_and_insertions_in_any_order() -> None:
    assert apply_edits(b"0123456789", (edit(8, 9, b"8", b""), edit(2, 4, b"23", b"ab"), edit(6, 6, b"", b"+"))) == b"01ab45+679"


def test_an_insertion_may_touch_a_replacement() -> None:
    assert apply_edits(b"abc", (edit(1, 2, b"b", b"B"), edit(1, 1, b"", b"+"), edit(2, 2, b"", b"-"))) == b"a+B-c"


@pytest.mark.parametrize(
    "edits",
    [
        (edit(0, 2, b"01", b""), edit(1, 3, b"12", b"")),
        (edit(3, 2, b"", b""),),
        (edit(9, 11, b"9", b""),),
        (edit(-2, 0, b"", b""),),
        (edit(2, 3, b"x", b""),),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: tuple[Edit, ...]) -> None:
    with pytest.raises(ValueError, match="/x"):
        apply_edits(b"0123456789", edits)


@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.binary(max_size=3)), max_size=4))
def test_what_lies_between_the_edits_is_copied(body: bytes, drawn: list[tuple[int, int, bytes]]) -> None:
    edits: list[Edit] = []
    position, expected = 0, b""
    for one, other, after in sorted(drawn, key=lambda item: min(item[:2])):
        start, end = sorted((min(one, len(body)), min(other, len(body))))
        if start < position or (edits and start == edits[-1].start):
            continue
        edits.append(edit(start, end, body[start:end], after))
        expected += body[position:start] + after
        position = end
    assert apply_edits(body, tuple(reversed(edits))) == expected + body[position:]
