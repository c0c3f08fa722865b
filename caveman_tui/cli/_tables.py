"""Tables on standard output: plain where it is no terminal, so that nothing is cut off in a pipe or a file."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table

_PIPE_WIDTH = 1000


def new_table(*columns: str) -> Table:
    """A table with these headings; a leading `>` aligns a column to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, heading in enumerate(columns):
        table.add_column(
            heading.removeprefix(">"), justify="right" if heading.startswith(">") else "left", overflow="fold", no_wrap=number > 0
        )
    return table


def print_table(table: Table) -> None:
    """Print `table`; cells are text, never markup."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width)
    console.print(table)
