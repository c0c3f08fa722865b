"""One exchange in tabs."""

from datetime import tzinfo
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from caveman_tui.protocol.control import CatalogDetail, ExchangeDetail
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import columns, details, format, ladder
from caveman_tui.traffic.edit_pairs import edit_pairs
from caveman_tui.traffic.lines import BuiltDocument, Line, Role, Span, message
from caveman_tui.traffic.safe_text import one_line
from caveman_tui.traffic.status_line import Part
from caveman_tui.tui.widgets.body_view import BodyView
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.tab_bar import TabBar
from caveman_tui.tui.widgets.tools_view import ToolList, ToolsView

Tab = Literal["ladder", "tools", "request-before", "request-after", "response", "headers", "timing", "edits"]
Content = ExchangeDetail | tuple[CatalogDetail, ...] | bytes

TABS: tuple[tuple[Tab, str, str], ...] = (
    ("ladder", "Ladder", "Ladder"),
    ("tools", "Tools", "Tools"),
    ("request-before", "Request before", "Before"),
    ("request-after", "Request after", "After"),
    ("response", "Response", "Response"),
    ("headers", "Headers", "Headers"),
    ("timing", "Timing, usage", "Timing"),
    ("edits", "Edits", "Edits"),
)
_FETCHED: frozenset[Tab] = frozenset({"tools", "request-before", "request-after", "response", "headers"})
_WIDGETS: dict[Tab, str] = {
    "ladder": "pane-ladder",
    "tools": "pane-tools",
    "request-before": "pane-body",
    "request-after": "pane-body",
    "response": "pane-body",
    "headers": "pane-headers",
    "timing": "pane-timing",
    "edits": "pane-edits",
}


