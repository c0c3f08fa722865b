"""Tables on standard output: as wide as the terminal, with less important columns left out where they don't fit; whole in a pipe."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from caveman_tui.cli._input import output_errors

_GAP = 3
_FOLDED_WIDTH = 20
"""What a column that may fold needs at least."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Cells are text, never markup; make them harmless for a terminal before."""

    heading: str = ""
    right: bool = False
    fold: bool = False
    """Whether long cells may break over lines; others stay whole, so that they can be copied."""
    drop: int = 0
    """Where the terminal is too narrow, columns go in this order, the highest first; 0 stays."""


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], total: Sequence[str] = ()) -> None:
    """Print rows, and below them `total`, if there is one. Without headings there is no heading line."""
    every = [*rows, *([total] if total else [])]
    width = Console(file=sys.stdout).width if sys.stdout.isatty() else None
    kept = _fitting(columns, every, width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(columns[at].heading for at in kept))
    for at in kept:
        column = columns[at]
        table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=not column.fold, overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[at]) for at in kept))
    if total:
        table.add_section()
        table.add_row(*(Text(total[at]) for at in kept))
    enough = sum(_widths(columns, every)) + _GAP * len(columns)
    with output_errors():
        Console(file=sys.stdout, highlight=False, width=enough if width is None else width).print(table)
        sys.stdout.flush()


def _fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Which columns to show in `width` cells, all where it is None."""
    kept = list(range(len(columns)))
    if width is None:
        return kept
    widths = _widths(columns, rows)
    needed = [min(size, _FOLDED_WIDTH) if column.fold else size for column, size in zip(columns, widths, strict=True)]
    while sum(needed[at] for at in kept) + _GAP * (len(kept) - 1) > width:
        least = max(kept, key=lambda at: columns[at].drop)
        if not columns[least].drop:
            break
        kept.remove(least)
    return kept


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(cell_len(text) for text in (column.heading, *(row[at] for row in rows))) for at, column in enumerate(columns)]
