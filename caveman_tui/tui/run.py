"""Runs the screen in front of a worker until the person leaves."""

import asyncio
import os
import sys
import time
from pathlib import Path

from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.tui.app import CavemanApp

NO_TERMINAL = 2
"""Exit code where there is no terminal to draw on."""


def run_screen(where: Path | WorkerRecord, *, ascii_only: bool = False, mouse: bool = True, light: bool = False) -> int:
    """Show the worker at `where` (its control socket or its record) and return the exit code: 0, 1 after a crash, 2 without terminal.

    The worker stays, unless the person asks for its end when leaving. A crash of the screen restores the terminal, prints what went
    wrong to standard error, and keeps the worker.
    """
    if problem := _unfit_terminal():
        sys.stderr.write(f"caveman-tui: {problem}\n")
        return NO_TERMINAL
    return asyncio.run(_run(where, ascii_only=ascii_only, mouse=mouse, light=light))


async def _run(where: Path | WorkerRecord, *, ascii_only: bool, mouse: bool, light: bool) -> int:
    async with WorkerClient(where) as client:
        app = CavemanApp(client, clock=time.time, ascii_only=ascii_only, mouse=mouse, light=light)
        result = await app.run_async(mouse=mouse)
    if app.return_code:
        return app.return_code
    return result or 0


def _unfit_terminal() -> str:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "the screen needs a terminal. Without one, 'caveman-tui serve' runs the worker alone."
    if os.environ.get("TERM", "") in ("dumb", "unknown"):
        return f"TERM={os.environ['TERM']} can't move a cursor. Set TERM to your terminal's kind, or run 'caveman-tui serve' alone."
    return ""
