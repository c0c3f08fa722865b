"""The screen, as commands open it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from caveman_tui import places
from caveman_tui.cli._workers import WorkerProblem
from caveman_tui.config import Config
from caveman_tui.protocol.discovery import WorkerRecord


def screen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say how to draw: `ascii_only`, `no_mouse` and `light`."""
    for option in (
        click.option("--light", is_flag=True, help="Light colours, for a terminal with a light background."),
        click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, which then selects text with it."),
        click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII signs only."),
    ):
        command = option(command)
    return command


def require_terminal(instead: str = "'caveman-tui serve' runs the worker without a screen.") -> None:
    """Raise WorkerProblem where nothing can be drawn, with what to do `instead`."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkerProblem(f"There is no terminal to draw on. {instead}")
    if os.environ.get("TERM") == "dumb":
        raise WorkerProblem(f"This terminal (TERM=dumb) can't show the screen. {instead}")


def open_screen(
    where: Path | WorkerRecord, config: Config, *, ascii_only: bool, no_mouse: bool, light: bool, worker_ends: bool = False
) -> int:
    """Show a worker until the person leaves; options win over the config file. See `tui.run.run_screen`."""
    from caveman_tui.tui.run import run_screen

    socket, record = (where, None) if isinstance(where, Path) else (Path(where.socket) if where.socket else None, where)
    return run_screen(
        socket,
        record,
        ascii_only=ascii_only or config.ascii,
        mouse=config.mouse and not no_mouse,
        light=light or config.theme == "light",
        keymap=config.keys,
        worker_ends=worker_ends,
    )


def check_keys(config: Config) -> None:
    """Before anything is started: keys of the config file that can't be are an error that says which and why."""
    from caveman_tui.tui.keymap import KeysRefused, remapped

    try:
        remapped(config.keys)
    except KeysRefused as refused:
        raise click.UsageError(f"{places.config_file()}: keys: {refused}") from refused
