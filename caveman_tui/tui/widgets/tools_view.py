"""The tools of an exchange: what shrinking did to all, a row for each, and the one under the cursor in full."""

from textual.app import ComposeResult
from textual.containers import Container

from caveman_tui.core.policy import Level
from caveman_tui.protocol.control import CatalogDetail
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import tool_rows
from caveman_tui.traffic.lines import BuiltDocument, Line, message
from caveman_tui.traffic.tool_rows import ToolRow
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.row_list import RowList

_SIDE_BY_SIDE_FROM = 110


class ToolList(RowList):
    """A row for each tool."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[ToolRow] = []

    def show(self, rows: list[ToolRow]) -> None:
        """Show other tools."""
        self.rows = rows
        self.set_cursor(0)
        self.rows_changed()
        self.show_cursor()

    def row_count(self) -> int:
        """How many tools."""
        return len(self.rows)

    def header(self, width: int) -> Line:
        """Column titles."""
        return tool_rows.header(self.rows, width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One tool."""
        return (tool_rows.row_line(self.rows, index, width),)


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
        self.query_one(ToolList).show(tool_rows.tool_rows(catalogs))
        self._show_tool()

    def say(self, text: str) -> None:
        """Why there are no rows."""
        self.query_one(ToolList).show([])
        self.query_one("#tools-text", LineView).show(message(text))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another tool."""
        event.stop()
        self._show_tool()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Read the tool."""
        event.stop()
        self.query_one("#tools-text", LineView).focus()

    def _show_tool(self) -> None:
        rows = self.query_one(ToolList)
        text = self.query_one("#tools-text", LineView)
        if not rows.rows:
            text.show(message(""))
            return
        row, level = rows.rows[rows.get_cursor()], self._level
        text.show(BuiltDocument(lambda width: tool_rows.tool_text(row, level, width)))
