"""Connections to the provider: reuse, one clean retry, proxies, certificates."""

import asyncio
import socket
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict

from caveman_tui.config import WorkerConfig
from caveman_tui.protocol.control import Upstream
from caveman_tui.proxy import trust, upstream
from caveman_tui.proxy.routes import Route
from caveman_tui.proxy.upstream import ProviderClient, UpstreamProblem
from tests.proxy.conftest import Bench, StartBench
from tests.proxy.provider import Exchange, RawProvider

MESSAGES = "/v1/messages"
CERTIFICATES = Path(__file__).parent / "certificates"


async def _warm(bench: Bench) -> None:
    """Leave one connection in the pool."""
    await bench.post(MESSAGES, b'{"warm":1}')
    await bench.ended()
    assert bench.provider.connections == 1


async def test_connections_are_reused(bench: Bench) -> None:
    await _warm(bench)
    await bench.post(MESSAGES, b"{}")
    assert [seen.connection for seen in bench.provider.seen] == [0, 0]


@pytest.mark.parametrize("way", ["cut", "reset"])
@pytest.mark.parametrize("line", [f"POST {MESSAGES} HTTP/1.1", "GET /v1/models HTTP/1.1", "POST /v1/unknown HTTP/1.1"])
async def test_a_connection_gone_stale_is_retried_once(bench: Bench, way: str, line: str) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.seen.connection == 0:
            getattr(exchange, way)()
        else:
            await exchange.reply(b"{}")

    await _warm(bench)
    bench.provider.answer = answer
    body = b'{"a":1}' if MESSAGES in line else None
    got = await bench.ask(line, "x-api-key: k", "content-type: application/json", body=body)
    assert got.status == 200
    assert [seen.connection for seen in bench.provider.seen] == [0, 0, 1]
    assert bench.provider.seen[2].body == (body or b"")


async def test_a_retry_takes_none_of_the_other_stale_connections(bench: Bench) -> None:
    """A machine that slept, or a router that forgot, leaves the whole pool stale."""
    count = 4
    together = asyncio.Event()

    async def warm(exchange: Exchange) -> None:
        if len(bench.provider.seen) == count:
            together.set()
        await together.wait()
        await exchange.reply(b"{}")

    async def answer(exchange: Exchange) -> None:
        if exchange.seen.connection < count:
            exchange.reset()
        else:
            await exchange.reply(b"{}")

    bench.provider.answer = warm
    await asyncio.gather(*(bench.post(MESSAGES, b'{"warm":1}') for _ in range(count)))
    await bench.ended(count)
    assert bench.provider.connections == count
    bench.provider.answer = answer
    for number in range(count):
        assert (await bench.post(MESSAGES, b"{}")).status == 200
        assert bench.provider.connections == count + number + 1


@pytest.mark.parametrize("line", [f"POST {MESSAGES} HTTP/1.1", "GET /v1/models HTTP/1.1"])
async def test_a_second_failure_is_told(bench: Bench, line: str) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.cut()

    await _warm(bench)
    bench.provider.answer = answer
    got = await bench.ask(line, "x-api-key: k", body=b"{}" if "POST" in line else None)
    assert (got.status, got.values("x-caveman-error")) == (502, ["closed"])
    assert len(bench.provider.seen) == 3


@pytest.mark.parametrize("line", [f"POST {MESSAGES} HTTP/1.1", "GET /v1/models HTTP/1.1"])
async def test_a_fresh_connection_that_closes_is_not_retried(bench: Bench, line: str) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.cut()

    bench.provider.answer = answer
    got = await bench.ask(line, "x-api-key: k", body=b"{}" if "POST" in line else None)
    assert got.status == 502
    assert len(bench.provider.seen) == 1


