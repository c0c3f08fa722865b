"""What can be wrong with an installation, check by check. Nothing is changed, no request carries a key."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from caveman_tui import __version__, places
from caveman_tui.ccr import StoreError, StoreMissing, open_store
from caveman_tui.cli._client_wiring import CLAUDE, CODEX, local_port, obstacles
from caveman_tui.cli._workers import WorkerProblem, ask_status, port_is_taken
from caveman_tui.config import CHATGPT, WorkerConfig
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.discovery import WorkerRecord, is_alive, process_exists, record_path, records
from caveman_tui.proxy.pins import PinFile
from caveman_tui.traffic.format import size

if TYPE_CHECKING:
    from caveman_tui.proxy.upstream import ProviderClient

_REACH_SECONDS = 8.0

State = Literal["ok", "note", "warning", "failure"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    check: str
    """Stable name."""
    state: State
    """`note` is worth knowing, `warning` may cost something, `failure` keeps something from working."""
    what: str
    todo: str = ""


def _found(check: str, state: State, what: str, todo: str = "") -> Finding:
    return Finding(check=check, state=state, what=what, todo=todo)


def directories() -> Iterator[Finding]:
    """Whether the places of the product can be used, and are private."""
    for name, variable, find in (("state", "CAVEMAN_TUI_STATE", places.state_dir), ("runtime", "CAVEMAN_TUI_RUNTIME", places.runtime_dir)):
        try:
            directory = find()
        except OSError as error:
            what = f"The {name} directory can't be used ({error})."
            yield _found(f"{name}-directory", "failure", what, f"Set {variable} to a directory of yours.")
            continue
        if not os.access(directory, os.W_OK):
            what = f"The {name} directory {directory} can't be written to."
            yield _found(f"{name}-directory", "failure", what, f"Set {variable} to another one.")
        elif os.name != "nt" and directory.stat().st_mode & 0o077:
            what = f"Others on this machine can look into {directory}."
            yield _found(f"{name}-directory", "warning", what, f"chmod 700 {directory}")
        else:
            yield _found(f"{name}-directory", "ok", f"{name.capitalize()} is kept in {directory}.")


def workers(port: int) -> Iterator[Finding]:
    """The configured port, the workers that run, and what dead ones left behind."""
    try:
        directory = places.state_dir()
        known = list(records(directory))
    except OSError:
        directory, known = Path(), []
    alive = [record for record in known if is_alive(record)]
    yield _port(port, next((record for record in alive if record.port == port), None))
    for record in alive:
        yield _worker(record)
    for record in known:
        if record not in alive:
            yield _not_answering(record, directory)


def pins() -> Iterator[Finding]:
    """Whether what conversations are pinned to can be read."""
    try:
        files = sorted(places.state_dir().glob("pins-*.json"))
    except OSError:
        files = []
    for path in files:
        _, problem = PinFile(path).load()
        if problem:
            todo = "Conversations then start afresh, which writes their caches again once. Remove the file."
            yield _found("pins", "warning", f"What conversations are pinned to is lost: {problem}.", todo)


def _not_answering(record: WorkerRecord, directory: Path) -> Finding:
    if process_exists(record.pid) and port_is_taken(record.port, record.host):
        what = (
            f"The worker on port {record.port} (process {record.pid}) still forwards, but its control socket {record.socket} is gone: "
            "no screen can join it."
        )
        return _found("worker", "failure", what, f"End it with 'kill {record.pid}', and start it again.")
    what = f"The worker on port {record.port} (process {record.pid}) is gone and left its record: it crashed or was killed."
    todo = f"The next start on that port removes it; so does: rm {record_path(directory, record.port)}"
    log = directory / f"worker-{record.port}.log"
    return _found("stale-record", "warning", f"{what} What it said last is in {log}." if log.exists() else what, todo)


def _port(port: int, own: WorkerRecord | None) -> Finding:
    if own is not None:
        return _found("port", "ok", f"Port {port} is held by your worker (process {own.pid}).")
    if port_is_taken(port):
        todo = f"Stop that program, or set another port: caveman-tui --port {port + 1}, or port = {port + 1} in the config file."
        return _found("port", "failure", f"Port {port} is taken by a program that is no worker of yours.", todo)
    return _found("port", "ok", f"Port {port} is free." if port else "A free port is taken at each start.")


def _worker(record: WorkerRecord) -> Finding:
    try:
        status = ask_status(record)
    except WorkerProblem as problem:
        todo = f"'caveman-tui stop --port {record.port}' ends it."
        return _found("worker", "failure", f"The worker on port {record.port}: {problem.message}", todo)
    what = (
        f"A worker runs on port {record.port}: version {status.version}, {status.exchanges} exchanges, shrinking {status.settings.shrink}."
    )
    if status.store.problem:
        todo = "'caveman-tui ccr check' looks at the store."
        return _found("worker", "warning", f"{what} Its store: {status.store.problem}", todo)
    if status.version != __version__:
        todo = f"'caveman-tui stop --port {record.port}', then start it again; conversations keep what they are pinned to."
        return _found("worker", "warning", f"{what} Version {__version__} was installed since it started.", todo)
    return _found("worker", "ok", what)


def upstreams(config: WorkerConfig) -> Iterator[Finding]:
    """Whether each provider answers, over the same connection, proxies and certificates that the worker uses."""
    from caveman_tui.proxy.trust import TrustProblem
    from caveman_tui.proxy.upstream import UpstreamProblem

    quick = msgspec.structs.replace(config, connect_timeout_seconds=_REACH_SECONDS, idle_timeout_seconds=_REACH_SECONDS)
    try:
        yield from asyncio.run(_reach(quick))
    except (UpstreamProblem, TrustProblem) as problem:
        yield _found("upstream", "failure", f"The worker would not start: {problem}")


async def _reach(config: WorkerConfig) -> list[Finding]:
    from caveman_tui.proxy.upstream import ProviderClient

    client = ProviderClient(config)
    try:
        # The one for ChatGPT logins is always there, and few people have a use for it.
        asked = [upstream for upstream in config.upstreams if upstream != CHATGPT]
        return list(await asyncio.gather(*(_reach_one(client, upstream) for upstream in asked)))
    finally:
        await client.close()


async def _reach_one(client: "ProviderClient", upstream: Upstream) -> Finding:
    from multidict import CIMultiDict

    from caveman_tui.proxy.errors import NotForwarded
    from caveman_tui.proxy.routes import Route

    try:
        response = await client.send("HEAD", Route(upstream=upstream, target="/", dialect=None), CIMultiDict(), None)
    except NotForwarded as problem:
        what = f"The upstream '{upstream.name}' ({upstream.base_url}): {problem.error.what}"
        return _found("upstream", "failure", what, problem.error.todo)
    response.release()
    return _found("upstream", "ok", f"The upstream '{upstream.name}' ({upstream.base_url}) answers.")


def store(config: WorkerConfig) -> Finding:
    """Whether the recovery store opens, and how full it is."""
    try:
        with open_store(config.store_path, create=False) as opened:
            stats = opened.stats()
            writable = opened.writable
    except StoreMissing:
        return _found("store", "ok", "There is no recovery store yet; the first shrunk catalog makes it.")
    except StoreError as error:
        return _found("store", "failure", f"The recovery store can't be used: {error}")
    what = f"The recovery store {stats.path} holds {stats.originals} originals, {size(stats.payload_bytes)} of {size(stats.budget_bytes)}."
    if not writable:
        todo = "Make the file and its directory writable; until then nothing is shrunk."
        return _found("store", "warning", f"{what} It can only be read.", todo)
    if stats.payload_bytes > 0.9 * stats.budget_bytes:
        todo = "Delete originals on the store's screen, or raise CAVEMAN_CCR_MAX_BYTES."
        return _found("store", "warning", f"{what} It is nearly full.", todo)
    return _found("store", "ok", what)


def terminal(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whether this terminal can show the screen."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield _found("terminal", "note", "There is no terminal here: 'caveman-tui serve' and 'exec' work, the screen doesn't.")
        return
    if environment.get("TERM") == "dumb":
        yield _found("terminal", "failure", "TERM=dumb: the screen can't be drawn.", "Set TERM to what the terminal is.")
        return
    columns, rows = shutil.get_terminal_size()
    if columns < 40 or rows < 10:
        yield _found("terminal", "warning", f"The terminal has {columns}x{rows} cells; from 40x10 on there is room.")
    if "utf" not in (sys.stdout.encoding or "").lower():
        what = f"The terminal's encoding is {sys.stdout.encoding}, which lacks the screen's signs."
        yield _found("terminal", "warning", what, "Set LANG to a UTF-8 locale, or start with --ascii.")
        return
    yield _found("terminal", "ok", f"The terminal: {environment.get('TERM', 'unnamed')}, {columns}x{rows}, UTF-8.")


def clients(environment: Mapping[str, str], directory: Path, port: int) -> Iterator[Finding]:
    """Which clients are there, and whether their requests would pass the worker."""
    url = f"http://127.0.0.1:{port}"
    for client in (CLAUDE, CODEX):
        if shutil.which(client, path=environment.get("PATH")) is None:
            yield _found(f"client-{client}", "note", f"'{client}' is not installed, or not on the PATH.")
            continue
        found = list(obstacles(client, environment, directory, url))
        for obstacle in found:
            yield _found(f"client-{client}", "warning", f"{obstacle.where} {obstacle.what}.", obstacle.todo)
        if not found:
            yield _found(f"client-{client}", "ok", f"'{client}' goes through the worker with: caveman-tui exec -- {client}")
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        value = environment.get(name, "")
        local = local_port(value)
        if local and not port_is_taken(local):
            what = f"{name} points at port {local} of this machine, where nothing listens: clients started here can't work."
            yield _found("environment", "failure", what, f"Start the worker (caveman-tui --port {local}), or unset {name}.")
        elif name == "ANTHROPIC_BASE_URL" and local and environment.get("ENABLE_TOOL_SEARCH") is None:
            what = "ANTHROPIC_BASE_URL is set and ENABLE_TOOL_SEARCH is not: Claude Code then puts every MCP tool into each request."
            yield _found("environment", "warning", what, "export ENABLE_TOOL_SEARCH=true")


def network(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Proxies and certificate files of the environment, as far as they concern clients on the way to the worker."""
    proxy = next((name for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy") if environment.get(name)), None)
    bypassed = environment.get("NO_PROXY", "") + "," + environment.get("no_proxy", "")
    if proxy and "127.0.0.1" not in bypassed and "*" not in bypassed:
        what = f"{proxy} is set and NO_PROXY leaves 127.0.0.1 out: clients may send requests for the worker to that proxy."
        todo = "export NO_PROXY=127.0.0.1,localhost, or start clients with 'caveman-tui exec'."
        yield _found("proxy", "warning", what, todo)
    for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
        value = environment.get(name)
        if value and not Path(value).is_file():
            yield _found("certificates", "failure", f"{name} is {value}, which is no file.", f"Correct or unset {name}.")
