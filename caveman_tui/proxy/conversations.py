"""Conversations and their pins: which policy a request gets, so that a cached prefix stays what it was."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from caveman_tui.core.policy import Dialect, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.protocol.control import Conversation, PinChange
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.identity import Identity
from caveman_tui.proxy.pause_book import PauseBook
from caveman_tui.proxy.pins import Pin, PinFile, pack

PIN_SECONDS = 3600.0
"""A pin's life after its conversation's last request: the longest a cache entry lives, so switching costs nothing after it."""

_LIMIT = 2_000
_SAVE_DELAY_SECONDS = 1.0


class Conversations:
    """The conversations of the last hour. For the event loop's thread.

    A setting applies to conversations that begin after it changed; one that is pinned keeps its bytes until a person forces
    it, or until it has been silent for an hour.
    """

    def __init__(
        self,
        file: PinFile | None = None,
        *,
        shrinker: str = "",
        keeps_forms: Callable[[str], bool] = lambda _: False,
        on_problem: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Load `file`, if any; `shrinker` is the version of the shrinker in use, `keeps_forms` says whether what another one made is
        kept.

        `on_problem` is told, once each, of a file that can't be read or written; conversations then start afresh or don't
        outlive the worker, and requests go on.
        """
        self._file = file
        self._shrinker = shrinker
        self._keeps_forms = keeps_forms
        self._on_problem = on_problem
        self._clock = clock
        self._pins: OrderedDict[str, Pin] = OrderedDict()
        self._latest = 0.0
        self._save_timer: asyncio.TimerHandle | None = None
        self._saving: asyncio.Task[None] | None = None
        self._saved_badly = False
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="pins")
        self.pauses = PauseBook()
        self.problem = ""
        """What was wrong with the file at the start, empty where nothing was."""
        if file is not None:
            pins, self.problem = file.load()
            for pin in sorted(pins, key=lambda pin: pin.last_request_at):
                # A clock that was set back must not make a pin immortal.
                pin.last_request_at = min(pin.last_request_at, clock())
                self._pins[pin.conversation] = pin
            self._forget(clock())

    def policy_for(self, identity: Identity, dialect: Dialect, settings: Settings, has_tools: bool, now: float) -> Policy:
        """The policy of one request, `now` in seconds since the epoch. The first request with tools pins it.

        count_tokens never pins and never keeps a pin alive: it reads no cache. It gets the pin's shrinking so that its answer
        fits what the conversation sends; without a pin it goes out as it is.
        """
        self._forget(now)
        pin = self._pins.get(identity.conversation) if identity.conversation else None
        if dialect is Dialect.ANTHROPIC_COUNT_TOKENS:
            return self._counting_policy(pin)
        if identity.conversation:
            pin = pin or Pin(conversation=identity.conversation)
            self._pins[identity.conversation] = pin
            self._pins.move_to_end(identity.conversation)
            pin.requests += 1
            pin.last_request_at = now
            if has_tools and pin.shrink is None and identity.pinnable:
                pin.shrink, pin.level, pin.excluded_tools = settings.shrink, settings.level, settings.excluded_tools
                pin.shrinker, pin.pinned_at = self._shrinker, now
            self._save_later()
        if pin is None or pin.shrink is None:
            shrink, level, excluded, shrinker = settings.shrink, settings.level, settings.excluded_tools, ""
        else:
            shrink, level, excluded, shrinker = pin.shrink, pin.level, pin.excluded_tools, self._version_for(pin)
        return Policy(
            loop_ttl=settings.loop_ttl,
            shrink=shrink,
            level=level,
            excluded_tools=excluded,
            shrinker=shrinker,
            markers_refused=pin is not None and pin.markers_refused,
            tools_refused=pin is not None and pin.tools_refused,
        )

    def shrinker_changed(self, identity: Identity) -> bool:
        """Whether this conversation's tools were shrunk by another version until now whose forms are lost; answered once with yes.

        Its prefix is then written again once, which the caller announces.
        """
        pin = self._pins.get(identity.conversation)
        if pin is None or pin.shrink is not ShrinkMode.APPLY or pin.shrinker == self._shrinker or self._version_for(pin):
            return False
        pin.shrinker = self._shrinker
        self._save_later()
        return True

    def refuse_markers(self, identity: Identity) -> None:
        """The provider refused our marker edits: this conversation does without them."""
        if pin := self._latch(identity):
            pin.markers_refused = True

    def refuse_tools(self, identity: Identity) -> None:
        """The provider refused our tools edit: this conversation does without it."""
        if pin := self._latch(identity):
            pin.tools_refused = True

    def force(self, conversation: str, change: PinChange, settings: Settings) -> Conversation:
        """Switch a conversation now, whatever it was pinned to. Raises KeyError where it is unknown."""
        now = self._clock()
        self._forget(now)
        pin = self._pins[conversation]
        pin.shrink = change.shrink
        pin.level = change.level or (pin.level if pin.pinned_at else settings.level)
        pin.excluded_tools = settings.excluded_tools
        pin.shrinker, pin.pinned_at, pin.tools_refused = self._shrinker, now, False
        self._save_later()
        return self._shown(pin)

    def list(self) -> tuple[Conversation, ...]:
        """All conversations in memory, the one with the last request first."""
        self._forget(self._clock())
        return tuple(self._shown(pin) for pin in reversed(self._pins.values()))

    async def close(self) -> None:
        """Write what isn't written yet."""
        if self._saving is not None:
            await self._saving
        if self._save_timer is not None:
            self._save_timer.cancel()
            await self._save()
        self._threads.shutdown(wait=True)

    def _counting_policy(self, pin: Pin | None) -> Policy:
        if pin is None or pin.shrink is None:
            return Policy(loop_ttl=LoopTtlMode.OFF, shrink=ShrinkMode.OFF)
        return Policy(
            loop_ttl=LoopTtlMode.OFF,
            shrink=pin.shrink,
            level=pin.level,
            excluded_tools=pin.excluded_tools,
            shrinker=self._version_for(pin),
            tools_refused=pin.tools_refused,
        )

    def _version_for(self, pin: Pin) -> str:
        """The version of the shrinker that a pinned conversation goes on with, empty for the one in use."""
        return pin.shrinker if pin.shrinker != self._shrinker and self._keeps_forms(pin.shrinker) else ""

    def _latch(self, identity: Identity) -> Pin | None:
        if not identity.conversation:
            return None
        self._save_later()
        return self._pins.setdefault(identity.conversation, Pin(conversation=identity.conversation, last_request_at=self._clock()))

    def _forget(self, now: float) -> None:
        """Drop what has lapsed, and the oldest where there are too many; `_pins` is in the order of the last requests."""
        if now < self._latest:
            # The clock was set back, which must not make pins live longer.
            for pin in self._pins.values():
                pin.last_request_at = min(pin.last_request_at, now)
        self._latest = now
        while self._pins:
            oldest = next(iter(self._pins.values()))
            if oldest.last_request_at + PIN_SECONDS > now and len(self._pins) <= _LIMIT:
                return
            self._pins.popitem(last=False)

    def _save_later(self) -> None:
        if self._file is not None and self._save_timer is None:
            self._save_timer = asyncio.get_running_loop().call_later(_SAVE_DELAY_SECONDS, self._start_saving)

    def _start_saving(self) -> None:
        self._saving = asyncio.get_running_loop().create_task(self._save())

    async def _save(self) -> None:
        self._save_timer = None
        if self._file is None:
            return
        packed = pack(list(self._pins.values()))
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._file.save, packed)
            self._saved_badly = False
        except OSError as error:
            if not self._saved_badly:
                self._on_problem(f"{self._file.path} could not be written ({error.strerror or error})")
            self._saved_badly = True

    def _shown(self, pin: Pin) -> Conversation:
        pinned = pin.shrink is not None
        return Conversation(
            id=pin.conversation,
            shrink=pin.shrink,
            level=pin.level if pinned else None,
            pinned_at=pin.pinned_at,
            last_request_at=pin.last_request_at or None,
            requests=pin.requests,
            markers_refused=pin.markers_refused,
            tools_refused=pin.tools_refused,
            pauses=self.pauses.of(pin.conversation),
        )
