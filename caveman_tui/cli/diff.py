"""`diff`: two catalogs, or a catalog and its shrunk form, tool by tool."""

import sys
from collections import Counter

import click
import msgspec
from rich.console import Console
from rich.text import Text

from caveman_tui.cli._input import output_errors, read_input, write_json
from caveman_tui.core.catalog_diff import CatalogDiff, ToolDiff, diff_catalogs
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.policy import Level
from caveman_tui.core.schema_diff import SchemaChange
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.traffic.safe_text import one_line

_SIGNS = {"added": ("+", "blue"), "removed": ("-", "dark_orange"), "changed": ("~", ""), "same": ("=", "dim")}


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
    for tool in sorted((t for t in diff.tools if t.state != "same"), key=lambda t: (not t.breaking, t.state)):
        for line in _tool_lines(tool):
            console.print(line)
    breaking = sum(tool.breaking for tool in diff.tools)
    counts = ", ".join(f"{diff.count(state)} {state}" for state in ("added", "removed", "changed", "same"))
    verdict = f"{breaking} tool{'s' * (breaking != 1)} with breaking changes" if breaking else "nothing breaks a caller"
    console.print(Text(f"{len(diff.tools)} tools: {counts}; {verdict}", style="bold"))


def _tool_lines(tool: ToolDiff) -> list[Text]:
    sign, style = _SIGNS[tool.state]
    head = Text.assemble((f"{sign} ", style), (one_line(tool.name), "bold"))
    if tool.state != "changed":
        head.append(f"  {tool.state}", style)
    if tool.breaking:
        head.append("  ! breaks callers", "bold dark_orange")
    lines = [head]
    annotations = Counter(
        change.before.partition(":")[0] for change in tool.changes if change.kind == "annotation-changed" and not change.after
    )
    shown = [change for change in tool.changes if change.kind != "annotation-changed" or change.after]
    lines += [_change_line(change) for change in sorted(shown, key=lambda c: not c.breaking)]
    lines += [_change_line(change) for change in tool.fields]
    if annotations:
        parts = ", ".join(f"{one_line(name)} x{count}" for name, count in annotations.most_common())
        lines.append(Text(f"    - annotations dropped: {parts}", "dim"))
    for sentence in tool.sentences:
        lines.append(Text(f"    description{' of ' + one_line(sentence.where) if sentence.where else ''}"))
        lines += [Text(f"      - {one_line(text)}", "dark_orange") for text in sentence.removed]
        lines += [Text(f"      + {one_line(text)}", "blue") for text in sentence.added]
    return lines


def _change_line(change: SchemaChange) -> Text:
    line = Text("    ")
    line.append("! " if change.breaking else "~ ", "bold dark_orange" if change.breaking else "")
    line.append(one_line(change.where) or "(schema)", "bold" if change.breaking else "")
    line.append(f"  {change.kind.replace('-', ' ')}")
    if change.before or change.after:
        line.append("  ")
        line.append(one_line(change.before, 120) or "nothing", "dark_orange")
        line.append(" -> ")
        line.append(one_line(change.after, 120) or "nothing", "blue")
    return line
