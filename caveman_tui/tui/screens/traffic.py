"""Home: the live list, and beside it the exchange under the cursor where there is room."""

import contextlib
from collections.abc import Iterable
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.worker import Worker

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import completion, filter, format, status_line
from caveman_tui.traffic.body_hits import BodyHits
from caveman_tui.traffic.empty_list import empty_lines
from caveman_tui.traffic.filter import Filter, FilterError
from caveman_tui.traffic.lines import BuiltDocument
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.outline import Group
from caveman_tui.traffic.source import SourceError
from caveman_tui.traffic.view import SortKey, ViewChange
from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.widgets.exchange_list import ExchangeList
from caveman_tui.tui.widgets.exchange_pane import ExchangePane, Tab
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.row_list import RowList

SIDE_BY_SIDE_FROM = 140
_FILTER = "filter"
_ON_ROWS = frozenset(
    {
        "list.open",
        "traffic.conversation",
        "traffic.export",
        "traffic.filter",
        "traffic.follow",
        "traffic.group",
        "traffic.mark",
        "traffic.pause",
    }
)
"""Keys that the footer leaves out where there is no row."""
_BODIES = "body search"
_NEW_BODIES = "new body search"
_HITS_SECONDS = 0.1
"""How often what a search found is drawn."""


class TrafficScreen(BaseScreen):
    """The list of exchanges."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("traffic"), *keys.bindings("tabs")]
    KEY_CONTEXT = "traffic tabs"

    def __init__(self) -> None:
        super().__init__()
        self._hits: list[str] = []
        """Exchanges in which a text was found since that was shown last."""
        self._bodies = BodyHits(self.caveman.source, self._hits.append)
        self._searching: Worker[None] | None = None

    def content(self) -> list[Any]:
        """Status, list and pane, totals."""
        app = self.caveman
        return [
            InfoLine(id="status", title="caveman"),
            Horizontal(
                ExchangeList(app.traffic_view, app.zone, id="exchanges"),
                LineView(id="empty"),
                ExchangePane(app.zone, id="preview", visitable=False),
                id="main",
            ),
            InfoLine(id="totals"),
        ]

    def on_mount(self) -> None:
        """The list has the focus."""
        self.query_one("#empty", LineView).can_focus = False
        self.query_one(ExchangeList).focus()
        self._show_all()

    def on_screen_resume(self) -> None:
        """Back from another screen: catch up."""
        self._show_all()

    def on_resize(self) -> None:
        """List and detail side by side where there is room."""
        super().on_resize()
        self.set_class(self._side_by_side, "-side-by-side")
        self._show_preview()

    @property
    def current(self) -> Exchange | None:
        """The exchange under the cursor."""
        return self.caveman.traffic_view.current

    def traffic_changed(self, changes: Changes, change: ViewChange) -> None:
        """Draw what changed."""
        rows = self.query_one(ExchangeList)
        if change.rebuilt:
            rows.rows_changed()
        elif change.rows:
            rows.rows_touched(change.rows)
        if self.caveman.traffic_view.following:
            rows.show_cursor()
        self._show_lines()
        self._show_empty()
        self._note_ended(self.caveman.traffic_log if changes.reloaded else changes.updated.values())
        current = self.current
        if change.rebuilt or (current is not None and (current.id in changes.updated or current in changes.added)):
            self._show_preview()

    def link_changed(self) -> None:
        """Say how the connection is."""
        self._show_lines()
        self._show_empty()

    def key_applies(self, key: Key) -> bool:
        """Leave out of the footer what has nothing to act on."""
        view = self.caveman.traffic_view
        if key.id == "traffic.unfilter":
            return bool(view.filter) or view.cleared > 0
        if key.id in ("traffic.fold", "traffic.fold-all"):
            return view.outline is not None
        if key.id in _ON_ROWS:
            return bool(self.caveman.traffic_view.rows) or (key.id == "traffic.filter" and bool(self.caveman.traffic_view.filter))
        return key.context != "tabs"

    def action_filter(self) -> None:
        """Type a filter; the list follows while typing."""
        values = completion.values_of(self.caveman.traffic_log)
        hint = "model:opus  status:4xx  in>20k  cache<50%  has:edit  body:text  -word"
        self.prompt.open(_FILTER, self.caveman.traffic_view.filter.text, hint, lambda text: completion.completed(text, values))

    def action_unfilter(self) -> None:
        """Show all that the filter hides; then what was cleared."""
        view = self.caveman.traffic_view
        if view.filter:
            self._set_filter("")
        elif view.cleared:
            view.clear(False)
            self._show_all()

    def action_pause(self) -> None:
        """Let the list stand still, or catch up."""
        view = self.caveman.traffic_view
        view.pause(not view.paused)
        self._show_all()

    def action_clear(self) -> None:
        """Take all rows off the display; the worker and this screen keep them."""
        self.caveman.traffic_view.clear(True)
        self._show_all()

    def action_mark(self) -> None:
        """Mark the row, or not."""
        self.caveman.traffic_view.toggle_mark()
        self._show_all()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.caveman.traffic_view.marks.clear()
        self._show_all()

    def action_next_mark(self, step: int) -> None:
        """Go to another marked row."""
        if self.caveman.traffic_view.next_mark(step):
            self._show_all()
        else:
            self.notify("No row here is marked; m marks one.", timeout=3, markup=False)

    def action_group(self) -> None:
        """By conversations, or as they came."""
        view = self.caveman.traffic_view
        view.group(view.outline is None)
        self._show_all()

    def action_fold(self) -> None:
        """Fold the group under the cursor, or unfold it."""
        self._grouped()
        self.caveman.traffic_view.fold()
        self._show_all()

    def action_fold_all(self) -> None:
        """Fold all groups, or unfold them."""
        self._grouped()
        self.caveman.traffic_view.fold_all()
        self._show_all()

    def _grouped(self) -> None:
        if self.caveman.traffic_view.outline is None:
            self.caveman.traffic_view.group(True)

    def action_only_conversation(self) -> None:
        """Only this conversation, or all again."""
        current = self.current
        if self.caveman.traffic_view.filter:
            self._set_filter("")
        elif current is not None and current.conversation:
            self._set_filter(f'conv:"{current.conversation}"')

    def action_follow(self) -> None:
        """Follow the tail, or stop to."""
        view = self.caveman.traffic_view
        if not view.following and view.sort is not SortKey.STARTED:
            view.set_sort(SortKey.STARTED, False)
        view.follow(not view.following)
        self._show_all()

    def action_sort(self) -> None:
        """Order by the next key."""
        view = self.caveman.traffic_view
        order = list(SortKey)
        key = order[(order.index(view.sort) + 1) % len(order)]
        view.set_sort(key, key is not SortKey.STARTED)
        self._show_all()

    def action_reverse(self) -> None:
        """Turn the order around."""
        view = self.caveman.traffic_view
        view.set_sort(view.sort, not view.descending)
        self._show_all()

    def action_export(self) -> None:
        """Export the marked rows, or the one under the cursor."""
        marked = self.caveman.traffic_view.marked()
        if marked:
            self.caveman.ask_export(marked, f"{format.plural(len(marked), 'exchange')} that you marked")
        elif self.current is not None:
            self.caveman.ask_export([self.current], f"Exchange {self.current.id}")

    def action_export_all(self) -> None:
        """Export what the list shows."""
        view = self.caveman.traffic_view
        which = "that the filter shows" if view.filter else "of the list"
        exchanges = sorted(view.rows, key=lambda exchange: self.caveman.traffic_log.arrival(exchange.id))
        self.caveman.ask_export(exchanges, f"{format.plural(len(exchanges), 'exchange')} {which}")

    def action_copy_curl(self) -> None:
        """Send the request under the cursor to the clipboard."""
        if self.current is not None:
            self.caveman.copy_curl(self.current)

    def action_copy_connect(self) -> None:
        """Send the export line to the clipboard."""
        self.caveman.send_to_clipboard(status_line.connect_line(self.caveman.traffic_log))

    def action_show_tab(self, tab: Tab) -> None:
        """Open a tab: beside the list where there is room, else on the exchange's own screen."""
        if self._side_by_side:
            self.query_one(ExchangePane).show_tab(tab)
        elif self.current is not None:
            self.app.push_screen(ExchangeScreen(self.current, tab))

    def action_tab(self, step: int) -> None:
        """The next tab of the pane."""
        if self._side_by_side:
            self.query_one(ExchangePane).step_tab(step)
        elif step > 0 and self.current is not None:
            self.app.push_screen(ExchangeScreen(self.current))

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Open the exchange on a screen of its own; a head folds."""
        event.stop()
        view = self.caveman.traffic_view
        if view.outline is not None and isinstance(view.lines[view.line_cursor], Group):
            self.action_fold()
            return
        current = self.current
        if current is not None:
            tab = self.query_one(ExchangePane).tab if self._side_by_side else "ladder"
            self.app.push_screen(ExchangeScreen(current, tab))

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        """Show what the cursor is on."""
        event.stop()
        self._show_lines()
        self._show_preview()

    def on_prompt_line_changed(self, event: PromptLine.Changed) -> None:
        """Filter while typing; a filter that means nothing yet leaves the list as it is. Bodies are searched on enter."""
        try:
            parsed = filter.parse(event.text)
        except FilterError as error:
            self.prompt.says(str(error), wrong=True)
            return
        self._show_filter(parsed.without_bodies(self._bodies.found))
        shown, everything = len(self.caveman.traffic_view.rows), len(self.caveman.traffic_log)
        count = f"{shown:,} of {everything:,}" if shown else f"none of {everything:,} matches"
        todo = ", enter looks into bodies" if set(parsed.body_texts) - set(self._bodies.found) else ""
        self.prompt.says(f"{count}{todo}: {parsed.explain()}" if parsed else "", wrong=bool(parsed) and not shown)

    def on_prompt_line_accepted(self, event: PromptLine.Accepted) -> None:
        """Keep the filter; say what is wrong with it if it means nothing."""
        if event.purpose != _FILTER:
            super().on_prompt_line_accepted(event)
            return
        self.query_one(ExchangeList).focus()
        try:
            self._set_filter(event.text)
        except FilterError as error:
            self.notify(str(error), title="Filter not understood; the one before holds", severity="warning", markup=False)

    def on_prompt_line_closed(self, event: PromptLine.Closed) -> None:
        """The filter that held before holds again."""
        if event.purpose != _FILTER:
            super().on_prompt_line_closed(event)
            return
        self.query_one(ExchangeList).focus()
        self._show_filter(filter.parse(event.before))

    @work(group=_BODIES, exclusive=True, exit_on_error=False)
    async def _search_bodies(self) -> None:
        """Fill in which exchanges hold the texts; the list shows them as they are found."""
        timer = self.set_interval(_HITS_SECONDS, self._show_hits)
        try:
            end = await self._bodies.search_all()
        except SourceError as error:
            self.notify(str(error), title="Bodies not searched to the end", severity="warning", timeout=8, markup=False)
            return
        finally:
            timer.stop()
            self._show_hits()
        missing = f" Of {format.plural(end.without_bodies, 'exchange')} no body is in memory any more." if end.without_bodies else ""
        self.notify(
            f"{format.plural(end.searched, 'exchange')} searched.{missing} What comes later is searched as it ends.",
            title=f"{len(self.caveman.traffic_view.rows):,} shown",
            timeout=5,
            markup=False,
        )

    @work(group=_NEW_BODIES, exit_on_error=False)
    async def _search_new_bodies(self) -> None:
        """Look into the exchanges that have ended; the list's own status says where the worker is gone."""
        with contextlib.suppress(SourceError):
            await self._bodies.search_noted()
        self._show_hits()

    def _note_ended(self, exchanges: Iterable[Exchange]) -> None:
        """Have bodies searched that came after the filter was set, one search after the other."""
        if self._bodies.note(exchanges) and (self._searching is None or self._searching.is_finished):
            self._searching = self._search_new_bodies()

    def _show_hits(self) -> None:
        """Show the exchanges in which something was found since the last time."""
        log = self.caveman.traffic_log
        found = {exchange_id: exchange for exchange_id in self._hits if (exchange := log.get(exchange_id)) is not None}
        self._hits.clear()
        if found:
            self.caveman.hand_down(Changes(updated=found))

    @property
    def _side_by_side(self) -> bool:
        return self.app.size.width >= SIDE_BY_SIDE_FROM

    def _set_filter(self, text: str) -> None:
        """Hold the filter that `text` spells and look for its body texts anew. Raises FilterError."""
        parsed = filter.parse(text)
        self.workers.cancel_group(self, _BODIES)
        self._bodies.begin(parsed.body_texts, self.caveman.traffic_log)
        self._show_filter(parsed)
        if parsed.body_texts:
            self._search_bodies()

    def _show_filter(self, parsed: Filter) -> None:
        self.caveman.traffic_view.set_filter(parsed.with_found(self._bodies.found))
        self._show_all()

    def _show_all(self) -> None:
        rows = self.query_one(ExchangeList)
        rows.rows_changed()
        rows.show_cursor()
        self._show_lines()
        self._show_empty()
        self._show_preview()
        self.query_one(KeyFooter).refresh()

    def _show_lines(self) -> None:
        app = self.caveman
        self.query_one("#status", InfoLine).show(status_line.status_parts(app.traffic_log, app.link))
        totals = status_line.totals_parts(app.traffic_log, app.traffic_view)
        self.query_one("#totals", InfoLine).show(totals, status_line.follow_part(app.traffic_view))

    def _show_preview(self) -> None:
        if self._side_by_side and self.is_mounted:
            self.query_one(ExchangePane).show(self.current)

    def _show_empty(self) -> None:
        app = self.caveman
        empty = not app.traffic_view.rows
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self.query_one(KeyFooter).refresh()
        if empty:
            self.query_one("#empty", LineView).show(
                BuiltDocument(lambda width: empty_lines(app.traffic_log, app.traffic_view, app.link, app.link_reason, width))
            )
