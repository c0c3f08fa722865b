import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from caveman_tui import places
from caveman_tui.ccr import default_path, open_store
from caveman_tui.cli import _health, main
from caveman_tui.protocol.discovery import WorkerRecord, write_record


@pytest.fixture
def options(provider: Any, free_port: int) -> list[str]:
    return ["--port", str(free_port), "--upstream-anthropic", provider.url, "--upstream-openai", provider.url]


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "OPENAI_BASE_URL", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return


def _report(*arguments: str) -> tuple[Result, dict[str, list[dict[str, str]]]]:
    ended = CliRunner().invoke(main, ["doctor", "--json", *arguments])
    document = json.loads(ended.stdout)
    assert set(document) == {"version", "python", "ok", "findings"}
    assert document["ok"] == (ended.exit_code == 0)
    by_check: dict[str, list[dict[str, str]]] = {}
    for finding in document["findings"]:
        assert set(finding) == {"check", "state", "what", "todo"}
        if finding["state"] in {"warning", "failure"} and finding["check"] != "upstream":
            assert finding["todo"] or finding["check"] == "store", finding
        by_check.setdefault(finding["check"], []).append(finding)
    return ended, by_check


def _states(found: dict[str, list[dict[str, str]]], check: str) -> list[str]:
    return [finding["state"] for finding in found.get(check, [])]


def test_a_sound_installation_has_no_failure(options: list[str], provider: Any) -> None:
    ended, found = _report(*options)
    assert ended.exit_code == 0, ended.output
    assert _states(found, "upstream") == ["ok", "ok"]
    for check in ("config", "state-directory", "runtime-directory", "port", "store"):
        assert _states(found, check) == ["ok"], found[check]
    assert provider.paths == []


def test_the_same_for_people(options: list[str]) -> None:
    ended = CliRunner().invoke(main, ["doctor", *options])
    assert ended.exit_code == 0
    assert "✓ Port" in ended.output and "caveman-tui" in ended.output.splitlines()[0]


def test_a_wrong_config_file_is_a_finding_and_the_rest_is_looked_at(options: list[str]) -> None:
    places.config_file().write_text('shrnk = "apply"')
    ended, found = _report(*options)
    assert ended.exit_code == 1
    assert "Did you mean 'shrink'?" in found["config"][0]["what"]
    assert _states(found, "upstream") == ["ok", "ok"]


