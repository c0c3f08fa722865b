"""One exchange on a screen of its own."""

from typing import Any, ClassVar

from textual.binding import BindingType

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.view import ViewChange
from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.widgets.exchange_pane import ExchangePane, Tab


class ExchangeScreen(BaseScreen):
    """The exchange in tabs; next and previous follow the list's order and filter."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("exchange"), *keys.bindings("tabs")]
    KEY_CONTEXT = "exchange tabs"

    def __init__(self, exchange: Exchange, tab: Tab = "ladder") -> None:
        super().__init__()
        self._first = exchange
        self._first_tab = tab

    def content(self) -> list[Any]:
        """The pane."""
        return [ExchangePane(self.caveman.zone, id="pane")]

    def on_mount(self) -> None:
        """Show what was opened."""
        self.pane.show(self._first, tab=self._first_tab)
        self.pane.focus_content()

    @property
    def pane(self) -> ExchangePane:
        """The tabs."""
        return self.query_one(ExchangePane)

    @property
    def current(self) -> Exchange | None:
        """The exchange that is shown."""
        return self.pane.exchange

    def traffic_changed(self, changes: Changes, change: ViewChange) -> None:
        """Bring the exchange up to date."""
        shown = self.current
        if shown is None:
            return
        fresh = self.caveman.traffic_log.get(shown.id)
        if fresh is not None and (shown.id in changes.updated or changes.reloaded):
            self.pane.show(fresh)

    def key_applies(self, key: Key) -> bool:
        """Recovering needs a handle."""
        if key.id == "exchange.recover":
            return bool(self._handles())
        return True

    def action_next(self, step: int) -> None:
        """Go on to the next exchange of the list."""
        view = self.caveman.traffic_view
        shown = self.current
        index = view.index_of(shown.id) if shown else None
        target = (view.cursor if index is None else index) + step
        if not view.rows or not 0 <= target < len(view.rows):
            self.notify("This is the last one." if step > 0 else "This is the first one.", timeout=2)
            return
        view.move_to(target)
        self.pane.show(view.rows[target])

    def action_show_tab(self, tab: Tab) -> None:
        """Open a tab."""
        self.pane.show_tab(tab)

    def action_tab(self, step: int) -> None:
        """The next tab."""
        self.pane.step_tab(step)

    def action_recover(self) -> None:
        """Write the original tools of this exchange to a file."""
        handles = self._handles()
        if handles:
            for handle in handles:
                self.caveman.recover(handle)
        else:
            self.notify("Nothing to recover: the tools of this exchange went out as they came.", markup=False)

    def action_copy(self) -> None:
        """Send the handle, or the id, to the clipboard."""
        if self.current is not None:
            self.caveman.send_to_clipboard("\n".join(self._handles()) or self.current.id)

    def action_export(self) -> None:
        """Write this exchange to a file."""
        if self.current is not None:
            self.caveman.ask_export([self.current], f"Exchange {self.current.id}")

    def action_copy_curl(self) -> None:
        """Send the request to the clipboard."""
        if self.current is not None:
            self.caveman.copy_curl(self.current)

    def _handles(self) -> list[str]:
        return [tools.handle for tools in self.current.tools if tools.handle] if self.current else []
