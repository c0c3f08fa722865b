"""Every tool catalog that passed: what shrinking takes from each tool, and how two catalogs differ."""

import asyncio
from datetime import tzinfo
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container

from caveman_tui.core.policy import Level
from caveman_tui.protocol.control import CatalogDetail, Conversation
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import catalogs_seen
from caveman_tui.traffic.catalogs_seen import CatalogBook, CatalogSeen, Key, document
from caveman_tui.traffic.lines import BLANK, BuiltDocument, Line, Role, Span, line, wrap
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.source import SourceError
from caveman_tui.traffic.view import ViewChange
from caveman_tui.tui import failures, keys
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.screens.compare import CompareScreen
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.keyed_list import KeyedList
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.row_list import RowList
from caveman_tui.tui.widgets.tools_view import ToolList, ToolsView

_FILE = "compare with file"
_FILE_BYTES = 32 * 1024 * 1024
_DETAILS_KEPT = 16
_NEEDS_A_CATALOG = frozenset({"list.open", "catalog.mark", "catalog.compare", "catalog.file"})
_NEEDS_A_TOOL = frozenset({"tool.sort", "tool.changed", "tool.exclude"})


class CatalogList(KeyedList[CatalogSeen]):
    """A row for each catalog of each conversation."""

    def __init__(self, zone: tzinfo | None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.marked: Key | None = None
        self._zone = zone

    def key_of(self, item: CatalogSeen) -> Key:
        """Conversation, agent, digest and level."""
        return item.key

    def header(self, width: int) -> Line:
        """Column titles."""
        return catalogs_seen.header(width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One catalog."""
        seen = self.items[index]
        return (catalogs_seen.row_line(seen, width, self._zone, marked=seen.key == self.marked),)


class ToolsScreen(BaseScreen):
    """Catalogs above, the tools of the one under the cursor below."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("catalog")]
    KEY_CONTEXT = "catalog"

    def __init__(self) -> None:
        super().__init__()
        self._book = CatalogBook()
        self._pins: tuple[Conversation, ...] | None = None
        self._details: dict[tuple[str, Level], CatalogDetail] = {}
        self._shown: Key | None = None

    def content(self) -> list[Any]:
        """Status, catalogs, tools."""
        return [
            InfoLine(id="tools-status", title="tools"),
            Container(CatalogList(self.caveman.zone, id="catalog-list"), ToolsView(id="catalog-tools"), id="tools-main"),
            LineView(id="catalogs-empty"),
        ]

    def on_mount(self) -> None:
        """Look at all exchanges once."""
        self.query_one("#catalogs-empty", LineView).can_focus = False
        self.query_one(CatalogList).focus()
        self._load()

    def on_screen_resume(self) -> None:
        """Back from another screen or a question: a pin may have changed."""
        self._ask_pins()

    @property
    def current(self) -> Exchange | None:
        """The last exchange that carried the catalog under the cursor."""
        seen = self.query_one(CatalogList).current
        return seen.last if seen else None

    def key_applies(self, key: keys.Key) -> bool:
        """Leave out of the footer what has nothing to act on."""
        if key.id in _NEEDS_A_CATALOG:
            return bool(self.query_one(CatalogList).items)
        if key.id in _NEEDS_A_TOOL:
            return bool(self.query_one(ToolList).items)
        return key.id != "app.tools"

    def traffic_changed(self, changes: Changes, change: ViewChange) -> None:
        """Bring the catalogs up to date."""
        if changes.reloaded:
            self._load()
        elif self._book.apply(changes):
            self._show()

    def action_back(self) -> None:
        """From the text to the tools, from the tools to the catalogs, from there to the screen before."""
        catalogs, tools = self.query_one(CatalogList), self.query_one(ToolList)
        if self.focused is catalogs or not catalogs.items:
            super().action_back()
        elif self.focused is tools:
            catalogs.focus()
        else:
            tools.focus()

    def action_mark(self) -> None:
        """Take the catalog under the cursor as the first of a comparison, or no longer."""
        rows = self.query_one(CatalogList)
        if rows.current is not None:
            rows.marked = None if rows.marked == rows.current.key else rows.current.key
            rows.refresh()

    def action_compare(self) -> None:
        """Compare with the marked catalog; without a mark with the next older one; with none, with its own shrunk form."""
        rows = self.query_one(CatalogList)
        if rows.current is None:
            return
        after = rows.current
        before = next((seen for seen in rows.items if seen.key == rows.marked), None)
        if before is None or before.key == after.key:
            older = rows.items[rows.get_cursor() + 1 :]
            before = next((seen for seen in older if seen.summary.digest != after.summary.digest), None)
        self._compare(before, after)

    def action_compare_file(self) -> None:
        """Type the path of a file to compare with."""
        if self.query_one(CatalogList).current is not None:
            self.prompt.open(_FILE, "", "a catalog, a request or a tools/list answer; JSON")

    def on_prompt_line_accepted(self, event: PromptLine.Accepted) -> None:
        """Compare with that file."""
        if event.purpose != _FILE:
            super().on_prompt_line_accepted(event)
            return
        rows = self.query_one(CatalogList)
        rows.focus()
        if rows.current is not None and event.text.strip():
            self._compare_file(rows.current, Path(event.text.strip()).expanduser())

    def on_prompt_line_closed(self, event: PromptLine.Closed) -> None:
        """Back to the list."""
        if event.purpose != _FILE:
            super().on_prompt_line_closed(event)
            return
        self.query_one(CatalogList).focus()

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show another catalog."""
        event.stop()
        self._show_current()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Go into the tools."""
        event.stop()
        self.query_one(ToolList).focus()

    def _load(self) -> None:
        self._book.load(self.caveman.traffic_log)
        self._show()

    def _show(self) -> None:
        rows = self.query_one(CatalogList)
        rows.show(self._book.catalogs)
        if self.has_class("-empty") == bool(rows.items):
            self.query_one(KeyFooter).refresh()
        self.set_class(not rows.items, "-empty")
        if not rows.items:
            self.query_one("#catalogs-empty", LineView).show(BuiltDocument(_empty))
        self._show_current()

    def _show_current(self) -> None:
        current = self.query_one(CatalogList).current
        self._show_status()
        if current is not None and current.key != self._shown:
            self._shown = current.key
            self._show_tools(current)
            self._ask_pins()

    def _show_status(self) -> None:
        rows = self.query_one(CatalogList)
        self.query_one("#tools-status", InfoLine).show(catalogs_seen.status_parts(rows.items, rows.current, self._pins))

    @work(group="pins", exclusive=True, exit_on_error=False)
    async def _ask_pins(self) -> None:
        try:
            self._pins = (await self.caveman.source.conversations()).conversations
        except SourceError:
            # The status line of the list says that the worker is gone; here it only means that pins are not known.
            self._pins = None
        self._show_status()

    @work(group="catalog", exclusive=True, exit_on_error=False)
    async def _show_tools(self, seen: CatalogSeen) -> None:
        view = self.query_one(ToolsView)
        try:
            view.show_catalogs((await self._detail(seen),))
        except SourceError as error:
            view.say(str(error))
        self.query_one(KeyFooter).refresh()

    @work(group="compare", exclusive=True, exit_on_error=False)
    async def _compare(self, before: CatalogSeen | None, after: CatalogSeen) -> None:
        try:
            new = await self._detail(after)
            old = new if before is None else await self._detail(before)
        except SourceError as error:
            self.notify(str(error), title="Not compared", severity="error", timeout=8, markup=False)
            return
        if before is None or before.summary.digest == after.summary.digest:
            names = f"{after.title} as it came", f"shrunk, {new.level.value}"
            self._open(document(new, shrunk=False), document(new, shrunk=True), *names)
        else:
            self._open(document(old, shrunk=False), document(new, shrunk=False), before.title, after.title)

    @work(group="compare", exclusive=True, exit_on_error=False)
    async def _compare_file(self, seen: CatalogSeen, path: Path) -> None:
        try:
            content = await asyncio.to_thread(_read, path)
            detail = await self._detail(seen)
        except (OSError, ValueError, SourceError) as error:
            self.notify(f"{path}: {failures.reason(error)}", title="Not compared", severity="error", timeout=8, markup=False)
            return
        self._open(content, document(detail, shrunk=False), path.name, seen.title)

    def _open(self, before: bytes, after: bytes, before_name: str, after_name: str) -> None:
        self.app.push_screen(CompareScreen(before, after, before_name=before_name, after_name=after_name))

    async def _detail(self, seen: CatalogSeen) -> CatalogDetail:
        """The catalog itself. Raises SourceError."""
        key = seen.summary.digest, seen.summary.level
        if key not in self._details:
            detail = await self.caveman.source.catalog(*key)
            while len(self._details) >= _DETAILS_KEPT:
                del self._details[next(iter(self._details))]
            self._details[key] = detail
        return self._details[key]


def _read(path: Path) -> bytes:
    """The content of a file. Raises OSError, or ValueError where it is too large to be a catalog."""
    size = path.stat().st_size
    if size > _FILE_BYTES:
        raise ValueError(f"it has {size:,} bytes; a catalog may have {_FILE_BYTES:,}")
    return path.read_bytes()


def _empty(width: int) -> list[Line]:
    words = (
        "A catalog appears here with the first request that carries tools, while tool shrinking measures or applies. "
        "Then: what shrinking takes from each tool and why, and how two catalogs differ."
    )
    return [
        BLANK,
        line("No request with tools has come yet.", Role.STRONG),
        BLANK,
        *(line(part, Role.MUTED) for part in wrap(words, width)),
        BLANK,
        (Span("s", Role.ACCENT), Span(" steps through off, measure and apply", Role.MUTED)),
    ]
