import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from caveman_tui import places
from caveman_tui.cli import main, session
from caveman_tui.core.policy import LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import ConversationList, Status
from caveman_tui.protocol.discovery import WorkerRecord, is_alive, process_exists, read_record, records
from caveman_tui.traffic.control import WorkerClient
from tests.free_port import free_port


def _ask(record: WorkerRecord, question: Callable[[WorkerClient], Any]) -> Any:
    async def ask() -> Any:
        async with WorkerClient(record) as client:
            return await question(client)

    return asyncio.run(ask())


def _post(record: WorkerRecord) -> int:
    body = {"model": "m", "tools": [{"name": "t", "input_schema": {}}], "messages": [{"role": "user", "content": "hello"}]}
    headers = {"content-type": "application/json", "x-claude-code-session-id": "session-1"}
    request = urllib.request.Request(f"{record.url}/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return int(response.status)


def test_a_worker_serves_until_it_is_told_to_end(cli: Any, provider: Any) -> None:
    process, record = cli.serve("--port", "0", "--upstream-anthropic", provider.url, "--shrink", "apply")
    status: Status = _ask(record, WorkerClient.status)
    assert (status.pid, status.port, status.settings.shrink) == (process.pid, record.port, ShrinkMode.APPLY)
    assert _post(record) == 200
    assert provider.paths == ["/v1/messages"]
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert f"export ANTHROPIC_BASE_URL=http://127.0.0.1:{record.port}" in err
    assert read_record(places.state_dir(), record.port) is None
    assert not Path(record.socket).exists()


def test_a_second_signal_ends_it_at_once_and_does_not_look_like_a_crash(cli: Any, provider: Any, wait_for: Any) -> None:
    process, record = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    provider.silent.set()

    def hang() -> None:
        with pytest.raises(OSError):
            _post(record)

    hanging = threading.Thread(target=hang)
    hanging.start()
    wait_for(lambda: provider.paths, "the request at the provider")
    # With an exchange running, one signal alone would take seconds and end in 0. Which of two the process sees first is open.
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode in {128 + signal.SIGINT, 128 + signal.SIGTERM}
    assert read_record(places.state_dir(), record.port) is None
    hanging.join()


def test_after_kill_9_the_port_is_free_and_conversations_keep_their_pins(cli: Any, provider: Any, wait_for: Any) -> None:
    process, record = cli.serve("--port", str(free_port()), "--upstream-anthropic", provider.url, "--shrink", "apply")
    assert _post(record) == 200
    pins = places.state_dir() / f"pins-{record.port}.json"
    wait_for(lambda: pins.exists() and b"session-1" in pins.read_bytes(), "the pin on disk")
    assert stat.S_IMODE(pins.stat().st_mode) == 0o600
    process.kill()
    process.communicate()
    assert read_record(places.state_dir(), record.port) == record

    _, successor = cli.serve("--port", str(record.port), "--upstream-anthropic", provider.url, "--shrink", "off")
    assert (successor.port, successor.socket) == (record.port, record.socket)
    assert successor.instance != record.instance
    kept: ConversationList = _ask(successor, WorkerClient.conversations)
    assert [(one.id, one.shrink) for one in kept.conversations] == [("session-1", ShrinkMode.APPLY)]


def test_a_port_that_another_program_has_is_said_to_be(cli: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = cli.run("serve", "--port", str(port))
    assert ended.returncode == 1
    assert f"Port {port} is taken by another program" in ended.stderr
    assert "--port 0" in ended.stderr


def test_a_port_that_our_worker_has_is_said_to_be(cli: Any) -> None:
    process, record = cli.serve("--port", "0")
    ended = cli.run("serve", "--port", str(record.port))
    assert ended.returncode == 1
    assert f"A worker of yours already runs on port {record.port} (process {process.pid})" in ended.stderr
    assert "attach" in ended.stderr
    assert _ask(record, WorkerClient.status).pid == process.pid


def test_stop_ends_the_only_worker_and_asks_which_where_there_are_two(cli: Any) -> None:
    first, first_record = cli.serve("--port", "0")
    second, second_record = cli.serve("--port", "0")
    unsure = cli.run("stop")
    assert unsure.returncode == 1 and f"port {first_record.port}" in unsure.stderr and f"port {second_record.port}" in unsure.stderr
    assert cli.run("stop", "--port", str(second_record.port)).returncode == 0
    assert second.wait(20) == 0 and first.poll() is None
    assert cli.run("stop").returncode == 0
    assert first.wait(20) == 0
    nothing = cli.run("stop")
    assert nothing.returncode == 1 and "No worker runs" in nothing.stderr


def test_a_mistake_in_the_config_file_is_a_usage_error(cli: Any) -> None:
    places.config_file().write_text('shrnk = "apply"')
    ended = cli.run("serve")
    assert ended.returncode == 2 and "Did you mean 'shrink'?" in ended.stderr
    elsewhere = cli.directory / "mine.toml"
    elsewhere.write_text("port = 0")
    process, _ = cli.serve("--config", "mine.toml")
    assert process.poll() is None


@pytest.mark.parametrize("command", [(), ("run",), ("attach",)])
def test_without_a_terminal_one_line_says_so_and_nothing_is_started(cli: Any, command: tuple[str, ...]) -> None:
    ended = cli.run(*command)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1 and "There is no terminal to draw on" in ended.stderr
    assert not list(places.state_dir().glob("worker-*"))


def test_attach_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "require_terminal", lambda: None)
    nothing = CliRunner().invoke(main, ["attach"])
    assert nothing.exit_code == 1 and "No worker runs" in nothing.output
    no_socket = CliRunner().invoke(main, ["attach", str(tmp_path / "absent.sock")])
    assert no_socket.exit_code == 1 and "There is no socket" in no_socket.output
    no_port = CliRunner().invoke(main, ["attach", "--port", "1"])
    assert no_port.exit_code == 1 and "No worker of yours runs on port 1" in no_port.output


# The worker outlives the command that started it, which the standard library takes for a slip.
outlives = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")


@outlives
def test_under_run_a_killed_worker_comes_back_on_its_port_and_outlives_the_screen(
    cli: Any, provider: Any, wait_for: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[WorkerRecord] = []

    def screen(record: WorkerRecord, *_: object, **__: object) -> int:
        seen.append(record)
        assert os.getsid(record.pid) == record.pid, "the worker belongs to a session of its own"
        assert _ask(record, WorkerClient.status).settings.shrink is ShrinkMode.APPLY
        _ask(record, lambda client: client.change_settings(loop_ttl=LoopTtlMode.OFF))
        os.kill(record.pid, signal.SIGKILL)

        def successor() -> WorkerRecord | None:
            found = read_record(places.state_dir(), record.port)
            return found if found and found.instance != record.instance and is_alive(found) else None

        seen.append(wait_for(successor, "a successor"))
        return 5

    monkeypatch.setattr(session, "require_terminal", lambda: None)
    monkeypatch.setattr(session, "open_screen", screen)
    ended = CliRunner().invoke(main, ["--port", "0", "--upstream-anthropic", provider.url, "--shrink", "apply"])
    assert ended.exit_code == 5, ended.output
    first, second = seen
    assert (second.port, second.socket) == (first.port, first.socket)
    status: Status = _ask(second, WorkerClient.status)
    assert (status.settings.shrink, status.settings.loop_ttl) == (ShrinkMode.APPLY, LoopTtlMode.OFF)
    assert provider.url in {upstream.base_url for upstream in status.upstreams}
    log = places.state_dir() / "worker-0.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert CliRunner().invoke(main, ["stop"]).exit_code == 0
    wait_for(lambda: not is_alive(second), "the end")


@outlives
def test_a_worker_that_is_stopped_under_run_stays_ended(cli: Any, wait_for: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def screen(record: WorkerRecord, *_: object, **__: object) -> int:
        _ask(record, WorkerClient.stop)
        wait_for(lambda: not is_alive(record), "the end")
        wait_for(lambda: not any(thread.name == "guardian" for thread in threading.enumerate()), "that the guardian gives up")
        assert read_record(places.state_dir(), record.port) is None
        return 0

    monkeypatch.setattr(session, "require_terminal", lambda: None)
    monkeypatch.setattr(session, "open_screen", screen)
    assert CliRunner().invoke(main, ["run", "--port", "0"]).exit_code == 0


def test_run_joins_a_worker_that_runs_already_and_guards_it(cli: Any, wait_for: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    process, running = cli.serve("--port", str(free_port()), "--upstream-openai", "http://127.0.0.1:9")
    seen: list[WorkerRecord] = []

    def screen(record: WorkerRecord, *_: object, **__: object) -> int:
        seen.append(record)
        process.kill()
        process.wait()
        found = wait_for(lambda: _other(running), "a successor")
        seen.append(found)
        return 0

    monkeypatch.setattr(session, "require_terminal", lambda: None)
    monkeypatch.setattr(session, "open_screen", screen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("subprocess.Popen.__del__", lambda self: None)
        ended = CliRunner().invoke(main, ["--port", str(running.port), "--shrink", "apply"])
    assert ended.exit_code == 0, ended.output
    assert f"A worker of yours already runs on port {running.port}" in ended.output
    assert "It keeps the settings" in ended.output
    assert seen[0] == running and seen[1].port == running.port and process_exists(seen[1].pid)
    assert (seen[1].upstreams, seen[1].settings) == (running.upstreams, running.settings)


def _other(record: WorkerRecord) -> WorkerRecord | None:
    found = read_record(places.state_dir(), record.port)
    return found if found and found.instance != record.instance and is_alive(found) else None


def test_run_says_when_another_program_has_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "require_terminal", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = CliRunner().invoke(main, ["--port", str(other.getsockname()[1])])
    assert ended.exit_code == 1
    assert "is taken by another program" in ended.output


def test_run_shows_why_a_worker_did_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "require_terminal", lambda: None)
    port = free_port()
    ended = CliRunner().invoke(main, ["--port", str(port), "--upstream-anthropic", f"http://127.0.0.1:{port}"])
    assert ended.exit_code == 1
    assert "which is this worker itself" in ended.output


@pytest.mark.parametrize("term", ["dumb"])
def test_a_terminal_that_cannot_show_it_is_named(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout", Terminal())
    with pytest.raises(session.WorkerProblem, match="TERM=dumb"):
        session.require_terminal()


def test_screen_options_come_from_the_flags_and_the_config_file(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []
    keymaps: list[dict[str, str]] = []

    def screen(
        socket: Path | None,
        record: WorkerRecord | None,
        *,
        ascii_only: bool,
        mouse: bool,
        light: bool,
        keymap: dict[str, str],
        worker_ends: bool,
    ) -> int:
        assert not worker_ends
        asked.append((socket, record, ascii_only, mouse, light))
        keymaps.append(keymap)
        return 0

    monkeypatch.setattr("caveman_tui.tui.run.run_screen", screen)
    monkeypatch.setattr(session, "require_terminal", lambda: None)
    _, record = cli.serve("--port", "0")
    path = Path(record.socket)
    places.config_file().write_text('theme = "light"\nmouse = false\n[keys]\n"traffic.pause" = "P"\n')
    for arguments in ([], ["--ascii"], [str(path)]):
        assert CliRunner().invoke(main, ["attach", *arguments]).exit_code == 0
    places.config_file().unlink()
    assert CliRunner().invoke(main, ["--port", str(record.port), "--no-mouse", "--light"]).exit_code == 0
    assert CliRunner().invoke(main, ["attach"]).exit_code == 0
    assert asked == [
        (path, record, False, False, True),
        (path, record, True, False, True),
        (path, None, False, False, True),
        (path, record, False, False, True),
        (path, record, False, True, False),
    ]
    assert keymaps == [{"traffic.pause": "P"}] * 3 + [{}] * 2


def test_keys_that_cannot_be_are_said_before_anything_starts(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "require_terminal", lambda: None)
    monkeypatch.setattr(session, "find_or_start_worker", lambda _: pytest.fail("a worker was started"))
    places.config_file().write_text('[keys]\n"traffic.pauze" = "P"\n')
    for arguments in ([], ["attach"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2 and "config.toml: keys: there is no action 'traffic.pauze'." in result.output
        assert "Did you mean 'traffic.pause'?" in result.output


IN_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "caveman_tui", *sys.argv[1:]])
"""


def _screen_in_a_terminal(wait_for: Any) -> tuple[subprocess.Popen[bytes], int]:
    """The program on a new pseudo-terminal, once it has drawn its first screen, and the other end of that."""
    master, slave = os.openpty()
    screen = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL, "--port", "0"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(slave)
    shown = bytearray()

    def drawn() -> bool:
        shown.extend(os.read(master, 65536))
        return b"ANTHROPIC_BASE_URL" in shown

    wait_for(drawn, "the screen")
    return screen, master


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_order_to_end_puts_the_terminal_back_and_keeps_the_worker(cli: Any, wait_for: Any) -> None:
    screen, master = _screen_in_a_terminal(wait_for)
    (record,) = records(places.state_dir())
    screen.terminate()
    said = bytearray()
    with contextlib.suppress(OSError):
        while piece := os.read(master, 65536):
            said += piece
    assert screen.wait(20) == 128 + signal.SIGTERM
    os.close(master)
    assert b"\x1b[?1049l" in said and b"Traceback" not in said and is_alive(record)
    assert cli.run("stop").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_worker_outlives_a_terminal_that_is_closed(cli: Any, wait_for: Any) -> None:
    screen, master = _screen_in_a_terminal(wait_for)
    (record,) = records(places.state_dir())
    assert is_alive(record)
    os.close(master)
    screen.wait(20)
    assert is_alive(record)
    assert cli.run("stop").returncode == 0


def test_a_process_that_only_serves_imports_no_screen_and_no_client() -> None:
    code = "import sys, caveman_tui.cli.session, caveman_tui.proxy.worker; print(*{'rich', 'textual', 'httpx'} & sys.modules.keys())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


def test_a_serving_worker_collects_rarely_while_a_large_request_is_parsed() -> None:
    large = json.dumps([{"type": "text", "text": str(number)} for number in range(100_000)])

    def collections() -> int:
        before = sum(generation["collections"] for generation in gc.get_stats())
        json.loads(large)
        return sum(generation["collections"] for generation in gc.get_stats()) - before

    thresholds = gc.get_threshold()
    often = collections()
    try:
        session._collect_rarely()
        assert gc.get_freeze_count() > 0
        assert collections() * 10 < often
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
