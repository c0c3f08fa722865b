"""Which header fields travel on, and what of them may be shown.

A deny-list decides: an unknown field passes, with its name as it was spelled, its place and its duplicates. aiohttp puts `Host`
first, and of two fields whose names differ in case only it keeps one, so each name is brought to its first spelling.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote

from multidict import CIMultiDict

from caveman_tui.protocol.control import REDACTED, HeaderField

RawHeaders = Sequence[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110, 7.6.1, and the fields that older software treats like them."""

_OF_THE_REQUEST = frozenset({"host", "expect"})
"""Answered or replaced by whoever holds the connection."""

_SECRET_WORDS = frozenset(
    {
        *("authorization", "authentication", "auth", "cookie", "cookie2", "credential", "credentials", "jwt", "key", "apikey"),
        *("pass", "passwd", "password", "pwd", "secret", "sig", "signature", "token"),
    }
)
"""The last word of a name tells what it holds: `x-goog-api-key`, `X-Amz-Signature`, `client_secret`."""
_SECRET_ENDINGS = ("token", "secret", "apikey", "accesskey", "password")
"""Of words written together."""
_words = re.compile(r"[-_.\[\]]+").split
_CREDENTIALS = re.compile(r"\s*(?:bearer|basic|token)\s+\S+\s*", re.IGNORECASE).fullmatch
_IN_QUERY = re.compile(r"([?&;])([^=&;?#\s]{1,100})=([^&;#\s]*)")

_BREAKS_FRAMING = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
"""Control characters in a value, which no HTTP library will write."""

INTEGRITY = frozenset({"content-digest", "content-md5", "digest", "repr-digest", "signature", "signature-input", "x-amz-content-sha256"})
"""Fields that vouch for the body's bytes: a body that carries one is not edited."""


def to_provider(raw: RawHeaders, *, without: frozenset[str] = frozenset()) -> CIMultiDict[str]:
    """The request's fields as they go to the provider; `without` names further ones to leave out, in lower case.

    The transport adds `Host`, and the framing of a body whose length is unknown.
    """
    return _passing(raw, _HOP_BY_HOP | _OF_THE_REQUEST | without)


def to_client(raw: RawHeaders) -> CIMultiDict[str]:
    """The provider's fields as they go back to the client."""
    return _passing(raw, _HOP_BY_HOP)


def lower_map(raw: RawHeaders) -> dict[str, str]:
    """Lower-case names to values; repeated fields are joined as RFC 9110, 5.3 says."""
    joined: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = _text(raw_name).lower(), _text(raw_value)
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def shown(fields: Iterable[tuple[str, str]]) -> tuple[HeaderField, ...]:
    """Fields for the screen: secrets replaced, bytes that are no text made visible."""
    return tuple(HeaderField(name=_printable(name), value=_shown_value(name, value)) for name, value in fields)


def shown_raw(raw: RawHeaders) -> tuple[HeaderField, ...]:
    """As `shown`, of the fields as they came."""
    return shown((_text(name), _text(value)) for name, value in raw)


@lru_cache(1024)
def is_secret(name: str) -> bool:
    """Whether a field of this name may hold a credential."""
    word = _last_word(name)
    return word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS)


def shown_path(target: str) -> str:
    """A request target for the screen: query values that may be credentials are replaced."""
    return _printable(_without_secret_queries(target))


def _shown_value(name: str, value: str) -> str:
    if is_secret(name) or _CREDENTIALS(value):
        return REDACTED
    return _printable(_without_secret_queries(value) if "=" in value else value)


def _without_secret_queries(text: str) -> str:
    """A target, or a value that may be a URL, without what its query's credentials are."""
    return _IN_QUERY.sub(lambda found: f"{found[1]}{found[2]}={REDACTED}" if _secret_query(found[2]) else found[0], text)


@lru_cache(1024)
def _secret_query(name: str) -> bool:
    name = unquote(name)
    return is_secret(name) or name.lower() == "code"


def _last_word(name: str) -> str:
    return next((word for word in reversed(_words(name.lower())) if word), "")


def _passing(raw: RawHeaders, denied: frozenset[str]) -> CIMultiDict[str]:
    denied |= _named_by_connection(raw)
    spelling: dict[str, str] = {}
    fields: CIMultiDict[str] = CIMultiDict()
    for raw_name, raw_value in raw:
        name, value = _text(raw_name), _text(raw_value)
        lower = name.lower()
        if lower in denied or _BREAKS_FRAMING(value):
            continue
        fields.add(spelling.setdefault(lower, name), value)
    return fields


def _named_by_connection(raw: RawHeaders) -> frozenset[str]:
    """Fields that `Connection` declares to be of this hop only; `content-length` can't be one of them."""
    named: set[str] = set()
    for name, value in raw:
        if len(name) == len(b"connection") and name.lower() == b"connection":
            named.update(token.strip().lower() for token in _text(value).split(","))
    if not named:
        return frozenset()
    return frozenset(named - {"content-length", "content-encoding", "content-type", "authorization", "host"})


def _text(raw: bytes) -> str:
    """aiohttp writes UTF-8 only, so the rare field in the older ISO 8859-1 goes on as the same text in UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _printable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
