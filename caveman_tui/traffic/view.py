"""The traffic list without a widget: which rows there are, in what order, where the cursor is, whether it follows the tail.

Rows are exchanges. Lines are what is drawn: the rows, or with an outline the rows under the heads of their conversations.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.filter import NO_FILTER, Filter
from caveman_tui.traffic.log import Changes, TrafficLog
from caveman_tui.traffic.outline import Group, GroupKey, Outline


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
        self.outline: Outline | None = None
        """The grouping by conversation; None where the rows are drawn as they are."""
        self.marks: dict[str, None] = {}
        """Ids of exchanges that a person marked, in that order."""
        self._cursor_id = ""
        self._cursor_index: int | None = None
        """Where the cursor's row stands; None until it is looked up again."""
        self._head: GroupKey | None = None
        """The group whose head the cursor is on."""
        self._from = 0
        """Exchanges that arrived before it were cleared from the display."""
        self._until: int | None = None
        """While paused, exchanges from this arrival on are not shown."""

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
        self._head = None
        at_tail = self.sort is SortKey.STARTED and index == self._tail
        self.following = at_tail
        if at_tail:
            self._nothing_unseen()

    @property
    def lines(self) -> Sequence[Exchange | Group]:
        """What is drawn, a line each."""
        return self.rows if self.outline is None else self.outline.lines

    @property
    def line_cursor(self) -> int:
        """Index of the line under the cursor: its exchange, the head of a group, or the head of the group that hides its exchange."""
        if self.outline is None:
            return self.cursor
        if self._head is not None and (index := self.outline.index_of_group(self._head)) is not None:
            return index
        return self.outline.index_of(self.current) if self.rows else 0

    def move_to_line(self, index: int) -> None:
        """Put the cursor on a line; on a head the newest exchange of its group is the current one."""
        line = self.lines[index] if 0 <= index < len(self.lines) else None
        if self.outline is None or line is None:
            self.move_to(index)
            return
        exchange = line.newest if isinstance(line, Group) else line
        self.move_to(self.index_of(exchange.id) or 0)
        if isinstance(line, Group):
            self._head = line.key
            self.following = False

    def group(self, on: bool) -> None:
        """Draw the rows under the heads of their conversations, or as they are."""
        self.outline = Outline() if on else None
        self._head = None
        self._rearrange()

    def fold(self) -> None:
        """Hide the rows of the group that the cursor is in or on, or show them again."""
        if self.outline is not None and self.rows:
            self._head = self.outline.toggle(self.lines[self.line_cursor])
            self.following = False
            self._rearrange()

    def fold_all(self) -> None:
        """Hide the rows of all groups; where that is so, show them all again."""
        if self.outline is not None:
            self.outline.toggle_all()
            self._head = None
            self._rearrange()

    @property
    def paused(self) -> bool:
        """Whether the display stands still."""
        return self._until is not None

    def pause(self, on: bool) -> None:
        """Let the display stand still, or catch up. What arrives meanwhile is kept, and counted as unseen."""
        if on == self.paused:
            return
        self._until = self.log.next_arrival if on else None
        if on:
            self.unseen = 0
            return
        self._rebuild()
        if self.following:
            self.unseen = 0

    @property
    def cleared(self) -> int:
        """How many exchanges were cleared from the display and are still in memory."""
        oldest = next(iter(self.log), None)
        return max(0, self._from - self.log.arrival(oldest.id)) if oldest else 0

    def clear(self, on: bool) -> None:
        """Take everything that has arrived off the display, or show it again."""
        self._from = self.log.next_arrival if on else 0
        self._until = self.log.next_arrival if self.paused else None
        self.unseen = 0
        self._rebuild()

    def toggle_mark(self) -> None:
        """Mark the current exchange, or take its mark away; on the head of a group, all of the group."""
        line = self.lines[self.line_cursor] if self.rows else None
        if line is None:
            return
        ids = [exchange.id for exchange in line.exchanges] if isinstance(line, Group) else [line.id]
        if all(exchange_id in self.marks for exchange_id in ids):
            for exchange_id in ids:
                del self.marks[exchange_id]
        else:
            self.marks.update(dict.fromkeys(ids))

    def next_mark(self, step: int) -> bool:
        """Put the cursor on the next marked row (or, with -1, the one before), around the end; False where there is none."""
        marked = [index for index, row in enumerate(self.rows) if row.id in self.marks]
        if not marked:
            return False
        behind = [index for index in marked if (index - self.cursor) * step > 0]
        index = (min if step > 0 else max)(behind or marked)
        if self.outline is not None:
            self.outline.reveal(self.rows[index])
            self._rearrange()
        self.move_to(index)
        return True

    def marked(self) -> list[Exchange]:
        """The marked exchanges that are in memory, oldest first, also those that the filter hides."""
        return [exchange for exchange in self.log if exchange.id in self.marks] if self.marks else []

    def follow(self, on: bool) -> None:
        """Follow the tail, or stay where the cursor is."""
        self.following = on and self.sort is SortKey.STARTED
        if self.following:
            self._nothing_unseen()
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
        """Take over what a batch of events changed; while paused only count what came."""
        if self.paused:
            self.unseen += sum(self.filter.matches(exchange) for exchange in changes.added)
            return ViewChange()
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
        if self.outline is not None:
            self._rearrange()
            return ViewChange(rebuilt=moved or bool(touched))
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
            wanted = self.filter.matches(exchange) and self.log.arrival(exchange.id) >= self._from
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

    def _nothing_unseen(self) -> None:
        """The tail is in sight; while paused there is more behind it."""
        if not self.paused:
            self.unseen = 0

    def _rearrange(self) -> None:
        if self.outline is not None:
            self.outline.build(self.rows)

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
            self._head = None

    def _rebuild(self) -> None:
        old_index = next((index for index, row in enumerate(self.rows) if row.id == self._cursor_id), 0)
        rows = [exchange for exchange in self.log if self.filter.matches(exchange)] if self.filter else list(self.log)
        if self._from or self._until is not None:
            arrival, until = self.log.arrival, self.log.next_arrival if self._until is None else self._until
            rows = [exchange for exchange in rows if self._from <= arrival(exchange.id) < until]
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
        self._rearrange()
