"""Lines of long texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.traffic import line_index
from caveman_tui.traffic.line_index import LineIndex


@pytest.fixture(params=[1, 7, 1 << 16])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Also blocks so small that a short text has many."""
    monkeypatch.setattr(line_index, "_BLOCK", request.param)
    monkeypatch.setattr(line_index, "_BLOCKS_KEPT", 2)
    return int(request.param)


def test_lines_are_where_splitting_finds_them(block: int) -> None:
    @given(st.text("ab\n\u00e9\r\u2028", max_size=80), st.integers(0, 5))
    def check(text: str, size: int) -> None:
        lines = text.split("\n")
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        index = LineIndex(text)
        assert index.count == len(lines)
        assert [index.line(number) for number in range(index.count)] == lines
        long = [(number, index.start(number), len(line)) for number, line in enumerate(lines) if len(line) > size]
        assert list(index.longer_than(size)) == long
        for number, line in enumerate(lines):
            start = index.start(number)
            assert text[start : start + index.size(number)] == line
            assert all(index.at(offset) == number for offset in range(start, start + len(line) + 1))

    check()
