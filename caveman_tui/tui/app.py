"""The screen's process: one app that follows a worker and shows what it knows."""

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from pathlib import Path, PurePath
from typing import ClassVar

import textual
from rich.console import RenderableType
from rich.traceback import Traceback
from textual import events, work
from textual.binding import BindingType
from textual.command import Provider
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.worker import Worker

from caveman_tui import places
from caveman_tui.ccr import StoreError, default_path, open_store
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import Conversation
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.protocol.events import Settings
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.traffic.exports import Export, FormatName
from caveman_tui.traffic.exports.saving import NothingExported, save
from caveman_tui.traffic.feed import DRAIN_SECONDS, Arrived, Feed, FeedMessage, Link, LinkChanged, Loaded
from caveman_tui.traffic.log import Changes, TrafficLog
from caveman_tui.traffic.private_file import write_private
from caveman_tui.traffic.source import SourceError, TrafficSource
from caveman_tui.traffic.switching import switch_text
from caveman_tui.traffic.view import TrafficView, ViewChange
from caveman_tui.tui import failures, keys
from caveman_tui.tui.ascii import AsciiFilter
from caveman_tui.tui.commands import KeyCommands
from caveman_tui.tui.key_order import KeysInOrder
from caveman_tui.tui.keymap import remapped
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.screens.cache import CacheScreen
from caveman_tui.tui.screens.dialog import ForceDialog, QuitDialog
from caveman_tui.tui.screens.export_dialog import ExportDialog
from caveman_tui.tui.screens.help import HelpScreen
from caveman_tui.tui.screens.store import StoreScreen, sentence
from caveman_tui.tui.screens.tools import ToolsScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.themes import DARK, LIGHT
from caveman_tui.tui.widgets.exchange_pane import Content, ExchangePane
from caveman_tui.tui.widgets.key_footer import contexts_at

_CLIPBOARD_CHARACTERS = 64_000
"""Terminals and tmux cut, or drop, longer clipboard sequences."""
_BUSY_SECONDS = 600.0
"""After an exchange so recent the worker is kept by default."""
_FEED = "feed"
_FEED_RESTART_SECONDS = 2.0
_LEAVING_SECONDS = 3.0
_MOUSE_MODES = (1000, 1003, 1006)


class FeedEvent(Message):
    """The feed handed something out."""

    def __init__(self, content: FeedMessage) -> None:
        super().__init__()
        self.content = content


