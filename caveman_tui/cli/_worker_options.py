"""The options of every command that may start a worker, and the config file behind them."""

import functools
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from caveman_tui import places
from caveman_tui.config import Config, ConfigError, Flags, WorkerConfig, load_config, worker_config
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about a worker."""

    config_path: Path
    flags: Flags = Flags()

    def config(self) -> Config:
        """The config file. Raises click.UsageError where it says something wrong."""
        try:
            return load_config(self.config_path)
        except ConfigError as error:
            raise click.UsageError(str(error)) from error

    def worker_config(self) -> WorkerConfig:
        """The config file with the flags over it. Raises click.UsageError."""
        try:
            return worker_config(self.config(), self.flags)
        except ConfigError as error:
            raise click.UsageError(str(error)) from error

    def with_flags(self, **changes: Any) -> "WorkerOptions":
        """The same with other flags."""
        return msgspec.structs.replace(self, flags=msgspec.structs.replace(self.flags, **changes))

    def arguments(self) -> list[str]:
        """The same as options of a command line."""
        spelled = ["--config", str(self.config_path)]
        for field, option in _OPTIONS.items():
            value = getattr(self.flags, field)
            if value is not None:
                spelled += [option, str(value)]
        return spelled

    @property
    def says_something(self) -> bool:
        """Whether any flag was given that a worker which already runs would not hear of."""
        return any(getattr(self.flags, field) is not None for field in _OPTIONS if field != "port")


_OPTIONS = {
    "port": "--port",
    "upstream_anthropic": "--upstream-anthropic",
    "upstream_openai": "--upstream-openai",
    "shrink": "--shrink",
    "loop_ttl": "--ttl",
    "level": "--level",
    "headless": "--headless",
}
"""Field of `Flags` -> option."""


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets them as one WorkerOptions argument named `options`."""

    # Copies the parameters that were declared before this one, too.
    @functools.wraps(command)
    def with_options(
        *args: Any,
        config: Path | None,
        port: int | None,
        upstream_anthropic: str | None,
        upstream_openai: str | None,
        shrink: str | None,
        ttl: str | None,
        level: str | None,
        headless: Literal["auto", "yes", "no"] | None,
        **kwargs: Any,
    ) -> Any:
        flags = Flags(
            port=port,
            upstream_anthropic=upstream_anthropic,
            upstream_openai=upstream_openai,
            shrink=ShrinkMode(shrink) if shrink else None,
            loop_ttl=LoopTtlMode(ttl) if ttl else None,
            level=Level(level) if level else None,
            headless=headless,
        )
        options = WorkerOptions(config_path=(config or places.config_file()).absolute(), flags=flags)
        return command(*args, options=options, **kwargs)

    for option in reversed(_click_options()):
        with_options = option(with_options)
    return with_options


def _click_options() -> list[Callable[..., Any]]:
    return [
        click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port to listen on, 8788 by default; 0: a free one."),
        click.option("--upstream-anthropic", metavar="URL", help="Where Anthropic requests go, https://api.anthropic.com by default."),
        click.option("--upstream-openai", metavar="URL", help="Where OpenAI requests go, https://api.openai.com by default."),
        click.option(
            "--shrink",
            type=_choice(ShrinkMode),
            help="Tool shrinking for new conversations, measure by default.",
        ),
        click.option("--ttl", type=_choice(LoopTtlMode), help="Loop TTL, apply by default."),
        click.option("--level", type=_choice(Level), help="How much text shrinking may drop, standard by default."),
        click.option(
            "--headless",
            type=click.Choice(["auto", "yes", "no"]),
            help="Whether the clients have nobody behind them: auto (by User-Agent) by default. Goes over the config file.",
        ),
        click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Config file instead of the usual one."),
    ]


def _choice(values: Iterable[StrEnum]) -> click.Choice[str]:
    return click.Choice([str(value) for value in values])


def own_config() -> Config:
    """The config file of this person; all defaults where there is none. Raises as `WorkerOptions.config`."""
    return WorkerOptions(config_path=places.config_file()).config()
