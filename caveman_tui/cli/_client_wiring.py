"""How clients are pointed at the worker, and what of their own settings gets in the way."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

CLAUDE = "claude"
CODEX = "codex"
_LOCAL_HOSTS = ("127.0.0.1", "localhost")
_OTHER_PROVIDERS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A setting of a client that sends its requests past the worker."""

    client: str
    where: str
    """File or environment variable."""
    what: str
    todo: str


def client_environment(environment: Mapping[str, str], url: str) -> dict[str, str]:
    """The environment of a client whose requests go to the worker at `url`.

    Behind a base URL that is not Anthropic's, Claude Code puts every MCP tool into each request unless `ENABLE_TOOL_SEARCH` is
    set. Proxy settings of a company must not catch requests to this machine.
    """
    changed = dict(environment)
    changed["ANTHROPIC_BASE_URL"] = url
    changed["OPENAI_BASE_URL"] = f"{url}/v1"
    changed.setdefault("ENABLE_TOOL_SEARCH", "true")
    for name in ("NO_PROXY", "no_proxy"):
        if name == "NO_PROXY" or name in environment:
            changed[name] = _with_local_hosts(environment.get(name, "") or environment.get("no_proxy", ""))
    return changed


def client_command(command: Sequence[str], url: str) -> list[str]:
    """The command line itself; Codex takes its base URL from there only."""
    if client_of(command) != CODEX:
        return list(command)
    return [command[0], "-c", f'openai_base_url="{url}/v1"', *command[1:]]


def client_of(command: Sequence[str]) -> str:
    """Which known client a command line starts, empty for another program."""
    name = PurePath(command[0].replace("\\", "/")).name.lower() if command else ""
    stem = name.split(".")[0]
    return stem if stem in {CLAUDE, CODEX} else ""


def obstacles(client: str, environment: Mapping[str, str], directory: Path, url: str) -> Iterator[Obstacle]:
    """What sends the requests of `client` past the worker at `url` although its environment says otherwise.

    `directory` is where the client runs. Files that can't be read are passed over: the client will say so itself.
    """
    if client == CLAUDE:
        yield from _of_claude(environment, directory, url)
    if client == CODEX:
        yield from _of_codex(environment, url)


def _of_claude(environment: Mapping[str, str], directory: Path, url: str) -> Iterator[Obstacle]:
    for name in _OTHER_PROVIDERS:
        if environment.get(name, "") not in {"", "0", "false"}:
            yield Obstacle(CLAUDE, name, "makes Claude Code use another provider, without ANTHROPIC_BASE_URL", f"Unset {name}.")
    home = Path(environment.get("CLAUDE_CONFIG_DIR") or Path(environment.get("HOME", "~")).expanduser() / ".claude")
    project = [parent / ".claude" for parent in (directory, *directory.parents)]
    files = [home / "settings.json", *(folder / name for folder in project for name in ("settings.json", "settings.local.json"))]
    for path in dict.fromkeys(files):
        settings = _json_object(path)
        variables = settings.get("env")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            if name == "ANTHROPIC_BASE_URL" and isinstance(value, str) and value.rstrip("/") != url:
                todo = f"Remove it there; 'caveman-tui exec' takes {name} of the environment as the upstream."
                yield Obstacle(CLAUDE, str(path), f'sets {name} in "env", which wins over the environment', todo)
            elif name in _OTHER_PROVIDERS and str(value) not in {"", "0", "false"}:
                yield Obstacle(CLAUDE, str(path), f'sets {name} in "env": another provider, without ANTHROPIC_BASE_URL', "Remove it there.")


def _of_codex(environment: Mapping[str, str], url: str) -> Iterator[Obstacle]:
    home = Path(environment.get("CODEX_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".codex")
    path = home / "config.toml"
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        config = {}
    provider = config.get("model_provider")
    if isinstance(provider, str) and provider != "openai":
        todo = f"Set base_url of that provider to {url}/v1, and start the worker with its own URL as --upstream-openai."
        yield Obstacle(CODEX, str(path), f"chooses the provider '{provider}', which has a URL of its own", todo)
    login = _json_object(home / "auth.json")
    if login.get("tokens") and not login.get("OPENAI_API_KEY") and not environment.get("OPENAI_API_KEY"):
        what = "holds a ChatGPT login, whose requests go to another host than the API's"
        yield Obstacle(CODEX, str(home / "auth.json"), what, "Use an API key: 'codex login --with-api-key'.")


def _with_local_hosts(hosts: str) -> str:
    listed = [host.strip() for host in hosts.split(",") if host.strip()]
    return ",".join([*listed, *(host for host in _LOCAL_HOSTS if host not in listed)])


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def local_port(url: str) -> int | None:
    """The port of a URL on this machine, None for one elsewhere or for what is no URL."""
    try:
        parts = urlsplit(url)
        return parts.port if parts.hostname in {*_LOCAL_HOSTS, "::1"} else None
    except ValueError:
        return None
