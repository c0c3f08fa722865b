"""Which fields pass, and which are shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.protocol.control import REDACTED
from caveman_tui.proxy import headers

NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,8}", fullmatch=True)
HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authorization", "proxy-connection"}


@settings(deadline=None)
@given(st.lists(st.tuples(NAME, st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), max_size=8)), max_size=12))
def test_order_and_duplicates_survive_and_each_name_has_one_spelling(fields: list[tuple[str, str]]) -> None:
    raw = [(name.encode(), value.encode()) for name, value in fields]
    passed = list(headers.to_client(raw).items())
    named = {token.strip().lower() for name, value in fields if name.lower() == "connection" for token in value.split(",")}
    kept = [(name, value) for name, value in fields if name.lower() not in HOP | named | {"proxy-authenticate"}]
    assert [(name.lower(), value) for name, value in passed] == [(name.lower(), value) for name, value in kept]
    spellings = {name.lower(): name for name, _ in reversed(fields)}
    assert all(spellings[name.lower()] == name for name, _ in passed)


def test_connection_cannot_take_away_what_the_body_needs() -> None:
    raw = [(b"Connection", b"close, content-length, content-encoding, x-mine"), (b"Content-Length", b"3"), (b"X-Mine", b"1")]
    assert list(headers.to_client(raw).items()) == [("Content-Length", "3")]


def test_host_and_expect_are_for_this_hop_only_in_requests() -> None:
    raw = [(b"Host", b"here"), (b"Expect", b"100-continue"), (b"A", b"1"), (b"Content-Encoding", b"br")]
    assert list(headers.to_provider(raw, without=frozenset({"content-encoding"})).items()) == [("A", "1")]
    assert "Host" in headers.to_client(raw)


def test_a_value_that_would_break_the_framing_is_left_out() -> None:
    assert list(headers.to_client([(b"A", b"x\x01y"), (b"B", b"x\ty")]).items()) == [("B", "x\ty")]


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "X-API-Key",
        "cookie",
        "Set-Cookie",
        "X-Auth-Token",
        "proxy-authorization",
        "x-client-secret",
        "api-key",
        "x-goog-api-key",
        "apikey",
        "x-auth",
        "Helicone-Auth",
        "x_api_key",
        "X-Amz-Signature",
        "x-jwt",
    ],
)
def test_secrets(name: str) -> None:
    assert headers.is_secret(name)
    (field,) = headers.shown([(name, "hush")])
    assert (field.name, field.value) == (name, REDACTED)


@pytest.mark.parametrize("name", ["anthropic-ratelimit-tokens-remaining", "x-ratelimit-limit-tokens", "idempotency-id", "anthropic-beta"])
def test_what_is_no_secret_is_shown(name: str) -> None:
    assert headers.shown([(name, "open")])[0].value == "open"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Bearer hush", REDACTED),
        ("basic aHVzaA==", REDACTED),
        ("Basic usage of tools", "Basic usage of tools"),
        ("https://x.example/a?api_key=hush&b=1", "https://x.example/a?api_key=[redacted]&b=1"),
        ('<https://x.example/?token=hush>; rel="next"', '<https://x.example/?token=[redacted]; rel="next"'),
        ("claude-cli/2 (external, cli)", "claude-cli/2 (external, cli)"),
        ("max-age=3", "max-age=3"),
    ],
)
def test_credentials_in_the_value_of_any_field(value: str, shown: str) -> None:
    (field,) = headers.shown([("x-odd", value)])
    assert field.value == shown


def test_text_of_the_older_coding_goes_on_as_utf_8() -> None:
    assert headers.to_client([(b"a", "é".encode("latin-1")), (b"b", "é".encode())]) == {"a": "é", "b": "é"}


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("/v1/messages?beta=true", "/v1/messages?beta=true"),
        ("/v1/x?key=hush&b=1&Access_Token=hush", "/v1/x?key=[redacted]&b=1&Access_Token=[redacted]"),
        ("/v1/x?key", "/v1/x?key"),
        ("/v1/x?X-Amz-Signature=hush&client_secret=hush", "/v1/x?X-Amz-Signature=[redacted]&client_secret=[redacted]"),
        ("/v1/x?%6bey=hush;refreshToken=hush&code=hush", "/v1/x?%6bey=[redacted];refreshToken=[redacted]&code=[redacted]"),
        ("/v1/x?max_tokens=5&after=a=b", "/v1/x?max_tokens=5&after=a=b"),
    ],
)
def test_shown_path(target: str, shown: str) -> None:
    assert headers.shown_path(target) == shown


def test_lower_map_joins_what_is_repeated() -> None:
    assert headers.lower_map([(b"A", b"1"), (b"b", b"2"), (b"a", b"3")]) == {"a": "1, 3", "b": "2"}
