import asyncio
import gzip
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from caveman_tui.core.policy import Dialect, Level, LoopTtlMode, ShrinkMode
from caveman_tui.core.rewrite import ToolsChange
from caveman_tui.core.shrink.model import ShrunkCatalog, ShrunkTool
from caveman_tui.protocol import events
from caveman_tui.protocol.control import Status, StoreStatus
from caveman_tui.protocol.discovery import WorkerRecord, live_workers, records
from caveman_tui.protocol.events import AnyEvent, Settings
from caveman_tui.proxy.control_api import ControlApi
from caveman_tui.proxy.conversations import Conversations
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.identity import Identity
from caveman_tui.traffic.control import WorkerClient
from caveman_tui.traffic.source import Refused, ResyncNeeded, WorkerGone


class Harness:
    """A worker without a data path: all that the control API asks of one."""

    def __init__(self, socket_path: Path | None, records: Path | None = None) -> None:
        self.log = ExchangeLog()
        self.conversations = Conversations()
        self.settings = Settings()
        self.stop_requested = False
        self.api = ControlApi(self.log, self.conversations, self, socket_path=socket_path, records=records)

    def status(self) -> Status:
        return Status(
            instance=self.log.instance,
            pid=os.getpid(),
            version="0",
            started_at=0.0,
            host="127.0.0.1",
            port=1,
            settings=self.settings,
            upstreams=(),
            store=StoreStatus(path=""),
            seq=self.log.seq,
            exchanges=len(self.log),
            open_exchanges=self.log.open_exchanges,
            body_bytes=self.log.bodies.size,
            body_budget_bytes=self.log.bodies.budget_bytes,
            followers=self.log.followers,
        )

    def change_settings(self, settings: Settings) -> None:
        self.settings = settings
        self.log.emit(events.SettingsChanged(settings=settings))

    def request_stop(self) -> None:
        self.stop_requested = True

    def shrink_catalog(self, tools: bytes, level: Level) -> ShrunkCatalog:
        return ShrunkCatalog(before=tools, after=level.value.encode(), level=level)

    def exchange(self) -> str:
        id = self.log.new_id()
        self.log.emit(events.ExchangeStarted(id=id, method="POST", path="/v1/messages"))
        self.log.emit(events.ExchangeFinished(id=id, outcome="done", duration_ms=1.0, response_bytes=2))
        return id


@pytest.fixture
def socket_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s") / "run" / "worker.sock"


@pytest.fixture
async def worker(socket_path: Path) -> AsyncIterator[Harness]:
    harness = Harness(socket_path)
    await harness.api.start()
    yield harness
    await harness.api.stop()
    harness.log.close()


@pytest.fixture
async def client(worker: Harness, socket_path: Path) -> AsyncIterator[WorkerClient]:
    async with WorkerClient(socket_path) as client:
        yield client


async def _take(client: WorkerClient, after: int, count: int) -> list[AnyEvent]:
    taken: list[AnyEvent] = []
    stream = client.follow(after)
    async for batch in stream:
        taken.extend(batch)
        if len(taken) >= count:
            break
    await stream.aclose()  # type: ignore[attr-defined]
    return taken


async def _until_followed(worker: Harness, followers: int = 1) -> None:
    while worker.log.followers != followers:
        await asyncio.sleep(0.005)


