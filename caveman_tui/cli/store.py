"""Commands on the recovery store: `recover`, and the group `ccr`."""

import os
from pathlib import Path

import click
import msgspec

from caveman_tui.ccr import CheckReport, Record, Recovered, Store, StoreCorrupt, StoreError, StoreStats, default_path, open_store, set_aside
from caveman_tui.cli._input import note, write_bytes, write_harmless, write_json
from caveman_tui.cli._store import existing_store, store_errors, store_option

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("recover")
@click.argument("handle")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, readable by you alone, instead of standard output.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--tool", metavar="NAME", help="Only this tool's definition out of a catalog.")
@store_option
def recover_command(handle: str, output: str | None, force: bool, tool: str | None, store: str | None) -> None:
    """Bring back the exact original behind a recovery HANDLE.

    HANDLE may be pasted as it stands: ccr_…, <<ccr:ccr_…>> or ccr://ccr_…. The bytes are checked against the handle's hash; damaged
    ones are never printed. Nothing is added to them, not even a newline.

    \b
    Examples:
      caveman-tui recover ccr_0123456789abcdef0123456789abcdef > tools.json
      caveman-tui recover '<<ccr:ccr_0123456789abcdef0123456789abcdef>>' --tool get_weather
    """
    with existing_store(store) as opened:
        found = opened.get(handle)
        data = found.original if tool is None else _one_tool(handle, tool, opened)
    if not found.record.verified:
        note(f"{found.record.handle} was stored shorter than its original, so no hash vouches for these bytes.")
    if output is None:
        write_harmless(data, "The original")
        return
    _write_private(Path(output), data, force=force)
    note(f"Wrote {len(data):,} bytes to {output}.")


@click.group("ccr")
def ccr_command() -> None:
    """Look into the recovery store.

    It holds the exact originals of what was shrunk.

    All Caveman tools of this machine share one store. An original stays until a person deletes it.
    """


class _Listing(msgspec.Struct, frozen=True):
    store: StoreStats
    records: tuple[Record, ...]


