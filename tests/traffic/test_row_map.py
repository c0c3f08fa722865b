"""Lines on rows."""

from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.traffic.row_map import RowMap


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=30))
def test_rows_and_lines_fit_together_whatever_is_wrapped_or_hidden(wanted: list[tuple[int, int]]) -> None:
    rows: list[tuple[int, int]] = []
    """For each row its line and its place in the line, spelled out."""
    first: list[int] = []
    others: list[tuple[int, int, int]] = []
    hidden = 0
    for number, (height, hides) in enumerate(wanted):
        if hidden:
            hidden -= 1
            first.append(len(rows) - 1)
            continue
        hidden = min(hides, len(wanted) - number - 1)
        if height > 1 or hidden:
            others.append((number, height, hidden))
        first.append(len(rows))
        rows += [(number, part) for part in range(height)]
    found = RowMap(len(wanted), others)
    assert found.count == len(rows)
    assert [found.line_at(row) for row in range(found.count)] == rows
    assert [found.first_row(number) for number in range(len(wanted))] == first
