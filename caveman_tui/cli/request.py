"""Commands on one request: `ttl`."""

from typing import Literal

import click
import msgspec

from caveman_tui.cli._input import json_line, note, read_input, write_bytes
from caveman_tui.core.json_spans import JsonDocument, JsonRefused
from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import Dialect, Policy, ShrinkMode
from caveman_tui.core.reasons import REASONS, Reason
from caveman_tui.core.rewrite import Rewrite, rewrite


class EditReport(msgspec.Struct, frozen=True, kw_only=True):
    """One edit of the report. `start` and `end` are byte offsets into the request as it came."""

    pointer: str
    kind: str
    start: int
    end: int
    before: str
    after: str
    reason: str


class TtlReport(msgspec.Struct, frozen=True, kw_only=True):
    """The line on standard error."""

    headless: bool
    sign: str
    shortened: int
    edits: tuple[EditReport, ...]
    reasons: tuple[Reason, ...]
    warning: str = ""


@click.command("ttl")
@click.argument("source", metavar="[FILE|-]", default="-")
@click.option("--user-agent", metavar="UA", help="User-Agent of the client that sent the request; says whether it is headless.")
@click.option(
    "--headless",
    type=click.Choice(["yes", "no", "auto"]),
    default="auto",
    show_default=True,
    help="Whether nobody sits behind the client. 'auto' reads the User-Agent.",
)
def ttl_command(source: str, user_agent: str | None, headless: Literal["yes", "no", "auto"]) -> None:
    """Rewrite the cache lifetimes of one Anthropic Messages request.

    The request goes to standard output, byte for byte but for its edits; one line of JSON with the edits and their reasons goes to
    standard error. What is no JSON passes as it is.
    """
    body = read_input(source)
    try:
        JsonDocument(body)
    except JsonRefused as refused:
        write_bytes(body)
        note(f"caveman-tui ttl: {refused.code}: {REASONS[refused.code]}")
        return
    client = client_kind(user_agent, headless)
    result = rewrite(body, Dialect.ANTHROPIC_MESSAGES, client, Policy(shrink=ShrinkMode.OFF))
    write_bytes(result.body)
    note(json_line(_report(result, client.headless, client.sign)))


def _report(result: Rewrite, headless: bool, sign: str) -> TtlReport:
    edits = tuple(
        EditReport(
            pointer=edit.pointer,
            kind=edit.kind.value,
            start=edit.start,
            end=edit.end,
            before=edit.before.decode(),
            after=edit.after.decode(),
            reason=edit.reason,
        )
        for edit in result.edits
    )
    return TtlReport(headless=headless, sign=sign, shortened=result.shortened, edits=edits, reasons=result.reasons, warning=result.warning)
