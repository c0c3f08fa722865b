"""The recovery store: every original that was replaced, its bytes, and one key to get it back."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import work
from textual.binding import BindingType
from textual.containers import Container

from caveman_tui import places
from caveman_tui.ccr import TOOLSCHEMA, CheckReport, Record, Recovered, StoreError, StoreMissing, StoreStats, open_store
from caveman_tui.core.policy import Level
from caveman_tui.traffic import format, recovering, store_preview, store_rows, store_texts
from caveman_tui.traffic.lines import BuiltDocument, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import safe
from caveman_tui.traffic.status_line import Part
from caveman_tui.tui import failures, keys
from caveman_tui.tui.keys import Key
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.screens.dialog import DeleteDialog
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.keyed_list import KeyedList
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.row_list import RowList

_SEARCH = "search"
_RECOVER_TO = "recover to"
_ROWS_AT_MOST = 2_000
_PROGRESS_EACH = 50


class StoreList(KeyedList[Record]):
    """A row for each original."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("store-list")]
    KEY_CONTEXT = "list store-list"

    def key_of(self, item: Record) -> str:
        """Its handle."""
        return item.handle

    def header(self, width: int) -> Line:
        """Column titles."""
        return store_rows.header(self.items, width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One original."""
        return (store_rows.row_line(self.items, index, width),)


class StoreScreen(BaseScreen):
    """List and preview of what the store holds."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("store")]
    KEY_CONTEXT = "store"

    def __init__(self, path: Path | None) -> None:
        """`path` is the worker's store, None the shared default."""
        super().__init__()
        self._path = path
        self._text = ""
        self._recovered: dict[str, Path] = {}
        self._wanted: Record | None = None
        """What is to be recovered to the place that is being typed."""
        self._with_diff = False
        self._checking = threading.Event()
        """Set while all hashes are checked; cleared, the check ends."""

    def content(self) -> list[Any]:
        """Status, list, facts and preview."""
        return [
            InfoLine(id="store-status", title="originals"),
            Container(
                StoreList(id="store-list"),
                Container(LineView(id="store-facts"), LineView(id="store-preview"), id="store-detail"),
                id="store-main",
            ),
            LineView(id="store-empty"),
        ]

    def on_mount(self) -> None:
        """Read the store."""
        self.query_one("#store-facts", LineView).can_focus = False
        self.query_one("#store-empty", LineView).can_focus = False
        self.query_one(StoreList).focus()
        self._load()

    def key_applies(self, key: Key) -> bool:
        """An empty list has nothing to recover."""
        current = self.query_one(StoreList).current
        if key.id == "store.diff":
            return current is not None and current.content_type == TOOLSCHEMA
        if key.id == "store.delete":
            return current is not None and not current.is_object
        if key.id in ("store.recover", "store.recover-to", "store.copy", "list.open", "store.search", "store.check"):
            return current is not None
        return True

    def action_back(self) -> None:
        """First out of a running check, the preview or a search, then to the screen before."""
        rows = self.query_one(StoreList)
        if self._checking.is_set():
            self._checking.clear()
        elif self.focused is not rows and rows.items:
            rows.focus()
        elif self._text:
            self._text = ""
            self._load()
        else:
            super().action_back()

    def action_reload(self) -> None:
        """Read the store again."""
        self._load()

    def action_search_store(self) -> None:
        """Type a text to look for."""
        self.prompt.open(_SEARCH, self._text, "text in an original, a handle or a type", replaces=True)

    def action_recover(self) -> None:
        """Write the original under the cursor to a file."""
        record = self.query_one(StoreList).current
        if record is not None:
            self.caveman.recover(record.handle, done=lambda path: self._recovered.__setitem__(record.handle, path))

    def action_recover_to(self) -> None:
        """Ask where to, and write the original there."""
        record = self.query_one(StoreList).current
        if record is not None:
            self._wanted = record
            suffix = "json" if record.content_type == TOOLSCHEMA else "txt"
            place = places.recovered_dir() / f"{record.handle}.{suffix}"
            self.prompt.open(_RECOVER_TO, str(place), "a new file; ~ is your home", replaces=True)

    def action_diff(self) -> None:
        """What shrinking makes of the catalog, or the catalog again."""
        record = self.query_one(StoreList).current
        if record is None or record.content_type != TOOLSCHEMA:
            self.notify("Only tool catalogs have a shrunk form to compare with.", timeout=4, markup=False)
            return
        self._with_diff = not self._with_diff
        self._preview()

    def action_check(self) -> None:
        """Compare every original with its hash, or give that up."""
        if self._checking.is_set():
            self._checking.clear()
        else:
            self._check()

    def action_delete(self) -> None:
        """Ask, with the bytes it frees, and delete the original."""
        record = self.query_one(StoreList).current
        if record is None:
            return
        if record.is_object:
            self.notify("This is a session object of another tool: delete it with the tool that wrote it.", markup=False)
            return
        text = (
            f"{record.handle}, {record.content_type}, stored {store_rows.stored_at(record)} UTC.",
            f"It frees {format.exact(record.original_bytes)} bytes of the budget, and cannot be undone: a request that names this handle "
            "can then no longer be traced back to its original.",
        )

        def answered(yes: bool | None) -> None:
            if yes:
                self._delete(record.handle)

        self.app.push_screen(DeleteDialog("Delete this original for good?", text), answered)

    def action_copy(self) -> None:
        """Send the recovered file's path, or the handle, to the clipboard."""
        record = self.query_one(StoreList).current
        if record is not None:
            self.caveman.send_to_clipboard(str(self._recovered.get(record.handle, record.handle)))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Preview another original."""
        event.stop()
        self._preview()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Read the preview."""
        event.stop()
        self.query_one("#store-preview", LineView).focus()

    def on_prompt_line_accepted(self, event: PromptLine.Accepted) -> None:
        """Search the store, or write to the place that was typed."""
        if event.purpose == _RECOVER_TO:
            self.query_one(StoreList).focus()
            if self._wanted is not None and event.text.strip():
                self._recover_to(self._wanted.handle, event.text.strip())
            return
        if event.purpose != _SEARCH:
            super().on_prompt_line_accepted(event)
            return
        self._text = event.text
        self.query_one(StoreList).focus()
        self._load()

    def on_prompt_line_closed(self, event: PromptLine.Closed) -> None:
        """Back to the list."""
        if event.purpose not in (_SEARCH, _RECOVER_TO):
            super().on_prompt_line_closed(event)
            return
        self.query_one(StoreList).focus()

    @work(group="store-list", exclusive=True, exit_on_error=False)
    async def _load(self) -> None:
        text = self._text
        try:
            stats, records = await asyncio.to_thread(_read, self._path, text)
        except StoreMissing:
            self._say_empty(store_texts.nothing_stored)
            return
        except StoreError as error:
            reason = failures.sentence(error)
            self._say_empty(lambda width: store_texts.unreadable(reason, width))
            return
        if text != self._text:
            return
        self.query_one("#store-status", InfoLine).show(store_rows.stats_parts(stats, len(records), text))
        self.query_one(StoreList).show(list(records))
        self.set_class(not records, "-empty")
        if not records:
            self.query_one("#store-empty", LineView).show(
                BuiltDocument(lambda width: store_texts.nothing_found(text, width) if text else store_texts.nothing_stored(width))
            )
        self.query_one(KeyFooter).refresh()
        self._preview()

    @work(group="store-preview", exclusive=True, exit_on_error=False)
    async def _preview(self) -> None:
        record = self.query_one(StoreList).current
        preview = self.query_one("#store-preview", LineView)
        if record is None:
            return
        self.query_one("#store-facts", LineView).show(BuiltDocument(lambda _: store_rows.facts(record)))
        try:
            recovered = await asyncio.to_thread(recovering.get, self._path, record.handle)
        except StoreError as error:
            reason = f"✗ {failures.sentence(error)}"
            preview.show(BuiltDocument(lambda width: [line(part, Role.BAD) for part in wrap(safe(reason), width)]))
            return
        current = self.query_one(StoreList).current
        if current is None or current.handle != record.handle:
            return
        level = self._level_of(recovered) if self._with_diff and record.content_type == TOOLSCHEMA else None
        preview.show(await asyncio.to_thread(store_preview.document, recovered.original, level))

    def _level_of(self, recovered: Recovered) -> Level:
        """The level at which it was stored, as far as its metadata or an exchange tells; else the one that is set now."""
        known = store_preview.stored_level(recovered.metadata)
        if known is not None:
            return known
        log = self.caveman.traffic_log
        used = (tools.level for exchange in log for tools in exchange.tools if tools.handle == recovered.record.handle)
        return next(used, log.settings.level)

    @work(group="recover", exit_on_error=False)
    async def _recover_to(self, handle: str, place: str) -> None:
        try:
            path = await asyncio.to_thread(recovering.recover_to, place, self._path, handle)
        except StoreError as error:
            self.notify(failures.sentence(error), title="Not recovered", severity="error", timeout=10, markup=False)
            return
        except (OSError, RuntimeError) as error:
            why = "something is there, and it was not touched" if isinstance(error, FileExistsError) else failures.reason(error)
            self.notify(f"{place}: {why}. R asks again.", title="Not recovered", severity="error", timeout=10, markup=False)
            return
        self._recovered[handle] = path
        self.notify(f"{path}", title="Recovered, hash checked", timeout=10, markup=False)

    @work(group="store-delete", exit_on_error=False)
    async def _delete(self, handle: str) -> None:
        try:
            freed = await asyncio.to_thread(_remove, self._path, handle)
        except StoreError as error:
            self.notify(failures.sentence(error), title="Not deleted", severity="error", timeout=10, markup=False)
            return
        self.notify(f"{format.exact(freed)} bytes are free again for other originals.", title=f"Deleted {handle}", timeout=8, markup=False)
        self._load()

    @work(group="store-check", exclusive=True, exit_on_error=False)
    async def _check(self) -> None:
        loop = asyncio.get_running_loop()
        status = self.query_one("#store-status", InfoLine)
        self._checking.set()

        def progress(done: int, of: int) -> None:
            if not self._checking.is_set():
                raise _GivenUp
            if done % _PROGRESS_EACH == 0:
                says = f"checking {done:,} of {of:,} hashes, esc ends it"
                loop.call_soon_threadsafe(status.show, [Part(0, (Span(says, Role.ACCENT),))])

        try:
            report = await asyncio.to_thread(_check_all, self._path, progress)
        except _GivenUp:
            self.notify("The check was ended before it was through.", timeout=4, markup=False)
        except StoreError as error:
            self.notify(failures.sentence(error), title="Not checked", severity="error", timeout=10, markup=False)
        else:
            severity: Literal["information", "error"] = "information" if report.sound else "error"
            self.notify(store_texts.found(report), title=store_texts.verdict(report), severity=severity, timeout=15, markup=False)
        finally:
            self._checking.clear()
        self._load()

    def on_unmount(self) -> None:
        """A check that still runs ends."""
        self._checking.clear()

    def _say_empty(self, build: Callable[[int], list[Line]]) -> None:
        self.query_one(StoreList).show([])
        self.set_class(True, "-empty")
        path = str(self._path) if self._path else "the shared default"
        self.query_one("#store-status", InfoLine).show([Part(0, (Span(path, Role.MUTED),))])
        self.query_one("#store-empty", LineView).show(BuiltDocument(build))
        self.query_one(KeyFooter).refresh()


def _read(path: Path | None, text: str) -> tuple[StoreStats, tuple[Record, ...]]:
    with open_store(path, create=False) as store:
        return store.stats(), store.list(text, limit=_ROWS_AT_MOST)


class _GivenUp(Exception):
    """A person ended the check."""


def _remove(path: Path | None, handle: str) -> int:
    with open_store(path, create=False) as store:
        return store.delete(handle)


def _check_all(path: Path | None, progress: Callable[[int, int], object]) -> CheckReport:
    with open_store(path, create=False) as store:
        return store.check(progress)
