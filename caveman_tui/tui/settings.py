"""What keys change: the worker's settings, and what one running conversation is pinned to."""

from collections.abc import Awaitable, Callable
from functools import partial

from textual import work

from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import Conversation
from caveman_tui.protocol.events import Settings
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.source import SourceError
from caveman_tui.traffic.switching import switch_text
from caveman_tui.tui.following import FollowingApp
from caveman_tui.tui.screens.dialog import ForceDialog


class SettingsApp(FollowingApp):
    """Switches transforms on and off."""

    def toggle_excluded(self, name: str) -> None:
        """Leave a tool out of shrinking in new conversations, or in again."""
        excluded = self.traffic_log.settings.excluded_tools
        if name in excluded:
            rest = tuple(other for other in excluded if other != name)
            self._change(f"{name}: shrunk again", f"It counts like any other. {self._pinning()}".strip(), excluded_tools=rest)
        else:
            says = f"It goes out as it comes. {self._pinning()}".strip()
            self._change(f"{name}: excluded from shrinking", says, excluded_tools=(*excluded, name))

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

    def _current_exchange(self) -> Exchange | None:
        current = getattr(self.screen, "current", None)
        return current if isinstance(current, Exchange) else self.traffic_view.current
