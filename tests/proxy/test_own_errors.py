"""What is answered by the proxy itself, and what of a request never shows."""

import pytest

from caveman_tui.protocol import events
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange

MESSAGES = "/v1/messages"


@pytest.mark.parametrize("path", ["/v1/responses", "/responses", "/backend-api/codex/responses"])
async def test_a_websocket_upgrade_gets_426_and_the_connection_stays_usable_for_nothing_else(bench: Bench, path: str) -> None:
    got = await bench.ask(
        f"GET {path} HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"
    )
    assert (got.status, got.values("x-caveman-error"), got.values("connection")) == (426, ["no-websocket"], ["close"])
    assert b'"error":{"message":' in got.body
    assert bench.provider.seen == []
    assert (await bench.ended()).state == "done"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8788", "127.0.0.1.evil.example", "[::2]", "10.0.0.1", "localhost@evil.example", ""]
)
async def test_another_host_name_is_refused(bench: Bench, host: str) -> None:
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", f"Host: {host}", body=b"{}", host=False)
    got = await client.receive()
    assert (got.status, got.values("x-caveman-error")) == (403, ["foreign-host"])
    assert bench.provider.seen == []
    assert (await bench.ended()).state == "failed"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8788", "127.0.0.2:80"])
async def test_names_of_this_machine_are_taken_with_any_port(bench: Bench, host: str) -> None:
    client = await bench.connect()
    await client.send(f"POST {MESSAGES} HTTP/1.1", f"Host: {host}", body=b"{}", host=False)
    assert (await client.receive()).status == 200
    assert bench.provider.seen[0].values("host") == [f"127.0.0.1:{bench.provider.port}"]


FOREIGN_PAGES = [
    ("Origin: https://evil.example",),
    ("Origin: http://127.0.0.1.evil.example:8788",),
    ("Origin: null",),
    ("Origin: http://[",),
    ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"),
]


@pytest.mark.parametrize("fields", FOREIGN_PAGES)
@pytest.mark.parametrize("method", ["POST", "OPTIONS", "GET"])
async def test_a_page_of_another_machine_gets_nothing_through(bench: Bench, method: str, fields: tuple[str, ...]) -> None:
    body = b"{}" if method == "POST" else None
    got = await bench.ask(f"{method} {MESSAGES} HTTP/1.1", "Content-Type: text/plain", *fields, body=body)
    assert (got.status, got.values("x-caveman-error")) == (403, ["foreign-page"])
    assert not any(name.lower().startswith("access-control-") for name, _ in got.fields)
    assert bench.provider.seen == []


@pytest.mark.parametrize(
    "fields",
    [
        ("Origin: http://localhost:3000", "Sec-Fetch-Site: cross-site"),
        ("Origin: vscode-webview://1a2b", "Sec-Fetch-Site: cross-site"),
        ("Origin: http://[::1]:80",),
        ("Sec-Fetch-Mode: cors",),
    ],
)
async def test_editors_and_pages_of_this_machine_are_clients(bench: Bench, fields: tuple[str, ...]) -> None:
    got = await bench.ask(f"POST {MESSAGES} HTTP/1.1", *fields, body=b"{}")
    assert got.status == 200
    assert bench.provider.seen[0].values("origin") == [value.split(": ", 1)[1] for value in fields if value.startswith("Origin")]


async def test_a_request_that_takes_us_for_a_general_proxy(bench: Bench) -> None:
    got = await bench.ask("GET http://evil.example/v1/models HTTP/1.1")
    assert (got.status, got.values("x-caveman-error")) == (403, ["foreign-host"])
    got = await bench.ask(f"GET http://127.0.0.1:{bench.worker.port}/v1/models?x=1 HTTP/1.1")
    assert got.status == 200
    assert bench.provider.seen[0].line == "GET /v1/models?x=1 HTTP/1.1"
    got = await bench.ask("OPTIONS * HTTP/1.1")
    assert (got.status, got.values("x-caveman-error")) == (400, ["bad-target"])


async def test_a_provider_that_is_not_there(start_bench: StartBench) -> None:
    bench = await start_bench()
    await bench.provider.__aexit__()
    got = await bench.post(MESSAGES, b"{}")
    assert (got.status, got.values("x-caveman-error")) == (502, ["no-connection"])
    assert got.body.startswith(b'{"type":"error","error":{"type":"api_error","message":"caveman-tui: no connection to 127.0.0.1')
    got = await bench.post("/v1/responses", b"{}")
    assert got.body.startswith(b'{"error":{"message":"caveman-tui: ')
    exchange = await bench.ended(2)
    assert exchange.state == "failed"


async def test_a_provider_that_speaks_no_http(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"SSH-2.0-OpenSSH\r\n\r\n")
        exchange.cut()

    bench.provider.answer = answer
    got = await bench.post(MESSAGES, b"{}")
    assert (got.status, got.values("x-caveman-error")) == (502, ["bad-response"])


async def test_secrets_reach_the_provider_and_nothing_else(bench: Bench) -> None:
    secret = "hush-hush-0123456789"

    async def answer(exchange: Exchange) -> None:
        await exchange.reply(b"{}", f"Set-Cookie: s={secret}", f"x-refresh-token: {secret}", "request-id: r1")

    bench.provider.answer = answer
    got = await bench.post(
        f"{MESSAGES}?key={secret}&beta=true",
        b'{"model":"m"}',
        f"Authorization: Bearer {secret}",
        f"X-Api-Key: {secret}",
        f"Cookie: a={secret}",
        f"X-Amz-Security-Token: {secret}",
        f"x-goog-api-key: {secret}",
        "anthropic-beta: open",
    )
    assert secret in got.head.decode()
    (seen,) = bench.provider.seen
    assert seen.head.decode().count(secret) == 6
    exchange = await bench.ended()
    detail = bench.worker.log.detail(exchange.id)
    assert detail is not None
    everything = repr(detail) + repr([events.dump(event) for event in bench.events])
    assert secret not in everything
    assert exchange.path == f"{MESSAGES}?key=[redacted]&beta=true"
    assert {field.name: field.value for field in detail.request_headers}["anthropic-beta"] == "open"
    assert {field.name: field.value for field in detail.response_headers}["request-id"] == "r1"


async def test_a_failure_of_our_own_is_answered_in_the_providers_shape(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("caveman_tui.proxy.forward.route", fail)
    got = await bench.post(MESSAGES, b"{}")
    assert (got.status, got.values("x-caveman-error")) == (502, ["internal"])
    assert (await bench.ended()).state == "failed"


async def test_a_log_that_fails_costs_no_request(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    for name in ("emit", "keep_request", "keep_response"):
        monkeypatch.setattr(bench.worker.log, name, fail)
    assert (await bench.post(MESSAGES, b'{"model":"m"}')).status == 200


async def test_malformed_requests_are_logged_nowhere(
    bench: Bench, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    client = await bench.connect()
    client.writer.write(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: hush\x00hush\r\n\r\n")
    assert (await client.receive()).status == 400
    assert "hush" not in caplog.text + "".join(capfd.readouterr())
