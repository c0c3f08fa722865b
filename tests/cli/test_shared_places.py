"""Several of our processes at once: screens on one worker, workers and commands on one store."""

import json
import socket
import threading
import urllib.request
from typing import Any

import pytest
from click.testing import CliRunner

from caveman_tui.ccr import open_store
from caveman_tui.cli import main, session
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.proxy.control_socket import has_unix_sockets


def _catalog(name: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": "Reads.", "input_schema": {"type": "object", "title": f"{name} arguments", "properties": {}}}]


def _post(record: WorkerRecord, name: str) -> None:
    body = json.dumps({"model": "m", "tools": _catalog(name), "messages": [{"role": "user", "content": name}]}).encode()
    request = urllib.request.Request(f"{record.url}/v1/messages", body, {"content-type": "application/json", "session-id": name})
    with urllib.request.urlopen(request) as response:
        assert response.status == 200


@pytest.mark.skipif(not has_unix_sockets(), reason="this system has no Unix sockets")
def test_a_second_screen_hears_of_the_first(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, record = cli.serve("--port", "0")
    outputs: list[str] = []

    def second(*_: object, **__: object) -> int:
        return 0

    def first(*_: object, **__: object) -> int:
        with socket.socket(socket.AF_UNIX) as follower:
            follower.connect(record.socket)
            follower.sendall(b"GET /v1/events HTTP/1.1\r\nHost: w\r\n\r\n")
            assert follower.recv(12) == b"HTTP/1.1 200"
            monkeypatch.setattr(session, "open_screen", second)
            outputs.append(CliRunner().invoke(main, ["attach", "--port", str(record.port)]).output)
            outputs.append(CliRunner().invoke(main, ["run", "--port", str(record.port)]).output)
        return 0

    monkeypatch.setattr(session, "require_terminal", lambda: None)
    monkeypatch.setattr(session, "open_screen", first)
    alone = CliRunner().invoke(main, ["attach", "--port", str(record.port)])
    assert alone.exit_code == 0 and "other screen" not in alone.output
    assert len(outputs) == 2
    for output in outputs:
        assert "1 other screen shows it too" in output


def test_two_workers_and_a_command_write_one_store_and_nothing_is_lost(cli: Any, provider: Any, wait_for: Any) -> None:
    options = ("--port", "0", "--upstream-anthropic", provider.url, "--shrink", "apply")
    workers = [cli.serve(*options)[1] for _ in range(2)]
    sent = [threading.Thread(target=_post, args=(worker, f"w{number}-{n}")) for number, worker in enumerate(workers) for n in range(8)]
    for thread in sent:
        thread.start()
    for number in range(3):
        file = cli.directory / f"catalog-{number}.json"
        file.write_text(json.dumps(_catalog(f"command-{number}")))
        assert cli.run("shrink", str(file)).returncode == 0
    for thread in sent:
        thread.join()
    assert len(provider.paths) == 16
    with open_store(create=False) as store:
        wait_for(lambda: store.stats().originals == 19, "all originals")
        originals = {store.get(row.handle).original for row in store.list()}
        assert store.check().sound
    names = {json.loads(original)[0]["name"] for original in originals}
    assert names == {f"w{number}-{n}" for number in range(2) for n in range(8)} | {f"command-{number}" for number in range(3)}
