"""Runs the SDK clients, straight to the stand-in and through `caveman-tui exec`, and keeps what each side saw."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from caveman_tui.demo.provider import Provider, Received
from caveman_tui.protocol.control import ExchangeDetail
from caveman_tui.protocol.discovery import WorkerRecord, records
from caveman_tui.traffic.control import WorkerClient
from tests.free_port import free_port
from tests.sdk import messages_client, openai_client
from tests.sdk.answers import script
from tests.sdk.transcript import CASE_HEADER

LIMIT_SECONDS = 120.0
CLIENTS: dict[str, ModuleType] = {"anthropic": messages_client, "openai": openai_client}
"""SDK -> the client that uses it."""

_ROOT = Path(__file__).resolve().parents[2]
_CLI = (sys.executable, "-m", "caveman_tui")


@dataclass(frozen=True, repr=False)
class Seen:
    """An exchange as the worker tells of it, with the request as the client sent it."""

    detail: ExchangeDetail
    sent: bytes


@dataclass(frozen=True, repr=False)
class Run:
    """One SDK's cases, run once."""

    got: dict[str, list[Any]]
    """Case -> the values that the SDK handed out, as JSON."""
    received: dict[str, list[Received]]
    """Case -> what arrived at the stand-in."""
    seen: dict[str, list[Seen]]
    """Case -> the worker's view, empty without a worker."""
    notes: str
    """Standard error of the client and of what ran it."""


@dataclass(frozen=True)
class Home:
    """Where the processes of some runs keep everything."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {
            "HOME": self.folder,
            "CAVEMAN_HOME": self.folder / "caveman",
            "CAVEMAN_TUI_CONFIG": self.folder / "config.toml",
            "CAVEMAN_TUI_STATE": self.state,
            "CAVEMAN_TUI_DATA": self.folder / "data",
            "CAVEMAN_TUI_RUNTIME": self.folder / "run",
        }
        keys = {"ANTHROPIC_API_KEY": "sk-ant-dummy", "OPENAI_API_KEY": "sk-dummy"}
        return kept | {name: str(path) for name, path in own.items()} | keys | more


async def run_straight(home: Home) -> dict[str, Run]:
    """Each SDK with a stand-in as its base URL."""
    async with _providers() as providers:

        async def run(sdk: str) -> Run:
            url = providers[sdk].url
            environment = home.environment(ANTHROPIC_BASE_URL=url, OPENAI_BASE_URL=f"{url}/v1")
            got, notes = await _ended(await _start(_client(sdk), environment))
            return _run(got, notes, providers[sdk], ())

        return dict(zip(CLIENTS, await asyncio.gather(*map(run, CLIENTS)), strict=True))


async def run_through_served(home: Home, *options: str) -> dict[str, Run]:
    """Each SDK under `exec`, in front of a worker that `serve` runs."""
    async with _providers() as providers:
        serving = await _start((*_CLI, "serve", "--port", "0", *_upstreams(providers), *options), home.environment())
        try:
            record = await _record(home, serving)
            return await _run_through(home, record.port, providers)
        finally:
            serving.terminate()
            await _ended(serving, like=None)


async def run_through_started(home: Home, *options: str) -> dict[str, Run]:
    """Each SDK under `exec`, the first of which starts the worker; the second finds it running."""
    port = free_port()
    (home.folder / "config.toml").write_text(f"port = {port}\n")
    async with _providers() as providers:
        try:
            return await _run_through(home, port, providers, (*_upstreams(providers), *options))
        finally:
            await _ended(await _start((*_CLI, "stop", "--port", str(port)), home.environment()))


async def _run_through(home: Home, port: int, providers: dict[str, Provider], options: tuple[str, ...] = ()) -> dict[str, Run]:
    async def run(sdk: str, options: tuple[str, ...]) -> tuple[str, str]:
        return await _ended(await _start((*_CLI, "exec", "--port", str(port), *options, "--", *_client(sdk)), home.environment()))

    if options:
        said = [await run(sdk, options if number == 0 else ()) for number, sdk in enumerate(CLIENTS)]
    else:
        said = await asyncio.gather(*(run(sdk, ()) for sdk in CLIENTS))
    (record,) = records(home.state)
    async with WorkerClient(record) as worker:
        async with asyncio.timeout(LIMIT_SECONDS):
            while (await worker.status()).open_exchanges:
                await asyncio.sleep(0.02)
        details = [await worker.exchange(one.id) for one in (await worker.exchanges()).exchanges]
        seen = [
            Seen(detail, await worker.body(detail.exchange.id, "request-before") if detail.exchange.method == "POST" else b"")
            for detail in details
        ]
    return {
        sdk: _run(*said[number], providers[sdk], [one for one in seen if one.detail.exchange.provider == sdk])
        for number, sdk in enumerate(CLIENTS)
    }


def _run(got: str, notes: str, provider: Provider, seen: Iterable[Seen]) -> Run:
    cases: dict[str, list[Any]] = json.loads(got)
    received: dict[str, list[Received]] = {case: provider.received.with_header(CASE_HEADER, case) for case in cases}
    by_case: dict[str, list[Seen]] = {case: [] for case in cases}
    for one in seen:
        by_case[next(field.value for field in one.detail.request_headers if field.name.lower() == CASE_HEADER)].append(one)
    assert sum(map(len, received.values())) == len(provider.received)
    return Run(cases, received, by_case, notes)


@contextlib.asynccontextmanager
async def _providers() -> AsyncIterator[dict[str, Provider]]:
    """A stand-in for each SDK, so that a request which goes to the wrong one is seen."""
    providers = {sdk: Provider(script(client.CASES)) for sdk, client in CLIENTS.items()}
    async with contextlib.AsyncExitStack() as running:
        for provider in providers.values():
            await running.enter_async_context(provider.running())
        yield providers


def _upstreams(providers: dict[str, Provider]) -> tuple[str, ...]:
    return tuple(word for sdk, provider in providers.items() for word in (f"--upstream-{sdk}", provider.url))


def _client(sdk: str) -> tuple[str, ...]:
    return (sys.executable, "-W", "error", "-m", CLIENTS[sdk].__name__)


async def _start(command: tuple[str, ...], environment: dict[str, str]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *command, cwd=_ROOT, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )


async def _ended(process: asyncio.subprocess.Process, like: int | None = 0) -> tuple[str, str]:
    """What a process said on standard output and error; it must end with the exit code `like`, where one is given."""
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()
        raise
    assert like is None or process.returncode == like, err.decode()
    return out.decode(), err.decode()


async def _record(home: Home, serving: asyncio.subprocess.Process) -> WorkerRecord:
    async with asyncio.timeout(LIMIT_SECONDS):
        while not (found := [one for one in records(home.state) if one.pid == serving.pid]):
            assert serving.returncode is None, (await serving.communicate())[1]
            await asyncio.sleep(0.02)
    return found[0]