class ExchangePane(Vertical):
    """Shows an exchange; what it has to fetch it asks for with `Wanted` and gets through `supply` or `fail`."""

    class Wanted(Message):
        """The open tab needs something that the list does not hold."""

        def __init__(self, pane: "ExchangePane", tab: Tab, exchange: Exchange) -> None:
            super().__init__()
            self.pane = pane
            self.tab = tab
            self.exchange = exchange

    def __init__(self, zone: tzinfo | None, *, id: str | None = None, visitable: bool = True) -> None:
        """With `visitable` off it only shows: the focus never goes there."""
        super().__init__(id=id)
        self._zone = zone
        self._visitable = visitable
        self._exchange: Exchange | None = None
        self._tab: Tab = "ladder"
        self._shown: tuple[str, Tab, str] | None = None

    def compose(self) -> ComposeResult:
        """Title, tabs, one widget for each kind of content."""
        yield InfoLine(id="pane-title")
        yield TabBar(TABS)
        yield LineView(id="pane-ladder")
        yield ToolsView(id="pane-tools")
        yield BodyView(id="pane-body")
        yield LineView(id="pane-headers")
        yield LineView(id="pane-timing")
        yield LineView(id="pane-edits")

    def on_mount(self) -> None:
        """Show the first tab."""
        if not self._visitable:
            for widget in (*self.query(LineView), *self.query(ToolList)):
                widget.can_focus = False
        self._switch()

    @property
    def exchange(self) -> Exchange | None:
        """What is shown."""
        return self._exchange

    @property
    def tab(self) -> Tab:
        """Which tab is open."""
        return self._tab

    def show(self, exchange: Exchange | None, *, tab: Tab | None = None) -> None:
        """Show an exchange, or bring the one that is shown up to date."""
        self._exchange = exchange
        if tab is not None:
            self._tab = tab
        if self.is_mounted:
            self._switch()

    def show_tab(self, tab: Tab) -> None:
        """Open a tab."""
        self._tab = tab
        self._switch()
        if self._visitable:
            self.focus_content()

    def step_tab(self, step: int) -> None:
        """Open the next tab, around the end."""
        order = [tab for tab, _, _ in TABS]
        self.show_tab(order[(order.index(self._tab) + step) % len(order)])

    def focus_content(self) -> None:
        """Give the focus to what the tab shows."""
        widget: Widget = self.query_one(ToolList) if self._tab == "tools" else self.query_one(f"#{_WIDGETS[self._tab]}")
        widget.focus()

    def supply(self, tab: Tab, exchange_id: str, content: Content) -> None:
        """Show what was asked for, if it is still wanted."""
        if self._exchange is None or exchange_id != self._exchange.id or tab != self._tab:
            return
        if isinstance(content, bytes):
            self.query_one(BodyView).show_body(content, reply=tab == "response")
        elif isinstance(content, ExchangeDetail):
            detail = content
            self.query_one("#pane-headers", LineView).show(BuiltDocument(lambda width: details.headers(detail, width)))
        else:
            self.query_one(ToolsView).show_catalogs(content)

    def fail(self, tab: Tab, exchange_id: str, reason: str) -> None:
        """Say why there is nothing to show."""
        if self._exchange is None or exchange_id != self._exchange.id or tab != self._tab:
            return
        if tab == "tools":
            self.query_one(ToolsView).say(reason)
        elif tab == "headers":
            self.query_one("#pane-headers", LineView).show(message(reason))
        else:
            self.query_one(BodyView).say(reason)

    def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        """A tab was clicked."""
        event.stop()
        for tab, _, _ in TABS:
            if tab == event.tab:
                self.show_tab(tab)

    def _switch(self) -> None:
        self.query_one(TabBar).active = self._tab
        for name in set(_WIDGETS.values()):
            self.query_one(f"#{name}").display = name == _WIDGETS[self._tab]
        exchange = self._exchange
        self.query_one("#pane-title", InfoLine).show(_title(exchange, self._zone))
        if exchange is None:
            self.query_one("#pane-ladder", LineView).show(message(""))
            return
        key = (exchange.id, self._tab, exchange.state)
        same = self._shown is not None and self._shown[:2] == key[:2]
        if self._tab == "ladder":
            box = self.query_one("#pane-ladder", LineView)
            box.show(BuiltDocument(lambda width: ladder.ladder(exchange, width)), keep_place=same)
        elif self._tab == "timing":
            box = self.query_one("#pane-timing", LineView)
            box.show(BuiltDocument(lambda width: details.timing(exchange, width, self._zone)), keep_place=same)
        elif self._tab == "edits":
            box = self.query_one("#pane-edits", LineView)
            box.show(BuiltDocument(lambda width: edit_pairs(exchange, width)), keep_place=same)
        elif self._tab == "tools":
            self.query_one(ToolsView).show_summary(exchange)
        if self._tab in _FETCHED and key != self._shown:
            self._ask(exchange)
        self._shown = key

    def _ask(self, exchange: Exchange) -> None:
        if self._tab == "response" and exchange.state in ("open", "responding"):
            self.query_one(BodyView).say("The response is still coming.")
            return
        if self._tab == "tools" and not exchange.tools:
            self.query_one(ToolsView).say("")
            return
        self.post_message(self.Wanted(self, self._tab, exchange))


def _title(exchange: Exchange | None, zone: tzinfo | None) -> list[Part]:
    if exchange is None:
        return [Part(0, (Span("Nothing selected", Role.MUTED),))]
    sign = columns.sign(exchange)
    model: Line = (Span(f"{sign.text} ", sign.role), Span(one_line(exchange.model or f"{exchange.method} {exchange.path}"), Role.STRONG))
    status = str(exchange.status) if exchange.status is not None else exchange.state
    parts = [
        Part(0, model),
        Part(1, (Span(status, Role.BAD if (exchange.status or 0) >= 400 else Role.TEXT),)),
        Part(2, (Span(format.clock(exchange.started_at, zone), Role.MUTED),)),
        Part(3, (Span("took ", Role.MUTED), Span(format.duration(exchange.duration_ms)))),
    ]
    if exchange.conversation:
        agent = f" agent {format.short_id(one_line(exchange.agent))}" if exchange.agent else ""
        parts.append(Part(4, (Span("conversation ", Role.MUTED), Span(format.short_id(one_line(exchange.conversation)) + agent))))
    note = columns.note(exchange)
    if note.text:
        parts.append(Part(5, (Span(note.text, note.role),)))
    return parts
