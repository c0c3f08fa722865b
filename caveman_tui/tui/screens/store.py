"""The recovery store: every original that was replaced, its bytes, and one key to get it back."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container

from caveman_tui.ccr import Record, Recovered, StoreError, StoreMissing, StoreStats, open_store
from caveman_tui.traffic import store_rows
from caveman_tui.traffic.body_text import BodyDocument, indented
from caveman_tui.traffic.lines import BLANK, BuiltDocument, Line, Role, Span, line, wrap
from caveman_tui.traffic.safe_text import safe
from caveman_tui.traffic.status_line import Part
from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.row_list import RowList

_SEARCH = "search"
_ROWS_AT_MOST = 2_000


class StoreList(RowList):
    """A row for each original."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("store-list")]
    KEY_CONTEXT = "list store-list"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.records: tuple[Record, ...] = ()

    @property
    def current(self) -> Record | None:
        """The record under the cursor."""
        return self.records[self.get_cursor()] if self.records else None

    def show(self, records: tuple[Record, ...]) -> None:
        """Show other records; the cursor stays on its own if that is still there."""
        before = self.current.handle if self.current else ""
        self.records = records
        self.set_cursor(next((index for index, record in enumerate(records) if record.handle == before), 0))
        self.rows_changed()
        self.show_cursor()

    def row_count(self) -> int:
        """How many."""
        return len(self.records)

    def header(self, width: int) -> Line:
        """Column titles."""
        return store_rows.header(self.records, width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One original."""
        return (store_rows.row_line(self.records, index, width),)


class StoreScreen(BaseScreen):
    """List and preview of what the store holds."""

    CSS_PATH = "store.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("store")]
    KEY_CONTEXT = "store"

    def __init__(self, path: Path | None) -> None:
        """`path` is the worker's store, None the shared default."""
        super().__init__()
        self._path = path
        self._text = ""
        self._recovered: dict[str, Path] = {}

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
        if key.id in ("store.recover", "store.copy", "list.open", "store.search"):
            return bool(self.query_one(StoreList).records)
        return True

    def action_back(self) -> None:
        """First out of a search or the preview, then to the screen before."""
        rows = self.query_one(StoreList)
        if self.focused is not rows and rows.records:
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
        self.prompt.open(_SEARCH, self._text, "text in an original, a handle or a type")

    def action_recover(self) -> None:
        """Write the original under the cursor to a file."""
        record = self.query_one(StoreList).current
        if record is not None:
            self.caveman.recover(record.handle, done=lambda path: self._recovered.__setitem__(record.handle, path))

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
        """Search the store."""
        if event.purpose != _SEARCH:
            super().on_prompt_line_accepted(event)
            return
        self._text = event.text
        self.query_one(StoreList).focus()
        self._load()

    def on_prompt_line_closed(self, event: PromptLine.Closed) -> None:
        """Back to the list."""
        if event.purpose != _SEARCH:
            super().on_prompt_line_closed(event)
            return
        self.query_one(StoreList).focus()

    @work(group="store-list", exclusive=True, exit_on_error=False)
    async def _load(self) -> None:
        text = self._text
        try:
            stats, records = await asyncio.to_thread(_read, self._path, text)
        except StoreMissing:
            self._say_empty(_nothing_stored)
            return
        except StoreError as error:
            reason = sentence(error)
            self._say_empty(lambda width: _unreadable(reason, width))
            return
        if text != self._text:
            return
        self.query_one("#store-status", InfoLine).show(store_rows.stats_parts(stats, len(records), text))
        self.query_one(StoreList).show(records)
        self.set_class(not records, "-empty")
        if not records:
            self.query_one("#store-empty", LineView).show(
                BuiltDocument(lambda width: _nothing_found(text, width) if text else _nothing_stored(width))
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
            recovered = await asyncio.to_thread(_get, self._path, record.handle)
        except StoreError as error:
            reason = f"✗ {sentence(error)}"
            preview.show(BuiltDocument(lambda width: [line(part, Role.BAD) for part in wrap(safe(reason), width)]))
            return
        current = self.query_one(StoreList).current
        if current is None or current.handle != record.handle:
            return
        document = await asyncio.to_thread(lambda: BodyDocument(indented(recovered.original) or recovered.original))
        preview.show(document)

    def _say_empty(self, build: Callable[[int], list[Line]]) -> None:
        self.query_one(StoreList).show(())
        self.set_class(True, "-empty")
        path = str(self._path) if self._path else "the shared default"
        self.query_one("#store-status", InfoLine).show([Part(0, (Span(path, Role.MUTED),))])
        self.query_one("#store-empty", LineView).show(BuiltDocument(build))
        self.query_one(KeyFooter).refresh()


def _read(path: Path | None, text: str) -> tuple[StoreStats, tuple[Record, ...]]:
    with open_store(path, create=False) as store:
        return store.stats(), store.list(text, limit=_ROWS_AT_MOST)


def _get(path: Path | None, handle: str) -> Recovered:
    with open_store(path, create=False) as store:
        return store.get(handle)


def sentence(error: StoreError) -> str:
    """What happened and what to do, as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _nothing_found(text: str, width: int) -> list[Line]:
    undo = (Span("esc", Role.ACCENT), Span(" shows all again", Role.MUTED))
    return [BLANK, *(line(part) for part in wrap(safe(f"No original contains {text}"), width)), BLANK, undo]


def _nothing_stored(width: int) -> list[Line]:
    paragraphs = (
        ("Nothing has been replaced yet.", Role.STRONG),
        (
            "Tool shrinking only measures until you switch it on, because it drops text: names, types and stated constraints are proven "
            "kept, that a model chooses the same tool is not. Each original is stored here before its shorter form is sent.",
            Role.MUTED,
        ),
    )
    lines: list[Line] = [BLANK]
    for words, role in paragraphs:
        lines += [*(line(part, role) for part in wrap(words, width)), BLANK]
    return [*lines, (Span("s", Role.ACCENT), Span(" steps through off, measure and apply, for new conversations", Role.MUTED))]


def _unreadable(reason: str, width: int) -> list[Line]:
    return [
        BLANK,
        line("✗ The store can't be read.", Role.BAD),
        *(line(part) for part in wrap(safe(reason), width)),
        BLANK,
        *(line(part, Role.MUTED) for part in wrap("Requests go out unshrunk meanwhile; nothing was changed in the file.", width)),
    ]
