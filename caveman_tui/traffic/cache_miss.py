"""Why a request read less from the provider's cache than the one before it had left there."""

from dataclasses import dataclass
from enum import StrEnum

from caveman_tui.core.cache_markers import REACH_BLOCKS
from caveman_tui.core.prefix_digests import shared_messages
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format

LIFETIMES = {"5m": 300.0, "1h": 3600.0}
"""Seconds from the start of the last request that wrote or read an entry (Anthropic prompt caching)."""
_SLACK = 0.05
"""Fraction of what was cached that may go unread without being called a miss: providers count thinking blocks differently over time."""


class Cause(StrEnum):
    """What is known of a miss."""

    NEW = "new-conversation"
    MODEL = "model-changed"
    TOOLS = "tools-changed"
    SYSTEM = "system-changed"
    SWITCHES = "switches-changed"
    MESSAGE = "message-changed"
    REWOUND = "rewound"
    LAPSED = "ttl-lapsed"
    OUT_OF_REACH = "out-of-reach"
    TOO_EARLY = "too-early"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that read less than was cached."""

    exchange: str
    """Its id."""
    at: float
    cause: Cause
    says: str
    """The cause in a few words."""
    because: str
    """What is known of it, in whole sentences."""
    cached: int | None
    """Tokens that the request before had left in the cache, by the provider's usage; None where there was none."""
    read: int
    """Tokens of them that this one read, by the provider's usage."""


@dataclass(frozen=True, slots=True)
class _Finding:
    cause: Cause
    says: str
    because: str


def cached_tokens(exchange: Exchange) -> int | None:
    """How long a prefix this exchange left in the cache: what it read and wrote. None where the provider said nothing of it.

    OpenAI reports no writes: what it read is the part that is known.
    """
    usage = exchange.usage
    if usage is None or usage.cache_read_tokens is None:
        return None
    return usage.cache_read_tokens + (usage.cache_write_tokens or 0)


def last_ttl(exchange: Exchange) -> str:
    """Lifetime of the entry at its last marker; empty where it has none."""
    return exchange.markers_after[-1].ttl if exchange.markers_after else ""


def find_miss(before: Exchange, now: Exchange) -> Miss | None:
    """Whether `now` missed what `before`, the request before it of the same conversation and model, had left; and why."""
    cached, left = cached_tokens(before), cached_tokens(now)
    if not cached or left is None or now.usage is None:
        return None
    read = now.usage.cache_read_tokens or 0
    if read >= cached * (1 - _SLACK):
        return None
    found = _changed(before, now) or _lapsed(before, now) or _unreachable(before, now) or _unknown(before, now)
    return Miss(now.id, now.started_at, found.cause, found.says, found.because, cached, read)


def first_miss(now: Exchange, other_model: Exchange | None) -> Miss:
    """The first request of a conversation and model. `other_model` is an earlier request of that conversation to another one."""
    read = (now.usage.cache_read_tokens or 0) if now.usage else 0
    shares = (
        other_model is not None
        and now.prefix is not None
        and other_model.prefix is not None
        and shared_messages(other_model.prefix, now.prefix).same > 0
    )
    if shares and other_model is not None:
        because = f"The same messages went to {other_model.model} before; each model has a cache of its own."
        return Miss(now.id, now.started_at, Cause.MODEL, "model changed", because, None, read)
    because = "It is the first request of this conversation that was seen here."
    return Miss(now.id, now.started_at, Cause.NEW, "new conversation", because, None, read)


def _changed(before: Exchange, now: Exchange) -> _Finding | None:
    """The first part of the prefix that is not what it was."""
    old, new = before.prefix, now.prefix
    if old is None or new is None:
        return None
    if old.tools != new.tools:
        return _Finding(Cause.TOOLS, "tools changed", _tools_sentence(before, now))
    if old.system != new.system:
        return _Finding(Cause.SYSTEM, "system changed", "The system text is another one; tools stand before it and are the same.")
    shared = shared_messages(old, new)
    if shared.differ is not None:
        return _Finding(Cause.MESSAGE, *_message_words(shared.same, shared.differ, old.messages))
    if new.messages < old.messages and shared.same == new.messages:
        because = f"It holds the first {format.plural(new.messages, 'message')} of the {old.messages:,} that the request before it had."
        return _Finding(Cause.REWOUND, f"went back to message {new.messages:,}", because)
    if old.switches != new.switches:
        because = "A setting beside the messages is another one (tool_choice, thinking or their like), which makes messages unreadable."
        return _Finding(Cause.SWITCHES, "tool_choice or thinking changed", because)
    return None


