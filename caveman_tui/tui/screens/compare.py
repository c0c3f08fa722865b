"""Two catalogs, tool by tool: what changed, and what of it may break a caller."""

import asyncio
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container

from caveman_tui.core.catalog_diff import CatalogDiff, State, ToolDiff, diff_catalogs
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.traffic import catalog_compare
from caveman_tui.traffic.lines import BuiltDocument, Line, Role, Span, message
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.status_line import Part
from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.keyed_list import KeyedList
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.row_list import RowList

_SIDE_BY_SIDE_FROM = 110


class CompareList(KeyedList[ToolDiff]):
    """A row for each tool of either catalog."""

    def key_of(self, item: ToolDiff) -> int:
        """The very tool: after another comparison none is the same."""
        return id(item)

    def header(self, width: int) -> Line:
        """Column titles."""
        return catalog_compare.header(self.items, width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One tool."""
        return (catalog_compare.row_line(self.items, index, width),)


class CompareScreen(BaseScreen):
    """List of tools, and the one under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("compare")]
    KEY_CONTEXT = "compare"

    def __init__(self, before: bytes, after: bytes, *, before_name: str, after_name: str) -> None:
        """The two documents, of any shape that holds tools, and what they are called."""
        super().__init__()
        self._documents = before, after
        self._names = before_name, after_name
        self._diff: CatalogDiff | None = None
        self._definitions: dict[State, dict[str, bytes]] = {}
        """Of the tools that one side does not have, by the state they are in."""
        self._only_changed = True

    def content(self) -> list[Any]:
        """Which two, list and text."""
        return [
            InfoLine(id="compare-status", title="compare"),
            Container(CompareList(id="compare-list"), LineView(id="compare-text"), id="compare-main"),
        ]

    def on_mount(self) -> None:
        """Compare."""
        self.query_one(CompareList).focus()
        self.query_one("#compare-status", InfoLine).show([Part(0, (Span(" > ".join(map(one_line, self._names)), Role.STRONG),))])
        self.query_one("#compare-text", LineView).show(message("Comparing …"))
        self._compare()

    def on_resize(self) -> None:
        """List and text side by side where there is room."""
        super().on_resize()
        self.set_class(self.app.size.width >= _SIDE_BY_SIDE_FROM, "-side-by-side")

    def key_applies(self, key: Key) -> bool:
        """Opening needs a row."""
        return key.id != "list.open" or bool(self.query_one(CompareList).items)

    def action_back(self) -> None:
        """First out of the text, then to the screen before."""
        rows = self.query_one(CompareList)
        if self.focused is not rows:
            rows.focus()
        else:
            super().action_back()

    def action_only_changed(self) -> None:
        """Only what changed, or all tools."""
        self._only_changed = not self._only_changed
        self._show()

    def action_swap(self) -> None:
        """Compare the other way round."""
        self._documents = self._documents[1], self._documents[0]
        self._names = self._names[1], self._names[0]
        self._compare()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Another tool."""
        event.stop()
        self._show_tool()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Read the tool."""
        event.stop()
        self.query_one("#compare-text", LineView).focus()

    @work(group="compare", exclusive=True, exit_on_error=False)
    async def _compare(self) -> None:
        documents = self._documents
        try:
            diff = await asyncio.to_thread(diff_catalogs, *documents)
            removed, added = [await asyncio.to_thread(catalog_compare.definitions, document) for document in documents]
        except JsonRefused as refused:
            self.query_one("#compare-text", LineView).show(message(f"These can't be compared: one of them is refused as {refused.code}."))
            return
        if documents == self._documents:
            self._diff = diff
            self._definitions = {"removed": removed, "added": added}
            self._show()

    def _show(self) -> None:
        if self._diff is None:
            return
        self.query_one("#compare-status", InfoLine).show(catalog_compare.status_parts(self._diff, *self._names))
        self.query_one(CompareList).show(catalog_compare.shown_tools(self._diff, only_changed=self._only_changed))
        self.query_one(KeyFooter).refresh()
        self._show_tool()

    def _show_tool(self) -> None:
        tool = self.query_one(CompareList).current
        text = self.query_one("#compare-text", LineView)
        if tool is not None:
            definition = self._definitions.get(tool.state, {}).get(tool.name, b"")
            text.show(BuiltDocument(lambda width: catalog_compare.tool_text(tool, width, definition)))
        elif self._diff is not None and not self._diff.tools:
            text.show(message("Neither holds a tool."))
        else:
            text.show(message("Nothing changed: the same tools with the same text and schemas."))
