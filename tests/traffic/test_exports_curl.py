"""curl commands, run by a shell against a server that records what comes."""

import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import pytest

from caveman_tui.protocol.control import REDACTED
from caveman_tui.traffic.exports import FormatName
from caveman_tui.traffic.exports.redaction import without_secrets
from tests.traffic.exported import ALL, EDITED, PROBE, REFUSED, REQUEST, SENT, Remembers, document

CLEAN = without_secrets(REQUEST)[0]


@dataclass
class Got:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    url: str
    got: list[Got] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _record(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            known.got.append(Got(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        do_GET = do_POST = do_HEAD = do_PUT = _record

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known = Server(f"http://127.0.0.1:{listening.server_address[1]}")
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield known
    listening.shutdown()
    listening.server_close()
    thread.join()


def paste(command: bytes, **variables: str) -> None:
    """As a person would run it."""
    for program in ("sh", "curl"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} here to run the command with")
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | variables
    ended = subprocess.run(["sh"], input=command, env=environment, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr


def source_at(server: Server, body: bytes) -> Remembers:
    source = Remembers()
    source.urls = {"a-1": f"{server.url}/v1/messages?beta=true&x=it's", "a-4": f"{server.url}/"}
    source.bodies[("a-1", "request-before")] = body
    return source


async def test_a_command_reads_as_a_person_would_write_it() -> None:
    data, export = await document(FormatName.CURL, (EDITED,))
    lines = data.decode().split("\n")
    assert lines[:5] == [
        "curl --no-buffer --compressed 'https://api.example/v1/messages?beta=true' \\",
        "  -H 'Content-Type: application/json' \\",
        '  -H "X-Api-Key: $ANTHROPIC_API_KEY" \\',
        "  -H 'anthropic-version: 2023-06-01' \\",
        '  -H "X-Odd: token $X_ODD" \\',
    ]
    assert lines[5].startswith("  --data-raw '{")
    assert "Before you run it, set ANTHROPIC_API_KEY and X_ODD." in export.remarks


BODIES = [
    CLEAN,
    b"@file and 'quotes' \"double\" $(id) `id` \\n \\\\ !! %s \n\n",
    b'{"long":"' + b"it's $HOME `id` \\n\n" * 500 + b'"}',
    b"x" * 3000 + b"\nCAVEMAN_BODY\n" + b"\n\n",
    b"\x00\xff" * 2000,
    b"\r\n" * 1500,
    "漢字 é 🎉\u2028".encode() * 400,
    b"y" * 300_000,
]


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
async def test_what_is_pasted_sends_exactly_the_same_bytes(server: Server, body: bytes) -> None:
    data, _ = await document(FormatName.CURL, (EDITED,), source_at(server, body))
    paste(data, ANTHROPIC_API_KEY="k with $blanks'", X_ODD="odd")
    (got,) = server.got
    assert got.body == body
    assert (got.method, got.path) == ("POST", "/v1/messages?beta=true&x=it's")
    assert got.headers["x-api-key"] == "k with $blanks'"
    assert got.headers["x-odd"] == "token odd"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["content-length"] == str(len(body))


async def test_headers_cannot_run_anything(server: Server, tmp_path: object) -> None:
    source = source_at(server, b"{}")
    evil = f"$(touch {tmp_path}/made) `touch {tmp_path}/made` \"'!"
    source.headers = (("X-Value", evil), ("x-`touch$HOME`-token", REDACTED), ("Cookie", REDACTED), ("Authorization", REDACTED))
    data, _ = await document(FormatName.CURL, (EDITED,), source)
    paste(data, COOKIE="c=1", ANTHROPIC_AUTH_TOKEN="t", X_TOUCH_HOME_TOKEN="odd")
    (got,) = server.got
    assert got.headers["x-value"] == evil
    assert got.headers["x-`touch$home`-token"] == "odd"
    assert (got.headers["cookie"], got.headers["authorization"]) == ("c=1", "Bearer t")
    assert "content-type" not in got.headers
    assert not os.listdir(str(tmp_path))  # noqa: PTH208


async def test_a_credential_of_the_query_is_a_variable(server: Server) -> None:
    source = source_at(server, b"{}")
    source.urls["a-1"] = f"{server.url}/v1/x?key={REDACTED}&alt=[1]{{2}}"
    source.headers = ()
    data, _ = await document(FormatName.CURL, (EDITED,), source)
    paste(data, KEY="s3cret")
    assert server.got[0].path == "/v1/x?key=s3cret&alt=[1]{2}"


async def test_other_methods(server: Server) -> None:
    source = source_at(server, b"{}")
    put = msgspec.structs.replace(EDITED, method="PUT")
    data, _ = await document(FormatName.CURL, (PROBE, put, msgspec.structs.replace(PROBE, method="GET")), source)
    paste(data, ANTHROPIC_API_KEY="k", X_ODD="o")
    assert [(got.method, got.body) for got in server.got] == [("HEAD", b""), ("PUT", b"{}"), ("GET", b"")]


async def test_as_forwarded_or_as_the_client_sent_it() -> None:
    before, _ = await document(FormatName.CURL, (EDITED,))
    after, _ = await document(FormatName.CURL, (EDITED,), forwarded=True)
    assert b'"messages"' in before and b'"messages"' not in after
    assert "mässages" in after.decode() and "mässages" in SENT.decode()
    unedited = msgspec.structs.replace(EDITED, marker_edits=(), tools=())
    assert (await document(FormatName.CURL, (unedited,), forwarded=True))[0] == before


async def test_what_cannot_be_repeated_is_left_out_with_the_reason() -> None:
    source = Remembers()
    del source.urls["a-4"], source.bodies[("a-1", "request-before")]
    data, export = await document(FormatName.CURL, ALL, source)
    assert data.count(b"curl ") == 1 and data.startswith(b"# a-2, ")
    assert export.entries == 1
    assert export.remarks[0] == "Exchange a-1 is left out: its request is no longer in memory."
    assert export.remarks[1] == "Exchange a-3 is left out: the provider it went to is not configured any more."


async def test_several_commands_are_told_apart() -> None:
    data, _ = await document(FormatName.CURL, (EDITED, REFUSED))
    assert data.startswith(b"# a-1, 2025-06-15 15:06:40 UTC, claude-sonnet-4-5\ncurl ")
    assert b"\n\n# a-2, " in data
