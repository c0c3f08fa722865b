"""A believable morning of traffic, written by hand: what the screens are tested and pictured with."""

import hashlib
import json

import msgspec

from caveman_tui.core.cache_markers import Marker, Violation
from caveman_tui.core.policy import ClientKind, Level
from caveman_tui.core.prefix_digests import MessagesPoint, PrefixDigests
from caveman_tui.core.reasons import reason
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.control import (
    CatalogDetail,
    CatalogTool,
)
from caveman_tui.protocol.events import MarkerEdit, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange

START = 1_773_478_800.0
"""2026-03-14 09:00:00 UTC."""
NOW = START + 1_320
REFACTOR = "3f2a9c1e-70d4-4b8e-9a55-1c2d3e4f5a6b"
NIGHTLY = "7be01d44-2c1f-4d0e-8f3a-9d8c7b6a5f4e"
CODEX = "c0de4a17-5b6c-4d7e-8f90-a1b2c3d4e5f6"
EXPLORER = "b1c7e2d9"
OPUS, SONNET, HAIKU, GPT = "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5-20251001", "gpt-5.2-codex"
PERSON = ClientKind(headless=False, sign="(external, cli)")
MACHINE = ClientKind(headless=True, sign="sdk-cli")

_LONG = (
    "Search the code index for symbols, files or text. This powerful tool gives you lightning-fast access to everything in the "
    "repository and is loved by developers all over the world. Pass limit 0 for unlimited. Paths are relative to the repository "
    "root. Fails if the index is older than 24 hours. The result is a list of objects with path, line and snippet."
)
_LONG_AFTER = (
    "Search the code index for symbols, files or text. Pass limit 0 for unlimited. Paths are relative to the repository "
    "root. Fails if the index is older than 24 hours."
)


def _tool(name: str, description: str, **properties: object) -> dict[str, object]:
    return {
        "name": name,
        "description": description,
        "input_schema": {"type": "object", "properties": properties, "required": [*properties][:1]},
    }


def _pairs() -> list[tuple[str, dict[str, object], dict[str, object]]]:
    text = {"type": "string"}
    whole = {"type": "integer", "minimum": 0}
    rows: list[tuple[str, str, str, dict[str, object]]] = [
        ("mcp__index__search", _LONG, _LONG_AFTER, {"query": text, "limit": whole}),
        (
            "mcp__tracker__create_issue",
            "Create an issue in the tracker. "
            + "Our tracker is the best place to keep your issues. " * 9
            + "The title may have 120 characters.",
            "Create an issue in the tracker. The title may have 120 characters.",
            {"title": text, "body": text, "labels": {"type": "array", "items": text}},
        ),
        (
            "mcp__tracker__list_issues",
            "List issues, newest first. " + "Great for dashboards and stand-ups. " * 5 + "At most 100 a page.",
            "List issues, newest first. At most 100 a page.",
            {"page": whole, "state": {"enum": ["open", "closed", "all"]}},
        ),
        (
            "Bash",
            "Run a command in the shell. Times out after 120 s.",
            "Run a command in the shell. Times out after 120 s.",
            {"command": text},
        ),
        ("Read", "Read a file. Paths are absolute.", "Read a file. Paths are absolute.", {"path": text}),
        (
            "Edit",
            "Replace text in a file. The old text must be unique.",
            "Replace text in a file. The old text must be unique.",
            {"path": text, "old": text, "new": text},
        ),
        (
            "mcp__browser__open_page_and_wait_for_network_idle",
            "Open a page. " + "A modern browser experience for your agent. " * 6 + "Waits at most 30 seconds.",
            "Open a page. Waits at most 30 seconds.",
            {"url": text},
        ),
        ("mcp__calendar__查找日程", "查找日程。最多返回50条。", "查找日程。最多返回50条。", {"日期": text}),
    ]
    return [(name, _tool(name, before, **properties), _tool(name, after, **properties)) for name, before, after, properties in rows]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


TOOLS_BEFORE = _compact([before for _, before, _ in _pairs()]).encode()
TOOLS_AFTER = _compact([after for _, _, after in _pairs()]).encode()
DIGEST = hashlib.sha256(TOOLS_BEFORE).hexdigest()
HANDLE = "ccr_" + DIGEST[:32]


