"""The live list of exchanges."""

from collections.abc import Hashable
from datetime import tzinfo

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import columns, group_rows
from caveman_tui.traffic.columns import Column, Layout
from caveman_tui.traffic.fit import fit
from caveman_tui.traffic.lines import Line, Role, Span
from caveman_tui.traffic.outline import Group
from caveman_tui.traffic.view import TrafficView
from caveman_tui.tui.widgets.row_list import RowList

MARK = "*"
"""Stands beside the sign of a marked exchange."""
_SCROLLBAR = 1


class ExchangeList(RowList):
    """Draws a TrafficView; under 60 columns each exchange takes two lines."""

    def __init__(self, view: TrafficView, zone: tzinfo | None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = view
        self._zone = zone
        self._layout: tuple[int, Layout] | None = None

    def row_count(self) -> int:
        """Lines of the view."""
        return len(self.view.lines)

    def get_cursor(self) -> int:
        """The view's cursor."""
        return self.view.line_cursor

    def set_cursor(self, index: int) -> None:
        """Move the view's cursor; on the last row it follows the tail."""
        self.view.move_to_line(index)

    def header(self, width: int) -> Line:
        """Column titles; the one that the rows are ordered by is marked."""
        if self.row_height == 2:
            return (Span(" " * columns.SIGN_WIDTH + fit("TIME      MODEL          ST", width - columns.SIGN_WIDTH), Role.HEADING),)
        chosen = self._columns(width)
        titles = [self._cell(column, Span(self._title(column), Role.HEADING)) for column in chosen.columns]
        note = [Span(" " * chosen.gap + "NOTE", Role.HEADING)] if chosen.note else []
        return (Span(" " * columns.SIGN_WIDTH), *_joined(titles, chosen.gap), *note)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One exchange, or the head of a group."""
        exchange = self.view.lines[index]
        if isinstance(exchange, Group):
            return group_rows.head_lines(exchange, width) if self.row_height == 2 else (group_rows.head_line(exchange, width),)
        if self.row_height == 2:
            return self._two_lines(exchange, width)
        chosen = self._columns(width)
        cells = [self._cell(column, column.cell(exchange, self._zone)) for column in chosen.columns]
        spans = [*self._sign(exchange), *_joined(cells, chosen.gap)]
        if chosen.note:
            note = columns.note(exchange)
            spans.append(Span(" " * chosen.gap + fit(note.text, chosen.note), note.role))
        return (tuple(spans),)

    keeps_rows = True

    def row_key(self, index: int) -> Hashable:
        """The group, or the exchange and its mark."""
        line = self.view.lines[index]
        return line.key if isinstance(line, Group) else (line.id, line.id in self.view.marks)

    def on_resize(self) -> None:
        """Choose the height of the rows for the width."""
        self.row_height = 2 if self.row_width < columns.TWO_LINES_BELOW - _SCROLLBAR else 1
        super().on_resize()

    def _two_lines(self, exchange: Exchange, width: int) -> tuple[Line, ...]:
        cells = {column.id: column.cell(exchange, self._zone) for column in columns.COLUMNS}
        note = columns.note(exchange)
        first = (
            *self._sign(exchange),
            Span(f"{cells['time'].text}  ", Role.MUTED),
            Span(fit(cells["model"].text, 13) + "  ", cells["model"].role),
            Span(fit(cells["status"].text, 3), cells["status"].role),
            Span("  " + fit(note.text, max(0, width - 34)), note.role),
        )
        parts = [
            Span(f"{cells['input'].text} in", cells["input"].role),
            Span(f"{cells['read'].text} read", cells["read"].role),
            Span(cells["markers"].text, cells["markers"].role),
            Span(f"tools {cells['tools'].text}", cells["tools"].role),
            Span(cells["took"].text, cells["took"].role),
        ]
        second: list[Span] = [Span(" " * columns.SIGN_WIDTH)]
        for part in parts:
            second += [part, Span("  ")]
        return first, tuple(second)

    def _sign(self, exchange: Exchange) -> tuple[Span, ...]:
        state = columns.sign(exchange)
        return Span(" "), Span(state.text, state.role), Span(MARK if exchange.id in self.view.marks else " ", Role.ACCENT)

    def _columns(self, width: int) -> Layout:
        if self._layout is None or self._layout[0] != width:
            self._layout = width, columns.layout(width, wide=width >= columns.WIDE_FROM - _SCROLLBAR)
        return self._layout[1]

    def _title(self, column: Column) -> str:
        sort = {"time": "started"}.get(column.id, column.id)
        if sort != self.view.sort.value:
            return column.title
        arrow = "↓" if self.view.descending else "↑"
        return column.title if sort == "started" and not self.view.descending else f"{column.title}{arrow}"[: column.width]

    @staticmethod
    def _cell(column: Column, span: Span) -> Span:
        return Span(fit(span.text, column.width, right=column.align == "right"), span.role)


def _joined(cells: list[Span], gap: int) -> list[Span]:
    spans: list[Span] = []
    for cell in cells:
        if spans:
            spans.append(Span(" " * gap))
        spans.append(cell)
    return spans
