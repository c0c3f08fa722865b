"""A request with markers and tools, and a rewriter whose edits are known beforehand."""

import hashlib

import msgspec

from caveman_tui.core.edits import Edit, EditKind, apply_edits
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.message_walk import Walk
from caveman_tui.core.policy import ClientKind, Dialect, Level, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.core.rewrite import Rewrite, Shrinker, ToolsChange
from caveman_tui.core.shrink.model import ShrunkCatalog, ShrunkTool

TOOLS = b'[ {"name":"read","description":"Reads a file. It is truly wonderful."} ]'
SHRUNK = b'[ {"name":"read","description":"Reads a file."} ]'
HANDLE = "ccr_" + hashlib.sha256(TOOLS).digest()[:16].hex()
_HEAD = b'{"model":"claude-x","tools":'
_MIDDLE = b',"metadata":{"user_id":"user_0_account__session_11111111-2222"},"messages":[{"role":"user","content":[{"type":"text","text":"'
_MARKER = b'","cache_control":{"type":"ephemeral","ttl":'
_END = b"}}]}]}"


def request(text: bytes = b"hi", *, tools: bytes = TOOLS, ttl: bytes = b'"1h"') -> bytes:
    return _HEAD + tools + _MIDDLE + text + _MARKER + ttl + _END


def edited(text: bytes = b"hi") -> bytes:
    return request(text, tools=SHRUNK, ttl=b'"5m"')


def shrink(data: bytes, *, level: Level, exclude: tuple[str, ...], after: bytes = SHRUNK) -> ShrunkCatalog:
    """The one catalog, shrunk."""
    tool = ShrunkTool(name="read", pointer="/0", before=data, after=after)
    return ShrunkCatalog(before=data, after=after, level=level, tools=(tool,))


def rewrite(
    request: bytes | JsonDocument,
    dialect: Dialect,
    client: ClientKind,
    policy: Policy,
    *,
    shrink: Shrinker = shrink,
    known: Walk | None = None,
) -> Rewrite:
    """Shortens the one marker and shrinks the one tool, each if the policy lets it."""
    body = request.body if isinstance(request, JsonDocument) else request
    edits: list[Edit] = []
    changes: list[ToolsChange] = []
    if TOOLS in body and policy.shrink is not ShrinkMode.OFF:
        start = body.index(TOOLS)
        span = {"pointer": "/tools", "start": start, "end": start + len(TOOLS)}
        applied = policy.shrink is ShrinkMode.APPLY and not policy.tools_refused
        catalog = shrink(TOOLS, level=policy.level, exclude=policy.excluded_tools)
        changes.append(ToolsChange(**span, catalog=catalog, applied=applied))  # type: ignore[arg-type]
        if applied:
            edits.append(Edit(**span, kind=EditKind.TOOLS, before=TOOLS, after=catalog.after, reason="tools-shrunk"))  # type: ignore[arg-type]
    if _MARKER + b'"1h"' in body and policy.loop_ttl is LoopTtlMode.APPLY and not policy.markers_refused:
        start = body.rindex(b'"1h"')
        edits.append(
            Edit(
                pointer="/messages/0/content/0/cache_control/ttl",
                start=start,
                end=start + 4,
                kind=EditKind.TTL,
                before=b'"1h"',
                after=b'"5m"',
                reason="loop-shortened",
            )
        )
    return Rewrite(body=apply_edits(body, tuple(edits)), edits=tuple(edits), tools=tuple(changes))


def with_measure(result: Rewrite, body: bytes | JsonDocument, dialect: Dialect, policy: Policy) -> Rewrite:
    """What shrinking would do, added after forwarding."""
    return msgspec.structs.replace(result, tools=rewrite(body, dialect, ClientKind(), policy).tools)
