"""The one entry the worker calls: request bytes, client kind and policy in; edits and reasons out."""

from bisect import bisect_right
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from caveman_tui.core.cache_markers import LONG, Marker, Violation, find_violations
from caveman_tui.core.edits import Edit, EditKind, apply_edits
from caveman_tui.core.json_spans import JsonDocument, JsonRefused, Span, parse_value
from caveman_tui.core.json_tree import Path, json_pointer
from caveman_tui.core.loop_ttl import plan_loop_ttl
from caveman_tui.core.marker_edits import RepeatedKey, marker_edit
from caveman_tui.core.message_walk import Walk, walk
from caveman_tui.core.policy import ClientKind, Dialect, Level, LoopTtlMode, Policy, ShrinkMode
from caveman_tui.core.reasons import Reason, reason
from caveman_tui.core.shrink.model import ShrunkCatalog

__all__ = [
    "MARKER_EDITS",
    "TOOLS_EDITS",
    "Reason",
    "Rewrite",
    "Shrinker",
    "ToolsChange",
    "rewrite",
    "tools_paths",
    "value_at",
    "with_measure",
    "without",
]

MARKER_EDITS = frozenset({EditKind.TTL, EditKind.MARKER})
TOOLS_EDITS = frozenset({EditKind.TOOLS})


class ToolsChange(msgspec.Struct, frozen=True, kw_only=True):
    """One tools array of a request, with its shrunk form (made or only measured)."""

    pointer: str
    start: int
    end: int
    """Span of the value in the body as it came."""
    catalog: ShrunkCatalog
    applied: bool
    """False where the policy only measures, or where the conversation's latch says no."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one request body. `body` equals the input outside the spans of `edits`."""

    body: bytes
    edits: tuple[Edit, ...] = ()
    reasons: tuple[Reason, ...] = ()
    markers_before: tuple[Marker, ...] = ()
    markers_after: tuple[Marker, ...] = ()
    violations_before: tuple[Violation, ...] = ()
    """Rules that the request broke as it came: the provider will refuse it, and the screen names the culprit."""
    tools: tuple[ToolsChange, ...] = ()
    warning: str = ""
    """Set where our own result was discarded and the original is sent."""
    value: Any = None
    """`body` parsed; None where it could not be, or after edits were undone."""
    walk: Walk | None = None
    """Through the request as it came."""

    @property
    def shortened(self) -> int:
        """How many markers went from 1h to 5m."""
        return sum(edit.kind is EditKind.TTL and edit.after == b'"5m"' for edit in self.edits)


