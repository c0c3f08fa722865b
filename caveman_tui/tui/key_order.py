"""Keys that arrive together, and pasted texts, one after the other: each reaches what the one before it led to."""

import asyncio
import contextlib
from collections import deque

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

_PATIENCE_SECONDS = 1.0
"""After so long a key goes where it can: what the one before it caused may wait for something that never comes."""
_WAYS_AT_MOST = 8
"""There may always be a message under way that has nothing to do with keys."""


class KeysInOrder(App[int]):
    """Textual gives a key to what has the focus as it arrives.

    Of two keys that a terminal sends together, or a person types while the screen is busy, the second would so go to what the first
    one leaves: before a screen is open, a tab is shown or the focus has moved. Here a key waits until that is done.
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: deque[events.Key | events.Paste] = deque()
        self._delivery: asyncio.Task[None] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Put a key, or what was pasted, behind the keys before it; everything else goes its way."""
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
            return
        self._keys.append(event)
        if self._delivery is None or self._delivery.done():
            self._delivery = asyncio.create_task(self._deliver())

    async def _deliver(self) -> None:
        while self._keys:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    await self._settled()
            self.call_later(super().on_event, self._keys.popleft())

    async def _settled(self) -> None:
        """Return once what came before has been handled, and has moved neither the screen nor the focus in the meantime.

        A message goes from the focus up to the app. What it is answered with may go that way again.
        """
        for _ in range(_WAYS_AT_MOST):
            if not self.screen_stack:
                return
            here = self.screen, self.focused
            way = (self, *(self.focused or self.screen).ancestors_with_self)
            for node in way:
                await _passed(node)
            if self.screen_stack and here == (self.screen, self.focused) and not any(node.message_queue_size for node in way):
                return


async def _passed(node: MessagePump) -> None:
    """Return once `node` has handled what waits for it now."""
    done = asyncio.Event()
    if node.call_later(done.set):
        await done.wait()