async def test_nothing_is_retried_once_part_of_a_response_came(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-")
        exchange.cut()

    await _warm(bench)
    bench.provider.answer = answer
    assert (await bench.post(MESSAGES, b"{}")).status == 502
    assert len(bench.provider.seen) == 2


async def test_a_body_that_was_streamed_is_not_retried(bench: Bench) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.cut()

    await _warm(bench)
    bench.provider.answer = answer
    got = await bench.post("/v1/files", b"{}", "x-api-key: k")
    assert got.status == 502
    assert len(bench.provider.seen) == 2


def _config(url: str, name: str = "p") -> WorkerConfig:
    return WorkerConfig(port=0, upstreams=(Upstream(name=name, base_url=url, dialect="anthropic"),))


async def test_the_environments_proxy_is_used(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawProvider() as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:pass%20word@127.0.0.1:{proxy.port}")
        bench = await start_bench(upstreams=(Upstream(name="far", base_url="http://provider.test/base", dialect="anthropic"),))
        assert (await bench.post(f"{MESSAGES}?a=%2F", b"{}")).status == 200
        (seen,) = proxy.seen
        assert seen.line == f"POST http://provider.test/base{MESSAGES}?a=%2F HTTP/1.1"
        assert seen.values("proxy-authorization") == ["Basic bWU6cGFzcyB3b3Jk"]
        assert seen.values("authorization") == []


async def test_https_goes_through_a_tunnel_of_the_proxy(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.reply(b"no", status="407 Proxy Authentication Required")

    async with RawProvider(answer=refuse) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        bench = await start_bench(upstreams=(Upstream(name="far", base_url="https://provider.test", dialect="anthropic"),))
        got = await bench.post(MESSAGES, b"{}", "x-api-key: hush")
        assert (got.status, got.values("x-caveman-error")) == (502, ["proxy-failed"])
        assert b"HTTPS_PROXY" in got.body
        assert proxy.seen[0].line == "CONNECT provider.test:443 HTTP/1.1"
        assert b"hush" not in proxy.seen[0].head


async def test_loopback_and_no_proxy_go_direct(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    bench = await start_bench()
    assert (await bench.post(MESSAGES, b"{}")).status == 200
    monkeypatch.setenv("no_proxy", "provider.test")
    assert upstream._proxy_for(_config("http://provider.test").upstreams[0]) is None
    monkeypatch.setenv("no_proxy", "other.test")
    assert upstream._proxy_for(_config("http://provider.test").upstreams[0]) is not None


async def test_a_proxy_that_cannot_work_is_named_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1080")
    with pytest.raises(UpstreamProblem, match=r"HTTPS_PROXY .* asks for a socks5 proxy"):
        ProviderClient(_config("https://provider.test"))


async def test_credentials_of_a_netrc_file_stay_there(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hush\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    bench = await start_bench()
    await bench.post(MESSAGES, b"{}")
    assert bench.provider.seen[0].values("authorization") == []


@pytest.mark.parametrize("url", ["ftp://x", "https://", "nonsense", "https://user:pw@host", "https://host/?q=1"])
async def test_an_upstream_that_cannot_be_used_is_named(url: str) -> None:
    with pytest.raises(UpstreamProblem, match="'odd'") as caught:
        ProviderClient(_config(url, "odd"))
    assert "pw" not in str(caught.value)


class _TlsProvider(RawProvider):
    """A provider behind TLS, with a certificate of our own authority."""

    async def __aenter__(self) -> "_TlsProvider":
        self._tasks = set()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self


@pytest.mark.parametrize("setting", ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"])
async def test_an_authority_of_the_company_is_added(start_bench: StartBench, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv(setting, str(CERTIFICATES / "authority.pem"))
    async with _TlsProvider() as provider:
        bench = await start_bench(upstreams=(Upstream(name="far", base_url=f"https://localhost:{provider.port}", dialect="anthropic"),))
        assert (await bench.post(MESSAGES, b"{}")).status == 200


async def test_an_unknown_authority_is_refused_with_the_setting_that_helps(start_bench: StartBench) -> None:
    async with _TlsProvider() as provider:
        bench = await start_bench(upstreams=(Upstream(name="far", base_url=f"https://localhost:{provider.port}", dialect="anthropic"),))
        got = await bench.post(MESSAGES, b"{}")
        assert (got.status, got.values("x-caveman-error")) == (502, ["certificate"])
        assert b"NODE_EXTRA_CA_CERTS" in got.body
        provider.failures.clear()


def test_extra_authorities_add_to_the_systems_and_are_not_held_to_the_strict_profile() -> None:
    extra = {"NODE_EXTRA_CA_CERTS": str(CERTIFICATES / "authority.pem")}
    plain, more = trust.tls_context({}), trust.tls_context(extra)
    assert more.cert_store_stats()["x509_ca"] == plain.cert_store_stats()["x509_ca"] + 1
    assert not more.verify_flags & getattr(ssl, "VERIFY_X509_STRICT", 0)
    assert more.verify_mode is ssl.CERT_REQUIRED and more.check_hostname


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_authority_file_that_cannot_be_used_is_named(tmp_path: Path, content: Any) -> None:
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    with pytest.raises(trust.TrustProblem, match=r"NODE_EXTRA_CA_CERTS is .*ca\.pem"):
        trust.tls_context({"NODE_EXTRA_CA_CERTS": str(file)})


async def test_a_connection_that_died_while_the_machine_slept_is_given_up_soon() -> None:
    """Nobody tells a sleeper that its connections are gone: without limits of its own TCP goes on for a quarter of an hour."""

    async def answer(exchange: Exchange) -> None:
        await exchange.begin_stream()
        await exchange.closed_by_peer()

    async with RawProvider(answer) as provider:
        target = Upstream(name="a", base_url=provider.url, dialect="anthropic")
        client = ProviderClient(WorkerConfig(upstreams=(target,)))
        response = await client.send("GET", Route(upstream=target, target="/", dialect=None), CIMultiDict(), None)
        assert response.connection is not None and response.connection.transport is not None
        connection = response.connection.transport.get_extra_info("socket")
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        if sys.platform == "linux":
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == upstream.UNANSWERED_SECONDS * 1000
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == upstream.UNANSWERED_SECONDS
        response.close()
        await client.close()
