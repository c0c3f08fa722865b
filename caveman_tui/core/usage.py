"""What a provider billed, read from its response: one JSON body, or a stream as it comes."""

import json
from typing import Any

import msgspec

from caveman_tui.core.policy import Dialect
from caveman_tui.core.sse import MAX_EVENT_BYTES, SseEvent, SseReader

_ERROR_TEXT = 500


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts as the provider reported them; None where it said nothing.

    `input_tokens` is what was neither read from nor written to the cache (Anthropic's meaning; OpenAI's cached tokens are taken
    out of its input count). Source: Anthropic prompt caching, "Tracking cache performance"; OpenAI usage objects.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    """All cache writes; the two below split it where the provider does."""
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None

    @property
    def total_input_tokens(self) -> int | None:
        """Everything the model read: input, cache reads and cache writes. None where the provider gave no input count."""
        if self.input_tokens is None:
            return None
        return self.input_tokens + (self.cache_read_tokens or 0) + (self.cache_write_tokens or 0)

    @property
    def cache_read_share(self) -> float | None:
        """Cache reads as a fraction of all input, 0 to 1."""
        total = self.total_input_tokens
        if not total or self.cache_read_tokens is None:
            return None
        return self.cache_read_tokens / total


def usage_from_json(body: bytes, dialect: Dialect) -> Usage | None:
    """The usage in a whole response body; None where it holds none, is no JSON, or answers count_tokens, which bills nothing."""
    document = _object(_load(body))
    match dialect:
        case Dialect.ANTHROPIC_MESSAGES:
            return _merge_anthropic(None, document.get("usage"))
        case Dialect.OPENAI_CHAT:
            return _from_openai(document.get("usage"), "prompt", "completion")
        case Dialect.OPENAI_RESPONSES:
            return _from_openai(document.get("usage"), "input", "output")
        case Dialect.ANTHROPIC_COUNT_TOKENS:
            return None


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """The sum of two reports; a count that only one of them gives stays as it is, None where neither gives any."""
    if one is None or other is None:
        return one or other
    counts = {name: _plus(getattr(one, name), getattr(other, name)) for name in Usage.__struct_fields__}
    return Usage(**counts)


