"""Commands on one tool catalog: `shrink` and `lint`."""

import click

from caveman_tui.catalogs import LintReport, StoreUnavailable, lint, shrink
from caveman_tui.cli._explain import explained
from caveman_tui.cli._input import json_line, note, read_input, write_bytes, write_json
from caveman_tui.cli._store import store_option
from caveman_tui.core.catalog import find_tools
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import parse_json
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.catalog import NOTES
from caveman_tui.traffic.safe_text import one_line

_KINDS_SHOWN = 3
_NAMES_SHOWN = 20

_level_option = click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default=Level.STANDARD.value,
    show_default=True,
    help="How much text may go. 'careful' drops annotations and exact repetitions only; 'standard' also what is recognised as filler; "
    "'terse' keeps the first sentence of a description and every sentence with a constraint, and nothing else.",
)
_exclude_option = click.option("--exclude", metavar="NAME", multiple=True, help="Leave this tool as it is. May be given several times.")
_explain_option = click.option(
    "--explain", is_flag=True, help="Say of each stretch of each description whether it is kept ('+') or dropped ('-'), and why."
)


@click.command("shrink")
@click.argument("source", metavar="[FILE|-]", default="-")
@_level_option
@_exclude_option
@_explain_option
@store_option
def shrink_command(source: str, level: str, exclude: tuple[str, ...], explain: bool, store: str | None) -> None:
    """Shrink a tool catalog: the same tools with less text.

    Takes MCP, OpenAI, Anthropic and Gemini shapes, whole request bodies and JSON-RPC answers. Names, types, enums, required lists,
    defaults and stated constraints stay. The exact original is committed to the recovery store first; 'caveman-tui recover HANDLE'
    brings it back.

    The catalog goes to standard output, one line of JSON with the report to standard error. Where the input is malformed or the store
    cannot be used, the original goes to standard output, the reason to standard error, and the exit code is 0: the command can stand
    in a pipe. Token counts are inferred. With --explain the decisions stand before the report.

    \b
    Examples:
      caveman-tui shrink tools.json > small.json
      some-server --list-tools | caveman-tui shrink --level careful
    """
    data = read_input(source)
    output, line = _shrunk(data, Level(level), exclude, store)
    write_bytes(output)
    if explain:
        for told in explained(data, Level(level), exclude):
            note(told)
    note(line)


@click.command("lint")
@click.argument("source", metavar="FILE")
@_level_option
@_exclude_option
@_explain_option
@click.option("--tool", "only", metavar="NAME", multiple=True, help="With --explain: only this tool. May be given several times.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def lint_command(source: str, level: str, exclude: tuple[str, ...], explain: bool, only: tuple[str, ...], as_json: bool) -> None:
    """Show what shrinking would take from each tool of a catalog.

    Tools that would lose most come first. Nothing is changed or stored. Counts are inferred (o200k), of the catalog as a provider sees
    it, without indentation; the totals are those of 'shrink'. FILE may be '-'.
    """
    if only and not explain:
        raise click.UsageError("--tool picks what --explain tells; give --explain too.")
    if as_json and explain:
        raise click.UsageError("--explain is text only; leave out --json or --explain.")
    data = read_input(source)
    try:
        parse_json(data)
    except JsonRefused as refused:
        raise click.ClickException(f"{source} cannot be read as a catalog: {NOTES[refused.code]}.") from None
    if explain:
        _refuse_unknown(only, [tool.name for tool in find_tools(data)], source)
        write_bytes("".join(f"{line}\n" for line in explained(data, Level(level), exclude, only)).encode())
        return
    report = lint(data, level=Level(level), exclude=exclude)
    if as_json:
        write_json(report)
        return
    _print_table(report)
    if report.note:
        note(f"Nothing would be gained: {report.note}.")


def _refuse_unknown(names: tuple[str, ...], known: list[str], source: str) -> None:
    for name in names:
        if name not in known:
            has = ", ".join(sorted(set(known))[:_NAMES_SHOWN]) or "none at all"
            raise click.ClickException(f"--tool {one_line(name)}: no tool in {source} is called so; it holds {one_line(has)}.")


def _shrunk(data: bytes, level: Level, exclude: tuple[str, ...], store: str | None) -> tuple[bytes, str]:
    """What goes to standard output, and the line for standard error."""
    try:
        parse_json(data)
        result = shrink(data, level=level, store=store, exclude=exclude)
    except JsonRefused as refused:
        return data, f"caveman-tui shrink: {NOTES[refused.code]}; it was passed on unchanged"
    except StoreUnavailable as error:
        return data, f"caveman-tui shrink: {error.what}; the catalog was passed on unchanged; {error.todo or 'try again'}"
    except Exception as error:
        # In a pipe a fault of ours must not cost the caller its catalog.
        return data, f"caveman-tui shrink: it failed ({type(error).__name__}: {error}); the catalog was passed on unchanged"
    return result.output, json_line(result.report)


def _print_table(report: LintReport) -> None:
    from caveman_tui.cli._tables import Column, print_table
    from caveman_tui.traffic import format

    def numbers(before: int, after: int, ratio: float) -> tuple[str, ...]:
        return format.exact(before), format.exact(after), format.exact(before - after), format.percent(ratio)

    columns = (
        Column("tool", fold=True),
        Column("before", right=True, drop=2),
        Column("after", right=True, drop=2),
        Column("saved", right=True),
        Column("", right=True),
        Column("what goes, in characters", drop=3),
    )
    rows = [
        (
            one_line(tool.name) or "(no name)",
            *numbers(tool.tokens_before, tool.tokens_after, tool.ratio),
            "excluded"
            if tool.excluded
            else ", ".join(f"{kind.kind} {format.exact(kind.characters)}" for kind in tool.dropped[:_KINDS_SHOWN]),
        )
        for tool in report.tools
    ]
    whole = f"whole catalog, {format.plural(len(report.tools), 'tool')}"
    print_table(columns, rows, (whole, *numbers(report.tokens_before, report.tokens_after, report.ratio), f"tokens, {report.basis}"))
