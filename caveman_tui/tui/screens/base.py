"""What all screens have: a footer, a line for searches, and one clear sentence where the terminal is too small."""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker

from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.view import ViewChange
from caveman_tui.tui import failures, roles
from caveman_tui.tui.keys import Key
from caveman_tui.tui.widgets.exchange_pane import ExchangePane
from caveman_tui.tui.widgets.key_footer import KeyFooter
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.tools_view import ToolList, ToolsView

if TYPE_CHECKING:
    from caveman_tui.tui.app import CavemanApp

SMALLEST = (40, 10)
"""Columns and rows below which nothing but a sentence is shown."""
SEARCH = "find"


class BaseScreen(Screen[None]):
    """Base of the full screens."""

    AUTO_FOCUS = None
    COMPONENT_CLASSES = roles.COMPONENT_CLASSES

    def __init__(self) -> None:
        super().__init__()
        self._searched: LineView | None = None

    @property
    def caveman(self) -> "CavemanApp":
        """The app, by its own type."""
        return cast("CavemanApp", self.app)

    def compose(self) -> ComposeResult:
        """Content, prompt, footer, and the sentence for small terminals."""
        yield Container(*self.content(), id="content")
        yield PromptLine()
        yield KeyFooter()
        yield Static("caveman-tui needs 40 columns and 10 rows.", id="too-small", markup=False)

    def content(self) -> list[Any]:
        """Widgets of the screen."""
        return []

    def on_mount(self) -> None:
        """What a subclass shows of tools needs to know which of them are excluded."""
        self.show_excluded()

    def show_excluded(self) -> None:
        """Mark the tools that new conversations leave out of shrinking."""
        for view in self.query(ToolsView):
            view.show_excluded(frozenset(self.caveman.traffic_log.settings.excluded_tools))

    def on_tool_list_exclude_toggled(self, event: ToolList.ExcludeToggled) -> None:
        """Changing settings is the app's."""
        event.stop()
        self.caveman.toggle_excluded(event.name)

    def traffic_changed(self, changes: Changes, change: ViewChange) -> None:
        """The log changed; screens that show it override this."""

    def link_changed(self) -> None:
        """The connection to the worker came up or broke."""

    def key_applies(self, key: Key) -> bool:
        """Whether a key does something now, for the footer."""
        return True

    @property
    def prompt(self) -> PromptLine:
        """The line for filters and searches."""
        return self.query_one(PromptLine)

    def on_resize(self) -> None:
        """Show the sentence where nothing else has room."""
        width, height = self.app.size
        self.set_class(width < SMALLEST[0] or height < SMALLEST[1], "-too-small")

    def action_back(self) -> None:
        """Back to the screen before."""
        self.app.pop_screen()

    def action_press_key(self, key: str) -> None:
        """A key of the footer was clicked."""
        self.app.simulate_key(key)

    def action_copy_text(self) -> None:
        """Textual's own key for copying leads to ours, which says what happened."""
        raise SkipAction()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed."""
        failures.tell(self.caveman, event)

    def on_exchange_pane_wanted(self, event: ExchangePane.Wanted) -> None:
        """Fetching is the app's; a message that a screen caused itself ends at the screen."""
        event.stop()
        self.caveman.supply(event)

    def action_search_text(self) -> None:
        """Open the prompt for a search in the focused text."""
        if isinstance(self.focused, LineView):
            self._searched = self.focused
            self.prompt.open(SEARCH, self.focused.needle, replaces=True)

    def on_line_view_searched(self, event: LineView.Searched) -> None:
        """Say where the search is."""
        event.stop()
        self.notify(event.says, timeout=2, markup=False)

    def on_prompt_line_accepted(self, event: PromptLine.Accepted) -> None:
        """Search."""
        if event.purpose == SEARCH and self._searched is not None:
            self._searched.focus()
            self._search(self._searched, event.text)

    def on_prompt_line_closed(self, event: PromptLine.Closed) -> None:
        """Back to what was searched."""
        if event.purpose == SEARCH and self._searched is not None:
            self._searched.focus()

    @work(group="search", exclusive=True, exit_on_error=False)
    async def _search(self, view: LineView, needle: str) -> None:
        document = view.document
        rows = await asyncio.to_thread(document.find, needle) if needle else []
        if view.document is document:
            view.found(needle, rows)