class UsageReader:
    """Reads what a streamed response says of itself, from a copy of its decoded bytes.

    Feed it chunks of any size as they come, and `close` it at the end: a stream may end without its last newline. Holds at most
    one event of `max_event_bytes` in memory; a longer one is passed over. Never raises on what a provider sends.
    """

    def __init__(self, dialect: Dialect, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._dialect = dialect
        self._events = SseReader(max_event_bytes)
        self._before: Usage | None = None
        self._message: Usage | None = None
        self.usage: Usage | None = None
        """So far; None until the provider reports any."""
        self.stop_reason: str | None = None
        """In the provider's word; of a Responses stream, its status, or why it is incomplete."""
        self.error: str | None = None
        """Type and message of an error event that came after the status line said 200."""
        self.finished = False
        """Whether the stream came to the end its protocol asks for: `message_stop`, `[DONE]`, a closing `response.…` event."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        for event in self._events.feed(chunk):
            self._take(event)

    def close(self) -> None:
        """Take what the stream ended with."""
        for event in self._events.close():
            self._take(event)

    def _take(self, event: SseEvent) -> None:
        if event.data.strip() == b"[DONE]":
            self.finished = True
            return
        if event.name.endswith((b"_delta", b".delta")) and event.name != b"message_delta":
            return
        document = _load(event.data)
        if not isinstance(document, dict):
            if event.name == b"error":
                self._fail(event.data.decode(errors="replace"))
            return
        kind = document.get("type")
        if kind == "error" or document.get("error"):
            self._fail(document.get("error") or document)
        match self._dialect:
            case Dialect.ANTHROPIC_MESSAGES:
                self._take_anthropic(kind, document)
            case Dialect.OPENAI_CHAT:
                self._take_chat(document)
            case Dialect.OPENAI_RESPONSES:
                self._take_responses(kind, document)
            case Dialect.ANTHROPIC_COUNT_TOKENS:
                pass

    def _take_anthropic(self, kind: object, document: dict[str, Any]) -> None:
        match kind:
            case "message_start":
                if self.finished:
                    # A stream of several messages: each is billed, the next one's report starts anew.
                    self._before, self._message, self.finished = self.usage, None, False
                self._merge(_object(document.get("message")).get("usage"))
            case "message_delta":
                self._merge(document.get("usage"))
                self._stop(_object(document.get("delta")).get("stop_reason"))
            case "message_stop":
                self.finished = True

    def _merge(self, reported: object) -> None:
        self._message = _merge_anthropic(self._message, reported)
        self.usage = add_usage(self._before, self._message)

    def _take_chat(self, document: dict[str, Any]) -> None:
        self.usage = _from_openai(document.get("usage"), "prompt", "completion") or self.usage
        choices = document.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            self._stop(_object(choice).get("finish_reason"))

    def _take_responses(self, kind: object, document: dict[str, Any]) -> None:
        if kind not in ("response.completed", "response.incomplete", "response.failed"):
            return
        response = _object(document.get("response"))
        self.finished = True
        self.usage = _from_openai(response.get("usage"), "input", "output") or self.usage
        self._stop(_object(response.get("incomplete_details")).get("reason") or response.get("status"))
        if response.get("error"):
            self._fail(response["error"])

    def _stop(self, reason: object) -> None:
        if isinstance(reason, str):
            self.stop_reason = reason

    def _fail(self, error: object) -> None:
        if self.error is not None:
            return
        if isinstance(error, dict):
            words = [str(error[key]) for key in ("type", "code", "message") if error.get(key) and error[key] != "error"]
            error = ": ".join(dict.fromkeys(words)) or json.dumps(error)
        self.error = str(error)[:_ERROR_TEXT]


def _merge_anthropic(so_far: Usage | None, reported: object) -> Usage | None:
    """`so_far` with what another report says over it. Absent and null fields change nothing: deltas may carry totals only.

    Where a request took several model calls of one price (`iterations`), the totals beside them leave the extra ones out, though
    all are billed. Source: Anthropic, compaction, "Understanding usage".
    """
    if not isinstance(reported, dict):
        return so_far
    calls = reported.get("iterations")
    whole: Usage | None = None
    for call in calls if isinstance(calls, list) else ():
        whole = add_usage(whole, _anthropic_usage(call)) if _same_price(call) else whole
    said = whole or _anthropic_usage(reported)
    counts = {name: count for name, count in msgspec.structs.asdict(said).items() if count is not None}
    if not counts:
        return so_far
    merged = msgspec.structs.replace(so_far or Usage(), **counts)
    split = (merged.cache_write_5m_tokens or 0) + (merged.cache_write_1h_tokens or 0)
    if merged.cache_write_tokens is None and split:
        return msgspec.structs.replace(merged, cache_write_tokens=split)
    if split > (merged.cache_write_tokens or 0):
        # The split is older than the total and can no longer be right.
        return msgspec.structs.replace(merged, cache_write_5m_tokens=None, cache_write_1h_tokens=None)
    return merged


def _same_price(call: object) -> bool:
    """Whether a call was made by the request's own model; an advisor is another one, at another price."""
    return isinstance(call, dict) and call.get("type") != "advisor_message"


def _anthropic_usage(reported: dict[str, Any]) -> Usage:
    split = _object(reported.get("cache_creation"))
    return Usage(
        input_tokens=_count(reported, "input_tokens"),
        output_tokens=_count(reported, "output_tokens"),
        cache_read_tokens=_count(reported, "cache_read_input_tokens"),
        cache_write_tokens=_count(reported, "cache_creation_input_tokens"),
        cache_write_5m_tokens=_count(split, "ephemeral_5m_input_tokens"),
        cache_write_1h_tokens=_count(split, "ephemeral_1h_input_tokens"),
    )


def _plus(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


def _from_openai(reported: object, prompt: str, completion: str) -> Usage | None:
    """Usage of an OpenAI shape, whose prompt count includes what was read from the cache, and OpenRouter's also what was written."""
    if not isinstance(reported, dict):
        return None
    total = _count(reported, f"{prompt}_tokens")
    details = _object(reported.get(f"{prompt}_tokens_details"))
    read = _count(details, "cached_tokens")
    written = _count(details, "cache_write_tokens")
    cached = (read or 0) + (written or 0)
    # Some compatible providers count the cache beside the prompt; then nothing is to be taken out.
    fresh = total - cached if total is not None and total >= cached else total
    usage = Usage(
        input_tokens=fresh,
        output_tokens=_count(reported, f"{completion}_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
    return usage if usage != Usage() else None


def _count(reported: dict[str, Any], name: str) -> int | None:
    value = reported.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _load(data: bytes) -> object:
    """The JSON value of `data`, None where it is none. msgspec is fast and strict; lone surrogates and bad UTF-8 need the other."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
