"""The screen as a process: until the person leaves, the terminal closes, or an order to end comes."""

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.tui.app import CavemanApp

_LEAVING_SECONDS = 3.0


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
