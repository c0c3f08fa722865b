import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from caveman_tui import places
from caveman_tui.cli import client
from caveman_tui.cli._client_wiring import client_command, client_environment, client_of, local_port, obstacles
from caveman_tui.protocol.discovery import live_workers, records
from tests.free_port import free_port

URL = "http://127.0.0.1:8788"

SHOW = "import os, json; print(json.dumps({name: os.environ.get(name) for name in (%s)}))"
ENVIRONMENT = ("-c", SHOW % '"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "ENABLE_TOOL_SEARCH", "NO_PROXY"')
POST = (
    "-c",
    "import os, urllib.request\n"
    "request = urllib.request.Request(os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages', b'{}', {'content-type': 'application/json'})\n"
    "print(urllib.request.urlopen(request).status)",
)


def test_the_environment_points_at_the_worker_and_keeps_the_rest() -> None:
    changed = client_environment({"PATH": "/bin", "no_proxy": "corp.example"}, URL)
    assert changed == {
        "PATH": "/bin",
        "ANTHROPIC_BASE_URL": URL,
        "OPENAI_BASE_URL": f"{URL}/v1",
        "ENABLE_TOOL_SEARCH": "true",
        "NO_PROXY": "corp.example,127.0.0.1,localhost",
        "no_proxy": "corp.example,127.0.0.1,localhost",
    }


def test_what_a_person_set_is_not_overruled() -> None:
    changed = client_environment({"ENABLE_TOOL_SEARCH": "auto", "NO_PROXY": "localhost, *.corp"}, URL)
    assert changed["ENABLE_TOOL_SEARCH"] == "auto"
    assert changed["NO_PROXY"] == "localhost,*.corp,127.0.0.1"
    assert "no_proxy" not in changed


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["claude", "-p"], "claude"),
        (["/usr/bin/codex"], "codex"),
        ([r"C:\bin\codex.cmd"], "codex"),
        (["codexx"], ""),
        (["python", "codex"], ""),
        ([], ""),
    ],
)
def test_known_clients_are_recognised_by_their_program(command: list[str], name: str) -> None:
    assert client_of(command) == name


