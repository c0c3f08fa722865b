"""What options of a command line make of a worker, and what a dead worker's successor is started with."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from caveman_tui.cli._worker_options import WorkerOptions, worker_options
from caveman_tui.cli.session import _like
from caveman_tui.core.policy import ClientOverride, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.protocol.events import Settings


def parse(*arguments: str) -> WorkerOptions:
    seen: list[WorkerOptions] = []

    @click.command()
    @worker_options
    def command(options: WorkerOptions) -> None:
        seen.append(options)

    ended = CliRunner().invoke(command, list(arguments))
    assert ended.exit_code == 0, ended.output
    return seen[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('headless = "no"\n[clients]\nclaude-cli = "yes"\n')
    return path


def record(settings: Settings) -> WorkerRecord:
    upstreams = (Upstream(name="mine", base_url="http://127.0.0.1:9", dialect="anthropic"),)
    return WorkerRecord(
        pid=1, instance="i", version="0", host="127.0.0.1", port=7000, started_at=0.0, settings=settings, upstreams=upstreams
    )


def test_every_option_survives_being_spelled_out_for_the_worker_process(file: Path) -> None:
    given = ("--port", "0", "--upstream-anthropic", "http://127.0.0.1:1", "--upstream-openai", "http://127.0.0.1:2", "--shrink", "apply")
    options = parse(*given, "--ttl", "off", "--level", "terse", "--headless", "yes", "--config", str(file))
    assert parse(*options.arguments()) == options
    assert options.worker_config().settings.headless == "yes"


def test_headless_of_a_run_counts_for_all_its_clients(file: Path) -> None:
    settings = parse("--config", str(file)).worker_config().settings
    assert (settings.headless, settings.clients) == ("no", (ClientOverride(product="claude-cli", headless="yes"),))
    settings = parse("--config", str(file), "--headless", "auto").worker_config().settings
    assert (settings.headless, settings.clients) == ("auto", ())
    wrong = CliRunner().invoke(click.command()(worker_options(lambda options: None)), ["--headless", "maybe"])
    assert wrong.exit_code == 2 and "'maybe'" in wrong.output


@pytest.mark.parametrize(
    "settings",
    [
        Settings(headless="yes", shrink=ShrinkMode.OFF, loop_ttl=LoopTtlMode.OFF),
        Settings(headless="auto"),
        Settings(headless="no", clients=(ClientOverride(product="claude-cli", headless="yes"),)),
    ],
)
def test_a_successor_has_the_settings_of_the_dead_one(file: Path, settings: Settings) -> None:
    config = _like(record(settings), parse("--config", str(file))).worker_config()
    assert config.settings == settings
    assert (config.port, config.upstreams[0].base_url) == (7000, "http://127.0.0.1:9")
