"""The tools of an exchange: what shrinking did to all, a row for each, and the one under the cursor in full."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message

from caveman_tui.core.policy import Level
from caveman_tui.protocol.control import CatalogDetail
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import tool_rows
from caveman_tui.traffic.lines import BuiltDocument, Line, message
from caveman_tui.traffic.tool_rows import ToolOrder, ToolRow
from caveman_tui.tui import keys
from caveman_tui.tui.widgets.keyed_list import KeyedList
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.row_list import RowList

_SIDE_BY_SIDE_FROM = 110


class ToolList(KeyedList[ToolRow]):
    """A row for each tool, in an order of choice, all or only those that changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("tool-list")]
    KEY_CONTEXT = "list tool-list"

    class ExcludeToggled(Message):
        """A tool is to be left out of shrinking, or in again."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.order = ToolOrder.SENT
        self.only_changed = False
        self.excluded: frozenset[str] = frozenset()
        """Names that new conversations leave out of shrinking."""
        self._all: list[ToolRow] = []

    def key_of(self, item: ToolRow) -> int:
        """The very tool: those of another catalog are others."""
        return id(item)

    def show_all(self, rows: list[ToolRow]) -> None:
        """Show the tools of a catalog, from the first one."""
        self._all = rows
        self.items = []
        self._arrange()

    def header(self, width: int) -> Line:
        """Column titles."""
        return tool_rows.header(self.items, width, self.order, only_changed=self.only_changed)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One tool."""
        return (tool_rows.row_line(self.items, index, width, self.excluded, self.order),)

    def action_sort(self) -> None:
        """Order by the next key; the cursor goes to the first row, which is what one sorts for."""
        order = list(ToolOrder)
        self.order = order[(order.index(self.order) + 1) % len(order)]
        self.items = []
        self._arrange()
        self.post_message(self.Moved(self))

    def action_only_changed(self) -> None:
        """Only tools that shrinking changes, or all again; the cursor stays on its tool."""
        self.only_changed = not self.only_changed
        self._arrange()
        self.post_message(self.Moved(self))

    def action_exclude(self) -> None:
        """Leave the tool under the cursor out of shrinking, or in again."""
        if self.current is not None:
            self.post_message(self.ExcludeToggled(self.current.tool.name))

    def _arrange(self) -> None:
        self.show(tool_rows.arranged(self._all, self.order, only_changed=self.only_changed))


class ToolsView(Container):
    """Summary, rows and the current tool's text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._level = Level.STANDARD

    def compose(self) -> ComposeResult:
        """The three parts."""
        yield LineView(id="tools-summary")
        yield Container(ToolList(id="tools-list"), LineView(id="tools-text"), id="tools-both")

    def on_mount(self) -> None:
        """The summary is read, not visited."""
        self.query_one("#tools-summary", LineView).can_focus = False

    def on_resize(self) -> None:
        """List and text side by side where there is room."""
        self.set_class(self.size.width >= _SIDE_BY_SIDE_FROM, "-wide")

    def show_summary(self, exchange: Exchange) -> None:
        """What is known before the catalog itself is there."""
        box = self.query_one("#tools-summary", LineView)
        box.show(BuiltDocument(lambda width: tool_rows.summary(exchange, width)), keep_place=True)
        box.styles.height = max(1, 2 * len(exchange.tools))
        self.set_class(not exchange.tools, "-empty")

    def show_catalogs(self, catalogs: tuple[CatalogDetail, ...]) -> None:
        """The tools themselves."""
        if catalogs:
            self._level = catalogs[0].level
        self.query_one(ToolList).show_all(tool_rows.tool_rows(catalogs))
        self._show_tool()

    def show_excluded(self, names: frozenset[str]) -> None:
        """Mark the tools that new conversations leave out of shrinking."""
        rows = self.query_one(ToolList)
        if names != rows.excluded:
            rows.excluded = names
            rows.refresh()
            self._show_tool(keep_place=True)

    def say(self, text: str) -> None:
        """Why there are no rows."""
        self.query_one(ToolList).show_all([])
        self.query_one("#tools-text", LineView).show(message(text))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another tool."""
        event.stop()
        self._show_tool()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Read the tool."""
        event.stop()
        self.query_one("#tools-text", LineView).focus()

    def _show_tool(self, *, keep_place: bool = False) -> None:
        rows = self.query_one(ToolList)
        text = self.query_one("#tools-text", LineView)
        row, level, excluded = rows.current, self._level, rows.excluded
        if row is None:
            text.show(message(""))
            return
        text.show(BuiltDocument(lambda width: tool_rows.tool_text(row, level, width, excluded)), keep_place=keep_place)
