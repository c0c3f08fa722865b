"""Where a request goes, and whether its body is one of those that are looked at."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from caveman_tui.core.policy import Dialect
from caveman_tui.protocol.control import Upstream

_EDITABLE = re.compile(r"(?:/backend-api)?(?:/codex)?(?:/api)?(?:/v1)?/(messages/count_tokens|messages|chat/completions|responses)")
_DIALECTS = {
    "messages": Dialect.ANTHROPIC_MESSAGES,
    "messages/count_tokens": Dialect.ANTHROPIC_COUNT_TOKENS,
    "chat/completions": Dialect.OPENAI_CHAT,
    "responses": Dialect.OPENAI_RESPONSES,
}
_OPENAI_DIALECTS = frozenset({Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES})

_ANTHROPIC_PATHS = re.compile(
    r"/?|/api/hello|/api/(?:oauth|claude_code|claude_cli|event_logging)(?:/.*)?|/v1/(?:messages|complete)(?:/.*)?"
)
_OPENAI_PATHS = re.compile(
    r"(?:/v1)?/(?:chat/completions|responses|completions|embeddings|audio|images|moderations|fine_tuning|assistants|threads"
    r"|vector_stores|realtime|uploads|conversations|containers|evals|alpha/responses)(?:/.*)?|/backend-api(?:/.*)?"
)
_ANTHROPIC_CLIENTS = ("claude-cli", "claude-code", "anthropic/", "bun/")
_OPENAI_CLIENTS = ("codex", "openai/", "asyncopenai/")


@dataclass(frozen=True, slots=True)
class Route:
    """Where one request goes."""

    upstream: Upstream
    target: str
    """Path and query as the provider gets them, raw."""
    dialect: Dialect | None
    """What its body speaks, None for what is forwarded untouched."""

    @property
    def url(self) -> str:
        """The provider's URL, to be used as it is."""
        return self.upstream.base_url.rstrip("/") + self.target


class NoUpstream(LookupError):
    """No upstream is configured for the provider that a request is meant for."""


def route(method: str, target: str, headers: Mapping[str, str], upstreams: Sequence[Upstream]) -> Route:
    """Choose by configured path prefix (the longest), then by path, then by the headers that SDKs send.

    `target` is the raw path with its query, `headers` have lower-case names. Raises NoUpstream.
    """
    path, mark, query = target.partition("?")
    prefixed = [u for u in upstreams if u.path_prefix and _below(path, u.path_prefix)]
    if prefixed:
        upstream = max(prefixed, key=lambda u: len(u.path_prefix))
        path = _without_prefix(upstream, path)
    else:
        wanted = family(path, headers)
        found = next((u for u in upstreams if not u.path_prefix and u.dialect == wanted), None)
        if found is None:
            raise NoUpstream(wanted)
        upstream = found
    dialect = dialect_of(path) if method == "POST" else None
    return Route(upstream=upstream, target=_without_doubled_version(upstream, path) + mark + query, dialect=dialect)


def url_at(upstream: Upstream, target: str) -> str:
    """The provider's URL for a target that was routed to `upstream`."""
    path, mark, query = target.partition("?")
    path = _without_doubled_version(upstream, _without_prefix(upstream, path))
    return upstream.base_url.rstrip("/") + path + mark + query


def dialect_of(path: str) -> Dialect | None:
    """What a body posted to `path` (prefix taken off, no query) speaks."""
    found = _EDITABLE.fullmatch(path)
    return _DIALECTS[found[1]] if found else None


def error_family(dialect: Dialect | None, upstream: Upstream) -> str:
    """`anthropic` or `openai`: whose error shape the client of a routed request reads."""
    if dialect is not None:
        return "openai" if dialect in _OPENAI_DIALECTS else "anthropic"
    return upstream.dialect


def family(path: str, headers: Mapping[str, str]) -> str:
    """`anthropic` or `openai`: which provider a request without a configured prefix is meant for."""
    if _ANTHROPIC_PATHS.fullmatch(path):
        return "anthropic"
    if _OPENAI_PATHS.fullmatch(path):
        return "openai"
    if "x-api-key" in headers or any(name.startswith("anthropic-") for name in headers):
        return "anthropic"
    agent = headers.get("user-agent", "").lower()
    if agent.startswith(_ANTHROPIC_CLIENTS):
        return "anthropic"
    if agent.startswith(_OPENAI_CLIENTS) or any(name.startswith("openai-") for name in headers):
        return "openai"
    return "openai" if headers.get("authorization", "").lower().startswith("bearer ") else "anthropic"


def _below(path: str, prefix: str) -> bool:
    bare = prefix.rstrip("/")
    return path == bare or path.startswith(bare + "/")


def _without_prefix(upstream: Upstream, path: str) -> str:
    return path[len(upstream.path_prefix.rstrip("/")) :] or "/"


def _without_doubled_version(upstream: Upstream, path: str) -> str:
    """A base URL is often given with `/v1`, as SDKs want it, and the client's path carries it too."""
    if urlsplit(upstream.base_url).path.rstrip("/").endswith("/v1") and _below(path, "/v1"):
        return path[len("/v1") :] or "/"
    return path
