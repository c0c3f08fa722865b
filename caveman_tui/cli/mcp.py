"""`mcp`: an MCP server with its tool catalog shrunk."""

import os
import shlex

import click

from caveman_tui.cli._input import note
from caveman_tui.core.policy import Level
from caveman_tui.mcp_wrapper import ToolsListShrinker, run_wrapped


@click.command("mcp", context_settings={"ignore_unknown_options": True})
@click.option("--level", type=click.Choice([level.value for level in Level]), default=Level.STANDARD.value, show_default=True)
@click.option("--exclude", metavar="NAME", multiple=True, help="A tool that is never shrunk; may be given more than once.")
@click.option("--store", metavar="PATH", help="Recovery store; the one that all Caveman tools share unless given.")
@click.argument("command", metavar="-- SERVER ARG...", nargs=-1, required=True, type=click.UNPROCESSED)
def mcp_command(level: str, exclude: tuple[str, ...], store: str | None, command: tuple[str, ...]) -> None:
    """Run a stdio MCP server and shrink its answers to tools/list.

    Put it in front of the server's command in the client's configuration:

        caveman-tui mcp -- npx some-mcp-server --flag

    Every other message passes byte for byte, the server's exit code and signals are mirrored. The original tools are committed to the
    recovery store first; the handle is written to standard error. Where that fails the answer passes unchanged.
    """
    shrinker = ToolsListShrinker(level=Level(level), exclude=exclude, store=store, tell=lambda text: note(f"caveman-tui mcp: {text}"))
    try:
        code = run_wrapped(list(command), shrinker)
    except OSError as error:
        raise click.UsageError(
            f"Cannot start '{shlex.join(command)}': {error.strerror or error}. Name a command that runs by itself in this shell."
        ) from error
    os._exit(code)  # the thread that waits for the client's next line would keep the interpreter from ending