def test_upstreams_that_cannot_be_reached_are_failures(options: list[str], free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    options[options.index("--upstream-openai") + 1] = f"http://127.0.0.1:{free_port}"
    ended, found = _report(*options)
    assert ended.exit_code == 1
    assert sorted(_states(found, "upstream")) == ["failure", "ok"]
    (unreachable,) = [finding for finding in found["upstream"] if finding["state"] == "failure"]
    assert "'openai'" in unreachable["what"]
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", "/absent.pem")
    _, found = _report(*options)
    assert _states(found, "upstream") == ["failure"] and _states(found, "certificates") == ["failure"]


def test_a_port_of_another_program_is_a_failure(options: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        options[1] = str(other.getsockname()[1])
        _, found = _report(*options)
    assert _states(found, "port") == ["failure"]


def test_our_worker_is_recognised_and_dead_ones_are_named(cli: Any, options: list[str]) -> None:
    process, record = cli.serve("--port", "0")
    dead = WorkerRecord(pid=2**22 + 1, instance="i", version="0", host="127.0.0.1", port=7, started_at=0.0, socket="/absent")
    write_record(places.state_dir(), dead)
    options[1] = str(record.port)
    _, found = _report(*options)
    assert f"process {process.pid}" in found["port"][0]["what"] and _states(found, "port") == ["ok"]
    assert _states(found, "worker") == ["ok"]
    assert "port 7" in found["stale-record"][0]["what"] and "worker-7.json" in found["stale-record"][0]["todo"]
    assert (places.state_dir() / "worker-7.json").exists()


def test_a_worker_of_another_version_is_to_be_started_anew(cli: Any, options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _, record = cli.serve("--port", "0")
    options[1] = str(record.port)
    monkeypatch.setattr("caveman_tui.cli._health.__version__", "99.0")
    _, found = _report(*options)
    assert _states(found, "worker") == ["warning"]
    assert "99.0" in found["worker"][0]["what"] and f"stop --port {record.port}" in found["worker"][0]["todo"]


def test_a_worker_without_its_control_socket_is_not_taken_for_dead(cli: Any, options: list[str]) -> None:
    process, record = cli.serve("--port", "0")
    Path(record.socket).unlink()
    _, found = _report(*options)
    assert _states(found, "worker") == ["failure"] and f"kill {process.pid}" in found["worker"][0]["todo"]
    assert "stale-record" not in found


def test_what_a_crash_left_is_named(options: list[str]) -> None:
    dead = WorkerRecord(pid=2**22 + 1, instance="i", version="0", host="127.0.0.1", port=7, started_at=0.0, socket="/absent")
    write_record(places.state_dir(), dead)
    (places.state_dir() / "worker-7.log").write_text("Traceback")
    (places.state_dir() / "pins-7.json").write_text("torn")
    _, found = _report(*options)
    assert str(places.state_dir() / "worker-7.log") in found["stale-record"][0]["what"]
    assert "pins-7.json" in found["pins"][0]["what"]


def test_a_store_that_works_is_measured_and_one_that_does_not_is_a_failure(options: list[str]) -> None:
    with open_store() as store:
        path = store.path
    _, found = _report(*options)
    assert str(path) in found["store"][0]["what"] and "holds 0 originals, 0 B of 537 MB." in found["store"][0]["what"]
    for name in (f"{path}-wal", f"{path}-shm"):
        Path(name).unlink(missing_ok=True)
    path.write_bytes(b"no database" * 200)
    ended, found = _report(*options)
    assert ended.exit_code == 1 and _states(found, "store") == ["failure"]
    assert path.read_bytes() == b"no database" * 200


def test_nothing_is_made_by_looking(options: list[str]) -> None:
    _report(*options)
    assert not default_path().exists()


def test_a_base_url_that_points_at_a_dead_port_is_a_failure(
    options: list[str], free_port: int, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{free_port}")
    ended, found = _report(*options)
    assert ended.exit_code == 1 and _states(found, "environment") == ["failure"]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    ended, found = _report(*options)
    assert ended.exit_code == 0 and "ENABLE_TOOL_SEARCH" in found["environment"][0]["what"]
    monkeypatch.setenv("ENABLE_TOOL_SEARCH", "true")
    assert "environment" not in _report(*options)[1]


def test_clients_and_what_stands_in_their_way(options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _, found = _report(*options)
    assert _states(found, "client-claude") == _states(found, "client-codex") == ["note"]
    for name in ("claude", "codex"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    settings = Path(os.environ["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}')
    _, found = _report(*options)
    assert _states(found, "client-codex") == ["ok"]
    assert _states(found, "client-claude") == ["warning"] and str(settings) in found["client-claude"][0]["what"]


def test_a_proxy_that_would_catch_requests_to_the_worker_is_named() -> None:
    (finding,) = _health.network({"HTTP_PROXY": "http://user:s3cret@proxy.example"})
    assert finding.state == "warning" and "s3cret" not in finding.what + finding.todo
    assert list(_health.network({"http_proxy": "http://proxy.example", "no_proxy": "localhost,127.0.0.1"})) == []
    assert list(_health.network({"HTTP_PROXY": "http://proxy.example", "NO_PROXY": "*"})) == []


def test_directories_that_others_can_look_into_or_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_TUI_STATE", str(tmp_path / "file" / "state"))
    (tmp_path / "file").write_text("")
    states = {finding.check: finding.state for finding in _health.directories()}
    assert states == {"state-directory": "failure", "runtime-directory": "ok"}
