"""`diff`: two catalogs, or a catalog and its shrunk form, tool by tool."""

import sys

import click
import msgspec
from rich.console import Console
from rich.text import Text

from caveman_tui.cli._input import output_errors, read_input, write_json
from caveman_tui.core.catalog_diff import CatalogDiff, ToolDiff, diff_catalogs
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.traffic.diff_lines import changed_tools, summary_line, tool_lines
from caveman_tui.traffic.lines import Line, Role

_STYLES = {
    Role.STRONG: "bold",
    Role.MUTED: "dim",
    Role.ACCENT: "cyan",
    Role.GOOD: "green",
    Role.BAD: "bold dark_orange",
    Role.ADDED: "blue",
    Role.REMOVED: "dark_orange",
}
_UNWRAPPED = 100_000
"""Columns; terminals wrap for themselves, and programs that read lines want them whole."""


class DiffReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document of `--json`. Tools that did not change are counted and left out of `tools`."""

    breaking: bool
    added: int
    removed: int
    changed: int
    same: int
    tools: tuple[ToolDiff, ...]


@click.command("diff")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="[AFTER]", required=False)
@click.option("--level", type=click.Choice([level.value for level in Level]), default=Level.STANDARD.value, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--fail-on", type=click.Choice(["breaking"]), help="Exit with 1 where a valid call may now be refused.")
def diff_command(before: str, after: str | None, level: str, as_json: bool, fail_on: str | None) -> None:
    """Compare two tool catalogs: what changed, what breaks.

    They may be of any shape.

    A change after which a call that was valid may be refused is marked '!' and called breaking: a tool or parameter removed, a
    parameter newly required, an enum narrowed, a type changed, a bound tightened. With one file it is compared with its own shrunk
    form at --level. '-' reads standard input.
    """
    old = read_input(before)
    new = read_input(after) if after is not None else shrink_catalog(old, level=Level(level)).after
    for name, document in ((before, old), (after or before, new)):
        _check(name, document)
    diff = diff_catalogs(old, new)
    if not diff.tools:
        raise click.ClickException("Neither document holds a tool. 'caveman-tui diff --help' says what is compared.")
    if as_json:
        write_json(_report(diff))
    else:
        with output_errors():
            _print(diff)
            sys.stdout.flush()
    if fail_on == "breaking" and diff.breaking:
        sys.exit(1)


def _check(name: str, document: bytes) -> None:
    try:
        diff_catalogs(document, b"[]")
    except JsonRefused as refused:
        raise click.ClickException(f"'{name}' is not exactly one JSON value in UTF-8 ({refused.code}); nothing was compared.") from refused


def _report(diff: CatalogDiff) -> DiffReport:
    return DiffReport(
        breaking=diff.breaking,
        added=diff.count("added"),
        removed=diff.count("removed"),
        changed=diff.count("changed"),
        same=diff.count("same"),
        tools=tuple(tool for tool in diff.tools if tool.state != "same"),
    )


def _print(diff: CatalogDiff) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for tool in changed_tools(diff):
        for line in tool_lines(tool, _UNWRAPPED):
            console.print(_text(line))
    console.print(_text(summary_line(diff)))


def _text(line: Line) -> Text:
    return Text.assemble(*((span.text, _STYLES.get(span.role, "")) for span in line))