class Shrinker(Protocol):
    """`core.shrink.shrink_catalog`, or one that remembers its results."""

    def __call__(self, data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
        """Shrink a bare array of tool definitions."""


def rewrite(
    body: bytes | JsonDocument,
    dialect: Dialect,
    client: ClientKind,
    policy: Policy,
    *,
    shrink: Shrinker | None = None,
    known: Walk | None = None,
) -> Rewrite:
    """Edit a request, parsed already or not, as the policy says. A pure function: same arguments, same result, whatever is `known` of
    an earlier request.

    Never raises. What can't be read, or fails our own checks, goes out as it came, and reasons or warning say why. `shrink` is
    `core.shrink.shrink_catalog` unless given; it is not called while shrinking is off.
    """
    came = body.body if isinstance(body, JsonDocument) else body
    try:
        document = body if isinstance(body, JsonDocument) else JsonDocument(body)
        return _rewrite(document, dialect, client, policy, shrink, known)
    except JsonRefused as refused:
        return Rewrite(body=came, reasons=(reason(refused.code),))
    except Exception as error:  # whatever fails in here must not cost the request
        warning = f"Rewriting failed ({type(error).__name__}); the request went out as it came. Please report it."
        return Rewrite(body=came, reasons=(reason("internal-error"),), warning=warning)


def without(result: Rewrite, body: bytes, kinds: frozenset[EditKind], code: str) -> Rewrite:
    """The same rewrite of `body` with the edits of these kinds undone, for `code` (a reason: `tools-undone`, `markers-undone`)."""
    undone = {(edit.reason, edit.pointer) for edit in result.edits if edit.kind in kinds}
    if not undone:
        return result
    edits = tuple(edit for edit in result.edits if edit.kind not in kinds)
    tools = result.tools
    if EditKind.TOOLS in kinds:
        tools = tuple(msgspec.structs.replace(change, applied=False) for change in tools)
    kept = tuple(told for told in result.reasons if (told.code, told.pointer) not in undone)
    return msgspec.structs.replace(
        result,
        body=apply_edits(body, edits),
        edits=edits,
        reasons=(*kept, reason(code)),
        markers_after=result.markers_before if kinds & MARKER_EDITS else result.markers_after,
        tools=tools,
        value=None,
    )


def with_measure(
    result: Rewrite, body: bytes | JsonDocument, dialect: Dialect, policy: Policy, *, shrink: Shrinker | None = None
) -> Rewrite:
    """The same rewrite of `body` with `tools` filled in: what shrinking at the policy's level would save. Nothing is applied.

    For after forwarding, where `rewrite` was called with shrinking off because the policy only measures: a catalog's first shrinking
    takes up to a second, which no request should wait for. Never raises.
    """
    if result.tools:
        return result
    tools_only = msgspec.structs.replace(policy, shrink=ShrinkMode.MEASURE, loop_ttl=LoopTtlMode.OFF)
    measured = rewrite(body, dialect, ClientKind(), tools_only, shrink=shrink)
    added = tuple(told for told in measured.reasons if told.code.startswith("tools-"))
    warning = " ".join(filter(None, (result.warning, measured.warning)))
    return msgspec.structs.replace(result, tools=measured.tools, reasons=(*result.reasons, *added), warning=warning)


def _rewrite(
    document: JsonDocument, dialect: Dialect, client: ClientKind, policy: Policy, shrink: Shrinker | None, known: Walk | None
) -> Rewrite:
    draft = _Draft(document, dialect, known)
    if left_alone := _why_markers_stay(dialect, policy):
        draft.reasons.append(reason(left_alone))
    else:
        draft.change_markers(client)
    if policy.shrink is not ShrinkMode.OFF:
        draft.change_tools(policy, shrink or _default_shrinker())
    return draft.finish()


class _Draft:
    """A rewrite in the making."""

    def __init__(self, document: JsonDocument, dialect: Dialect, known: Walk | None) -> None:
        self.reasons: list[Reason] = []
        self._document = document
        self._dialect = dialect
        self._walk = walk(document.value if _has_markers(dialect) else None, known)
        self._before = self._walk.markers
        self._violations = find_violations(self._before)
        self._marker_edits: tuple[Edit, ...] = ()
        self._tools_edits: tuple[Edit, ...] = ()
        self._tools: list[ToolsChange] = []
        self._warnings: list[str] = []

    def change_markers(self, client: ClientKind) -> None:
        """Loop TTL. All of its changes are made, or none. Without an hour there is nothing to do."""
        if isinstance(self._document.value, dict) and not any(marker.ttl == LONG for marker in self._before):
            self.reasons.append(reason("no-hour-marker"))
            return
        self.reasons.append(_client_reason(client))
        plan = plan_loop_ttl(self._document.value, self._walk, client)
        self.reasons.extend(plan.reasons)
        try:
            self._marker_edits = tuple(marker_edit(self._document, change) for change in plan.changes)
        except RepeatedKey as repeated:
            self.reasons.append(reason("duplicate-key", repeated.pointer))
            return
        for change in plan.changes:
            control = value_at(self._document.value, change.path).get("cache_control")
            if change.adds and "cache_control" in value_at(self._document.value, change.path):
                self.reasons.append(reason("null-marker-replaced", json_pointer(change.path)))
            if isinstance(control, dict) and control.keys() - {"type", "ttl"}:
                self.reasons.append(reason("marker-keys-kept", json_pointer(change.path)))

    def change_tools(self, policy: Policy, shrink: Shrinker) -> None:
        """Shrink, or measure, every tools array that the request carries."""
        edits: list[Edit] = []
        for path in tools_paths(self._document.value, self._dialect):
            pointer = json_pointer(path)
            place = self._document.locate(path)
            if place.repeats:
                self.reasons.append(reason("duplicate-key", pointer))
                continue
            before = self._document.body[place.span.start : place.span.end]
            try:
                catalog = shrink(before, level=policy.level, exclude=policy.excluded_tools)
                if catalog.before != before:
                    raise ValueError("another catalog was shrunk")
                kept = not catalog.changed or _profile_kept(before, catalog.after)
            except Exception as error:  # a shrinker that fails costs the saving, not the request
                self.reasons.append(reason("tools-failed", pointer))
                self._warnings.append(f"Shrinking the tools failed ({type(error).__name__}); they went out as they came. Please report it.")
                continue
            if not kept:
                self.reasons.append(reason("tools-profile-changed", pointer))
                self._warnings.append("Shrinking would have changed what a tool is; the tools went out as they came. Please report it.")
                continue
            code = _tools_code(policy, catalog)
            applied = code == "tools-shrunk"
            self._tools.append(ToolsChange(pointer=pointer, start=place.span.start, end=place.span.end, catalog=catalog, applied=applied))
            if applied:
                edits.append(
                    Edit(
                        pointer=pointer,
                        start=place.span.start,
                        end=place.span.end,
                        kind=EditKind.TOOLS,
                        before=catalog.before,
                        after=catalog.after,
                        reason=code,
                    )
                )
            else:
                self.reasons.append(reason(code, pointer, catalog.note))
        self._tools_edits = tuple(edits)

    def finish(self) -> Rewrite:
        """Make the edits that pass the API's rules, and say what was made."""
        body, value, after = self._edited()
        if self._tools_edits and _of_tools(after) != _of_tools(self._before):
            self.reasons.append(reason("tools-markers-changed"))
            self._warnings.append(
                "Shrinking would have changed a cache marker of a tool; the tools went out as they came. Please report it."
            )
            self._tools = [msgspec.structs.replace(change, applied=False) for change in self._tools]
            self._tools_edits = ()
            body, value, after = self._edited()
        if self._marker_edits and (broken := find_violations(after)):
            self.reasons.append(reason("result-illegal", broken[0].culprit, broken[0].text))
            if not self._violations:
                self._warnings.append(
                    f"The edited markers would break a rule: {broken[0].text} They went out as they came. Please report it."
                )
            self._marker_edits = ()
            body, value, after = self._edited()
        edits = tuple(sorted((*self._marker_edits, *self._tools_edits), key=lambda edit: (edit.start, edit.end)))
        self.reasons.extend(reason(edit.reason, edit.pointer) for edit in edits)
        if not self._marker_edits:
            self.reasons.extend(reason("request-illegal", broken.culprit, broken.text) for broken in self._violations)
        elif self._violations:
            self.reasons.append(reason("illegal-made-legal", self._violations[0].culprit, self._violations[0].text))
        return Rewrite(
            body=body,
            edits=edits,
            reasons=tuple(self.reasons),
            markers_before=self._before,
            markers_after=after,
            violations_before=self._violations,
            tools=tuple(self._tools),
            warning=" ".join(self._warnings),
            value=value,
            walk=self._walk,
        )

    def _edited(self) -> tuple[bytes, Any, tuple[Marker, ...]]:
        """The body with all edits that still stand, its value and its markers, read again from the result."""
        edits = (*self._marker_edits, *self._tools_edits)
        body = apply_edits(self._document.body, edits)
        if not edits:
            return body, self._document.value, self._before
        value = _value_after(self._document, edits, body)
        return body, value, walk(value, self._walk).markers if _has_markers(self._dialect) else ()


def _value_after(document: JsonDocument, edits: tuple[Edit, ...], body: bytes) -> Any:
    """The value of `body`, which is the document with these edits made.

    Only the members of the root, or items of theirs, that edits lie in are parsed again: all other bytes are the same, and parsing
    is most of what a large body costs.
    """
    root = document.value
    members = document.members_of(document.root) if isinstance(root, dict) else None
    if members is None or members.repeats:
        return parse_value(body)
    value = dict(root)
    parts: dict[Span, tuple[str, int | None]] = {}
    for edit in edits:
        key = next((key for key, span in members.spans.items() if _lies_in(edit, span)), None)
        if key is None:
            return parse_value(body)
        span, index = members.spans[key], None
        if isinstance(root[key], list) and (edit.start, edit.end) != span:
            items = document.items_of(span)
            # The last item that begins no later: insertions right before an item belong to none.
            at = bisect_right(items, edit.start, key=lambda item: item.start) - 1
            if at >= 0 and _lies_in(edit, items[at]):
                span, index = items[at], at
        parts[span] = (key, index)
    whole = {(edit.start, edit.end): edit.after for edit in edits}
    for span, (key, index) in parts.items():
        after = whole.get(span)
        part = parse_value(body[_moved(span.start, edits) : _moved(span.end, edits)]) if after is None else _parsed(after)
        if index is None:
            value[key] = part
        else:
            value[key] = [*value[key][:index], part, *value[key][index + 1 :]]
    return value


@lru_cache(maxsize=8)
def _parsed(text: bytes) -> Any:
    """A whole value that an edit put. Remembered, for a conversation sends the same tools with every request."""
    return parse_value(text)


def _lies_in(edit: Edit, span: Span) -> bool:
    """Whether an edit changes what stands in the span; what is inserted right before it does not."""
    return span.start <= edit.start and span.start < edit.end <= span.end


def _moved(position: int, edits: tuple[Edit, ...]) -> int:
    """Where a position of the body as it came, inside no edit, is after them."""
    return position + sum(len(edit.after) - (edit.end - edit.start) for edit in edits if edit.end <= position)


def _why_markers_stay(dialect: Dialect, policy: Policy) -> str:
    """The code of why no marker is even looked at, empty where they are."""
    if dialect is Dialect.ANTHROPIC_COUNT_TOKENS:
        return "count-tokens"
    if not _has_markers(dialect):
        return "no-cache-control"
    if policy.loop_ttl is LoopTtlMode.OFF:
        return "loop-ttl-off"
    return "markers-refused" if policy.markers_refused else ""


def _has_markers(dialect: Dialect) -> bool:
    return dialect in (Dialect.ANTHROPIC_MESSAGES, Dialect.ANTHROPIC_COUNT_TOKENS)


def _client_reason(client: ClientKind) -> Reason:
    if client.overridden:
        return reason("client-overridden", detail=f"It is {client.sign}.")
    return reason("client-headless" if client.headless else "client-interactive", detail=f"The sign: {client.sign}." if client.sign else "")


def tools_paths(request: Any, dialect: Dialect) -> list[Path]:
    """Where a parsed request carries tools: `tools`, and in Responses also the items by which Codex sends them."""
    if not isinstance(request, dict):
        return []
    found: list[tuple[Path, Any]] = [(("tools",), request.get("tools"))]
    items = request.get("input")
    if dialect is Dialect.OPENAI_RESPONSES and isinstance(items, list):
        for number, item in enumerate(items):
            if isinstance(item, dict) and item.get("type") == "additional_tools":
                found.append((("input", number, "tools"), item.get("tools")))
    return [path for path, tools in found if isinstance(tools, list) and tools]


def _tools_code(policy: Policy, catalog: ShrunkCatalog) -> str:
    if not catalog.changed:
        return "tools-unchanged"
    if policy.shrink is not ShrinkMode.APPLY:
        return "tools-measured"
    return "tools-refused" if policy.tools_refused else "tools-shrunk"


def _of_tools(markers: tuple[Marker, ...]) -> list[Marker]:
    return [marker for marker in markers if marker.section == "tools"]


def value_at(value: Any, path: Path) -> Any:
    """What stands there in a parsed request. Raises KeyError or IndexError."""
    for step in path:
        value = value[step]
    return value


@lru_cache(maxsize=32)
def _profile_kept(before: bytes, after: bytes) -> bool:
    """Whether every tool is still the same tool. Remembered, for a conversation sends the same tools with every request."""
    from caveman_tui.core.selection_profile import selection_profile

    return selection_profile(before) == selection_profile(after)


def _default_shrinker() -> Shrinker:
    from caveman_tui.core.shrink import shrink_catalog

    return shrink_catalog