def catalog() -> CatalogDetail:
    """The one catalog of the session; counts are a quarter of the characters."""
    tools = tuple(
        CatalogTool(
            name=name,
            before=_compact(before),
            after=_compact(after),
            tokens_before=len(_compact(before)) // 4,
            tokens_after=len(_compact(after)) // 4,
            excluded=name == "Bash",
        )
        for name, before, after in _pairs()
    )
    return CatalogDetail(digest=DIGEST, level=Level.STANDARD, tools=tools, bytes_before=len(TOOLS_BEFORE), bytes_after=len(TOOLS_AFTER))


def other_catalog() -> CatalogDetail:
    """The catalog of another day: a tool gone, one new, one stricter, one with another text."""
    tools = []
    for tool in catalog().tools:
        parsed = json.loads(tool.before)
        if tool.name == "Read":
            continue
        if tool.name == "Edit":
            parsed["input_schema"]["required"] = ["path", "old", "new"]
            parsed["input_schema"]["properties"]["path"] = {"type": "string", "pattern": "^/"}
        if tool.name == "mcp__tracker__list_issues":
            parsed["description"] = "List issues, newest first. At most 50 a page."
        text = _compact(parsed)
        tools.append(CatalogTool(name=tool.name, before=text, after=text, tokens_before=len(text) // 4, tokens_after=len(text) // 4))
    view = _compact(_tool("View", "Show a file or an image.", path={"type": "string"}))
    tools.append(CatalogTool(name="View", before=view, after=view, tokens_before=len(view) // 4, tokens_after=len(view) // 4))
    size = sum(len(tool.before.encode()) + 1 for tool in tools) + 1
    return CatalogDetail(digest=OTHER_DIGEST, level=Level.STANDARD, tools=tuple(tools), bytes_before=size, bytes_after=size)


OTHER_DIGEST = "0ddc" * 16


def other_summary() -> ToolsSummary:
    """The tools of an exchange with the other catalog, of which nothing can be dropped."""
    detail = other_catalog()
    return msgspec.structs.replace(
        summary(applied=False),
        digest=OTHER_DIGEST,
        tools=len(detail.tools),
        bytes_before=detail.bytes_before,
        bytes_after=detail.bytes_after,
        tokens_before=detail.bytes_before // 4,
        tokens_after=detail.bytes_after // 4,
    )


def summary(*, applied: bool, level: Level = Level.STANDARD) -> ToolsSummary:
    """The tools of one exchange."""
    return ToolsSummary(
        pointer="/tools",
        digest=DIGEST,
        level=level,
        applied=applied,
        handle=HANDLE if applied else "",
        tools=len(_pairs()),
        bytes_before=len(TOOLS_BEFORE),
        bytes_after=len(TOOLS_AFTER),
        tokens_before=len(TOOLS_BEFORE) // 4,
        tokens_after=len(TOOLS_AFTER) // 4,
    )


def prefix(messages: int, *, changed_at: int = 10_000, name: str = "a") -> PrefixDigests:
    """The digests of a request with so many messages; from `changed_at` on they are others."""
    points = tuple(
        MessagesPoint(count=count, digest=f"{name}{count:03d}{'x' if count >= changed_at else ''}") for count in range(messages, 0, -1)
    )
    return PrefixDigests(tools="t1", system="s1", points=points)


def system(index: int, ttl: str = "1h") -> Marker:
    """A marker on a system block."""
    return Marker(pointer=f"/system/{index}", section="system", ttl=ttl, block_type="text", block_index=len(_pairs()) + index)


def message(number: int, block: int, ttl: str, kind: str = "tool_result") -> Marker:
    """A marker on a block of a message."""
    return Marker(
        pointer=f"/messages/{number}/content/{block}",
        section="messages",
        ttl=ttl,
        role="user",
        block_type=kind,
        block_index=len(_pairs()) + 3 + number,
    )


class Story:
    """Writes exchanges one after the other, as they would stand in a worker's memory."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.at = START

    def add(self, seconds: float, **given: object) -> Exchange:
        """One exchange, `seconds` after the one before."""
        self.at += seconds
        fields: dict[str, object] = {
            "id": f"5f0c-{len(self.exchanges) + 1}",
            "started_at": self.at,
            "method": "POST",
            "path": "/v1/messages?beta=true",
            "provider": "anthropic",
            "dialect": "anthropic-messages",
            "client": "claude-cli/2.1.197",
            "client_kind": PERSON,
            "state": "done",
            "status": 200,
        }
        exchange = Exchange(**{**fields, **given})  # type: ignore[arg-type]
        self.exchanges.append(exchange)
        return exchange

    def step(self, seconds: float, number: int, total: int, share: float, *, edit: str, applied: bool = True, **given: object) -> Exchange:
        """A request of an agent loop; `edit` is `loop`, `headless` or empty."""
        prompt, tail = message(2, 1, "1h", "text"), message(number, 0, "1h")
        before = (system(1), system(2), tail)
        after: tuple[Marker, ...] = before
        edits: tuple[MarkerEdit, ...] = ()
        reasons = (reason("ends-in-prompt"),) if not edit else ()
        if edit == "loop":
            short = msgspec.structs.replace(tail, ttl="5m")
            after = (system(1), system(2), prompt, short)
            edits = (
                MarkerEdit(
                    pointer="/messages/2/content/1/cache_control",
                    kind="marker",
                    before="",
                    after='{"type":"ephemeral","ttl":"1h"}',
                    reason="prompt-anchored",
                ),
                MarkerEdit(pointer=f"{tail.pointer}/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),
            )
            reasons = (
                reason("prompt-anchored", "/messages/2/content/1"),
                reason("loop-shortened", tail.pointer),
                reason("client-interactive"),
            )
        if edit == "headless":
            before = (system(1), tail)
            after = (system(1), msgspec.structs.replace(tail, ttl="5m"))
            edits = (
                MarkerEdit(
                    pointer=f"{tail.pointer}/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="headless-shortened"
                ),
            )
            reasons = (reason("headless-shortened", tail.pointer), reason("client-headless"))
        read = int(total * share)
        written = total - read - 4
        hour = 0 if edit else written
        usage = Usage(
            input_tokens=4,
            output_tokens=180 + 13 * number,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cache_write_5m_tokens=written - hour,
            cache_write_1h_tokens=hour,
        )
        size = total * 4
        known: dict[str, object] = {
            "conversation": REFACTOR,
            "session": REFACTOR,
            "model": OPUS,
            "request_bytes": size,
            "bytes_after": size - (len(TOOLS_BEFORE) - len(TOOLS_AFTER) if applied else 0),
            "markers_before": before,
            "markers_after": after,
            "marker_edits": edits,
            "tools": (summary(applied=applied),),
            "prefix": prefix(number + 1),
            "reasons": (*reasons, reason("tools-shrunk" if applied else "tools-measured")),
            "ttfb_ms": 640.0 + 37 * number,
            "duration_ms": 2100.0 + 410 * number,
            "response_bytes": 5200 + 90 * number,
            "usage": usage,
        }
        return self.add(seconds, **{**known, **given})


def story() -> Story:
    """The whole morning: 26 exchanges of three conversations, the last one still open."""
    s = Story()
    s.add(3, method="HEAD", path="/", dialect="", client="Bun/1.3.3", ttfb_ms=41.0, duration_ms=44.0, request_bytes=0)
    s.add(1, dialect="", method="GET", path="/v1/models?limit=1000", ttfb_ms=120.0, duration_ms=131.0, request_bytes=0, response_bytes=8123)
    s.step(4, 2, 21_400, 0.0, edit="")
    for index, seconds in enumerate((7, 6, 9, 5, 11), start=2):
        s.step(seconds, 2 * index, 21_400 + 2_900 * index, 0.93 - 0.01 * (index % 3), edit="loop")
    s.add(
        1,
        path="/v1/messages/count_tokens?beta=true",
        dialect="anthropic-count-tokens",
        model=OPUS,
        conversation=REFACTOR,
        ttfb_ms=180.0,
        duration_ms=182.0,
        request_bytes=140_200,
    )
    haiku = {"agent": EXPLORER, "model": HAIKU, "parent_agent": ""}
    s.step(2, 2, 9_800, 0.0, edit="", **haiku)
    s.step(4, 4, 11_900, 0.81, edit="loop", **haiku)
    s.step(3, 6, 13_100, 0.9, edit="loop", **haiku)
    s.step(8, 14, 47_700, 0.95, edit="loop")
    nightly = {"conversation": NIGHTLY, "session": NIGHTLY, "model": SONNET, "client_kind": MACHINE, "client": "claude-cli/2.1.197"}
    s.step(20, 2, 18_200, 0.0, edit="headless", applied=False, **nightly)
    s.step(6, 4, 20_900, 0.86, edit="headless", applied=False, **nightly)
    s.add(
        5,
        **nightly,
        status=529,
        state="provider-error",
        note="overloaded_error: Overloaded",
        request_bytes=83_900,
        markers_before=(system(1), message(6, 0, "1h")),
        markers_after=(system(1), message(6, 0, "5m")),
        ttfb_ms=2040.0,
        duration_ms=2044.0,
        tools=(summary(applied=False),),
    )
    s.step(3, 6, 22_800, 0.88, edit="headless", applied=False, **nightly)
    codex = {"conversation": CODEX, "model": GPT, "provider": "openai", "dialect": "openai-responses", "client": "codex_cli_rs/0.171.0"}
    s.add(
        30,
        **codex,
        path="/v1/responses",
        ttfb_ms=930.0,
        duration_ms=6400.0,
        request_bytes=96_100,
        usage=Usage(input_tokens=9_312, output_tokens=611, cache_read_tokens=14_080),
        tools=(summary(applied=False),),
        reasons=(reason("no-cache-control"), reason("tools-measured")),
    )
    s.add(
        9,
        **codex,
        path="/v1/responses",
        ttfb_ms=610.0,
        duration_ms=15_400.0,
        request_bytes=104_400,
        state="cancelled",
        note="the client hung up",
        usage=Usage(input_tokens=2_100, output_tokens=None, cache_read_tokens=22_272),
        tools=(summary(applied=False),),
    )
    s.step(640, 22, 52_300, 0.31, edit="", note="25 min pause: 36.1k tokens written again")
    for index, seconds in enumerate((8, 6), start=12):
        s.step(seconds, 2 * index, 50_000 + 900 * index, 0.96, edit="loop")
    bare = Marker(pointer="/tools/5", section="tools", ttl="5m", bare=True, block_type="tool", block_index=5)
    late = message(26, 0, "1h")
    s.add(
        12,
        conversation="d16e57f00d",
        model=SONNET,
        client="my-agent/0.3",
        status=400,
        state="provider-error",
        request_bytes=61_000,
        markers_before=(bare, late),
        markers_after=(bare, late),
        violations=(
            Violation(
                code="ttl-order",
                pointer=late.pointer,
                culprit=bare.pointer,
                text="A 1h marker stands after a 5m one; the longer lifetime has to come first.",
            ),
        ),
        reasons=(reason("request-illegal"),),
        ttfb_ms=210.0,
        duration_ms=214.0,
        tools=(summary(applied=False),),
    )
    s.step(9, 28, 63_100, 0.97, edit="loop", warnings=("store-slow",), applied=False, note="the store took 260 ms; tools went out unshrunk")
    s.step(7, 30, 64_800, 0.97, edit="loop")
    open_one = s.step(5, 32, 66_000, 0.97, edit="loop")
    open_one.state, open_one.usage, open_one.duration_ms, open_one.response_bytes = "responding", None, None, 1800
    return s


def story_of_misses() -> Story:
    """The morning, and after it requests that miss the cache for one reason each."""
    s = story()
    s.exchanges.pop()
    nightly = {"conversation": NIGHTLY, "session": NIGHTLY, "model": SONNET, "client_kind": MACHINE}
    s.step(20, 8, 23_900, 0.31, edit="headless", applied=False, prefix=prefix(9, changed_at=3), **nightly)
    writer = {"conversation": "a41d7c02-5b1e-4a77-9c2e-0d6f1b2a3c4d", "model": OPUS}
    s.step(30, 2, 31_000, 0.0, edit="", prefix=prefix(3, name="b"), **writer)
    s.step(9, 4, 33_500, 0.0, edit="loop", applied=False, prefix=msgspec.structs.replace(prefix(5, name="b"), tools="t2"), **writer)
    return s


def story_of_catalogs() -> Story:
    """The morning, and after it a conversation with another catalog."""
    s = story()
    s.step(40, 2, 30_100, 0.0, edit="", conversation="e5a0c1d2-77aa-4c0e-8b51-6f0e1d2c3b4a", tools=(other_summary(),))
    return s
