"""The provider's cache, conversation by conversation: what it holds, how long still, and why it was last missed."""

from collections.abc import Callable
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container
from textual.worker import Worker

from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import cache_rows, filter
from caveman_tui.traffic.cache_state import CacheBook, CacheState, Key
from caveman_tui.traffic.lines import BLANK, BuiltDocument, Line, Role, Span, line, wrap
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.source import SourceError
from caveman_tui.traffic.view import ViewChange
from caveman_tui.tui import keys
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.keyed_list import KeyedList
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.row_list import RowList

_SIDE_BY_SIDE_FROM = 140
_TICK_SECONDS = 1.0


class CacheList(KeyedList[CacheState]):
    """A row for each conversation and model."""

    def __init__(self, clock: Callable[[], float], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock

    def key_of(self, item: CacheState) -> Key:
        """Conversation, agent and model."""
        return item.key

    def header(self, width: int) -> Line:
        """Column titles."""
        return cache_rows.header(width)

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """One conversation."""
        return (cache_rows.row_line(self.items[index], self._clock(), width),)


class CacheScreen(BaseScreen):
    """List and detail; both count down."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("cache")]
    KEY_CONTEXT = "cache"

    def __init__(self) -> None:
        super().__init__()
        self._book = CacheBook()
        self._pauses: dict[str, PauseStatistics] = {}
        """What the worker recorded of each conversation."""
        self._pauses_old = True
        """Whether anything came since it was asked."""
        self._asking: Worker[None] | None = None

    def content(self) -> list[Any]:
        """Summary, list and detail."""
        return [
            InfoLine(id="cache-status", title="cache"),
            Container(CacheList(self.caveman.now, id="cache-list"), LineView(id="cache-detail"), id="cache-main"),
            LineView(id="cache-empty"),
        ]

    def on_mount(self) -> None:
        """Look at all exchanges once, and count down from then on."""
        self.query_one("#cache-empty", LineView).can_focus = False
        self.query_one(CacheList).focus()
        self._load()
        self.set_interval(_TICK_SECONDS, self._tick)

    def on_screen_resume(self) -> None:
        """Back from another screen: the time went on."""
        self._tick()

    def on_resize(self) -> None:
        """List and detail side by side where there is room."""
        super().on_resize()
        self.set_class(self.app.size.width >= _SIDE_BY_SIDE_FROM, "-side-by-side")

    @property
    def current(self) -> Exchange | None:
        """The newest exchange of the conversation under the cursor."""
        state = self.query_one(CacheList).current
        return state.last if state else None

    def key_applies(self, key: keys.Key) -> bool:
        """An empty list has nothing to open, and this is the cache."""
        if key.id in ("list.open", "cache.newest", "cache.conversation"):
            return bool(self.query_one(CacheList).items)
        return key.id != "app.cache"

    def traffic_changed(self, changes: Changes, change: ViewChange) -> None:
        """Bring the states up to date."""
        if changes.reloaded:
            self._load()
        elif self._book.apply(changes):
            self._show()
        self._pauses_old = True

    def action_back(self) -> None:
        """First out of the detail, then to the screen before."""
        rows = self.query_one(CacheList)
        if self.focused is not rows and rows.items:
            rows.focus()
        else:
            super().action_back()

    def action_open_newest(self) -> None:
        """Open the newest request of the conversation."""
        if self.current is not None:
            self.app.push_screen(ExchangeScreen(self.current))

    def action_only_conversation(self) -> None:
        """Back to the list, with this conversation only."""
        if self.current is not None:
            self.caveman.traffic_view.set_filter(filter.parse(f'conv:"{self.current.conversation}"'))
            self.app.pop_screen()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Open the request that missed last, or else the newest."""
        event.stop()
        state = self.query_one(CacheList).current
        if state is None:
            return
        missed = self.caveman.traffic_log.get(state.miss.exchange) if state.miss else None
        self.app.push_screen(ExchangeScreen(missed or state.last, "timing" if missed else "ladder"))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show another conversation."""
        event.stop()
        self._show_detail(keep_place=False)

    def _load(self) -> None:
        self._book.load(self.caveman.traffic_log)
        self._show()

    def _show(self) -> None:
        rows = self.query_one(CacheList)
        before = rows.current.key if rows.current else None
        rows.show(self._book.states)
        if self.has_class("-empty") == bool(rows.items):
            self.query_one(KeyFooter).refresh()
        self.set_class(not rows.items, "-empty")
        if not rows.items:
            self.query_one("#cache-empty", LineView).show(BuiltDocument(_empty))
        self._show_status()
        self._show_detail(keep_place=rows.current is not None and rows.current.key == before)

    def _tick(self) -> None:
        if self.is_current and self._pauses_old and (self._asking is None or self._asking.is_finished):
            self._asking = self._ask_pauses()
        if self.is_current and self.query_one(CacheList).items:
            self.query_one(CacheList).refresh()
            self._show_status()
            self._show_detail(keep_place=True)

    def _show_status(self) -> None:
        parts = cache_rows.summary_parts(self.query_one(CacheList).items, self.caveman.now())
        self.query_one("#cache-status", InfoLine).show(parts)

    def _show_detail(self, *, keep_place: bool) -> None:
        state, app = self.query_one(CacheList).current, self.caveman
        view = self.query_one("#cache-detail", LineView)
        if state is None or (keep_place and (view.needle or view.text_selection is not None)):
            # A search or a selection in it is not taken away by the seconds.
            return
        pauses = self._pauses.get(state.last.conversation)
        view.show(BuiltDocument(lambda width: cache_rows.detail(state, pauses, app.now(), width, app.zone)), keep_place=keep_place)

    @work(group="pauses", exit_on_error=False)
    async def _ask_pauses(self) -> None:
        self._pauses_old = False
        try:
            listing = await self.caveman.source.conversations()
        except SourceError:
            # The status line of the list says that the worker is gone; what it recorded until then stays true.
            return
        self._pauses = {conversation.id: conversation.pauses for conversation in listing.conversations}
        self._show_detail(keep_place=True)


def _empty(width: int) -> list[Line]:
    words = (
        "A conversation appears here with its first request that asks for caching, or that the provider answers from its cache. "
        "What is shown then: how long a prefix it holds, how long that still lives, and why a request missed it."
    )
    return [
        BLANK,
        line("No conversation has used a cache yet.", Role.STRONG),
        BLANK,
        *(line(part, Role.MUTED) for part in wrap(words, width)),
        BLANK,
        (Span("?", Role.ACCENT), Span(" has the line that connects a client", Role.MUTED)),
    ]