async def test_the_socket_is_private(worker: Harness, socket_path: Path) -> None:
    assert stat.S_IMODE(socket_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700


async def test_status_and_list_and_detail(worker: Harness, client: WorkerClient) -> None:
    id = worker.exchange()
    assert (await client.status()).exchanges == 1
    listing = await client.exchanges()
    assert (listing.seq, [one.id for one in listing.exchanges]) == (2, [id])
    assert (await client.exchange(id)).exchange == worker.log.exchange(id)
    with pytest.raises(Refused, match="no exchange nobody"):
        await client.exchange("nobody")


async def test_events_are_replayed_then_followed(worker: Harness, client: WorkerClient) -> None:
    worker.exchange()
    replayed = await _take(client, 0, 2)
    assert [event.seq for event in replayed] == [1, 2]
    follower = asyncio.create_task(_take(client, 2, 1))
    await _until_followed(worker)
    worker.log.emit(events.Warned(code="c", what="w"))
    (event,) = await follower
    assert isinstance(event, events.Warned) and event.seq == 3
    await _until_followed(worker, 0)


async def test_a_position_that_is_gone_asks_for_a_resync(worker: Harness, client: WorkerClient) -> None:
    with pytest.raises(ResyncNeeded):
        await _take(client, 99, 1)


async def test_another_worker_on_the_same_socket_asks_for_a_resync(worker: Harness, client: WorkerClient) -> None:
    worker.exchange()
    await client.exchanges()
    worker.log.instance = "another"
    with pytest.raises(ResyncNeeded):
        await _take(client, 0, 1)


async def test_a_silent_stream_carries_blank_lines(worker: Harness, socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.proxy.control_api.KEEPALIVE_SECONDS", 0.01)
    transport = httpx.AsyncHTTPTransport(uds=str(socket_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as http, http.stream("GET", "/v1/events") as response:
        assert response.headers["x-caveman-instance"] == worker.log.instance
        async for chunk in response.aiter_raw():
            assert chunk.strip() == b""
            break


async def test_a_reader_that_falls_behind_is_cut_off_and_others_are_not(worker: Harness, socket_path: Path) -> None:
    """A suspended screen: it reads nothing while more than the socket's buffers and the ring hold passes by."""
    slow_reader, slow_writer = await asyncio.open_unix_connection(socket_path, limit=1024)
    slow_writer.write(b"GET /v1/events?after=0 HTTP/1.1\r\nhost: worker\r\nconnection: close\r\n\r\n")
    async with WorkerClient(socket_path) as quick:
        count = 12_000
        follower = asyncio.create_task(_take(quick, 0, count))
        await _until_followed(worker, 2)
        for number in range(count):
            worker.log.emit(events.Warned(code="c", what="x" * 700))
            if number % 100 == 0:
                await asyncio.sleep(0.001)
        assert [event.seq for event in await follower] == list(range(1, count + 1))
        received = 0
        while chunk := await slow_reader.read(65536):
            received += len(chunk)
        assert received < count * 700
        await _until_followed(worker, 0)
    slow_writer.close()


async def test_bodies_come_decoded_unless_raw_is_asked_for(worker: Harness, client: WorkerClient, socket_path: Path) -> None:
    id = worker.exchange()
    packed = gzip.compress(b"answer")
    worker.log.keep_request(id, b'{"a":1}', (), (), ())
    worker.log.keep_response(id, packed, "gzip", ())
    assert await client.body(id, "request-before") == await client.body(id, "request-after") == b'{"a":1}'
    assert await client.body(id, "response") == b"answer"
    transport = httpx.AsyncHTTPTransport(uds=str(socket_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as http:
        raw = await http.get(f"/v1/exchanges/{id}/bodies/response?raw=1")
    assert (raw.content, raw.headers["x-caveman-content-encoding"]) == (packed, "gzip")


async def test_a_response_that_broke_off_is_shown_as_far_as_it_came(worker: Harness, client: WorkerClient) -> None:
    id = worker.exchange()
    packed = gzip.compress(bytes(range(256)) * 40, compresslevel=0)
    worker.log.keep_response(id, packed[:5000], "gzip", ())
    shown = await client.body(id, "response")
    assert shown and (bytes(range(256)) * 40).startswith(shown)


async def test_bodies_that_are_not_there_say_why(worker: Harness, client: WorkerClient) -> None:
    id = worker.exchange()
    with pytest.raises(Refused, match="not in memory") as gone:
        await client.body(id, "response")
    assert gone.value.problem.code == "body-gone"
    with pytest.raises(Refused, match="no nonsense"):
        await client.body(id, "nonsense")
    running = worker.log.new_id()
    worker.log.emit(events.ExchangeStarted(id=running, method="POST", path="/"))
    with pytest.raises(Refused, match="not complete"):
        await client.body(running, "response")
    worker.log.keep_response(id, b"not gzip", "gzip", ())
    with pytest.raises(Refused, match="decoded"):
        await client.body(id, "response")


async def test_settings_change_by_the_fields_given_and_all_followers_hear(worker: Harness, client: WorkerClient) -> None:
    settings = await client.change_settings(shrink=ShrinkMode.APPLY)
    assert settings == worker.settings == Settings(shrink=ShrinkMode.APPLY)
    await client.change_settings(loop_ttl=LoopTtlMode.OFF, level=Level.TERSE)
    assert await client.settings() == Settings(shrink=ShrinkMode.APPLY, loop_ttl=LoopTtlMode.OFF, level=Level.TERSE)
    assert len(await _take(client, 0, 2)) == 2


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("PATCH", "/v1/settings", b'{"shrink":"yes"}', 400),
        ("PATCH", "/v1/settings", b'{"shrnk":"apply"}', 400),
        ("PATCH", "/v1/settings", b"", 400),
        ("PUT", "/v1/conversations/nobody/shrink", b'{"shrink":"apply"}', 404),
        ("PUT", "/v1/conversations/nobody/shrink", b"\xff", 400),
        ("GET", "/v1/events?after=x", b"", 400),
        ("GET", "/v1/catalogs/0?level=big", b"", 400),
        ("GET", "/v1/catalogs/0", b"", 404),
        ("GET", "/v1/nothing", b"", 404),
        ("DELETE", "/v1/status", b"", 405),
        ("PATCH", "/v1/settings", b"x" * 2_000_000, 413),
    ],
)
async def test_what_cannot_be_done_is_a_problem(
    worker: Harness, socket_path: Path, method: str, path: str, content: bytes, status: int
) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(socket_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as http:
        response = await http.request(method, path, content=content)
    assert response.status_code == status
    problem = msgspec.json.decode(response.content)
    assert problem["code"] and problem["what"]
    assert worker.settings == Settings()


async def test_a_fault_of_ours_is_a_problem_too(worker: Harness, client: WorkerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Status:
        raise RuntimeError("odd")

    monkeypatch.setattr(worker, "status", broken)
    with pytest.raises(Refused, match="RuntimeError: odd"):
        await client.status()


async def test_a_running_conversation_is_forced_whatever_its_name(worker: Harness, client: WorkerClient) -> None:
    name = "session/agent 1?x=%2F#y"
    now = (await client.status()).started_at
    worker.conversations._clock = lambda: now
    worker.conversations.policy_for(Identity(conversation=name, session=name), Dialect.ANTHROPIC_MESSAGES, Settings(), True, now)
    changed = await client.force_shrink(name, ShrinkMode.APPLY, Level.CAREFUL)
    assert (changed.id, changed.shrink, changed.level) == (name, ShrinkMode.APPLY, Level.CAREFUL)
    assert (await client.conversations()).conversations == (changed,)


async def test_a_catalog_comes_tool_by_tool_at_any_level(worker: Harness, client: WorkerClient) -> None:
    tool = ShrunkTool(name="read", pointer="/0", before=b'{"name":"read","description":"A very long text."}', after=b'{"name":"read"}')
    catalog = ShrunkCatalog(before=b"[" + tool.before + b"]", after=b"[" + tool.after + b"]", level=Level.STANDARD, tools=(tool,))
    digest = worker.log.keep_catalog(ToolsChange(pointer="/tools", start=0, end=1, catalog=catalog, applied=False))
    detail = await client.catalog(digest, Level.STANDARD)
    (shown,) = detail.tools
    assert (shown.before.encode(), shown.after.encode()) == (tool.before, tool.after)
    assert shown.tokens_before is not None and shown.tokens_after is not None and shown.tokens_before > shown.tokens_after > 0
    other = await client.catalog(digest, Level.TERSE)
    assert (other.level, other.bytes_before, other.bytes_after) == (Level.TERSE, len(catalog.before), len(b"terse"))


async def test_stop_is_passed_on(worker: Harness, client: WorkerClient) -> None:
    await client.stop()
    assert worker.stop_requested


async def test_followers_read_to_the_end_when_the_worker_stops(worker: Harness, client: WorkerClient, socket_path: Path) -> None:
    follower = asyncio.create_task(_take(client, 0, 99))
    await _until_followed(worker)
    worker.exchange()
    await worker.api.stop()
    assert [event.seq for event in await follower] == [1, 2]
    assert not socket_path.exists()
    with pytest.raises(WorkerGone, match="No worker answers"):
        await client.status()


async def test_a_live_workers_socket_is_not_taken_and_a_dead_ones_is(worker: Harness, socket_path: Path) -> None:
    second = Harness(socket_path)
    with pytest.raises(OSError, match="another worker listens"):
        await second.api.start()
    assert socket_path.exists()
    dead = socket_path.with_name("dead.sock")
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(dead))
    third = Harness(dead)
    await third.api.start()
    async with WorkerClient(dead) as client:
        assert (await client.status()).instance == third.log.instance
    await third.api.stop()


async def test_a_file_where_the_socket_belongs_is_left_alone(socket_path: Path) -> None:
    socket_path.parent.mkdir()
    socket_path.write_text("mine")
    with pytest.raises(FileExistsError):
        await Harness(socket_path).api.start()
    assert socket_path.read_text() == "mine"


async def test_loopback_tcp_wants_the_token() -> None:
    harness = Harness(None)
    await harness.api.start()
    record = WorkerRecord(
        pid=1, instance="", version="", host="127.0.0.1", port=1, started_at=0.0, control_port=harness.api.port, token=harness.api.token
    )
    async with WorkerClient(record) as client:
        assert (await client.status()).instance == harness.log.instance
    for token in ("guess", harness.api.token[:-1]):
        async with WorkerClient(msgspec.structs.replace(record, token=token)) as stranger:
            with pytest.raises(Refused, match="without its token"):
                await stranger.status()
    assert len(harness.api.token) >= 32
    await harness.api.stop()


async def test_a_worker_is_found_by_its_record_while_it_runs(socket_path: Path, tmp_path: Path) -> None:
    harness = Harness(socket_path, tmp_path)
    await harness.api.start()
    (record,) = live_workers(tmp_path)
    assert (record.instance, record.port, record.socket) == (harness.log.instance, 1, str(socket_path))
    async with WorkerClient(record) as client:
        assert (await client.status()).instance == record.instance
        await client.change_settings(shrink=ShrinkMode.APPLY)
        (record,) = live_workers(tmp_path)
        # The look above left a connection that the worker has still to take; a question behind it lets it.
        await client.status()
    assert record.settings == Settings(shrink=ShrinkMode.APPLY)
    await harness.api.stop()
    assert list(records(tmp_path)) == []


async def test_a_record_that_cannot_be_written_stops_nothing(socket_path: Path, tmp_path: Path) -> None:
    harness = Harness(socket_path, tmp_path / "absent")
    await harness.api.start()
    async with WorkerClient(socket_path) as client:
        (warning,) = await _take(client, 0, 1)
    assert isinstance(warning, events.Warned) and warning.code == "no-record"
    await harness.api.stop()
