"""What the app knows of the worker: it follows the events and hands to the screens what they changed."""

import asyncio
from collections.abc import Awaitable, Callable

from rich.console import RenderableType
from textual.app import App
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.worker import Worker

from caveman_tui.traffic.feed import DRAIN_SECONDS, Arrived, Feed, FeedMessage, Link, LinkChanged, Loaded
from caveman_tui.traffic.log import Changes, TrafficLog
from caveman_tui.traffic.source import TrafficSource
from caveman_tui.traffic.view import TrafficView, ViewChange
from caveman_tui.tui import failures
from caveman_tui.tui.screens.base import BaseScreen

_FEED = "feed"
_FEED_RESTART_SECONDS = 2.0


class FeedEvent(Message):
    """The feed handed something out."""

    def __init__(self, content: FeedMessage) -> None:
        super().__init__()
        self.content = content


class FollowingApp(App[int]):
    """An app whose screens show what is known of a worker. Call `follow` once there is a screen."""

    def __init__(
        self,
        source: TrafficSource,
        *,
        clock: Callable[[], float],
        drain_seconds: float = DRAIN_SECONDS,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`clock` gives seconds since the epoch."""
        super().__init__()
        self.source = source
        self.traffic_log = TrafficLog()
        self.traffic_view = TrafficView(self.traffic_log)
        self.link = Link.CONNECTING
        self.link_reason = ""
        self._clock = clock
        self._feed = Feed(source, lambda content: self.post_message(FeedEvent(content)), drain_seconds=drain_seconds, pause=pause)

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._clock()

    def follow(self) -> None:
        """Begin to take events in."""
        self.run_worker(self._feed.run(), group=_FEED, exclusive=True, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed; reading the worker's events begins anew."""
        if failures.tell(self, event) and event.worker.group == _FEED:
            self.on_feed_event(FeedEvent(LinkChanged(Link.LOST, f"{event.worker.error}")))
            self.set_timer(_FEED_RESTART_SECONDS, self.follow)

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

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave; what the worker tells from now on finds no screen any more, so nobody listens to it."""
        self.workers.cancel_group(self, _FEED)
        super().exit(result, return_code, message)
