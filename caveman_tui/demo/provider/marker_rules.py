"""The API's rules about cache markers, enforced with the API's errors.

Source: Anthropic prompt caching: order of lifetimes, the limit of four, what can be cached, automatic caching. How markers inside
tool results, documents and search results are treated is not documented; here they count, and keep the order, like any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from caveman_tui.demo.provider.errors import MarkerRuleBroken
from caveman_tui.demo.provider.prefix import Block, Json, blocks_of, nested_blocks

LIFETIMES = {"5m": 300.0, "1h": 3600.0}
"""Seconds that an entry lives, by `ttl`."""

LIMIT = 4


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in force."""

    path: str
    """Of the block that carries it; empty for the automatic one."""
    ttl: str
    position: int
    """Index into the request's blocks; for a nested one that of the block around it."""


def check_markers(request: Json, blocks: tuple[Block, ...] | None = None) -> tuple[Marker, ...]:
    """All markers of `request` in prefix order. Raises MarkerRuleBroken where the API answers 400.

    The error for a wrong order names the later marker, as the API's does.
    """
    blocks = blocks_of(request) if blocks is None else blocks
    markers = tuple(marker for position, block in enumerate(blocks) for marker in _explicit(position, block))
    if len(markers) > LIMIT:
        raise MarkerRuleBroken(f"A maximum of {LIMIT} blocks with cache_control may be provided. Found {len(markers)}.")
    markers += _automatic(request, blocks, markers)
    _check_order(markers)
    return markers


def _explicit(position: int, block: Block) -> Iterator[Marker]:
    for inner_path, inner in nested_blocks(block.content):
        path = f"{block.path}.{inner_path}"
        _refuse_on_citations(path, inner)
        if inner.get("cache_control") is not None:
            _refuse_ineligible(path, block.section, inner)
            yield Marker(path=path, ttl=_lifetime(path, inner["cache_control"]), position=position)
    _refuse_on_citations(block.path, block.content)
    if block.content.get("cache_control") is not None:
        _refuse_ineligible(block.path, block.section, block.content)
        yield Marker(path=block.path, ttl=_lifetime(block.path, block.content["cache_control"]), position=position)


def _lifetime(path: str, marker: object) -> str:
    prefix = f"{path}." if path else ""
    if not isinstance(marker, dict):
        raise MarkerRuleBroken(f"{prefix}cache_control: Input should be a valid dictionary")
    if marker.get("type") != "ephemeral":
        raise MarkerRuleBroken(f"{prefix}cache_control.type: Input should be 'ephemeral'")
    ttl = marker.get("ttl", "5m")
    if not isinstance(ttl, str) or ttl not in LIFETIMES:
        raise MarkerRuleBroken(f"{prefix}cache_control.ttl: Input should be '5m' or '1h'")
    return ttl


def _ineligible(section: str, block: Json) -> str:
    """Why a marker on `block` is refused, as the end of the API's message; empty where it is not."""
    if section == "tools":
        return ": cache_control cannot be set on a tool with defer_loading: true" if block.get("defer_loading") is True else ""
    kind = block.get("type")
    if kind in ("thinking", "redacted_thinking"):
        return f".{kind}.cache_control: Extra inputs are not permitted"
    if kind == "text" and not str(block.get("text") or "").strip():
        return ".text: cache_control cannot be set for empty text blocks"
    return ""


def _refuse_ineligible(path: str, section: str, block: Json) -> None:
    if why := _ineligible(section, block):
        raise MarkerRuleBroken(path + why)


def _refuse_on_citations(path: str, block: Json) -> None:
    citations = block.get("citations")
    for index, citation in enumerate(citations if isinstance(citations, list) else ()):
        if isinstance(citation, dict) and citation.get("cache_control") is not None:
            raise MarkerRuleBroken(f"{path}.citations.{index}.cache_control: Extra inputs are not permitted")


def _automatic(request: Json, blocks: tuple[Block, ...], explicit: tuple[Marker, ...]) -> tuple[Marker, ...]:
    """The marker beside `messages`, placed on the last eligible block; none where an equal one stands there already."""
    marker = request.get("cache_control")
    if marker is None:
        return ()
    ttl = _lifetime("", marker)
    if len(explicit) >= LIMIT:
        raise MarkerRuleBroken(f"cache_control: automatic caching needs a slot, but {LIMIT} blocks with cache_control were found.")
    for position in reversed(range(len(blocks))):
        block = blocks[position]
        if _ineligible(block.section, block.content):
            continue
        own = next((m for m in explicit if m.path == block.path), None)
        if own is None:
            return (Marker(path="", ttl=ttl, position=position),)
        if own.ttl != ttl:
            raise MarkerRuleBroken(f"cache_control.ttl: '{ttl}' conflicts with the ttl='{own.ttl}' cache_control of {own.path}")
        return ()
    return ()


def _check_order(markers: tuple[Marker, ...]) -> None:
    shorter_seen = False
    for marker in markers:
        if marker.ttl == "5m":
            shorter_seen = True
        elif shorter_seen:
            where = f"{marker.path}.cache_control" if marker.path else "cache_control"
            raise MarkerRuleBroken(
                f"{where}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