def _tools_sentence(before: Exchange, now: Exchange) -> str:
    everything = "Tools stand first, so all of the prefix was written again."
    old, new = {tools.digest for tools in before.tools}, {tools.digest for tools in now.tools}
    if old and new and old != new:
        return f"The client sent another catalog. {everything}"
    form, other_form = _form(before), _form(now)
    if old == new and form != other_form:
        return f"The client sent the same tools; they went out {form} before, and {other_form} now. {everything}"
    return f"The tools that went out are not those of before. {everything}"


def _form(exchange: Exchange) -> str:
    """How its tools went out."""
    return ", ".join(f"shrunk ({tools.level.value})" if tools.applied else "as they came" for tools in exchange.tools)


def _message_words(same: int, differ: int, messages: int) -> tuple[str, str]:
    if differ == same + 1:
        return (
            f"message {differ:,} changed",
            f"Message {differ:,} of {messages:,} (/messages/{same}) is not what it was; those before it are.",
        )
    because = f"One of the messages {same + 1:,} to {differ:,} of {messages:,} is not what it was; the first {same:,} are."
    return f"one of messages {same + 1:,}-{differ:,} changed", because


def _lapsed(before: Exchange, now: Exchange) -> _Finding | None:
    ttl = last_ttl(before)
    pause = now.started_at - before.started_at
    if ttl not in LIFETIMES or pause <= LIFETIMES[ttl]:
        return None
    because = f"{format.duration(pause * 1000)} passed since the request before it, and its last marker lives {_words(ttl)}."
    return _Finding(Cause.LAPSED, f"{ttl} lapsed", f"{because} {_certainty(before, now)}")


def _certainty(before: Exchange, now: Exchange) -> str:
    if before.prefix is None or now.prefix is None:
        return "Whether the prefix changed as well is not known."
    if shared_messages(before.prefix, now.prefix).same < before.prefix.messages:
        return "No change of the prefix is known, but not all of it could be compared."
    return "The prefix is what it was."


def _unreachable(before: Exchange, now: Exchange) -> _Finding | None:
    """Nothing changed or lapsed, as far as is known: can the entry be found, and was it there in time?"""
    if before.ttfb_ms is not None and now.started_at < before.started_at + before.ttfb_ms / 1000:
        because = "It was sent before the response to the request before it began; until then an entry can't be read."
        return _Finding(Cause.TOO_EARLY, "sent too early", because)
    if not before.markers_after or not now.markers_after:
        return None
    there = before.markers_after[-1].block_index
    steps = [marker.block_index - there for marker in now.markers_after if marker.block_index >= there]
    if steps and min(steps) > REACH_BLOCKS:
        because = f"Its nearest marker stands {min(steps):,} blocks after the entry, and reads walk back {REACH_BLOCKS}."
        return _Finding(Cause.OUT_OF_REACH, "out of reach", because)
    return None


def _unknown(before: Exchange, now: Exchange) -> _Finding:
    pause = format.duration((now.started_at - before.started_at) * 1000)
    if before.prefix is None or now.prefix is None:
        known = f"Whether its prefix changed is not known; {pause} passed since the request before it."
    elif not before.markers_after:
        known = f"No change of the prefix is known. This provider states no lifetime; {pause} passed since the request before it."
    else:
        known = f"No change of the prefix is known, and {pause} is less than its marker lives. Providers may drop an entry early."
    return _Finding(Cause.UNKNOWN, "unknown", known)


def _words(ttl: str) -> str:
    return {"5m": "5 minutes", "1h": "an hour"}[ttl]
