"""What a person, a conversation and a client say about a request, as values."""

from enum import StrEnum
from typing import Literal

import msgspec


class Dialect(StrEnum):
    """Which API a request body speaks."""

    ANTHROPIC_MESSAGES = "anthropic-messages"
    ANTHROPIC_COUNT_TOKENS = "anthropic-count-tokens"
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"


class LoopTtlMode(StrEnum):
    """Policy of the loop TTL transform."""

    APPLY = "apply"
    OFF = "off"


class ShrinkMode(StrEnum):
    """Policy of tool shrinking. `measure` says what it would save, changes and stores nothing."""

    OFF = "off"
    MEASURE = "measure"
    APPLY = "apply"


class Level(StrEnum):
    """How much text shrinking may drop."""

    CAREFUL = "careful"
    STANDARD = "standard"
    TERSE = "terse"


class ClientOverride(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of one client."""

    product: str
    """Name of the User-Agent's first product, without its version: `claude-cli`. Capitals don't matter."""
    headless: Literal["auto", "yes", "no"]
    """`auto`: by its User-Agent, even where something else is set for all clients."""


class ClientKind(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a person sits behind the client, and what said so."""

    headless: bool = False
    sign: str = ""
    """What decided, for the screen: the part of the User-Agent, or the override that was given."""
    overridden: bool = False
    """Whether a setting decided, and not the User-Agent."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `rewrite` needs to know beside the bytes and the client kind.

    The two latches record that the provider refused an edit in this conversation before; what worked is kept.
    """

    loop_ttl: LoopTtlMode = LoopTtlMode.APPLY
    shrink: ShrinkMode = ShrinkMode.MEASURE
    level: Level = Level.STANDARD
    excluded_tools: tuple[str, ...] = ()
    """Names of tools that are never shrunk."""
    shrinker: str = ""
    """Version of the shrinker whose forms are wanted; empty for the one in use."""
    markers_refused: bool = False
    tools_refused: bool = False
