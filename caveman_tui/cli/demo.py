"""`demo`: the whole product on a replayed agent session."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from caveman_tui.cli._input import note
from caveman_tui.cli._screen import check_keys, open_screen, require_terminal, screen_options
from caveman_tui.cli._worker_options import own_config
from caveman_tui.core.policy import Level
from caveman_tui.protocol.discovery import WorkerRecord

_END_SECONDS = 15.0


@click.command("demo")
@click.option("--headless", is_flag=True, help="No screen: play at full speed, print a summary, check what is promised.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON; implies --headless.")
@click.option("--speed", type=click.FloatRange(0.05, 100), default=1.0, show_default=True, help="How fast the screen's session runs.")
@click.option("--level", type=click.Choice([level.value for level in Level]), default=Level.STANDARD.value, show_default=True)
@click.option("--store", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH", help="Recovery store, else a temporary one.")
@screen_options
def demo_command(
    headless: bool, as_json: bool, speed: float, level: str, store: Path | None, ascii_only: bool, no_mouse: bool, light: bool
) -> None:
    """Show everything on a replayed agent session: no network, no key.

    A scripted agent speaks through a real worker to a stand-in for the provider, which streams like the real one, enforces its marker
    rules and bills a simulated prompt cache. Loop TTL and tool shrinking are both on. Nothing touches your own worker, settings or store.

    With --headless it exits with 1 if a promise was broken: bytes outside the edits, names and types of tools, recovery of originals,
    the provider's marker rules, every byte of the answers.
    """
    where = store.absolute() if store else None
    if headless or as_json:
        raise SystemExit(asyncio.run(_headless(Level(level), where, as_json)))
    require_terminal("'caveman-tui demo --headless' needs none.")
    config = own_config()
    check_keys(config)
    with _played(speed, level, where) as record:
        code = open_screen(record, config, ascii_only=ascii_only, no_mouse=no_mouse, light=light, worker_ends=True)
    raise SystemExit(code)


async def _headless(level: Level, store: Path | None, as_json: bool) -> int:
    from caveman_tui.demo.session import Session, own_home
    from caveman_tui.demo.summary import as_text, summarise
    from caveman_tui.demo.worker_process import WorkerNotStarted

    try:
        async with own_home(store) as home, Session.started(home, level=level) as session:
            await session.play()
            outcome = await session.judge()
    except WorkerNotStarted as problem:
        raise click.ClickException(f"{problem}. The demo could not run.") from problem
    summary = summarise(outcome)
    click.echo(msgspec.json.format(msgspec.json.encode(summary), indent=2) if as_json else as_text(summary), nl=as_json)
    if not outcome.kept:
        note(
            f"caveman-tui demo: {len(outcome.breaches)} breaches of what is promised. Please report this with the output of 'demo --json'."
        )
    return 0 if outcome.kept else 1


@contextmanager
def _played(speed: float, level: str, store: Path | None) -> Iterator[WorkerRecord]:
    """The session in a process of its own, so that it and the screen don't wait for each other. Ended at the end."""
    command = [sys.executable, "-m", "caveman_tui.demo", "--speed", str(speed), "--level", level]
    if store is not None:
        command += ["--store", str(store)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        try:
            first = process.stdout.readline()
            if not first:
                raise click.ClickException(process.stderr.read().decode("utf-8", "replace").strip() or "The demo's session did not start.")
            yield msgspec.json.decode(first, type=WorkerRecord)
        finally:
            process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            if said := process.stderr.read().decode("utf-8", "replace").strip():
                note(f"caveman-tui demo: {said}")
