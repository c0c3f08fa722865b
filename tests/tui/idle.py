"""When an app under test has nothing left to do, as its event loop knows it: Textual's own way is to watch how busy the processor is."""

import asyncio

from textual import active_app
from textual.app import ScreenStackError

_QUIET_TURNS = 3
"""Of the loop, without anything to run in any of them."""


async def until_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Take the place of `textual._wait.wait_for_idle`: return once no task is ready to run and nothing is left to draw.

    What waits for a thread, a socket or a timer of the app's own is not waited for, as there is no telling whether a test holds it up
    on purpose. The arguments are those of the original, and say nothing here: however slow the machine, idle is idle.
    """
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    quiet = 0
    while quiet < _QUIET_TURNS:
        await asyncio.sleep(0)
        quiet = 0 if ready or _hurried() else quiet + 1


def _hurried() -> bool:
    """Do now what Textual puts off by a part of a second, resizing and drawing; whether there was something."""
    app = active_app.get()
    if app._resize_timer is not None:
        app._check_resize()
        return True
    try:
        screen = app.screen
    except ScreenStackError:
        return False
    if not screen._update_timer._active.is_set():
        return False
    screen._on_timer_update()
    return True
