"""`export` on a real worker in front of the demo's provider."""

import contextlib
import json
import shutil
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from caveman_tui import places
from caveman_tui.protocol.discovery import WorkerRecord
from tests.cli.conftest import Cli, commands, wait_for
from tests.traffic.har_schema import validate

KEY = "sk-ant-api03-" + "Ab3_" * 20
SESSION = "7d9e-session"
TOOLS = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}}]


@contextlib.contextmanager
def provider() -> Iterator[str]:
    command = [sys.executable, "-m", "caveman_tui.demo.provider", "--script", "hello"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    process.communicate()


@dataclass
class Worker:
    cli: Any
    record: WorkerRecord

    def post(self, text: str, *, stream: bool = False, session: str = SESSION, ttl: str = "") -> None:
        block: dict[str, Any] = {"type": "text", "text": text}
        if ttl:
            block["cache_control"] = {"type": "ephemeral", "ttl": ttl}
        body = {"model": "claude-sonnet-4-5", "max_tokens": 10, "stream": stream, "tools": TOOLS}
        body["messages"] = [{"role": "user", "content": [block]}]
        headers = {"content-type": "application/json", "x-api-key": KEY, "anthropic-version": "2023-06-01"}
        headers |= {"user-agent": "claude-cli/2.1.197 (external, cli)", "x-claude-code-session-id": session}
        request = urllib.request.Request(f"{self.record.url}/v1/messages", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            response.read()

    def export(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        ended: subprocess.CompletedProcess[str] = self.cli.run("export", *arguments)
        return ended

    def lines(self, *arguments: str) -> list[Any]:
        ended = self.export("-o", "-", "--format", "jsonl", *arguments)
        assert ended.returncode == 0, ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]


def serve_three(cli: Any, provider_url: str) -> Worker:
    """A worker with three exchanges that have ended."""
    _, record = cli.serve("--port", "0", "--upstream-anthropic", provider_url)
    made = Worker(cli, record)
    made.post("the first question, about quokkas")
    made.post(f"never paste {KEY} anywhere", stream=True)
    made.post("the third question", session="0a1b-other")
    # The response is complete for its client a moment before its exchange has ended.
    wait_for(lambda: all(line["exchange"]["duration_ms"] is not None for line in made.lines()), "the end of all exchanges")
    return made


@dataclass(frozen=True)
class Shared:
    """What many tests only look at."""

    record: WorkerRecord
    provider_url: str
    home: Path


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    home = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch, provider() as url:
        patch.setenv("CAVEMAN_HOME", str(home / "caveman"))
        for name in ("STATE", "DATA", "RUNTIME"):
            patch.setenv(f"CAVEMAN_TUI_{name}", str(home / name))
        with commands(home) as cli:
            yield Shared(serve_three(cli, url).record, url, home)


@pytest.fixture
def worker(shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """The shared one, in a home in which nothing was exported yet; it must get no more exchanges."""
    for name in ("STATE", "RUNTIME"):
        monkeypatch.setenv(f"CAVEMAN_TUI_{name}", str(shared.home / name))
    return Worker(Cli(tmp_path), shared.record)


@pytest.fixture
def own_worker(cli: Any) -> Iterator[Worker]:
    """Another one for a test that changes it, or that starts more."""
    with provider() as url:
        yield serve_three(cli, url)


def test_without_options_all_goes_to_a_new_private_file_of_the_data_folder(worker: Worker) -> None:
    paths = []
    for _ in range(2):
        ended = worker.export()
        assert ended.returncode == 0, ended.stderr
        paths.append(Path(ended.stdout.strip()))
    assert paths[0] != paths[1]
    for path in paths:
        assert path.parent == places.exports_dir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        assert [line["exchange"]["state"] for line in lines] == ["done"] * 3
        assert all(line["exchange"]["usage"]["input_tokens"] is not None for line in lines)


def test_conditions_narrow_down_together(worker: Worker) -> None:
    first, second, third = (line["exchange"]["id"] for line in worker.lines())

    def ids(*arguments: str) -> list[str]:
        return [line["exchange"]["id"] for line in worker.lines(*arguments)]

    assert ids(third, first) == [first, third]
    assert ids("--conversation", SESSION) == ids("--conversation", "7d9e") == [first, second]
    assert ids("--filter", "conv:0a1b") == [third]
    assert ids("--filter", 'body:"about quokkas"') == [first]
    assert ids("--filter", "-body:quokkas model:sonnet") == [second, third]
    assert ids("--filter", 'body:"Hello from the stand-in"') == [first, second, third]
    assert ids("--filter", "body:question", "--conversation", "7d9e", first, second) == [first]


def test_no_credential_leaves_in_any_format(worker: Worker) -> None:
    for name in ("jsonl", "har", "markdown", "curl"):
        ended = worker.export("--format", name, "--with-bodies", "-o", "-")
        assert ended.returncode == 0, ended.stderr
        assert "never paste [redacted] anywhere" in ended.stdout.replace("\\[redacted\\]", "[redacted]")
        assert KEY not in ended.stdout + ended.stderr
        assert "looked like a key" in ended.stderr


def test_an_archive_is_valid(worker: Worker, tmp_path: Path) -> None:
    ended = worker.export("-o", "session.har", "--with-bodies")
    assert (ended.returncode, ended.stdout) == (0, "session.har\n"), ended.stderr
    archive = json.loads((tmp_path / "session.har").read_bytes())
    validate(archive)
    assert len(archive["log"]["entries"]) == 3
    streamed = archive["log"]["entries"][1]["response"]["content"]
    assert streamed["mimeType"].startswith("text/event-stream") and "message_stop" in streamed["text"]


def test_a_report_tells_of_each_conversation(worker: Worker) -> None:
    text = worker.export("--format", "markdown", "-o", "-").stdout
    assert "3 exchanges in 2 conversations" in text
    assert "| 7d9e-session | claude-cli/2.1.197 | claude-sonnet-4-5 | 2 |" in text


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here to run the command with")
def test_a_curl_command_runs(worker: Worker, shared: Shared) -> None:
    (exchange,) = worker.lines("--filter", "body:quokkas")
    ended = worker.export("--format", "curl", exchange["exchange"]["id"], "-o", "-")
    assert f"{shared.provider_url}/v1/messages" in ended.stdout
    assert "set ANTHROPIC_API_KEY" in ended.stderr
    answer = subprocess.run(["sh"], input=f"ANTHROPIC_API_KEY=any\n{ended.stdout}", capture_output=True, text=True, timeout=60, check=False)
    assert json.loads(answer.stdout)["content"][0]["text"] == "Hello from the stand-in.", answer.stderr


def test_nothing_that_exists_is_overwritten(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "kept.md").write_text("mine")
    (tmp_path / "link.md").symlink_to(tmp_path / "elsewhere.md")
    for name in ("kept.md", "link.md"):
        ended = worker.export("-o", name)
        assert ended.returncode == 1 and "exists and was not touched" in ended.stderr
    assert (tmp_path / "kept.md").read_text() == "mine" and not (tmp_path / "elsewhere.md").exists()
    ended = worker.export("-o", "no/such/folder.md")
    assert ended.returncode == 1 and "cannot be written" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nobody-1"], 1, "no exchange nobody-1"),
        (["--conversation", "ffff"], 1, "of a conversation 'ffff'"),
        (["--conversation", ""], 0, ""),
        (["--filter", "status:5xx"], 1, "These conditions leave nothing: status is 5xx."),
        (["--filter", "body:wombat"], 1, "a body in memory contains wombat"),
        (["--filter", "modle:x"], 2, "Did you mean model:?"),
        (["--format", "pdf"], 2, "'pdf' is not one of"),
        (["--socket", "nowhere.sock"], 1, "There is no socket nowhere.sock"),
        (["--socket", "nowhere.sock", "--port", "1"], 2, "not both"),
    ],
)
def test_errors_say_what_to_do_and_write_nothing(worker: Worker, arguments: list[str], code: int, says: str) -> None:
    ended = worker.export(*arguments)
    assert ended.returncode == code and says in ended.stderr, ended.stderr
    assert code == 0 or not list(places.exports_dir().iterdir())


def test_a_beginning_that_several_conversations_share_is_refused(own_worker: Worker) -> None:
    own_worker.post("a fourth", session="7d9e-twin")
    ended = own_worker.export("--conversation", "7d9e")
    assert ended.returncode == 1
    assert "Several conversations begin with '7d9e': 7d9e-session, 7d9e-twin." in ended.stderr
    assert [line["exchange"]["conversation"] for line in own_worker.lines("--conversation", "7d9e-twin")] == ["7d9e-twin"]


def test_the_worker_is_found_by_socket_or_port_and_several_are_told_apart(cli: Any, own_worker: Worker) -> None:
    assert len(own_worker.lines("--socket", own_worker.record.socket)) == 3
    _, other = cli.serve("--port", "0")
    ended = own_worker.export()
    assert ended.returncode == 1 and "Several workers run" in ended.stderr and str(other.port) in ended.stderr
    assert len(own_worker.lines("--port", str(own_worker.record.port))) == 3
    empty = own_worker.export("--port", str(other.port))
    assert empty.returncode == 1 and "Nothing to export of 0 exchanges" in empty.stderr


def test_without_a_worker_it_says_how_to_start_one(cli: Any) -> None:
    ended = cli.run("export")
    assert ended.returncode == 1 and "No worker runs" in ended.stderr
