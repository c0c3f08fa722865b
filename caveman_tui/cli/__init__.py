"""The command line. Each command lives in a file of its group and is imported when it is called."""

import importlib
from difflib import get_close_matches
from typing import Any

import click

from caveman_tui import __version__

_COMMANDS = {
    "run": "session",
    "serve": "session",
    "attach": "session",
    "stop": "session",
    "exec": "client",
    "export": "export",
    "doctor": "doctor",
    "demo": "demo",
    "shrink": "catalog",
    "lint": "catalog",
    "diff": "diff",
    "mcp": "mcp",
    "ttl": "request",
    "recover": "store",
    "ccr": "store",
}
"""Command -> module of this package that holds a click command of the same name (with `_command` behind it)."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is named; without one, runs `run`."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """As click does, with all three standard streams there."""
        from caveman_tui.cli._input import open_standard_streams

        open_standard_streams()
        return super().main(*args, **settings)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None where there is none of that name."""
        module_name = _COMMANDS.get(cmd_name)
        if module_name is None:
            return None
        module = importlib.import_module(f"caveman_tui.cli.{module_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a command, or with options of `run` only, the command is `run`."""
        if not args or (args[0].startswith("-") and args[0] not in {"-h", "--help", "--version"}):
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a mistyped name."""
        name = args[0]
        if name not in _COMMANDS:
            close = get_close_matches(name, _COMMANDS, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else " 'caveman-tui --help' lists them."
            ctx.fail(f"There is no command '{name}'.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="caveman-tui")
def main(**_: Any) -> None:
    """Watch, cheapen and recover what your coding agent sends to its model.

    Without a command it starts the worker and the screen ('run').
    """
