"""The config file and what a worker is started with."""

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec

from caveman_tui.core.policy import ClientOverride, Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings

DEFAULT_PORT = 8788
ANTHROPIC = Upstream(name="anthropic", base_url="https://api.anthropic.com", dialect="anthropic")
OPENAI = Upstream(name="openai", base_url="https://api.openai.com", dialect="openai")
CHATGPT = Upstream(name="chatgpt", base_url="https://chatgpt.com/backend-api", dialect="openai", path_prefix="/backend-api")
"""Where Codex goes with a ChatGPT login, whose token is of no use anywhere else."""

T = TypeVar("T", bound=msgspec.Struct)


class WorkerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker needs to start."""

    host: str = "127.0.0.1"
    """A loopback address; anything else is refused."""
    port: int = DEFAULT_PORT
    """0 takes a free one."""
    upstreams: tuple[Upstream, ...] = (ANTHROPIC, OPENAI, CHATGPT)
    """The first `anthropic` and the first `openai` one without a path prefix are the defaults of their dialects."""
    settings: Settings = Settings()
    store_path: str | None = None
    """None is the shared default, see `ccr`."""
    socket_path: str | None = None
    """None is `worker-PORT.sock` in the runtime directory."""
    idle_stop_seconds: float = 3600.0
    """A worker without a subscriber ends after so long without an exchange; 0 never."""
    body_budget_bytes: int = 256 * 1024 * 1024
    editable_body_limit_bytes: int = 64 * 1024 * 1024
    in_flight_budget_bytes: int = 256 * 1024 * 1024
    """Over it, further bodies stream through unedited."""
    exchange_limit: int = 10_000
    connect_timeout_seconds: float = 30.0
    idle_timeout_seconds: float = 600.0
    """Without a byte from the provider for so long, the exchange is broken off."""


class ConfigError(ValueError):
    """The config file, or a flag, says something that can't be done. The text names the file, the key and the value."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The config file, every key optional. Durations in minutes, sizes in MiB, since a person writes them."""

    port: int = DEFAULT_PORT
    loop_ttl: LoopTtlMode = LoopTtlMode.APPLY
    shrink: ShrinkMode = ShrinkMode.MEASURE
    level: Level = Level.STANDARD
    excluded_tools: tuple[str, ...] = ()
    """Names of tools that are never shrunk."""
    headless: Literal["auto", "yes", "no"] = "auto"
    clients: dict[str, Literal["auto", "yes", "no"]] = {}
    """The same for single clients, by the name of the User-Agent's first product (`claude-cli = "yes"`); counts before `headless`."""
    idle_stop_minutes: float = 60.0
    """0 never."""
    body_memory_mib: int = 256
    theme: Literal["dark", "light"] = "dark"
    ascii: bool = False
    """Whether the screen keeps to ASCII signs."""
    mouse: bool = True
    """Whether the screen takes the mouse, which the terminal then can't use to select text."""
    upstreams: tuple[Upstream, ...] = ()
    """Further providers, or others in the place of the two default ones (then without a path prefix)."""
    keys: dict[str, str] = {}
    """Action id -> keys, comma-separated, in the place of the default ones."""


