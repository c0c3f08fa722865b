"""What all export formats have in common, and redaction."""

import json
import threading
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.protocol.control import REDACTED
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import FormatName, material
from caveman_tui.traffic.exports.json_lines import ExportedExchange
from caveman_tui.traffic.exports.redaction import without_secrets
from tests.traffic.exported import ALL, EDITED, KEY, REFUSED, REQUEST, SENT, Remembers, document

KEYS = [
    KEY,
    "sk-" + "a1B2" * 12,
    "sk-proj-" + "Ab3_-" * 10,
    "ghp_" + "a1" * 18,
    "github_pat_" + "a1_" * 20,
    "glpat-" + "a1" * 10,
    "xoxb-" + "1234567890-abcdefghij",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "a1" * 17 + "b",
    "hf_" + "aB" * 17,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop",
]
NO_KEYS = [
    "task-management-server-2-with-a-long-name",
    "sk-learn-and-other-words-joined-by-dashes",
    "sk-short1",
    "a bearer of good news from 1999, and more",
    "AKIAiosfodnn7example1",
    "eyJhbGciOiJIUzI1NiJ9",
    "AAsk-ant-api03-inside-of-base64-0123456789",
    "-----BEGIN CERTIFICATE-----MIIB" + "A" * 60 + "-----END CERTIFICATE-----",
]


@pytest.mark.parametrize("key", KEYS)
def test_what_looks_like_a_key_is_replaced_and_json_stays_json(key: str) -> None:
    data = json.dumps({"a": f"x={key}", "b": [key], "c": f'"{key}"\n{key}'}).encode()
    clean, replaced = without_secrets(data)
    assert json.loads(clean) == {"a": f"x={REDACTED}", "b": [REDACTED], "c": f'"{REDACTED}"\n{REDACTED}'}
    assert replaced == 4


@pytest.mark.parametrize("text", NO_KEYS)
def test_other_text_stays(text: str) -> None:
    assert without_secrets(text.encode()) == (text.encode(), 0)


def test_bearer_tokens_and_private_keys_lose_their_middle() -> None:
    assert without_secrets(b"Authorization: Bearer abcdef0123456789xyz.-_") == (b"Authorization: Bearer [redacted]", 1)
    pem = json.dumps("-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow\n" * 20 + "-----END RSA PRIVATE KEY-----").encode()
    assert without_secrets(pem) == (b'"-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----"', 1)


@given(st.binary(max_size=200), st.sampled_from(KEYS))
def test_nothing_is_replaced_twice(around: bytes, key: str) -> None:
    clean, _ = without_secrets(around + b" " + key.encode() + b" " + around)
    assert key.encode() not in clean
    assert without_secrets(clean) == (clean, 0)


@pytest.mark.parametrize("name", FormatName)
@pytest.mark.parametrize("bodies", [True, False])
async def test_no_format_lets_a_key_out(name: FormatName, bodies: bool) -> None:
    told = msgspec.structs.replace(EDITED, note=f"note {KEY}", model=f"m-{KEY}", path=f"/{KEY}", conversation=KEY, client=KEY)
    source = Remembers()
    source.urls["a-1"] = f"https://api.example/{KEY}"
    source.gone = {"a-2"}
    for exchanges in ((told, REFUSED), (told,), (msgspec.structs.replace(REFUSED, note=KEY),)):
        data, export = await document(name, exchanges, source, with_bodies=bodies)
        assert KEY.encode() not in data and KEY[:20].encode() not in data
        assert all(KEY not in remark for remark in export.remarks)


async def test_json_lines_hold_record_usage_edits_and_bodies() -> None:
    data, export = await document(FormatName.JSONL, with_bodies=True)
    lines = [msgspec.json.decode(line, type=ExportedExchange) for line in data.splitlines()]
    assert [line.exchange.id for line in lines] == ["a-1", "a-2", "a-3", "a-4"]
    first, second, third, _ = lines
    assert first.exchange == EDITED
    clean = REQUEST.replace(KEY.encode(), REDACTED.encode()).decode()
    assert [(body.which, body.text) for body in first.bodies[:2]] == [
        ("request-before", clean),
        ("request-after", SENT.replace(KEY.encode(), REDACTED.encode()).decode()),
    ]
    assert (first.bodies[2].which, first.bodies[2].text) == ("response", '{"content":[{"type":"text","text":"漢"}]}')
    assert second.bodies[0].base64 == "/wByYXc=" and second.bodies[0].text is None
    assert third.exchange.usage is None and third.bodies == ()
    assert export.entries == 4
    # Three in bodies and headers of the first, headers of the others.
    assert export.remarks == ["Of 2 exchanges not all bodies were in memory.", "6 texts that looked like a key became [redacted]."]


async def test_json_lines_without_bodies_fetch_none() -> None:
    source = Remembers()

    async def body(exchange_id: str, which: str) -> bytes:
        raise AssertionError("nobody asked for it")

    source.body = body  # type: ignore[method-assign]
    data, _ = await document(FormatName.JSONL, source=source)
    lines: list[Any] = [json.loads(line) for line in data.splitlines()]
    assert [line["bodies"] for line in lines] == [[], [], [], []]
    assert lines[2]["exchange"]["usage"] is None and lines[2]["exchange"]["duration_ms"] is None


async def test_what_the_worker_forgot_since_keeps_its_record() -> None:
    source = Remembers()
    source.gone = {exchange.id for exchange in ALL}
    data, _ = await document(FormatName.JSONL, source=source)
    lines = [msgspec.json.decode(line, type=ExportedExchange) for line in data.splitlines()]
    assert [line.exchange for line in lines] == list(ALL)
    assert not lines[0].request_headers


@pytest.mark.parametrize("name", FormatName)
async def test_what_takes_long_is_done_in_threads(name: FormatName, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, threads = threading.get_ident(), set()

    def noting(data: bytes) -> tuple[bytes, int]:
        if len(data) >= len(REQUEST):
            threads.add(threading.get_ident())
        return without_secrets(data)

    source = Remembers()
    monkeypatch.setattr(material, "without_secrets", noting)
    monkeypatch.setattr(material, "_without_secrets", lambda record: (record, 0))
    await document(name, [EDITED], source, with_bodies=True)
    assert threads and loop not in threads


@given(st.lists(st.sampled_from(ALL), max_size=6))
def test_a_line_is_an_exchange(exchanges: list[Exchange]) -> None:
    import asyncio

    data, _ = asyncio.run(document(FormatName.JSONL, exchanges))
    assert [json.loads(line)["exchange"]["id"] for line in data.splitlines()] == [exchange.id for exchange in exchanges]
