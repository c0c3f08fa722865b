"""Prompt-cache markers of a request, in prefix order, and the API's rules about them."""

import msgspec


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """One `cache_control` of a request."""

    pointer: str
    """JSON pointer of the block that carries it (`/system/1`, `/messages/4/content/0`), empty for the automatic one."""
    section: str
    """`tools`, `system`, `messages` or `automatic`."""
    ttl: str
    """`5m`, `1h`, or what stands there; a bare marker is `5m`."""
    bare: bool = False
    """Whether the marker carries no `ttl`."""
    role: str = ""
    """Role of the message it sits in."""
    block_type: str = ""
    """Type of the block it sits on: `text`, `tool_result`, `tool_use`, `tool` …"""
    block_index: int = 0
    """Position of its block in the request's prefix, counted over tools, system and message blocks; reads walk back 20 of them."""
    nested: bool = False
    """Whether it sits inside a tool result, document or search result."""


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the API that the markers of a request break."""

    code: str
    """`ttl-order`, `too-many-markers`, `ineligible-block`, `automatic-conflict` …"""
    pointer: str
    """The marker the provider would name."""
    culprit: str
    """Pointer of the marker that is at fault, which may be an earlier one."""
    text: str
    """One sentence for a person."""
