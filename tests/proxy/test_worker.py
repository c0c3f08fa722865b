"""Starting, stopping, and what the worker says of itself."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from caveman_tui import places
from caveman_tui.config import WorkerConfig
from caveman_tui.core.policy import ClientKind, ClientOverride, ShrinkMode
from caveman_tui.protocol import discovery, events
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.control_socket import has_unix_sockets
from caveman_tui.proxy.conversations import PIN_SECONDS
from caveman_tui.proxy.worker import StartProblem, Worker
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange

MESSAGES = "/v1/messages"


async def _problem(config: WorkerConfig) -> StartProblem:
    with pytest.raises(StartProblem) as caught:
        await Worker(config).start()
    return caught.value


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])
async def test_only_loopback_is_listened_on(host: str) -> None:
    assert (await _problem(WorkerConfig(host=host, port=0))).code == "not-loopback"


async def test_a_taken_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        problem = await _problem(WorkerConfig(port=other.getsockname()[1]))
    assert problem.code == "port-taken"
    assert str(other) not in str(problem) and "--port" in problem.todo


async def test_a_port_that_is_none_is_told() -> None:
    assert (await _problem(WorkerConfig(port=70_000))).code == "address"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_upstream_that_is_the_worker_itself_is_found_at_the_start(host: str, free_port: int) -> None:
    own = Upstream(name="mine", base_url=f"http://{host}:{free_port}", dialect="anthropic")
    problem = await _problem(WorkerConfig(port=free_port, upstreams=(own,)))
    assert problem.code == "own-upstream"
    assert "'mine'" in problem.what
    with socket.create_server(("127.0.0.1", free_port)):
        pass


async def test_bad_certificates_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem")
    assert (await _problem(WorkerConfig(port=0))).code == "certificates"


async def test_it_can_be_found_while_it_runs_and_not_after(bench: Bench) -> None:
    (record,) = discovery.live_workers(places.state_dir())
    assert (record.port, record.instance) == (bench.worker.port, bench.worker.log.instance)
    await bench.worker.stop()
    assert discovery.live_workers(places.state_dir()) == []
    assert list(places.state_dir().glob("worker-*.json")) == []
    with socket.create_server(("127.0.0.1", bench.worker.port)):
        pass


async def test_its_status(bench: Bench) -> None:
    await bench.post(MESSAGES, b'{"model":"m"}')
    status = bench.worker.status()
    assert (status.port, status.exchanges, status.open_exchanges) == (bench.worker.port, 1, 0)
    assert status.seq == bench.worker.log.seq > 0
    assert status.store.problem == ""
    assert msgspec.json.decode(msgspec.json.encode(status))["settings"]["shrink"] == "measure"


@pytest.mark.skipif(not has_unix_sockets(), reason="this system has no Unix sockets")
async def test_its_control_socket_is_private(bench: Bench) -> None:
    (path,) = places.runtime_dir().glob("*.sock")
    assert path.name == f"worker-{bench.worker.port}.sock"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_running_exchanges_get_time_to_end(start_bench: StartBench) -> None:
    bench = await start_bench(stop_seconds=10.0)
    go_on = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await go_on.wait()
        await exchange.reply(b'{"late":1}')

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=b"{}")
    await bench.until(lambda: bool(bench.provider.seen))
    stopping = asyncio.create_task(bench.worker.stop())
    await bench.until(lambda: bench.worker.stopping)
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", bench.worker.port)
    go_on.set()
    assert (await client.receive()).body == b'{"late":1}'
    await stopping
    assert bench.exchange.state == "done"


async def test_all_waiting_for_a_running_exchange_is_the_time_that_was_given(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = await start_bench(stop_seconds=0.25)
    waited: list[float] = []

    def timeout(seconds: float) -> asyncio.Timeout:
        waited.append(seconds)
        return asyncio.timeout(seconds)

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=b"{}")
    await client.head()
    monkeypatch.setattr("aiohttp.web_protocol.ceil_timeout", timeout)
    await bench.worker.stop()
    assert sum(waited) == 0.25
    assert bench.exchange.state == "broken"


async def test_exchanges_that_take_longer_are_broken_off(start_bench: StartBench) -> None:
    bench = await start_bench(stop_seconds=0.05)

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.chunk(b"data: {}\n\n")
        await exchange.closed_by_peer()

    bench.provider.answer = answer
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", "Content-Type: application/json", body=b"{}")
    await client.head()
    await client.chunk()
    await bench.worker.stop()
    assert await client.reader.read() == b""
    assert (bench.exchange.state, bench.exchange.note) == ("broken", "The worker was stopped.")


async def test_it_ends_when_nobody_uses_it(start_bench: StartBench) -> None:
    bench = await start_bench(idle_stop_seconds=0.05)
    async with asyncio.timeout(10):
        await bench.worker.wait()


async def test_it_stays_while_a_screen_follows_or_an_exchange_runs(start_bench: StartBench) -> None:
    bench = await start_bench(idle_stop_seconds=0.05)
    bench.worker.log.followers = 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await bench.worker.wait()
    bench.worker.log.followers = 0
    async with asyncio.timeout(10):
        await bench.worker.wait()


async def test_pins_outlive_it(start_bench: StartBench) -> None:
    body = (
        b'{"tools":[{"name":"a","input_schema":{}}],"metadata":{"user_id":"user_0_account__session_1-2"},'
        b'"messages":[{"role":"user","content":"x"}]}'
    )
    first = await start_bench(settings=Settings(shrink=ShrinkMode.OFF))
    await first.post(MESSAGES, body)
    await first.worker.stop()
    second = await start_bench(port=first.worker.port, settings=Settings(shrink=ShrinkMode.MEASURE))
    await second.post(MESSAGES, body)
    assert second.exchange.tools == ()
    assert second.exchange.conversation == "1-2"


async def test_pins_that_no_conversation_can_need_are_removed_at_the_next_start(start_bench: StartBench) -> None:
    directory = places.state_dir()
    names = ("pins-1.json", ".pins-2.json.77", "shrunk-1-ab", "pins-3.json", "shrunk-1-cd", "worker-4.log")
    for name in names:
        (directory / name).write_bytes(b'{"version":1,"pins":[]}')
    long_ago = time.time() - 3 * PIN_SECONDS
    for name in (*names[:3], "worker-4.log"):
        os.utime(directory / name, (long_ago, long_ago))
    bench = await start_bench()
    await bench.worker.stop()
    left = {path.name for path in directory.iterdir()}
    assert left & set(names) == {"pins-3.json", "shrunk-1-cd", "worker-4.log"}


async def test_a_state_directory_that_cannot_be_used_costs_no_request(
    start_bench: StartBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("CAVEMAN_TUI_STATE", str(blocked / "state"))
    bench = await start_bench()
    assert (await bench.post(MESSAGES, b"{}")).status == 200
    assert set(bench.warnings) == {"state-not-kept"}


async def test_a_changed_setting_is_told(bench: Bench) -> None:
    bench.worker.change_settings(Settings(shrink=ShrinkMode.OFF))
    assert bench.of(events.SettingsChanged)[0].settings.shrink is ShrinkMode.OFF
    assert bench.worker.status().settings.shrink is ShrinkMode.OFF


async def test_what_is_set_for_a_client_decides_and_is_the_sign(start_bench: StartBench) -> None:
    clients = (ClientOverride(product="claude-cli", headless="yes"),)
    bench = await start_bench(settings=Settings(clients=clients))
    await bench.post(MESSAGES, b'{"model":"m"}', "User-Agent: claude-cli/2.1.316 (external, cli)")
    assert bench.exchange.client_kind == ClientKind(headless=True, sign="claude-cli set to headless: yes", overridden=True)
    await bench.post(MESSAGES, b'{"model":"m"}', "User-Agent: other/1 (external, sdk-py)")
    assert bench.exchange.client_kind == ClientKind(headless=True, sign="sdk-py")


@pytest.mark.skipif(not has_unix_sockets(), reason="this system has no Unix sockets")
def test_an_upgrade_of_the_package_changes_nothing_under_a_running_worker() -> None:
    """All of ours that it will need, and the tokenizer, is imported at the start, so it never mixes two versions."""
    done = subprocess.run([sys.executable, "-m", "tests.proxy.exercised_worker"], capture_output=True, timeout=60, check=False)
    assert done.stderr == b""
    told = json.loads(done.stdout)
    assert (told["exchanges"], told["edited"]) == (5, True)
    assert [name for name in told["late"] if not name.startswith("encodings.")] == []


async def test_pins_lapse_by_the_wall_clock_and_durations_go_by_another(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that slept: the provider's cache went cold meanwhile, and no exchange took an hour."""
    bench = await start_bench(settings=Settings(shrink=ShrinkMode.OFF), idle_stop_seconds=1800.0)
    body = b'{"tools":[{"name":"a","input_schema":{"title":"A"}}],"messages":[{"role":"user","content":"x"}]}'
    await bench.post(MESSAGES, body, "session-id: s")
    bench.worker.change_settings(Settings(shrink=ShrinkMode.APPLY))
    await bench.post(MESSAGES, body, "session-id: s")
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 3700)
    await bench.post(MESSAGES, body, "session-id: s")
    assert [seen.body == body for seen in bench.provider.seen] == [True, True, False]
    exchange = await bench.ended(3)
    assert exchange.duration_ms is not None and exchange.duration_ms < 60_000
    assert not bench.worker._stop_asked.is_set()