@ccr_command.command("list")
@click.option("--search", metavar="TEXT", default="", help="Only what holds TEXT: in its handle, its type, or inside the original.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="At most so many, newest first.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Leave out so many of the newest.")
@_json_option
@store_option
def list_command(search: str, limit: int, offset: int, as_json: bool, store: str | None) -> None:
    """List what the store holds, newest first."""
    with existing_store(store) as opened:
        records = opened.list(search, limit=limit, offset=offset)
        stats = opened.stats()
    if as_json:
        write_json(_Listing(stats, records))
        return
    _print_records(records)
    _print_stats(stats, len(records))


@ccr_command.command("show")
@click.argument("handle")
@_json_option
@store_option
def show_command(handle: str, as_json: bool, store: str | None) -> None:
    """Show the record behind HANDLE, and how its original begins."""
    with existing_store(store) as opened:
        found = opened.get(handle)
    if as_json:
        write_json(found.record)
        return
    _print_one(found)


@ccr_command.command("export")
@click.argument("handles", metavar="[HANDLE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Everything the store holds.")
@click.option("--to", metavar="DIR", help="Where to; made if missing. Without it, the 'recovered' folder of this program's data.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@store_option
def export_command(handles: tuple[str, ...], everything: bool, to: str | None, force: bool, store: str | None) -> None:
    """Write originals to files.

    They are named after their handles and readable by you alone; their paths go to standard output. A damaged original is named on
    standard error and left out; the exit code is 1 then.
    """
    if bool(handles) == everything:
        raise click.UsageError("Name the handles to export, or give --all.")
    failed = 0
    with existing_store(store) as opened:
        directory = _export_directory(to)
        for handle in _all_handles(opened) if everything else handles:
            try:
                found = opened.get(handle)
            except StoreError as error:
                failed += 1
                note(str(error))
                continue
            target = directory / f"{found.record.handle}.{'json' if found.record.content_type == 'toolschema' else 'bin'}"
            _write_private(target, found.original, force=force)
            write_bytes(f"{target}\n".encode())
    if failed:
        raise click.ClickException(f"{failed} could not be exported.")


@ccr_command.command("check")
@click.option("--set-aside", "aside", is_flag=True, help="Rename a damaged store so that a new one can begin. Refused while it is in use.")
@_json_option
@store_option
def check_command(aside: bool, as_json: bool, store: str | None) -> None:
    """Read every original and compare it with its hash.

    Exit code 0 if all can be recovered, 1 if not. Nothing is changed unless --set-aside is given, and then nothing is deleted: the old
    file keeps its bytes under a new name, and handles in it resolve with --store.
    """
    with store_errors():
        try:
            with open_store(store, create=False) as opened:
                report = opened.check()
        except StoreCorrupt as error:
            report = CheckReport(checked=0, file_problems=(error.what,))
    if as_json:
        write_json(report)
    else:
        _print_check(report)
    if report.sound:
        if aside:
            note("Nothing is damaged, so nothing was set aside.")
        return
    if not aside:
        raise click.exceptions.Exit(1)
    with store_errors():
        kept = set_aside(Path(store) if store else default_path())
    note(f"The damaged store is now {kept}. The next shrinking begins a new one.")


@ccr_command.command("delete")
@click.argument("handles", metavar="HANDLE...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
def delete_command(handles: tuple[str, ...], yes: bool, store: str | None) -> None:
    """Delete originals for good.

    A conversation that still names a handle can then no longer get its original back. Asks first, and says how many bytes it frees.
    """
    with existing_store(store) as opened:
        records = {record.handle: record for record in (opened.record(handle) for handle in handles)}
        size = sum(record.original_bytes for record in records.values())
        if not yes:
            what = f"{len(records)} original{'s' if len(records) > 1 else ''} ({size:,} bytes)"
            click.confirm(f"Delete {what} from {opened.path} for good?", abort=True, err=True)
        freed = sum(opened.delete(handle) for handle in records)
    note(f"Deleted {len(records)}, {freed:,} bytes freed.")


def _one_tool(handle: str, name: str, store: Store) -> bytes:
    from caveman_tui.catalogs import ToolUnknown, recover_tool

    try:
        return recover_tool(handle, name, store=store)
    except ToolUnknown as error:
        raise click.ClickException(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None


def _write_private(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file of mode 0600 that was not there before; with `force` replace one in a single step, never through a symlink."""
    target = path.with_name(f".{path.name}.{os.getpid()}.part") if force else path
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            if force:
                target.replace(path)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise click.ClickException(f"{path} exists and was not touched. --force replaces it.") from None
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}.") from None


def _export_directory(to: str | None) -> Path:
    from caveman_tui.places import private_dir, recovered_dir

    try:
        if to is None:
            return recovered_dir()
        directory = Path(to)
        return directory if directory.is_dir() else private_dir(directory)
    except OSError as error:
        raise click.ClickException(f"{to or 'The data folder'} cannot be used: {error.strerror or error}.") from None


def _all_handles(store: Store) -> list[str]:
    return [record.handle for record in store.list(limit=2**31 - 1)]


def _print_records(records: tuple[Record, ...]) -> None:
    from caveman_tui.cli._tables import Column, print_table
    from caveman_tui.traffic import format
    from caveman_tui.traffic.safe_text import one_line

    if not records:
        return
    columns = (
        Column("handle"),
        Column("stored (UTC)", drop=1),
        Column("type", drop=5),
        Column("by", drop=6),
        Column("bytes", right=True, drop=2),
        Column("tokens", right=True, drop=3),
        Column("shrunk to", right=True, drop=4),
    )
    rows = [
        (
            one_line(record.handle),
            one_line(record.created_at[:19].replace("T", " ")),
            one_line(record.content_type, 30),
            one_line(record.compressor, 30),
            format.exact(record.original_bytes),
            format.exact(record.tokens_before),
            format.exact(record.tokens_after),
        )
        for record in records
    ]
    print_table(columns, rows)


def _print_stats(stats: StoreStats, shown: int) -> None:
    from caveman_tui.traffic import format

    objects = f" and {format.plural(stats.objects, 'session object')}" if stats.objects else ""
    note(
        f"{shown} shown of {format.plural(stats.originals, 'original')}{objects} in {stats.path}: "
        f"{format.size(stats.payload_bytes)} of {format.size(stats.budget_bytes)}. Token counts are inferred."
    )


def _print_one(found: Recovered) -> None:
    from caveman_tui.cli._tables import Column, print_table
    from caveman_tui.traffic import format
    from caveman_tui.traffic.safe_text import one_line

    record = found.record
    rows = (
        ("handle", record.handle),
        ("stored (UTC)", record.created_at),
        ("type", record.content_type),
        ("by", record.compressor or format.UNKNOWN),
        ("session", record.session or format.UNKNOWN),
        ("bytes", format.exact(record.original_bytes)),
        ("tokens", f"{format.exact(record.tokens_before)}, shrunk to {format.exact(record.tokens_after)} (inferred)"),
        ("hash", "checked" if record.verified else "not verified: stored shorter than its original"),
        ("metadata", found.metadata.decode(errors="replace") or format.UNKNOWN),
        ("begins", found.original[:800].decode(errors="replace")),
    )
    print_table((Column(), Column(fold=True)), [(name, one_line(value, 200)) for name, value in rows])


def _print_check(report: CheckReport) -> None:
    from caveman_tui.traffic.safe_text import one_line

    lines = [f"file: {problem}" for problem in report.file_problems]
    lines += [f"damaged: {damage.handle}: {damage.what}" for damage in report.damaged]
    lines += [f"not verified: {handle}: stored shorter than its original" for handle in report.unverified]
    lines.append(f"{report.checked - len(report.damaged)} of {report.checked} can be recovered")
    write_bytes("".join(f"{one_line(line)}\n" for line in lines).encode())
