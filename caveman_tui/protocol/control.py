"""Messages of the control API that are no events, and its routes.

    GET   /v1/status                          -> Status
    GET   /v1/events?after=SEQ                -> NDJSON of events, replay then follow; header `x-caveman-instance`;
                                                 410 where SEQ is no longer in memory: resync from /v1/exchanges
    GET   /v1/exchanges                       -> ExchangeList
    GET   /v1/exchanges/ID                    -> ExchangeDetail
    GET   /v1/exchanges/ID/bodies/WHICH       -> bytes; WHICH is request-before, request-after or response; decoded from its
                                                 content coding unless ?raw=1; 404 with Problem once evicted
    GET   /v1/search?q=TEXT                   -> NDJSON: a SearchHit for each exchange whose bodies hold TEXT, newest first, blank
                                                 lines while nothing is found, a SearchEnd; to hang up ends the search
    GET   /v1/catalogs/DIGEST?level=L         -> CatalogDetail
    GET   /v1/conversations                   -> ConversationList
    PUT   /v1/conversations/ID/shrink         -> Conversation; body PinChange: forces a mode now
    PATCH /v1/settings                        -> events.Settings; body SettingsChange
    POST  /v1/stop                            -> 202, and the worker ends once running exchanges have

Errors are a `Problem` with a status of 400 and up. On a Unix socket no credentials are asked for (the file is 0600); on loopback
TCP every request carries `authorization: Bearer TOKEN`.
"""

from typing import Literal

import msgspec

from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.events import Settings
from caveman_tui.protocol.exchanges import Exchange

INSTANCE_HEADER = "x-caveman-instance"
REDACTED = "[redacted]"
"""Stands where a credential was."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the control API."""

    code: str
    what: str
    todo: str = ""


class StoreStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The recovery store as the worker sees it."""

    path: str
    problem: str = ""
    originals: int | None = None
    payload_bytes: int | None = None
    budget_bytes: int | None = None


class Upstream(msgspec.Struct, frozen=True, kw_only=True):
    """A provider that requests go to."""

    name: str
    base_url: str
    dialect: str
    """`anthropic` or `openai`."""
    path_prefix: str = ""
    """Requests whose path starts with it go here, the prefix taken off; empty for the two default ones."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says of itself."""

    instance: str
    pid: int
    version: str
    started_at: float
    host: str
    port: int
    settings: Settings
    upstreams: tuple[Upstream, ...]
    store: StoreStatus
    seq: int
    """Of the newest event."""
    exchanges: int
    open_exchanges: int
    body_bytes: int
    """Bodies held in memory, compressed."""
    body_budget_bytes: int
    last_exchange_at: float | None = None
    followers: int = 0
    """Screens that follow the events."""


class SettingsChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings to change; None, or leaving a field out, keeps it."""

    loop_ttl: LoopTtlMode | None = None
    shrink: ShrinkMode | None = None
    level: Level | None = None
    excluded_tools: tuple[str, ...] | None = None
    headless: Literal["auto", "yes", "no"] | None = None

    def applied_to(self, settings: Settings) -> Settings:
        """`settings` with these changes."""
        changes = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(settings, **changes)


class ExchangeList(msgspec.Struct, frozen=True, kw_only=True):
    """All exchanges in memory, oldest first, as of event `seq` of `instance`."""

    instance: str
    seq: int
    exchanges: tuple[Exchange, ...]


class HeaderField(msgspec.Struct, frozen=True, kw_only=True):
    """A header as it travelled; secrets are replaced before they get here."""

    name: str
    value: str


class ExchangeDetail(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange with what the list leaves out."""

    exchange: Exchange
    request_headers: tuple[HeaderField, ...] = ()
    response_headers: tuple[HeaderField, ...] = ()
    header_edits: tuple[str, ...] = ()
    """What was changed in the request's headers, a sentence each."""
    bodies: tuple[str, ...] = ()
    """Which bodies are still in memory."""
    url: str = ""
    """Where the provider got it, credentials in the query replaced; empty where that is not known any more."""


class SearchHit(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="hit"):
    """An exchange whose bodies hold the text that was searched for."""

    exchange: str
    body: str
    """The first one that holds it: `request-before`, `response` or `request-after`."""
    snippet: str
    """The text with what stands around it, on one line, as spelled in the body."""


class SearchEnd(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="end"):
    """The search is complete; a stream without it broke off."""

    searched: int
    """Exchanges whose bodies were looked through."""
    without_bodies: int
    """Exchanges of which no body is in memory."""


SearchResult = SearchHit | SearchEnd
SEARCH_TEXT_LIMIT = 200
"""Characters of a text to search for."""


class CatalogTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a catalog; counts are inferred (o200k)."""

    name: str
    before: str
    """JSON text as it came."""
    after: str
    """JSON text as shrunk at this level."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    excluded: bool = False


class CatalogDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A catalog that passed through, at one level."""

    digest: str
    level: Level
    tools: tuple[CatalogTool, ...]
    bytes_before: int
    bytes_after: int


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation and what it is pinned to."""

    id: str
    shrink: ShrinkMode | None = None
    """None where nothing is pinned yet."""
    level: Level | None = None
    pinned_at: float | None = None
    last_request_at: float | None = None
    requests: int = 0
    markers_refused: bool = False
    tools_refused: bool = False
    pauses: PauseStatistics = PauseStatistics()
    """Of all its exchanges that this worker has seen."""


class ConversationList(msgspec.Struct, frozen=True, kw_only=True):
    """All conversations the worker remembers."""

    conversations: tuple[Conversation, ...]


class PinChange(msgspec.Struct, frozen=True, kw_only=True):
    """A person's wish to switch a running conversation now; its cached prefix is written again once."""

    shrink: ShrinkMode
    level: Level | None = None
