"""Where requests go."""

import pytest

from caveman_tui.config import CHATGPT
from caveman_tui.core.policy import Dialect
from caveman_tui.protocol.control import Upstream
from caveman_tui.proxy.loopback import authority_is_loopback, is_loopback
from caveman_tui.proxy.routes import NoUpstream, route

A = Upstream(name="a", base_url="https://a.test", dialect="anthropic")
O = Upstream(name="o", base_url="https://o.test/", dialect="openai")  # noqa: E741
R = Upstream(name="r", base_url="https://r.test/api/v1", dialect="openai", path_prefix="/router")
RX = Upstream(name="rx", base_url="https://rx.test", dialect="anthropic", path_prefix="/router/x")
ALL = (A, O, R, RX)


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/v1/messages", Dialect.ANTHROPIC_MESSAGES),
        ("/v1/messages/count_tokens", Dialect.ANTHROPIC_COUNT_TOKENS),
        ("/v1/chat/completions", Dialect.OPENAI_CHAT),
        ("/chat/completions", Dialect.OPENAI_CHAT),
        ("/v1/responses", Dialect.OPENAI_RESPONSES),
        ("/responses", Dialect.OPENAI_RESPONSES),
        ("/backend-api/codex/responses", Dialect.OPENAI_RESPONSES),
        ("/v1/messages/batches", None),
        ("/v1/messages/", None),
        ("/v1/threads/t/messages", None),
        ("/v1/responses/resp_1", None),
        ("/v1/embeddings", None),
        ("/", None),
    ],
)
def test_dialects_of_posts(path: str, dialect: Dialect | None) -> None:
    found = route("POST", f"{path}?a=b", {}, ALL)
    assert (found.dialect, found.target) == (dialect, f"{path}?a=b")
    assert route("GET", path, {}, ALL).dialect is None


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/v1/messages", {"authorization": "Bearer x"}, "a"),
        ("/", {}, "a"),
        ("/api/hello", {}, "a"),
        ("/v1/responses", {"x-api-key": "k"}, "o"),
        ("/v1/models", {"anthropic-version": "1", "authorization": "Bearer x"}, "a"),
        ("/v1/models", {"x-api-key": "k"}, "a"),
        ("/v1/models", {"authorization": "Bearer x"}, "o"),
        ("/v1/models", {"authorization": "Bearer x", "user-agent": "claude-cli/2.1"}, "a"),
        ("/v1/models", {"user-agent": "codex_cli_rs/0.171.0"}, "o"),
        ("/v1/models", {"openai-organization": "x"}, "o"),
        ("/v1/files/x", {}, "a"),
        ("/v1/embeddings", {}, "o"),
        ("/unknown", {}, "a"),
    ],
)
def test_providers(path: str, headers: dict[str, str], name: str) -> None:
    assert route("GET", path, headers, ALL).upstream.name == name


@pytest.mark.parametrize(
    ("target", "url", "dialect"),
    [
        ("/router/chat/completions?q=%2F", "https://r.test/api/v1/chat/completions?q=%2F", Dialect.OPENAI_CHAT),
        ("/router/v1/messages", "https://r.test/api/v1/messages", Dialect.ANTHROPIC_MESSAGES),
        ("/router", "https://r.test/api/v1/", None),
        ("/router/x/v1/messages", "https://rx.test/v1/messages", Dialect.ANTHROPIC_MESSAGES),
        ("/routerless/v1/messages", "https://a.test/routerless/v1/messages", None),
        ("/v1/chat/completions", "https://o.test/v1/chat/completions", Dialect.OPENAI_CHAT),
    ],
)
def test_prefixes(target: str, url: str, dialect: Dialect | None) -> None:
    found = route("POST", target, {}, ALL)
    assert (found.url, found.dialect) == (url, dialect)


def test_codex_with_a_chatgpt_login() -> None:
    upstreams = (Upstream(name="o", base_url="https://o.test", dialect="openai"), CHATGPT)
    found = route("POST", "/backend-api/codex/responses", {}, upstreams)
    assert (found.url, found.dialect) == ("https://chatgpt.com/backend-api/codex/responses", Dialect.OPENAI_RESPONSES)
    assert route("GET", "/backend-api/wham/usage?x=1", {}, upstreams).url == "https://chatgpt.com/backend-api/wham/usage?x=1"


def test_a_base_url_with_the_version_that_sdks_want() -> None:
    base = Upstream(name="o", base_url="https://o.test/v1/", dialect="openai")
    assert route("POST", "/v1/responses", {}, (base,)).url == "https://o.test/v1/responses"
    assert route("POST", "/responses", {}, (base,)).url == "https://o.test/v1/responses"


def test_no_upstream() -> None:
    with pytest.raises(NoUpstream, match="openai"):
        route("POST", "/v1/responses", {}, (A, R))


@pytest.mark.parametrize(
    ("authority", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1:80", True),
        ("localhost:65535", True),
        ("[::1]", True),
        ("[::1]:1", True),
        ("localhost.evil.test", False),
        ("evil.test#127.0.0.1", False),
        ("127.0.0.1/x", False),
        ("a@127.0.0.1", False),
        ("127.0.0.1:port", False),
        ("127.0.0.1:99999", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_authorities(authority: str, local: bool) -> None:
    assert authority_is_loopback(authority) is local


def test_hosts_to_listen_on() -> None:
    assert [host for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.1.1.1", "") if is_loopback(host)] == [
        "127.0.0.1",
        "::1",
        "localhost",
    ]
