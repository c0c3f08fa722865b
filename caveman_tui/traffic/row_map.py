"""Which rows the lines of a text take."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class RowMap:
    """Nearly every line takes one row. Only the others are kept, so a million lines cost no more than the long ones among them."""

    def __init__(self, lines: int, others: Iterable[tuple[int, int, int]]) -> None:
        """`others` are the lines that take more rows than one or hide lines after them: number, rows, lines hidden; ascending."""
        self._numbers: list[int] = []
        self._starts: list[int] = []
        """The first row of each of them."""
        self._ends: list[int] = []
        """The row after its last."""
        self._shifts: list[int] = []
        """What has to be added to the number of a line after it to get its row."""
        shift = 0
        for number, rows, hidden in others:
            self._numbers.append(number)
            self._starts.append(number + shift)
            self._ends.append(number + shift + rows)
            shift += rows - 1 - hidden
            self._shifts.append(shift)
        self.count = lines + shift
        """All rows."""

    def line_at(self, row: int) -> tuple[int, int]:
        """The line of a row, and which of its rows it is, from 0."""
        place = bisect_right(self._starts, row) - 1
        if place < 0:
            return row, 0
        if row < self._ends[place]:
            return self._numbers[place], row - self._starts[place]
        return row - self._shifts[place], 0

    def first_row(self, number: int) -> int:
        """The first row of a line; where it is hidden, the last row of the line that hides it."""
        place = bisect_left(self._numbers, number) - 1
        return number if place < 0 else max(number + self._shifts[place], self._ends[place] - 1)
