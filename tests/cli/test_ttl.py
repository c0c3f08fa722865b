import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caveman_tui.cli import main
from tests.core.requests import HEADLESS_AGENT, INTERACTIVE_AGENT, encode, loop, text

BODY = encode({"messages": loop(text("é"))})


def ttl(*arguments: str, data: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["ttl", *arguments], input=data)


def test_the_request_on_stdout_and_the_report_on_stderr() -> None:
    done = ttl("--user-agent", INTERACTIVE_AGENT, data=BODY)
    assert done.exit_code == 0
    assert b'"ttl": "5m"}}]}]}' in done.stdout_bytes and done.stderr.count("\n") == 1
    report = json.loads(done.stderr)
    assert (report["headless"], report["shortened"], report["sign"]) == (False, 1, "external, cli")
    assert [(edit["pointer"], edit["kind"], edit["reason"]) for edit in report["edits"]] == [
        ("/messages/0/content/0/cache_control", "marker", "prompt-anchored"),
        ("/messages/2/content/0/cache_control/ttl", "ttl", "loop-shortened"),
    ]
    assert {"code", "text", "pointer"} == set(report["reasons"][0])
    for edit in report["edits"]:
        assert BODY[edit["start"] : edit["end"]].decode() == edit["before"]


@pytest.mark.parametrize(
    ("arguments", "headless", "shortened"),
    [
        (("--user-agent", HEADLESS_AGENT), True, 1),
        (("--headless", "yes"), True, 1),
        (("--headless", "no", "--user-agent", HEADLESS_AGENT), False, 1),
        ((), False, 1),
    ],
)
def test_headless_by_user_agent_or_by_word(arguments: tuple[str, ...], headless: bool, shortened: int) -> None:
    done = ttl(*arguments, "-", data=BODY)
    report = json.loads(done.stderr)
    assert (report["headless"], report["shortened"]) == (headless, shortened)
    assert (b"cache_control" in done.stdout_bytes.split(b"tool_use")[0]) is not headless


def test_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_bytes(BODY)
    assert ttl(str(tmp_path / "request.json")).stdout_bytes == ttl(data=BODY).stdout_bytes != BODY


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":"\xff"}', b"\xef\xbb\xbf{}", b"[" * 100_000, b"\x00\x01"])
def test_malformed_input_passes_with_a_note(data: bytes) -> None:
    done = ttl(data=data)
    assert (done.exit_code, done.stdout_bytes) == (0, data)
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("caveman-tui ttl: ")


def test_a_document_that_is_no_request_passes_with_a_report() -> None:
    done = ttl(data=b' ["1h"]\n')
    assert (done.exit_code, done.stdout_bytes) == (0, b' ["1h"]\n')
    assert json.loads(done.stderr)["shortened"] == 0


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    done = ttl(str(tmp_path / "absent.json"))
    assert (done.exit_code, done.stdout_bytes) == (2, b"")
    assert "absent.json" in done.stderr and "No such file" in done.stderr


def test_standard_input_is_capped() -> None:
    done = ttl(data=b" " * (32 * 1024 * 1024 + 1))
    assert (done.exit_code, done.stdout_bytes) == (1, b"")
    assert "cave_input_too_large" in done.stderr
    assert ttl(data=BODY.ljust(32 * 1024 * 1024)).exit_code == 0
