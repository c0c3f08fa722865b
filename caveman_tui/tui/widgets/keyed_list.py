"""A list of things, a row each, with a cursor that stays on its own when others come."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from caveman_tui.tui.widgets.row_list import RowList

Item = TypeVar("Item")


class KeyedList(RowList, Generic[Item]):
    """Subclasses give `key_of`, `header` and `row_lines`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.items: list[Item] = []

    def key_of(self, item: Item) -> Hashable:
        """What one is known by when it comes again."""
        raise TypeError(f"{type(self).__name__} says nothing of its keys")

    @property
    def current(self) -> Item | None:
        """The one under the cursor."""
        return self.items[self.get_cursor()] if self.items else None

    def show(self, items: list[Item]) -> None:
        """Show others; the cursor stays on its own, or goes to the first one where that is gone."""
        before = self.current
        key = None if before is None else self.key_of(before)
        self.items = items
        self.set_cursor(next((index for index, item in enumerate(items) if self.key_of(item) == key), 0))
        self.rows_changed()
        self.show_cursor()

    def row_count(self) -> int:
        """How many."""
        return len(self.items)