def test_codex_gets_its_url_on_the_command_line() -> None:
    assert client_command(["codex", "exec", "-"], URL) == ["codex", "-c", f'openai_base_url="{URL}/v1"', "exec", "-"]
    assert client_command(["claude", "-p", "x"], URL) == ["claude", "-p", "x"]


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_settings_of_claude_that_win_over_the_environment_are_found(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project" / "deep"
    project.mkdir(parents=True)
    environment = {"HOME": str(home)}
    assert list(obstacles("claude", environment, project, URL)) == []
    _write(home / ".claude" / "settings.json", {"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}})
    _write(tmp_path / "project" / ".claude" / "settings.local.json", {"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}})
    found = list(obstacles("claude", environment, project, URL))
    assert [obstacle.where for obstacle in found] == [
        str(home / ".claude" / "settings.json"),
        str(tmp_path / "project" / ".claude" / "settings.local.json"),
    ]
    assert all("gateway.example" not in obstacle.what + obstacle.todo for obstacle in found)
    _write(home / ".claude" / "settings.json", {"env": {"ANTHROPIC_BASE_URL": URL + "/"}})
    assert len(list(obstacles("claude", environment, project, URL))) == 1
    assert len(list(obstacles("claude", environment | {"CLAUDE_CODE_USE_VERTEX": "1"}, project, URL))) == 2
    assert list(obstacles("", environment, project, URL)) == []
    _write(home / ".claude" / "settings.json", {"env": {"CLAUDE_CODE_USE_VERTEX": [1]}})
    assert len(list(obstacles("claude", environment, project, URL))) == 2


UNREADABLE = ["", "[]", "{", '{"env": []}', '{"env": {"ANTHROPIC_BASE_URL": 7, "CLAUDE_CODE_USE_BEDROCK": ""}}', "[" * 5000]


@pytest.mark.parametrize("content", UNREADABLE)
def test_settings_that_cannot_be_read_are_passed_over(tmp_path: Path, content: str) -> None:
    _write(tmp_path / ".claude" / "settings.json", content)
    _write(tmp_path / ".codex" / "config.toml", content)
    _write(tmp_path / ".codex" / "auth.json", content)
    for name in ("claude", "codex"):
        assert list(obstacles(name, {"HOME": str(tmp_path)}, tmp_path, URL)) == []


def test_settings_of_codex_that_go_elsewhere_are_found(tmp_path: Path) -> None:
    environment = {"CODEX_HOME": str(tmp_path)}
    _write(tmp_path / "config.toml", 'model_provider = "azure"\n')
    _write(tmp_path / "auth.json", {"OPENAI_API_KEY": None, "tokens": {"access_token": "s3cret"}})
    found = list(obstacles("codex", environment, tmp_path, URL))
    assert [Path(obstacle.where).name for obstacle in found] == ["config.toml", "auth.json"]
    assert "s3cret" not in repr(found)
    assert len(list(obstacles("codex", environment | {"OPENAI_API_KEY": "k"}, tmp_path, URL))) == 1


def test_ports_of_this_machine() -> None:
    assert local_port("http://127.0.0.1:8788/v1") == local_port("http://localhost:8788") == 8788
    assert local_port("https://api.example:443") is None
    assert local_port("") is None and local_port("http://[") is None


def test_a_client_runs_through_a_worker_of_its_own_port_and_leaves_nothing_behind(cli: Any, provider: Any, wait_for: Any) -> None:
    ended = cli.run("exec", "--port", "0", "--upstream-anthropic", provider.url, "--", sys.executable, *POST)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert provider.paths == ["/v1/messages"]
    shown = json.loads(cli.run("exec", "--port", "0", "--", sys.executable, *ENVIRONMENT).stdout)
    assert shown["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert shown["OPENAI_BASE_URL"] == shown["ANTHROPIC_BASE_URL"] + "/v1"
    assert (shown["ENABLE_TOOL_SEARCH"], shown["NO_PROXY"]) == ("true", "127.0.0.1,localhost")
    wait_for(lambda: not list(records(places.state_dir())), "the end of both workers")


def test_a_running_worker_is_used_and_stays(cli: Any, provider: Any) -> None:
    process, record = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    ended = cli.run("exec", "--port", str(record.port), "--", sys.executable, *POST)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert process.poll() is None
    assert [one.port for one in records(places.state_dir())] == [record.port]


def test_the_only_worker_is_used_wherever_it_listens(cli: Any, provider: Any) -> None:
    preferred = free_port()
    places.config_file().write_text(f"port = {preferred}\n")
    _, record = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    ended = cli.run("exec", "--", sys.executable, *POST)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert provider.paths == ["/v1/messages"]
    assert [one.port for one in records(places.state_dir())] == [record.port]
    other = cli.run("exec", "--upstream-anthropic", provider.url, "--", sys.executable, *ENVIRONMENT)
    assert json.loads(other.stdout)["ANTHROPIC_BASE_URL"] == f"http://127.0.0.1:{preferred}"


def test_where_several_run_and_none_on_the_port_it_is_said_that_another_starts(cli: Any, provider: Any) -> None:
    preferred = free_port()
    upstream = f'[[upstreams]]\nname = "anthropic"\nbase_url = "{provider.url}"\ndialect = "anthropic"\n'
    places.config_file().write_text(f"port = {preferred}\n{upstream}")
    _, first = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    _, second = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    ended = cli.run("exec", "--", sys.executable, *POST)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    (said,) = [line for line in ended.stderr.splitlines() if "another starts there" in line]
    assert all(f"port {port}" in said for port in (preferred, first.port, second.port))
    assert preferred in [record.port for record in live_workers(places.state_dir())]
    again = cli.run("exec", "--", sys.executable, *POST)
    assert (again.stdout, again.stderr) == ("200\n", "")


def test_a_worker_is_started_where_none_runs_and_stays_for_the_next_client(cli: Any, provider: Any) -> None:
    port = free_port()
    places.config_file().write_text(f"port = {port}\n")
    first = cli.run("exec", "--upstream-anthropic", provider.url, "--", sys.executable, *POST)
    assert (first.returncode, first.stdout) == (0, "200\n"), first.stderr
    (record,) = live_workers(places.state_dir())
    assert record.port == port
    second = cli.run("exec", "--shrink", "apply", "--", sys.executable, *ENVIRONMENT)
    assert json.loads(second.stdout)["ANTHROPIC_BASE_URL"] == record.url
    assert "keeps the settings it was started with" in second.stderr
    assert cli.run("stop").returncode == 0


def test_a_base_url_of_the_environment_becomes_the_upstream_of_a_worker_of_its_own(cli: Any, provider: Any) -> None:
    ended = cli.run("exec", "--", sys.executable, *POST, ANTHROPIC_BASE_URL=provider.url)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert provider.paths == ["/v1/messages"]
    assert "ANTHROPIC_BASE_URL becomes the upstream" in ended.stderr


def test_a_base_url_that_names_a_dead_port_is_passed_over(cli: Any, provider: Any) -> None:
    dead = f"http://127.0.0.1:{free_port()}"
    options = ("--port", "0", "--upstream-anthropic", provider.url)
    ended = cli.run("exec", *options, "--", sys.executable, *POST, ANTHROPIC_BASE_URL=dead)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert "passed over" in ended.stderr


def test_a_port_that_another_program_has_is_avoided(cli: Any, provider: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = cli.run("exec", "--port", str(port), "--upstream-anthropic", provider.url, "--", sys.executable, *POST)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr
    assert f"port {port} is taken by another program" in ended.stderr


def test_clients_that_start_together_share_one_worker(cli: Any, provider: Any) -> None:
    port = str(free_port())
    started = [
        cli.start("exec", "--port", port, "--upstream-anthropic", provider.url, "--", sys.executable, *ENVIRONMENT) for _ in range(3)
    ]
    said = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    assert {json.loads(out)["ANTHROPIC_BASE_URL"] for out, _ in said} == {f"http://127.0.0.1:{port}"}
    assert not any("taken" in err or "Error" in err for _, err in said), said
    assert cli.run("stop", "--port", port).returncode == 0


def test_a_worker_that_can_leave_no_record_is_found_by_its_socket(cli: Any, provider: Any) -> None:
    places.config_file().with_name("no-directory").touch()
    state = str(places.config_file().with_name("no-directory") / "state")
    options = ("--port", "0", "--upstream-anthropic", provider.url)
    ended = cli.run("exec", *options, "--", sys.executable, *POST, CAVEMAN_TUI_STATE=state)
    assert (ended.returncode, ended.stdout) == (0, "200\n"), ended.stderr


def test_the_exit_code_is_the_clients(cli: Any) -> None:
    _, record = cli.serve("--port", "0")
    port = str(record.port)
    assert cli.run("exec", "--port", port, "--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    ended = cli.run("exec", "--port", port, "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 15)")
    assert ended.returncode == -signal.SIGTERM
    absent = cli.run("exec", "--port", port, "--", "no-such-program")
    assert absent.returncode == 127 and "no-such-program" in absent.stderr
    assert cli.run("exec", "--port", port).returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_client(cli: Any, wait_for: Any, tmp_path: Path, number: signal.Signals) -> None:
    """In a session of its own there is no terminal that would send them itself."""
    ready = tmp_path / "ready"
    code = (
        "import signal, sys, pathlib, time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(40))\n"
        f"pathlib.Path({str(ready)!r}).touch()\n"
        "time.sleep(60)"
    )
    _, record = cli.serve("--port", "0")
    process = cli.start("exec", "--port", str(record.port), "--", sys.executable, "-c", code)
    wait_for(ready.exists, "the client")
    process.send_signal(number)
    assert process.wait(20) == 40


def test_overriding_settings_are_warned_of(cli: Any, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    _write(program, f"#!{sys.executable}\nprint('hi')\n")
    program.chmod(0o755)
    _write(Path(os.environ["HOME"]) / ".claude" / "settings.json", {"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}})
    _, record = cli.serve("--port", "0")
    ended = cli.run("exec", "--port", str(record.port), "--", str(program))
    assert (ended.returncode, ended.stdout) == (0, "hi\n")
    assert "settings.json sets ANTHROPIC_BASE_URL" in ended.stderr


def test_codex_is_started_with_its_url(cli: Any, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "codex"
    _write(program, f"#!{sys.executable}\nimport sys, json\nprint(json.dumps(sys.argv[1:]))\n")
    program.chmod(0o755)
    _, record = cli.serve("--port", "0")
    ended = cli.run("exec", "--port", str(record.port), "--", str(program), "exec", "hello")
    assert json.loads(ended.stdout) == ["-c", f'openai_base_url="{record.url}/v1"', "exec", "hello"]


def test_a_client_whose_requests_go_elsewhere_is_warned_of(
    cli: Any, provider: Any, wait_for: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, record = cli.serve("--port", "0", "--upstream-anthropic", provider.url)
    monkeypatch.setattr(client, "PATIENCE_SECONDS", 0.0)
    with client._Patience(record, started_at=0.0) as patience:
        wait_for(lambda: patience._warned, "the warning")
    patience.remind()
    assert capfd.readouterr().err.count("no request came through the worker") == 2

    assert cli.run("exec", "--port", str(record.port), "--", sys.executable, *POST).stdout == "200\n"
    assert not patience._saw_none()
    patience.remind()
    assert capfd.readouterr().err == ""
