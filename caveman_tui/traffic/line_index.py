"""Where the lines of a long text are, without cutting it into lines: a million of those cost more than all the rest of showing it."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

_BLOCK = 1 << 16
"""Characters after which a line's place is noted; between two such places lines are looked up when they are asked for."""
_BLOCKS_KEPT = 64


class LineIndex:
    """Lines of a text, numbered from 0. A line end at the end of the text begins no further line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text) - 1 if text.endswith("\n") else len(text)
        """Where the last line ends."""
        self._starts = [0]
        """Where each block begins, which is where a line does."""
        self._numbers = [0]
        """The number of that line."""
        self.count = 1
        """All lines."""
        while (end := text.find("\n", self._starts[-1] + _BLOCK, self._end)) >= 0:
            self.count += text.count("\n", self._starts[-1], end + 1)
            self._starts.append(end + 1)
            self._numbers.append(self.count - 1)
        self.count += text.count("\n", self._starts[-1], self._end)
        self._kept: dict[int, array[int]] = {}
        """For blocks that were looked into: the characters before each of their lines, line ends not counted, and at last those of all."""

    def start(self, number: int) -> int:
        """Where a line begins in the text."""
        return self._place(number)[0]

    def size(self, number: int) -> int:
        """Characters of a line without its end."""
        return self._place(number)[1]

    def line(self, number: int) -> str:
        """A line without its end."""
        start, size = self._place(number)
        return self._text[start : start + size]

    def at(self, offset: int) -> int:
        """The line of a place in the text."""
        block = bisect_right(self._starts, min(offset, self._end)) - 1
        return self._numbers[block] + self._text.count("\n", self._starts[block], min(offset, self._end))

    def longer_than(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Numbers, beginnings and sizes of the lines with more than `size` characters, ascending."""
        first = self.size(0)
        if first > size:
            yield 0, 0, first
        number = before = 0
        # A line end at its start lets the search go from line to line.
        for found in re.finditer(rf"\n[^\n]{{{size + 1},}}", self._text):
            start = found.start() + 1
            number += self._text.count("\n", before, start)
            before = start
            yield number, start, found.end() - start

    def _place(self, number: int) -> tuple[int, int]:
        block = bisect_right(self._numbers, number) - 1
        before = self._kept.get(block)
        if before is None:
            end = self._starts[block + 1] - 1 if block + 1 < len(self._starts) else self._end
            before = array("Q", accumulate(map(len, self._text[self._starts[block] : end].split("\n")), initial=0))
            while len(self._kept) >= _BLOCKS_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[block] = before
        place = number - self._numbers[block]
        return self._starts[block] + before[place] + place, before[place + 1] - before[place]
