"""Runs a case twice, direct and with a worker between, and judges the two outcomes."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caveman_tui.ccr import open_store
from caveman_tui.config import WorkerConfig
from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import Dialect, Policy, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import AnyEvent, Settings, Warned
from caveman_tui.proxy.originals import PUT_SECONDS
from caveman_tui.proxy.worker import Worker
from tests.conformance.cases import FINE, Case, sends, tool_request
from tests.conformance.disks import DiskCase
from tests.conformance.faults import ClientEnd, FaultyProvider, Signals
from tests.conformance.outcome import DIFFERENCES, Outcome
from tests.conformance.wire import LIMIT_SECONDS, READER_LIMIT, Message

ERROR_FIELD = "x-caveman-error"


class Unexplained(AssertionError):
    """Direct and through the worker differ, and the case does not say why."""


@dataclass(frozen=True)
class Result:
    """Both outcomes of a case, and the judgement in the words of the table."""

    case: Case
    direct: Outcome
    through: Outcome
    verdict: str


async def run(case: Case) -> Result:
    """Run a case. Raises Unexplained where something differs that it does not name, or where it names what does not show."""
    direct = await _run(case, None)
    through = await _run(case, {"port": 0, **case.config})
    return Result(case, direct, through, judge(case, direct, through))


async def run_disk(disk: DiskCase, directory: Path) -> Result:
    """Run a request whose tools can be shrunk, on a disk that fails under the worker. Raises Unexplained as `run` does.

    Without the disk's help the request has to go out as it came; with it, as it came but for the recorded edits.
    """
    body = tool_request()
    case = Case(disk.name, FINE, sends(body=body))
    direct = await _run(case, None)
    async with disk.trouble(directory) as config:
        # Only a store that is held up may be slow: that of a busy machine must not be taken for one.
        put_seconds = PUT_SECONDS if disk.warning == "store-slow" else LIMIT_SECONDS
        through = await _run(case, {"port": 0, "settings": Settings(shrink=ShrinkMode.APPLY), **config}, put_seconds=put_seconds)
    if set(through.warnings) != ({disk.warning} if disk.warning else set()):
        raise Unexplained(f"{disk.name}: the warnings are {through.warnings}")
    edited = rewrite(body, Dialect.ANTHROPIC_MESSAGES, client_kind(None), Policy(shrink=ShrinkMode.APPLY)).body if disk.edited else body
    assert edited != body or not disk.edited
    expected = replace(direct, provider=tuple(_with_body(request, edited) for request in direct.provider))
    if _levelled(expected, ()) != _levelled(through, ()):
        raise Unexplained(f"{disk.name}:\n  direct  {_text(direct)}\n  through {_text(through)}")
    if disk.edited:
        with open_store(config["store_path"], create=False) as store:
            assert store.get(store.list()[0].handle).original in body
    verdict = "equal but for the recorded edits" if disk.edited else "equal"
    return Result(case, direct, through, f"{verdict}, warning `{disk.warning}`" if disk.warning else verdict)


def _with_body(request: Message, body: bytes) -> Message:
    fields = tuple((name, str(len(body)) if name.lower() == "content-length" else value) for name, value in request.fields)
    return replace(request, fields=fields, body=body)


def judge(case: Case, direct: Outcome, through: Outcome) -> str:
    if case.error or case.own_status:
        return _judge_error(case, through)
    for name in case.differences:
        others = [other for other in case.differences if other != name]
        if _levelled(direct, others) == _levelled(through, others):
            raise Unexplained(f"{case.name}: nothing differs by '{name}'")
    one, other = _levelled(direct, case.differences), _levelled(through, case.differences)
    if one != other:
        raise Unexplained(f"{case.name}:\n  direct  {_text(one)}\n  through {_text(other)}")
    return f"equal but for {', '.join(case.differences)}" if case.differences else "equal"


def _judge_error(case: Case, through: Outcome) -> str:
    (message,) = through.client
    if not message.line or message.ending != "whole":
        raise Unexplained(f"{case.name}: no error of ours, but {_text(through)}")
    if case.own_status:
        if message.status != case.own_status or through.provider:
            raise Unexplained(f"{case.name}: {_text(through)}")
        return f"our {message.status}"
    if message.values(ERROR_FIELD) != [case.error]:
        raise Unexplained(f"{case.name}: not '{case.error}' but {_text(through)}")
    json.loads(message.body)
    return f"our {message.status} `{case.error}`"


def _levelled(outcome: Outcome, names: Sequence[str]) -> Outcome:
    for name in names:
        outcome = DIFFERENCES[name].level(outcome)
    # A provider that got no request has lost none.
    return replace(outcome, warnings=(), provider_lost=outcome.provider_lost and bool(outcome.provider))


async def _run(case: Case, config: dict[str, Any] | None, *, put_seconds: float = PUT_SECONDS) -> Outcome:
    signals = Signals()
    provider = FaultyProvider(case.answer, signals)
    provider.listens, provider.reads_requests = case.listens, case.reads_requests
    warnings: list[str] = []
    async with provider:
        worker = await _worker(config, provider.port, warnings, put_seconds) if config is not None else None
        try:
            client = await _client(case, worker.port if worker else provider.port, signals, hushed=worker is None)
            if signals.client_gone.is_set() and (worker is None or provider.seen or signals.request_begun.is_set()):
                async with asyncio.timeout(LIMIT_SECONDS):
                    await signals.provider_lost.wait()
        finally:
            if worker is not None:
                await worker.stop()
        if provider.failure is not None:
            raise provider.failure
        seen = tuple(_anonymous(request, provider.port) for request in provider.seen)
    lost = signals.client_gone.is_set() and signals.provider_lost.is_set()
    return Outcome(client, seen, lost, signals.held_back, tuple(warnings))


async def _client(case: Case, port: int, signals: Signals, *, hushed: bool) -> tuple[Message, ...]:
    """`hushed`: whether the provider's silence is the client's; a worker may still have something to say."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=READER_LIMIT)
    except ConnectionRefusedError:
        return (Message(ending="refused"),)
    try:
        return await case.client(ClientEnd(port, reader, writer, signals, signals.silent if hushed else asyncio.Event()))
    finally:
        writer.close()


async def _worker(config: dict[str, Any], provider_port: int, warnings: list[str], put_seconds: float) -> Worker:
    upstreams = tuple(Upstream(name=name, base_url=f"http://127.0.0.1:{provider_port}", dialect=name) for name in ("anthropic", "openai"))
    worker = Worker(WorkerConfig(upstreams=upstreams, **config), stop_seconds=0.3, put_seconds=put_seconds)
    emit = worker.log.emit

    def listen(event: AnyEvent) -> None:
        if isinstance(event, Warned):
            warnings.append(event.code)
        emit(event)

    worker.log.emit = listen  # type: ignore[method-assign]
    await worker.start()
    return worker


def _anonymous(request: Message, port: int) -> Message:
    fields = tuple((name, value.replace(f"127.0.0.1:{port}", "PROVIDER")) for name, value in request.fields)
    return replace(request, fields=fields)


def _text(outcome: Outcome) -> str:
    return str(outcome) if len(str(outcome)) < 1500 else f"{str(outcome)[:1500]}…"