class CavemanApp(KeysInOrder):
    """Follows a source of traffic. Its result is the exit code."""

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
        super().__init__()
        self.source = source
        self.zone = zone
        self.traffic_log = TrafficLog()
        self.traffic_view = TrafficView(self.traffic_log)
        self.link = Link.CONNECTING
        self.link_reason = ""
        self.animation_level = "none"
        self.key_table = remapped(keymap or {})
        self.set_keymap({key.id: key.keys for key in self.key_table if key.id in (keymap or {})})
        self._worker_ends = worker_ends
        self._clock = clock
        self._mouse_on = mouse
        self._feed = Feed(source, lambda content: self.post_message(FeedEvent(content)), drain_seconds=drain_seconds, pause=pause)
        if ascii_only:
            self._filters.append(AsciiFilter())
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = LIGHT.name if light else DARK.name

    def on_mount(self) -> None:
        """Home, and the worker's events."""
        self.push_screen(TrafficScreen())
        self._follow()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed; reading the worker's events begins anew."""
        if failures.tell(self, event) and event.worker.group == _FEED:
            self.on_feed_event(FeedEvent(LinkChanged(Link.LOST, f"{event.worker.error}")))
            self.set_timer(_FEED_RESTART_SECONDS, self._follow)

    def on_feed_event(self, event: FeedEvent) -> None:
        """Take a batch in and hand what it changed to the screens."""
        match event.content:
            case Loaded(status, listing):
                self.hand_down(self.traffic_log.load(status, listing))
            case Arrived(batch):
                self.hand_down(self.traffic_log.apply(batch))
            case LinkChanged(link, reason):
                self.link, self.link_reason = link, reason
                for screen in self._base_screens():
                    screen.link_changed()

    def on_key(self, event: events.Key) -> None:
        """Keys typed so fast that they were on their way before a prompt had the focus belong into it, and are no commands."""
        prompt = self.screen.prompt if isinstance(self.screen, BaseScreen) else None
        if prompt is not None and prompt.is_open and event.is_printable and event.character:
            event.prevent_default()
            prompt.type(event.character)

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

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """As in Textual, but what only informs takes the place of what informed before: a row of keys must not cover the list."""
        if severity == "information":
            for shown in list(self._notifications):
                if shown.severity == "information":
                    self._unnotify(shown, refresh=False)
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def send_to_clipboard(self, text: str) -> None:
        """Send `text` to the terminal's clipboard, or write it to a file where it is too large for that."""
        if len(text) <= _CLIPBOARD_CHARACTERS:
            self.copy_to_clipboard(text)
            shown = text if len(text) <= 80 else f"{len(text):,} characters"
            self.notify(shown, title="Sent to the clipboard", timeout=4, markup=False)
            return
        try:
            path = write_private(places.recovered_dir(), "selection.txt", text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            self.notify(f"{error}", title="Too large for the clipboard, and no file could be written", severity="error", markup=False)
            return
        self.notify(f"{path}", title="Too large for the clipboard: written to a file", timeout=10, markup=False)

    @work(group="recover", exit_on_error=False)
    async def recover(self, handle: str, done: Callable[[Path], object] | None = None) -> None:
        """Write the original under `handle` to a new file of 0600, its hash checked, and say where it lies."""
        try:
            path = await asyncio.to_thread(_recover, self.store_path(), handle)
        except StoreError as error:
            self.notify(sentence(error), title="Not recovered", severity="error", timeout=10, markup=False)
            return
        except OSError as error:
            self.notify(f"The file could not be written: {error}", title="Not recovered", severity="error", timeout=10, markup=False)
            return
        self.notify(f"{path}", title="Recovered, hash checked", timeout=10, markup=False)
        if done is not None:
            done(path)

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    def ask_export(self, exchanges: Sequence[Exchange], what: str) -> None:
        """Ask as what to export `exchanges`, oldest first, and do it. `what` names them."""
        if not exchanges:
            self.notify("There is nothing to export.", timeout=3, markup=False)
            return

        def answered(answer: tuple[FormatName, bool] | None) -> None:
            if answer is not None:
                self._export(exchanges, *answer)

        self.push_screen(ExportDialog(what), answered)

    # Without a description Textual writes one of all that is given, which takes seconds for a long list.
    @work(group="export", exit_on_error=False, description="export")
    async def _export(self, exchanges: Sequence[Exchange], name: FormatName, with_bodies: bool) -> None:
        export = Export(name, with_bodies=with_bodies)
        try:
            path = await save(export, self.source, exchanges, places.exports_dir(), at=self._clock())
        except (NothingExported, SourceError, OSError) as error:
            self.notify(f"{error}", title="Not exported", severity="error", timeout=10, markup=False)
            return
        self.notify(" ".join((f"{path}", *export.remarks)), title=f"Exported as {name.value}, to a file", timeout=12, markup=False)

    @work(group="export", exit_on_error=False)
    async def copy_curl(self, exchange: Exchange) -> None:
        """Send the request as a curl command to the clipboard, or write it to a file where it is too large for that."""
        export = Export(FormatName.CURL)
        try:
            command = b"".join([piece async for piece in export.pieces(self.source, [exchange])])
        except SourceError as error:
            self.notify(f"{error}", title="Not copied", severity="error", timeout=10, markup=False)
            return
        if not export.entries:
            self.notify(" ".join(export.remarks), title="Not copied", severity="error", timeout=10, markup=False)
            return
        text = command.decode("utf-8", "surrogateescape")
        if len(text) > _CLIPBOARD_CHARACTERS:
            self._export([exchange], FormatName.CURL, False)
            return
        if export.remarks:
            self.notify(" ".join(export.remarks), title="curl", timeout=8, markup=False)
        self.send_to_clipboard(text)

    def store_path(self) -> Path | None:
        """The worker's store, None (the shared default) before that is known."""
        return Path(self.traffic_log.store.path) if self.traffic_log.store.path else None

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

    def toggle_excluded(self, name: str) -> None:
        """Leave a tool out of shrinking in new conversations, or in again."""
        excluded = self.traffic_log.settings.excluded_tools
        if name in excluded:
            rest = tuple(other for other in excluded if other != name)
            self._change(f"{name}: shrunk again", f"It counts like any other. {self._pinning()}".strip(), excluded_tools=rest)
        else:
            says = f"It goes out as it comes. {self._pinning()}".strip()
            self._change(f"{name}: excluded from shrinking", says, excluded_tools=(*excluded, name))

    def action_cache(self) -> None:
        """Open the cache."""
        if not isinstance(self.screen, CacheScreen):
            self.push_screen(CacheScreen())

    def action_copy_selection(self) -> None:
        """Copy what is selected, or say how to select."""
        selected = self.screen.get_selected_text()
        if selected:
            self.send_to_clipboard(selected)
        else:
            self.notify(
                "Nothing is selected: drag with the mouse over text, or press M and select with the terminal. ctrl+q leaves.", markup=False
            )

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

    def action_cycle_shrink(self) -> None:
        """Off, measure, apply."""
        order = list(ShrinkMode)
        mode = order[(order.index(self.traffic_log.settings.shrink) + 1) % len(order)]
        says = {
            ShrinkMode.OFF: "Tool catalogs go out as they come and are not measured.",
            ShrinkMode.MEASURE: "Shows what shrinking would save; nothing is changed or stored.",
            ShrinkMode.APPLY: "Tool catalogs are shrunk; each original is stored first.",
        }[mode]
        self._change(f"Tool shrink: {mode.value}", f"{says} {self._pinning()}", shrink=mode)

    def action_cycle_level(self) -> None:
        """Careful, standard, terse."""
        order = list(Level)
        level = order[(order.index(self.traffic_log.settings.level) + 1) % len(order)]
        says = {
            Level.CAREFUL: "Drops annotation noise and exact repetitions only.",
            Level.STANDARD: "Drops what is recognised as filler.",
            Level.TERSE: "Keeps the lead and sentences with a constraint word; about half of what a caller needs may be lost.",
        }[level]
        self._change(f"Shrink level: {level.value}", f"{says} {self._pinning()}", level=level)

    def action_toggle_ttl(self) -> None:
        """Apply or off."""
        mode = LoopTtlMode.OFF if self.traffic_log.settings.loop_ttl is LoopTtlMode.APPLY else LoopTtlMode.APPLY
        says = "1h markers in agent loops become 5m." if mode is LoopTtlMode.APPLY else "Cache markers go out as they come."
        self._change(f"Loop TTL: {mode.value}", says, loop_ttl=mode)

    def action_force_shrink(self) -> None:
        """Ask, with what holds now and the one-time cost, and switch the current conversation."""
        exchange = self._current_exchange()
        if exchange is None or not exchange.conversation:
            self.notify("Put the cursor on an exchange of the conversation first.", markup=False)
            return
        self._ask_force(exchange)

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

    def _follow(self) -> None:
        self.run_worker(self._feed.run(), group=_FEED, exclusive=True, exit_on_error=False)

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

    def _change(
        self,
        title: str,
        says: str,
        *,
        loop_ttl: LoopTtlMode | None = None,
        shrink: ShrinkMode | None = None,
        level: Level | None = None,
        excluded_tools: tuple[str, ...] | None = None,
    ) -> None:
        change = partial(self.source.change_settings, loop_ttl=loop_ttl, shrink=shrink, level=level, excluded_tools=excluded_tools)
        self._change_settings(title, says, change)

    @work(group="settings", exclusive=True, exit_on_error=False)
    async def _change_settings(self, title: str, says: str, change: Callable[[], Awaitable[Settings]]) -> None:
        try:
            self.traffic_log.settings = await change()
        except SourceError as error:
            self.notify(str(error), title="Setting not changed", severity="error", timeout=8, markup=False)
            return
        self.hand_down(Changes(settings=True))
        self.notify(says, title=title, timeout=8, markup=False)

    @work(group="force", exclusive=True, exit_on_error=False)
    async def _ask_force(self, exchange: Exchange) -> None:
        settings = self.traffic_log.settings
        pins: tuple[Conversation, ...] | None
        try:
            pins = (await self.source.conversations()).conversations
        except SourceError:
            pins = None

        def answered(mode: ShrinkMode | None) -> None:
            if mode is not None:
                self._force(exchange.conversation, mode, settings.level)

        text = switch_text(exchange, self.traffic_log, settings, pins)
        self.push_screen(ForceDialog("Switch tool shrinking for this conversation?", text, "force.cancel"), answered)

    @work(group="force", exclusive=True, exit_on_error=False)
    async def _force(self, conversation: str, mode: ShrinkMode, level: Level) -> None:
        try:
            await self.source.force_shrink(conversation, mode, level)
        except SourceError as error:
            self.notify(str(error), title="Conversation not switched", severity="error", timeout=8, markup=False)
            return
        self.notify(f"Its next request goes out with tool shrink '{mode.value}'.", title="Conversation switched", timeout=6, markup=False)

    def _pinning(self) -> str:
        running = any(exchange.tools for exchange in self.traffic_log)
        return "Holds for new conversations; running ones keep what they began with. F forces one." if running else ""

    async def _fetch(self, tab: str, exchange: Exchange) -> Content:
        if tab == "headers":
            return await self.source.exchange(exchange.id)
        if tab == "tools":
            return tuple([await self.source.catalog(tools.digest, tools.level) for tools in exchange.tools])
        return await self.source.body(exchange.id, tab)

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave; what the worker tells from now on finds no screen any more, so nobody listens to it."""
        self.workers.cancel_group(self, _FEED)
        super().exit(result, return_code, message)

    def hand_down(self, changes: Changes) -> None:
        """Take changes of the log over into the list, and hand them to the screens."""
        change: ViewChange = self.traffic_view.apply(changes)
        for warning in changes.warnings:
            text = f"{warning.what} {warning.done} {warning.todo}".strip()
            self.notify(text, title=f"Warning: {warning.code}", severity="warning", timeout=8, markup=False)
        for screen in self._base_screens():
            screen.traffic_changed(changes, change)
            if changes.settings:
                screen.show_excluded()

    def _base_screens(self) -> list[BaseScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, BaseScreen) and screen.is_mounted and screen.is_running]

    def _current_exchange(self) -> Exchange | None:
        current = getattr(self.screen, "current", None)
        return current if isinstance(current, Exchange) else self.traffic_view.current


def _recover(path: Path | None, handle: str) -> Path:
    with open_store(path, create=False) as store:
        recovered = store.get(handle)
    suffix = "json" if recovered.original[:1] in (b"{", b"[") else "txt"
    return write_private(places.recovered_dir(), f"{recovered.record.handle}.{suffix}", recovered.original)


def run_screen(
    socket: Path | None,
    record: WorkerRecord | None,
    *,
    ascii_only: bool = False,
    mouse: bool = True,
    light: bool = False,
    keymap: Mapping[str, str] | None = None,
    worker_ends: bool = False,
) -> int:
    """Show a worker until the person leaves; the exit code: 0, or 1 after a crash.

    The worker is reached over `socket`, or by its record where there are no sockets. It stays, unless the person asks for its end
    when leaving. A crash of the screen restores the terminal, prints what went wrong to standard error, and keeps the worker.
    With `worker_ends` it is the caller's, who ends it afterwards, so leaving asks nothing. `keymap` gives keys of a person's own.
    Raises ValueError where neither is given, and KeysRefused.
    """
    where = socket or record
    if where is None:
        raise ValueError("neither a control socket nor a worker's record was given")

    async def run() -> int:
        async with WorkerClient(where) as client:
            app = CavemanApp(
                client, clock=time.time, ascii_only=ascii_only, mouse=mouse, light=light, keymap=keymap, worker_ends=worker_ends
            )
            with _leaving_on_signals(app):
                result = await app.run_async(mouse=mouse)
        return app.return_code or result or 0

    return asyncio.run(run())


@contextlib.contextmanager
def _leaving_on_signals(app: CavemanApp) -> Iterator[None]:
    """A closed terminal, or an order to end, leaves as a person would who keeps the worker: the terminal is put back as it was."""
    loop = asyncio.get_running_loop()
    numbers = [number for name in ("SIGHUP", "SIGTERM") if (number := getattr(signal, name, None)) is not None]

    def leave(number: int) -> None:
        # Where the terminal is gone, putting it back may never come to an end, nor let the loop go on.
        last_resort = threading.Timer(_LEAVING_SECONDS, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()
        app.exit(return_code=128 + number)

    with contextlib.suppress(NotImplementedError):
        for number in numbers:
            loop.add_signal_handler(number, leave, number)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in numbers:
                loop.remove_signal_handler(number)