class Flags(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says; None where it says nothing, and the file holds."""

    port: int | None = None
    upstream_anthropic: str | None = None
    upstream_openai: str | None = None
    loop_ttl: LoopTtlMode | None = None
    shrink: ShrinkMode | None = None
    level: Level | None = None
    headless: Literal["auto", "yes", "no"] | None = None
    """Said of this run and all its clients, so the file's table of clients is passed over."""


def load_config(path: Path) -> Config:
    """Read the config file; an absent one is all defaults. Raises ConfigError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read ({error}).") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no valid TOML: {error}.") from error
    config = _read_table(document, Config, str(path))
    for upstream in config.upstreams:
        _check_upstream(upstream, f"{path}: upstreams '{upstream.name}'")
    if not 0 <= config.port <= 65535:
        raise ConfigError(f"{path}: port is {config.port}; it has to be 0 (a free one) to 65535.")
    for key in ("idle_stop_minutes", "body_memory_mib"):
        if getattr(config, key) < 0:
            raise ConfigError(f"{path}: {key} is {getattr(config, key)}; it has to be 0 or more.")
    return config


_NO_FLAGS = Flags()


def worker_config(config: Config, flags: Flags = _NO_FLAGS) -> WorkerConfig:
    """What a worker is started with: the file, and the flags over it. Raises ConfigError."""
    upstreams = list(config.upstreams)
    for default, url, flag in (
        (ANTHROPIC, flags.upstream_anthropic, "--upstream-anthropic"),
        (OPENAI, flags.upstream_openai, "--upstream-openai"),
    ):
        if url is not None:
            given = msgspec.structs.replace(default, base_url=url)
            _check_upstream(given, flag)
            upstreams.insert(0, given)
        elif not any(upstream.dialect == default.dialect and not upstream.path_prefix for upstream in upstreams):
            upstreams.append(default)
    if not any(upstream.path_prefix == CHATGPT.path_prefix for upstream in upstreams):
        upstreams.append(CHATGPT)
    return WorkerConfig(
        port=config.port if flags.port is None else flags.port,
        upstreams=tuple(upstreams),
        settings=Settings(
            loop_ttl=flags.loop_ttl or config.loop_ttl,
            shrink=flags.shrink or config.shrink,
            level=flags.level or config.level,
            excluded_tools=config.excluded_tools,
            headless=flags.headless or config.headless,
            clients=() if flags.headless else tuple(ClientOverride(product=name, headless=said) for name, said in config.clients.items()),
        ),
        idle_stop_seconds=config.idle_stop_minutes * 60,
        body_budget_bytes=config.body_memory_mib * 1024 * 1024,
    )


def _read_table(table: dict[str, Any], kind: type[T], where: str) -> T:
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for key in table:
        if key not in fields:
            close = get_close_matches(key, fields, n=1)
            hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(fields)}."
            raise ConfigError(f"{where}: there is no key '{key}'. {hint}")
    values = {}
    for key, value in table.items():
        if key == "upstreams":
            values[key] = _read_upstreams(value, where)
            continue
        try:
            values[key] = msgspec.convert(value, fields[key].type)
        except msgspec.ValidationError as error:
            raise ConfigError(f"{where}: {key} is {value!r}. {_expected(value, fields[key].type, error)}") from error
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}.") from error


def _read_upstreams(entries: Any, where: str) -> tuple[Upstream, ...]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(f"{where}: upstreams have to be tables, each under a line [[upstreams]].")
    return tuple(_read_table(entry, Upstream, f"{where}: upstreams, entry {number}") for number, entry in enumerate(entries, 1))


def _expected(value: Any, kind: Any, error: msgspec.ValidationError) -> str:
    """What would have been right, with the nearest of the choices where it is a choice."""
    choices = [str(choice) for choice in getattr(kind, "__args__", ()) or kind] if _is_choice(kind) else []
    if not choices:
        return f"{error}."
    close = get_close_matches(str(value), choices, n=1)
    return f"Did you mean '{close[0]}'?" if close else f"It has to be one of: {', '.join(choices)}."


def _is_choice(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is Literal or (isinstance(kind, type) and issubclass(kind, (ShrinkMode, Level, LoopTtlMode)))


def _check_upstream(upstream: Upstream, where: str) -> None:
    """Raise ConfigError unless requests can be sent there and the URL can be shown on a screen."""
    if upstream.dialect not in {"anthropic", "openai"}:
        raise ConfigError(f"{where}: dialect is '{upstream.dialect}'; it has to be 'anthropic' or 'openai'.")
    if upstream.path_prefix and (not upstream.path_prefix.startswith("/") or upstream.path_prefix.endswith("/")):
        raise ConfigError(f"{where}: path_prefix is '{upstream.path_prefix}'; it has to start with '/' and not to end with it.")
    try:
        parts = urlsplit(upstream.base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{where}: '{upstream.base_url}' is no URL ({error}).") from error
    if parts.username or parts.password:
        raise ConfigError(f"{where}: the URL of '{host}' holds credentials. Leave them out: the client's own headers pass through.")
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(f"{where}: '{upstream.base_url}' has to be an http:// or https:// URL with a host.")
    if parts.query or parts.fragment:
        raise ConfigError(f"{where}: '{parts.scheme}://{parts.netloc}{parts.path}' must not have a '?' or '#' part.")
