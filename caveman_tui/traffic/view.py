"""The traffic list without a widget: which rows there are, in what order, where the cursor is, whether it follows the tail."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.filter import NO_FILTER, Filter
from caveman_tui.traffic.log import Changes, TrafficLog


class SortKey(StrEnum):
    """What the rows are ordered by."""

    STARTED = "started"
    INPUT = "input"
    READ = "read"
    TOOLS = "tools"
    TTFB = "ttfb"
    TOOK = "took"


_SORT_VALUES: dict[SortKey, Callable[[Exchange], float | None]] = {
    SortKey.INPUT: lambda e: e.usage.total_input_tokens if e.usage else None,
    SortKey.READ: lambda e: e.usage.cache_read_share if e.usage else None,
    SortKey.TOOLS: lambda e: max((t.ratio for t in e.tools), default=None),
    SortKey.TTFB: lambda e: e.ttfb_ms,
    SortKey.TOOK: lambda e: e.duration_ms,
}


@dataclass(frozen=True, slots=True)
class ViewChange:
    """What the screen has to draw again."""

    rebuilt: bool = False
    """Everything."""
    rows: tuple[int, ...] = ()
    """These rows; appended ones are among them."""


class TrafficView:
    """Rows of a log under a filter and an order."""

    def __init__(self, log: TrafficLog) -> None:
        self.log = log
        self.rows: list[Exchange] = []
        self.filter: Filter = NO_FILTER
        self.sort = SortKey.STARTED
        self.descending = False
        self.following = True
        self.unseen = 0
        """Rows that came at the end since the cursor left it."""
        self._cursor_id = ""
        self._cursor_index: int | None = None
        """Where the cursor's row stands; None until it is looked up again."""

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor; 0 in an empty list."""
        if self._cursor_index is None:
            self._cursor_index = self.index_of(self._cursor_id) or 0
        return self._cursor_index

    @property
    def current(self) -> Exchange | None:
        """The exchange under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def index_of(self, exchange_id: str) -> int | None:
        """Where that exchange stands, None where the filter hides it."""
        exchange = self.log.get(exchange_id)
        if exchange is None:
            return None
        if self.sort is SortKey.STARTED:
            index = self._place(exchange)
            return index if index < len(self.rows) and self.rows[index].id == exchange_id else None
        return next((index for index, row in enumerate(self.rows) if row.id == exchange_id), None)

    def move_to(self, index: int) -> None:
        """Put the cursor on a row; on the last one the list follows the tail again."""
        if not self.rows:
            return
        index = max(0, min(index, len(self.rows) - 1))
        self._cursor_id, self._cursor_index = self.rows[index].id, index
        at_tail = self.sort is SortKey.STARTED and index == self._tail
        self.following = at_tail
        if at_tail:
            self.unseen = 0

    def follow(self, on: bool) -> None:
        """Follow the tail, or stay where the cursor is."""
        self.following = on and self.sort is SortKey.STARTED
        if self.following:
            self.unseen = 0
            self._to_tail()

    def set_filter(self, new: Filter) -> None:
        """Show only what `new` matches; the cursor stays on its exchange, or goes to the nearest one that is left."""
        self.filter = new
        self._rebuild()

    def set_sort(self, key: SortKey, descending: bool) -> None:
        """Order the rows; unknown values come last either way. Only the order of arrival has a tail to follow."""
        self.sort, self.descending = key, descending
        self.following = self.following and key is SortKey.STARTED
        self._rebuild()

    def apply(self, changes: Changes) -> ViewChange:
        """Take over what a batch of events changed."""
        if changes.reloaded:
            self._rebuild()
            return ViewChange(rebuilt=True)
        if self.sort is not SortKey.STARTED:
            if not (changes.added or changes.updated):
                return ViewChange()
            self._rebuild()
            return ViewChange(rebuilt=True)
        before = self._cursor_id
        self._cursor_index = None
        touched, moved = self._apply_in_order(changes)
        if self.following:
            self._to_tail()
        if moved or (self.descending and changes.added):
            return ViewChange(rebuilt=True)
        if before != self._cursor_id:
            touched.extend(index for index in (self.index_of(before), self.cursor) if index is not None)
        return ViewChange(rows=tuple(sorted(set(touched))))

    def _apply_in_order(self, changes: Changes) -> tuple[list[int], bool]:
        touched: list[int] = []
        moved = False
        for exchange in (*changes.added, *changes.updated.values()):
            index = self._place(exchange)
            present = index < len(self.rows) and self.rows[index].id == exchange.id
            wanted = self.filter.matches(exchange)
            if present and not wanted:
                del self.rows[index]
                moved = True
            elif wanted and not present:
                moved = moved or index < len(self.rows)
                self.rows.insert(index, exchange)
                touched.append(index)
                if not self.following:
                    self.unseen += 1
            elif present:
                touched.append(index)
        return touched, moved

    def _place(self, exchange: Exchange) -> int:
        arrival = self.log.arrival
        if self.descending:
            return bisect_left(self.rows, -arrival(exchange.id), key=lambda row: -arrival(row.id))
        return bisect_left(self.rows, arrival(exchange.id), key=lambda row: arrival(row.id))

    @property
    def _tail(self) -> int:
        return 0 if self.descending else len(self.rows) - 1

    def _to_tail(self) -> None:
        if self.rows:
            self._cursor_id, self._cursor_index = self.rows[self._tail].id, self._tail

    def _rebuild(self) -> None:
        old_index = next((index for index, row in enumerate(self.rows) if row.id == self._cursor_id), 0)
        rows = [exchange for exchange in self.log if self.filter.matches(exchange)]
        if self.sort is SortKey.STARTED:
            if self.descending:
                rows.reverse()
        else:
            value = _SORT_VALUES[self.sort]
            known = [(v, row) for row in rows if (v := value(row)) is not None]
            known.sort(key=lambda pair: pair[0], reverse=self.descending)
            sortable = {row.id for _, row in known}
            rows = [row for _, row in known] + [row for row in rows if row.id not in sortable]
        self.rows = rows
        self._cursor_index = None
        if self.following:
            self._to_tail()
        elif rows and self.index_of(self._cursor_id) is None:
            self._cursor_id = rows[min(old_index, len(rows) - 1)].id
