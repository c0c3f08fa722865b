"""Command `export`: exchanges of the running worker as curl commands, HAR, JSON lines or a report."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from caveman_tui.cli._input import note, write_bytes, write_harmless
from caveman_tui.cli._worker_options import WorkerOptions
from caveman_tui.cli._workers import WorkerProblem, ask, the_worker
from caveman_tui.places import config_file, exports_dir
from caveman_tui.protocol.control import SearchEnd
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format as numbers
from caveman_tui.traffic.exports import Export, FormatName
from caveman_tui.traffic.exports.saving import NothingExported, save, save_as
from caveman_tui.traffic.filter import Filter, FilterError, parse
from caveman_tui.traffic.source import SourceError

if TYPE_CHECKING:
    from caveman_tui.traffic.control import WorkerClient

_SUFFIXES = {".sh": FormatName.CURL, ".har": FormatName.HAR, ".md": FormatName.MARKDOWN, ".jsonl": FormatName.JSONL}


@click.command("export")
@click.argument("exchanges", metavar="[EXCHANGE]...", nargs=-1)
@click.option("--format", "format_", type=click.Choice([str(name) for name in FormatName]), help="Without it the ending of FILE, or jsonl.")
@click.option("--filter", "expression", metavar="EXPR", default="", help="Only what this filter of the traffic list leaves.")
@click.option("--conversation", metavar="ID", default="", help="Only this conversation; the beginning of its id is enough.")
@click.option("-o", "--output", metavar="FILE", help="A new file, or - for standard output. Without it, one in the data folder.")
@click.option("--with-bodies", is_flag=True, help="Requests and responses too, as far as they are in memory. curl has its request anyway.")
@click.option("--forwarded", is_flag=True, help="curl and HAR: the request as it was forwarded, not as the client sent it.")
@click.option("--socket", type=click.Path(path_type=Path), metavar="PATH", help="Control socket of the worker.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port of the worker, where several run.")
def export_command(
    exchanges: tuple[str, ...],
    format_: str | None,
    expression: str,
    conversation: str,
    output: str | None,
    with_bodies: bool,
    forwarded: bool,
    socket: Path | None,
    port: int | None,
) -> None:
    """Write exchanges that the worker has in memory to a file.

    All of them, or those that every condition leaves.

    The file is new, readable by you alone, and its path goes to standard output. Headers lose their credentials, whatever looks like
    an API key becomes [redacted], and curl commands name shell variables instead. Anything else in prompts and code stays as it is, so
    look before you share it.

    \b
    Examples:
      caveman-tui export --format curl 3f2a-17 -o -
      caveman-tui export --filter 'status:4xx body:"prompt is too long"' --format har --with-bodies
      caveman-tui export --conversation 5d1c --format markdown -o report.md
    """
    wanted = _parsed(expression)
    name = FormatName(format_) if format_ else _SUFFIXES.get(Path(output or "").suffix, FormatName.JSONL)
    export = Export(name, with_bodies=with_bodies, forwarded=forwarded)
    where = _place(socket, port)
    try:
        chosen = ask(where, lambda client: _choose(client, exchanges, wanted, conversation))
        if output == "-":
            _write(where, export, chosen)
        else:
            path = _write_file(where, export, chosen, output)
            write_bytes(f"{path}\n".encode())
    except SourceError as error:
        raise WorkerProblem(str(error)) from error
    for remark in export.remarks:
        note(remark)


def _parsed(expression: str) -> Filter:
    try:
        return parse(expression)
    except FilterError as error:
        raise click.UsageError(f"--filter: {error}") from error


def _place(socket: Path | None, port: int | None) -> Path | WorkerRecord:
    if socket is None:
        return the_worker(port, WorkerOptions(config_path=config_file()).config().port)
    if port is not None:
        raise click.UsageError("Give --socket or --port, not both.")
    if not socket.exists():
        raise WorkerProblem(f"There is no socket {socket}. Without --socket the worker is looked for.")
    return socket.absolute()


async def _choose(client: "WorkerClient", ids: Sequence[str], wanted: Filter, conversation: str) -> list[Exchange]:
    listed = (await client.exchanges()).exchanges
    if unknown := set(ids) - {exchange.id for exchange in listed}:
        raise WorkerProblem(f"The worker has no exchange {', '.join(sorted(unknown))} in memory.")
    chosen = [exchange for exchange in listed if not ids or exchange.id in ids]
    if conversation:
        whole = _whole_id(conversation, listed)
        chosen = [exchange for exchange in chosen if exchange.conversation == whole]
    if chosen and wanted.body_texts:
        wanted = await _searched(client, wanted)
    chosen = [exchange for exchange in chosen if wanted.matches(exchange)]
    if not chosen:
        says = f" These conditions leave nothing: {wanted.explain()}." if wanted else ""
        raise WorkerProblem(f"Nothing to export of {numbers.plural(len(listed), 'exchange')} in the worker's memory.{says}")
    return chosen


def _whole_id(conversation: str, listed: Sequence[Exchange]) -> str:
    found = dict.fromkeys(exchange.conversation for exchange in listed if exchange.conversation.startswith(conversation))
    if len(found) > 1 and conversation not in found:
        raise WorkerProblem(f"Several conversations begin with '{conversation}': {', '.join(found)}.")
    if not found:
        raise WorkerProblem(f"No exchange in the worker's memory is of a conversation '{conversation}'.")
    return conversation if conversation in found else next(iter(found))


async def _searched(client: "WorkerClient", wanted: Filter) -> Filter:
    found: dict[str, set[str]] = {text: set() for text in wanted.body_texts}
    without = 0
    for text, ids in found.items():
        async for result in client.search(text):
            if isinstance(result, SearchEnd):
                without = result.without_bodies
            else:
                ids.add(result.exchange)
    if without:
        note(f"Of {numbers.plural(without, 'exchange')} no body is in memory; they were not searched.")
    return wanted.with_found(found)


def _write(where: Path | WorkerRecord, export: Export, chosen: Sequence[Exchange]) -> None:
    async def pieces(client: "WorkerClient") -> None:
        async for piece in export.pieces(client, chosen):
            write_harmless(piece, "The export")

    ask(where, pieces)
    if not export.entries:
        raise WorkerProblem(f"Nothing was exported. {' '.join(export.remarks)}")


def _write_file(where: Path | WorkerRecord, export: Export, chosen: Sequence[Exchange], output: str | None) -> Path:
    async def write(client: "WorkerClient") -> Path:
        if output:
            return await save_as(export, client, chosen, [Path(output)])
        return await save(export, client, chosen, exports_dir(), at=time.time())

    try:
        return ask(where, write)
    except NothingExported as nothing:
        raise WorkerProblem(f"Nothing was exported. {nothing}") from nothing
    except FileExistsError as error:
        raise click.ClickException(f"{error}") from error
    except OSError as error:
        raise click.ClickException(f"{output or 'The data folder'} cannot be written: {error.strerror or error}.") from error
