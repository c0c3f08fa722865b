"""The app: where each screen is opened, what keys do everywhere, and how a person leaves."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import tzinfo
from pathlib import Path, PurePath
from typing import ClassVar

import textual
from rich.traceback import Traceback
from textual import work
from textual.binding import BindingType
from textual.command import Provider

from caveman_tui import places
from caveman_tui.ccr import default_path
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.feed import DRAIN_SECONDS, Link
from caveman_tui.traffic.source import SourceError, TrafficSource
from caveman_tui.tui import keys
from caveman_tui.tui.ascii import AsciiFilter
from caveman_tui.tui.commands import KeyCommands
from caveman_tui.tui.handover import HandoverApp
from caveman_tui.tui.key_order import KeysInOrder
from caveman_tui.tui.keymap import remapped
from caveman_tui.tui.screens.cache import CacheScreen
from caveman_tui.tui.screens.dialog import QuitDialog
from caveman_tui.tui.screens.help import HelpScreen
from caveman_tui.tui.screens.store import StoreScreen
from caveman_tui.tui.screens.tools import ToolsScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.settings import SettingsApp
from caveman_tui.tui.themes import DARK, LIGHT
from caveman_tui.tui.widgets.exchange_pane import Content, ExchangePane
from caveman_tui.tui.widgets.key_footer import contexts_at

_BUSY_SECONDS = 600.0
"""After an exchange so recent the worker is kept by default."""
_MOUSE_MODES = (1000, 1003, 1006)


class CavemanApp(HandoverApp, SettingsApp, KeysInOrder):
    """Shows what is known of a worker. Its result is the exit code."""

    TITLE = "caveman-tui"
    # All at once: a screen that brought its own would have everything styled anew when it is first opened.
    CSS_PATH: ClassVar[list[str | PurePath]] = ["app.tcss", *sorted(Path(__file__).parent.glob("screens/*.tcss"))]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("app")]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {KeyCommands}
    KEY_CONTEXT = "app"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        source: TrafficSource,
        *,
        zone: tzinfo | None = None,
        clock: Callable[[], float],
        ascii_only: bool = False,
        mouse: bool = True,
        light: bool = False,
        keymap: Mapping[str, str] | None = None,
        worker_ends: bool = False,
        drain_seconds: float = DRAIN_SECONDS,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`zone` None is the machine's own time zone; `clock` gives seconds since the epoch.

        `keymap` gives keys of a person's own, see `keymap.remapped`; raises KeysRefused. With `worker_ends` the worker ends with the
        screen anyway, so leaving asks nothing.
        """
        super().__init__(source, clock=clock, drain_seconds=drain_seconds, pause=pause)
        self.zone = zone
        self.animation_level = "none"
        self.key_table = remapped(keymap or {})
        self.set_keymap({key.id: key.keys for key in self.key_table if key.id in (keymap or {})})
        self._worker_ends = worker_ends
        self._mouse_on = mouse
        if ascii_only:
            self._filters.append(AsciiFilter())
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = LIGHT.name if light else DARK.name

    def on_mount(self) -> None:
        """Home, and the worker's events."""
        self.push_screen(TrafficScreen())
        self.follow()

    @work(group="pane", exclusive=True, exit_on_error=False)
    async def supply(self, event: ExchangePane.Wanted) -> None:
        """Fetch what a tab needs."""
        exchange = event.exchange
        try:
            content = await self._fetch(event.tab, exchange)
        except SourceError as error:
            event.pane.fail(event.tab, exchange.id, str(error))
            return
        if event.pane.is_attached:
            event.pane.supply(event.tab, exchange.id, content)

    def places(self) -> tuple[tuple[str, str], ...]:
        """Where data lies, for help."""
        return (
            ("store", str(self.store_path() or default_path())),
            ("recovered", str(places.recovered_dir())),
            ("state", str(places.state_dir())),
            ("config", str(places.config_file())),
        )

    def action_help(self) -> None:
        """Open help."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(contexts_at(self.screen)))

    def action_store(self) -> None:
        """Open the store."""
        if not isinstance(self.screen, StoreScreen):
            self.push_screen(StoreScreen(self.store_path()))

    def action_tools(self) -> None:
        """Open the tool catalogs."""
        if not isinstance(self.screen, ToolsScreen):
            self.push_screen(ToolsScreen())

    def action_cache(self) -> None:
        """Open the cache."""
        if not isinstance(self.screen, CacheScreen):
            self.push_screen(CacheScreen())

    def action_toggle_theme(self) -> None:
        """Dark or light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_toggle_mouse(self) -> None:
        """Take the mouse, or leave it to the terminal."""
        self._mouse_on = not self._mouse_on
        if self._driver is not None:
            for mode in _MOUSE_MODES:
                self._driver.write(f"\x1b[?{mode}{'h' if self._mouse_on else 'l'}")
            self._driver.flush()
        self.notify("The mouse works here again." if self._mouse_on else "The mouse is the terminal's: it selects text. M takes it back.")

    def action_leave(self) -> None:
        """Ask whether the worker stays; where there is none, or it ends anyway, just leave."""
        if isinstance(self.screen, QuitDialog):
            return
        if self.link is not Link.LIVE or self._worker_ends:
            self.exit(0)
            return
        last = self.traffic_log.last_activity
        busy = self.traffic_log.open_exchanges > 0 or (last is not None and self._clock() - last < _BUSY_SECONDS)
        if last is None:
            seen = "No request has come through yet."
        else:
            seen = f"The last request came {format.duration(max(0.0, self._clock() - last) * 1000)} ago."
        running = format.plural(self.traffic_log.open_exchanges, "exchange")
        text = (f"{seen} {running} running.", "A worker without a screen ends by itself after 60 quiet minutes.")
        self.push_screen(QuitDialog("Leave. What about the worker?", text, "quit.keep" if busy else "quit.stop"), self._left)

    def _fatal_error(self) -> None:
        """Textual's traceback shows local variables, and those may hold a conversation; people paste tracebacks into reports."""
        self.panic(Traceback(width=None, suppress=[textual]))

    def _left(self, answer: str | None) -> None:
        if answer == "keep":
            self.exit(0)
        elif answer == "stop":
            self._stop_worker()

    @work(group="stop", exclusive=True, exit_on_error=False)
    async def _stop_worker(self) -> None:
        try:
            await self.source.stop()
        except SourceError as error:
            self.notify(str(error), title="The worker was not stopped", severity="error", timeout=10, markup=False)
            return
        self.exit(0)

    async def _fetch(self, tab: str, exchange: Exchange) -> Content:
        if tab == "headers":
            return await self.source.exchange(exchange.id)
        if tab == "tools":
            return tuple([await self.source.catalog(tools.digest, tools.level) for tools in exchange.tools])
        return await self.source.body(exchange.id, tab)
