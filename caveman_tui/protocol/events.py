"""Events of the control socket, one JSON object a line. Each is at most 16 KB; long values go by reference.

`seq` counts up within one worker instance; `at` is seconds since the epoch. `dump` and `load` are the wire form.
"""

from typing import Any

import msgspec

from caveman_tui.core.cache_markers import Marker, Violation
from caveman_tui.core.policy import ClientKind, ClientOverride, Level, LoopTtlMode, ShrinkMode
from caveman_tui.core.prefix_digests import PrefixDigests
from caveman_tui.core.rewrite import Reason
from caveman_tui.core.usage import Usage

MAX_BYTES = 16 * 1024
"""Of an event on the wire, newline included."""


def _kebab(name: str) -> str:
    return "".join("-" + c.lower() if c.isupper() else c for c in name).lstrip("-")


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag=_kebab):
    """Base of all events."""

    seq: int = 0
    at: float = 0.0


class MarkerEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A marker edit, small enough to travel whole."""

    pointer: str
    kind: str
    before: str
    after: str
    reason: str


class ToolsSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A tools array before and after, by digest. Token counts are always inferred (o200k)."""

    pointer: str
    digest: str
    """SHA-256 of the original tools bytes, hex; with it `GET /v1/catalogs/DIGEST` gives the whole thing."""
    level: Level
    applied: bool
    """False where shrinking was only measured."""
    handle: str = ""
    """Recovery handle, empty where nothing was stored."""
    tools: int
    bytes_before: int
    bytes_after: int
    tokens_before: int | None = None
    tokens_after: int | None = None

    @property
    def ratio(self) -> float:
        """Fraction of bytes removed, 0 to 1."""
        return (self.bytes_before - self.bytes_after) / self.bytes_before if self.bytes_before else 0.0


class ExchangeStarted(Event, frozen=True, kw_only=True):
    """A request came in."""

    id: str
    method: str
    path: str
    provider: str = ""
    dialect: str = ""
    """Value of `core.policy.Dialect`, empty for what is forwarded untouched."""
    model: str = ""
    client: str = ""
    """Short name for the screen: `claude-cli/2.1.316`, `codex`, the first product of the User-Agent."""
    client_kind: ClientKind = ClientKind()
    conversation: str = ""
    agent: str = ""
    parent_agent: str = ""
    session: str = ""
    request_bytes: int | None = None
    """None while a streamed body's length is unknown."""


class ExchangeRewritten(Event, frozen=True, kw_only=True):
    """What the transforms made of it. Also sent, without edits, for requests that were looked at and left alone."""

    id: str
    marker_edits: tuple[MarkerEdit, ...] = ()
    markers_before: tuple[Marker, ...] = ()
    markers_after: tuple[Marker, ...] = ()
    violations: tuple[Violation, ...] = ()
    tools: tuple[ToolsSummary, ...] = ()
    reasons: tuple[Reason, ...] = ()
    bytes_after: int | None = None
    prefix: PrefixDigests | None = None
    """Of what went out; None until it is computed, and where it can't be."""


class ExchangeResponding(Event, frozen=True, kw_only=True):
    """The provider's status line arrived."""

    id: str
    status: int
    ttfb_ms: float


class ExchangeUsage(Event, frozen=True, kw_only=True):
    """Usage so far; a later one replaces an earlier one. May be merged by the worker."""

    id: str
    usage: Usage
    response_bytes: int = 0


class ExchangeFinished(Event, frozen=True, kw_only=True):
    """The exchange ended."""

    id: str
    outcome: str
    """`done`, `provider-error` (status 400 and up, or an error event), `cancelled` (the client hung up), `broken` (the provider
    broke off), `failed` (not forwarded)."""
    duration_ms: float
    response_bytes: int
    note: str = ""
    """One short sentence where there is something to say."""


class StoreChanged(Event, frozen=True, kw_only=True):
    """An original was stored, or the store's state changed."""

    handle: str = ""
    originals: int | None = None
    payload_bytes: int | None = None
    problem: str = ""
    """Empty where the store works."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The worker's policies. New conversations take them; running ones keep what they were pinned to."""

    loop_ttl: LoopTtlMode = LoopTtlMode.APPLY
    shrink: ShrinkMode = ShrinkMode.MEASURE
    level: Level = Level.STANDARD
    excluded_tools: tuple[str, ...] = ()
    headless: str = "auto"
    """`auto` (by User-Agent), `yes`, `no`."""
    clients: tuple[ClientOverride, ...] = ()
    """What counts for single clients before `headless`."""


class SettingsChanged(Event, frozen=True, kw_only=True):
    """A person changed a setting."""

    settings: Settings


class Warned(Event, frozen=True, kw_only=True, tag="warning"):
    """Something went wrong on our side; the request went on regardless."""

    code: str
    exchange: str = ""
    what: str
    done: str = ""
    todo: str = ""


AnyEvent = (
    ExchangeStarted | ExchangeRewritten | ExchangeResponding | ExchangeUsage | ExchangeFinished | StoreChanged | SettingsChanged | Warned
)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def dump(event: AnyEvent) -> bytes:
    """One NDJSON line, newline included."""
    return _encoder.encode(event) + b"\n"


def load(line: bytes) -> AnyEvent:
    """The event of one line. Raises msgspec.ValidationError or DecodeError on anything else."""
    return _decoder.decode(line)


def wire_form(event: AnyEvent) -> tuple[AnyEvent, bytes]:
    """The event as it can travel, and its line: no longer than MAX_BYTES, and without lone surrogates, which UTF-8 can't carry.

    An event that is neither comes back as it is. Where it is too long, texts are cut short and end in `…`, and lists lose their
    tail; ids, digests and handles are shorter than the tightest limit.
    """
    try:
        line = dump(event)
        if len(line) <= MAX_BYTES:
            return event, line
    except UnicodeEncodeError:
        line = b""
    for text_limit, list_limit in _LIMITS:
        event = msgspec.convert(_cut(msgspec.to_builtins(event), text_limit, list_limit), type(event))
        line = dump(event)
        if len(line) <= MAX_BYTES:
            break
    return event, line


_LIMITS = ((4096, 200), (1024, 64), (256, 32), (128, 12), (80, 4), (64, 1))
"""Characters of a text and items of a list, tried in turn."""


def _cut(value: Any, text_limit: int, list_limit: int) -> Any:
    match value:
        case str():
            text = value if len(value) <= text_limit else value[: text_limit - 1] + "…"
            return text.encode("utf-8", "replace").decode()
        case list() | tuple():
            return [_cut(item, text_limit, list_limit) for item in value[:list_limit]]
        case dict():
            return {key: _cut(item, text_limit, list_limit) for key, item in value.items()}
        case _:
            return value
