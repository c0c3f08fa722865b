"""`doctor`: looks at everything the product stands on, and says what is wrong and how to fix it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from caveman_tui import __version__
from caveman_tui.cli import _health
from caveman_tui.cli._health import Finding
from caveman_tui.cli._input import write_bytes
from caveman_tui.cli._worker_options import WorkerOptions, worker_options
from caveman_tui.config import Config, WorkerConfig, worker_config


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `doctor --json` prints. Stable: fields are added, never renamed."""

    version: str
    python: str
    ok: bool
    """False where any finding is a failure."""
    findings: tuple[Finding, ...]


@click.command("doctor")
@worker_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def doctor_command(options: WorkerOptions, as_json: bool) -> None:
    """Say what is wrong and how to fix it.

    Looks at port, upstreams, store, terminal, clients and proxies.

    Exit code 1 where something can't work. Changes nothing, and sends each provider one request without a key.
    """
    findings = tuple(_examine(options))
    failed = any(finding.state == "failure" for finding in findings)
    if as_json:
        report = DoctorReport(version=__version__, python=sys.version.split()[0], ok=not failed, findings=findings)
        write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    else:
        click.echo(f"caveman-tui {__version__}, Python {sys.version.split()[0]}")
        for finding in findings:
            _show(finding)
    raise SystemExit(1 if failed else 0)


def _examine(options: WorkerOptions) -> Iterator[Finding]:
    config = WorkerConfig()
    try:
        config = options.worker_config()
        known = "" if options.config_path.exists() else " (not there: all defaults)"
        yield Finding(check="config", state="ok", what=f"Config file: {options.config_path}{known}.")
    except click.UsageError as error:
        yield Finding(check="config", state="failure", what=error.message, todo="The checks below go on without the file.")
        try:
            config = worker_config(Config(), options.flags)
        except ValueError:
            config = WorkerConfig()
    yield from _health.directories()
    yield from _health.workers(config.port)
    yield from _health.pins()
    yield from _health.upstreams(config)
    yield _health.store(config)
    yield from _health.terminal(os.environ)
    yield from _health.clients(os.environ, Path.cwd(), config.port)
    yield from _health.network(os.environ)


_SIGNS = {"ok": "✓", "note": "·", "warning": "!", "failure": "✗"}
_ASCII_SIGNS = {"ok": "ok", "note": "--", "warning": "! ", "failure": "X "}


def _show(finding: Finding) -> None:
    wide = "utf" in (sys.stdout.encoding or "").lower()
    colour = {"ok": "green", "note": None, "warning": "yellow", "failure": "red"}[finding.state]
    sign = (_SIGNS if wide else _ASCII_SIGNS)[finding.state]
    click.echo(f"{click.style(sign, fg=colour)} {finding.what}")
    if finding.todo:
        click.echo(f"{' ' * len(sign)} {'→' if wide else '->'} {finding.todo}")
