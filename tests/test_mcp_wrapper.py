"""`caveman-tui mcp`: a real server process behind the wrapper."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from caveman_tui.catalogs import recover
from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.mcp_wrapper import ToolsListShrinker

TOOL = {
    "name": "find_notes",
    "description": "Finds notes.",
    "inputSchema": {
        "type": "object",
        "title": "FindNotesArguments",
        "properties": {"q": {"type": "string", "title": "Q"}},
        "required": ["q"],
    },
}
TOOLS = json.dumps([TOOL], indent=1).replace("\n", " ").encode()

SERVER = """
import json, os, signal, sys
TOOLS = {tools!r}
for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        sys.stdout.buffer.write(b"not json: " + line); sys.stdout.buffer.flush(); continue
    if isinstance(message, list):
        ids = [json.dumps(m["id"]).encode() for m in message if "id" in m]
        answers = [b'{{"jsonrpc":"2.0","id":%s,"result":{{"tools":%s}}}}' % (i, TOOLS) for i in ids]
        out = b"[" + b" , ".join(answers) + b"]"
    elif message.get("method") == "tools/list":
        out = b'{{ "jsonrpc":"2.0","id":%s,"result":{{"tools":%s,"nextCursor":"n"}}}}' % (json.dumps(message["id"]).encode(), TOOLS)
    elif message.get("method") == "exit":
        sys.exit(message["params"])
    elif message.get("method") == "die":
        os.kill(os.getpid(), signal.SIGTERM)
    elif message.get("method") == "echo-tools":
        out = b'{{"jsonrpc":"2.0","id":%s,"result":{{"tools":%s}}}}' % (json.dumps(message["id"]).encode(), TOOLS)
    else:
        out = line.rstrip(b"\\n")
    sys.stdout.buffer.write(out + b"\\n")
    sys.stdout.buffer.flush()
sys.stdout.buffer.write(b"no newline at the end")
sys.exit(7)
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(tools=TOOLS))
    return [sys.executable, "-m", "caveman_tui", "mcp", "--store", str(tmp_path / "ccr.db"), "--", sys.executable, str(script)]


def talk(command: list[str], *messages: bytes) -> tuple[list[bytes], bytes, int]:
    run = subprocess.run(command, input=b"".join(message + b"\n" for message in messages), capture_output=True, timeout=60, check=False)
    return run.stdout.split(b"\n"), run.stderr, run.returncode


def request(method: str, identifier: Any = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method}).encode()


def test_an_answer_is_shrunk_and_its_original_recovers(server: list[str], tmp_path: Path) -> None:
    (answer, last), told, code = talk(server, request("tools/list", "a"))
    start, end = b'{ "jsonrpc":"2.0","id":"a","result":{"tools":', b',"nextCursor":"n"}}'
    assert answer.startswith(start) and answer.endswith(end)
    shrunk = answer[len(start) : -len(end)]
    assert shrunk == shrink_catalog(TOOLS).after != TOOLS
    assert selection_profile(shrunk) == selection_profile(TOOLS)
    handle = told.split(b"original: ")[1].split()[0].decode()
    assert recover(handle, store=tmp_path / "ccr.db") == TOOLS
    assert last == b"no newline at the end"
    assert code == 7


def test_everything_else_passes_byte_for_byte(server: list[str]) -> None:
    lines = [
        b'{"jsonrpc": "2.0",  "method":"notifications/x", "params": {"a": 1.0, "b": "\\u0041<&>"}}',
        b'{"jsonrpc":"2.0","id":3,"method":"resources/list"}',
        b'{"jsonrpc":"2.0","id":9,"result":{"tools":[]}}',
    ]
    out, told, _ = talk(server, *lines, b"this is \xff no JSON")
    assert out[:3] == lines
    assert out[3] == b"not json: this is \xff no JSON"
    assert told == b""


def test_tools_in_answers_to_other_requests_are_not_touched(server: list[str]) -> None:
    out, _, _ = talk(server, request("echo-tools", 5))
    assert out[0] == b'{"jsonrpc":"2.0","id":5,"result":{"tools":%b}}' % TOOLS


def test_a_batch_is_shrunk_item_by_item(server: list[str]) -> None:
    batch = b"[" + request("tools/list", 1) + b"," + request("tools/list", 2) + b',{"jsonrpc":"2.0","method":"n"}]'
    out, _, _ = talk(server, batch)
    answers = json.loads(out[0])
    assert [answer["id"] for answer in answers] == [1, 2]
    assert b" , " in out[0]
    assert all(answer["result"]["tools"] == json.loads(shrink_catalog(TOOLS).after) for answer in answers)


def test_without_a_store_the_answer_passes(server: list[str], tmp_path: Path) -> None:
    (tmp_path / "ccr.db").mkdir()
    out, told, code = talk(server, request("tools/list"))
    assert TOOLS in out[0]
    assert b"passed on as they came" in told
    assert code == 7


def test_the_servers_exit_code_is_ours(server: list[str]) -> None:
    _, _, code = talk(server, b'{"method":"exit","params":42}')
    assert code == 42


def test_the_signal_that_ends_the_server_ends_us(server: list[str]) -> None:
    _, _, code = talk(server, b'{"method":"die"}')
    assert code == -signal.SIGTERM


def test_a_signal_to_us_reaches_the_server(server: list[str]) -> None:
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(request("ping") + b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == request("ping") + b"\n"  # the server is up
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM


def test_a_command_that_cannot_start_is_named() -> None:
    command = [sys.executable, "-m", "caveman_tui", "mcp", "--", "no-such-server-anywhere"]
    run = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert run.returncode == 2
    assert b"no-such-server-anywhere" in run.stderr


def test_an_id_is_answered_once_and_types_of_ids_differ(tmp_path: Path) -> None:
    shrinker = ToolsListShrinker(level=Level.STANDARD, exclude=(), store=tmp_path / "ccr.db", tell=lambda _: None)
    shrinker.note_requests(request("tools/list", 1))
    as_text = b'{"id":"1","result":{"tools":%b}}' % TOOLS
    as_number = b'{"id":1,"result":{"tools":%b}}' % TOOLS
    assert shrinker.rewrite_answers(as_text) == as_text
    assert shrinker.rewrite_answers(as_number) != as_number
    assert shrinker.rewrite_answers(as_number) == as_number


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1,"result":{"tools":[{"name":1}]',
        b'{"id":1,"result":{"tools":[],"tools":[]}}',
        b'{"id":1,"result":null}',
        b'[1,{"id":1,"result":[]}]',
    ],
)
def test_what_cannot_be_read_passes(tmp_path: Path, line: bytes) -> None:
    shrinker = ToolsListShrinker(level=Level.STANDARD, exclude=(), store=tmp_path / "ccr.db", tell=lambda _: None)
    shrinker.note_requests(request("tools/list", 1))
    assert shrinker.rewrite_answers(line) == line


def test_an_excluded_tool_stays(tmp_path: Path) -> None:
    shrinker = ToolsListShrinker(level=Level.STANDARD, exclude=("find_notes",), store=tmp_path / "ccr.db", tell=lambda _: None)
    shrinker.note_requests(request("tools/list", 1))
    line = b'{"id":1,"result":{"tools":%b}}' % TOOLS
    assert shrinker.rewrite_answers(line) == line
