"""Transform 1: inside an agent loop, cache markers after the person's prompt live 5 minutes instead of an hour.

An hour's cache write costs 2 times the input price, a 5-minute one 1.25 times. Within a loop the next request reads the cache
seconds later, so only what a person may come back to after a pause wants the hour: the prompt itself. A headless client has no
such person. Only `cache_control` values change, never content.
"""

from typing import Any, Literal

import msgspec

from caveman_tui.core.cache_markers import (
    LONG,
    MAX_MARKERS,
    REACH_BLOCKS,
    SHORT,
    Marker,
    has_marker,
    ineligibility,
    prefix_blocks,
)
from caveman_tui.core.json_tree import Path, json_pointer
from caveman_tui.core.marker_edits import MarkerChange
from caveman_tui.core.message_walk import Walk, is_prompt, is_tool_result_turn, role
from caveman_tui.core.policy import ClientKind, ClientOverride
from caveman_tui.core.reasons import Reason, reason

HeadlessOverride = Literal["yes", "no", "auto"]


class LoopTtlPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What loop TTL wants of a request. `changes` are made all or none."""

    changes: tuple[MarkerChange, ...] = ()
    reasons: tuple[Reason, ...] = ()


def client_kind(user_agent: str | None, override: HeadlessOverride = "auto", clients: tuple[ClientOverride, ...] = ()) -> ClientKind:
    """Whether a person sits behind the client that names itself so.

    Claude Code and its SDKs put their entry point into the first parenthesised part of the User-Agent; the headless ones start with
    `sdk-`. What is said of one of `clients` counts before `override`, which is said of all. Raises ValueError for an unknown override.
    """
    if override not in ("yes", "no", "auto"):
        raise ValueError(f"headless is '{override}', but must be 'yes', 'no' or 'auto'")
    product = (user_agent or "").split(" ", 1)[0].partition("/")[0]
    said = next((client for client in clients if product and product.lower() == client.product.lower()), None)
    if said is not None and said.headless != "auto":
        return ClientKind(headless=said.headless == "yes", sign=f"{said.product} set to headless: {said.headless}", overridden=True)
    if said is None and override != "auto":
        return ClientKind(headless=override == "yes", sign=f"set to headless: {override}", overridden=True)
    if not user_agent:
        return ClientKind(sign="no User-Agent")
    opened = user_agent.partition("(")[2]
    inside, closed, _ = opened.partition(")")
    if not closed:
        return ClientKind(sign="a User-Agent without an entry point")
    for part in inside.split(","):
        if part.strip().startswith("sdk-"):
            return ClientKind(headless=True, sign=part.strip())
    return ClientKind(sign=inside.strip())


def plan_loop_ttl(request: Any, walk: Walk, client: ClientKind) -> LoopTtlPlan:
    """Decide on a parsed request, given the walk through it. Never raises for a malformed request."""
    markers = walk.markers
    if not isinstance(request, dict):
        return _unchanged("not-a-request")
    if client.headless:
        return _plan_headless(markers)
    messages = request.get("messages")
    if not isinstance(messages, list):
        return _unchanged("not-a-request")
    end = _last_turn(messages)
    if end < 0:
        return _unchanged("not-in-loop")
    if is_tool_result_turn(messages[end]):
        plan = _plan_loop(messages, walk)
    elif is_prompt(messages[end]):
        plan = _plan_prompt(request, messages, end, walk)
    else:
        return _unchanged("not-in-loop")
    if plan.changes and end < len(messages) - 1:
        skipped = reason("system-message-skipped", json_pointer(("messages", end + 1)))
        return msgspec.structs.replace(plan, reasons=(*plan.reasons, skipped))
    return plan


def _unchanged(code: str, pointer: str = "") -> LoopTtlPlan:
    return LoopTtlPlan(reasons=(reason(code, pointer),))


def _plan_headless(markers: tuple[Marker, ...]) -> LoopTtlPlan:
    shortened = [marker for marker in markers if marker.message >= 0]
    system = [marker for marker in markers if marker.section == "system" and not marker.nested]
    if len(system) >= 2:
        shortened.append(system[-1])
        shortened += [marker for marker in markers if marker.section == "automatic" and marker.lands_on == system[-1].pointer]
    changes = tuple(_shorten(marker, headless=True) for marker in shortened if marker.ttl == LONG)
    return LoopTtlPlan(changes=changes) if changes else _unchanged("no-hour-marker")


def _plan_loop(messages: list[Any], walk: Walk) -> LoopTtlPlan:
    """The request ends in tool results: anchor the prompt for an hour, shorten what comes after it."""
    markers, prompt = walk.markers, walk.last_prompt(len(messages))
    if prompt < 0:
        return _unchanged("no-prompt")
    shortened = tuple(_shorten(marker, headless=False) for marker in markers if marker.message > prompt and marker.ttl == LONG)
    if not shortened:
        return _unchanged("loop-without-hour")
    anchor = _plan_anchor(messages, prompt, markers)
    if isinstance(anchor, str):
        return _unchanged(anchor, json_pointer(("messages", prompt)))
    return LoopTtlPlan(changes=(*anchor.changes, *shortened), reasons=anchor.reasons)


def _plan_anchor(messages: list[Any], prompt: int, markers: tuple[Marker, ...]) -> LoopTtlPlan | str:
    """How the prompt gets its hour, or the code of why it can't."""
    content = messages[prompt].get("content")
    if isinstance(content, str):
        return "prompt-is-text"
    if not isinstance(content, list) or not content or not isinstance(content[-1], dict):
        return "prompt-without-block"
    path = _last_eligible(prompt, content)
    if path is None:
        return "no-eligible-block"
    reasons: tuple[Reason, ...] = ()
    if path[-1] != len(content) - 1:
        reasons = (reason("last-eligible-block", json_pointer(path)),)
    if has_marker(content[int(path[-1])]):
        control = content[int(path[-1])]["cache_control"]
        if not isinstance(control, dict):
            return "malformed-marker"
        if control.get("ttl") == LONG:
            return LoopTtlPlan(reasons=(*reasons, reason("anchor-kept", json_pointer(path))))
        return LoopTtlPlan(changes=(MarkerChange(path=path, ttl=LONG, reason="prompt-raised"),), reasons=reasons)
    if len(markers) < MAX_MARKERS:
        return LoopTtlPlan(changes=(MarkerChange(path=path, ttl=LONG, reason="prompt-anchored", adds=True),), reasons=reasons)
    for marker in markers:
        if marker.message == prompt and marker.ttl == LONG and marker.path and not marker.nested:
            return LoopTtlPlan(reasons=(reason("anchor-elsewhere", marker.pointer),))
    return "no-free-slot"


def _plan_prompt(request: dict[str, Any], messages: list[Any], end: int, walk: Walk) -> LoopTtlPlan:
    """The request ends in a person's prompt: nothing is shortened, but the prompt before a long loop may need its anchor again.

    Reads walk back 20 positions from a marker. After a longer loop the new prompt's marker cannot reach the hour's entry at the
    previous prompt, and after a pause the 5-minute entries between them have lapsed.
    """
    markers, unchanged = walk.markers, _unchanged("ends-in-prompt")
    first = end
    while first > 0 and (role(messages[first - 1]) == "system" or is_prompt(messages[first - 1])):
        first -= 1
    previous = walk.last_prompt(first)
    if previous < 0 or not any(is_tool_result_turn(message) for message in messages[previous + 1 : first]):
        return unchanged
    if not any(marker.message >= first and marker.ttl == LONG and not marker.nested for marker in markers):
        return unchanged
    content = messages[previous].get("content")
    path = _last_eligible(previous, content) if isinstance(content, list) else None
    if path is None or has_marker(content[int(path[-1])]):
        return unchanged
    anchor = next(block.block_index for block in prefix_blocks(request) if block.path == path)
    if any(0 <= marker.block_index - anchor <= REACH_BLOCKS for marker in markers if not marker.nested):
        return unchanged
    if len(markers) >= MAX_MARKERS:
        return LoopTtlPlan(reasons=(*unchanged.reasons, reason("no-slot-to-re-anchor", json_pointer(path))))
    return LoopTtlPlan(changes=(MarkerChange(path=path, ttl=LONG, reason="re-anchored", adds=True),), reasons=unchanged.reasons)


def _shorten(marker: Marker, *, headless: bool) -> MarkerChange:
    if marker.section == "automatic":
        code = "automatic-shortened"
    elif marker.nested:
        code = "nested-shortened"
    elif marker.section == "system":
        code = "headless-system-shortened"
    else:
        code = "headless-shortened" if headless else "loop-shortened"
    return MarkerChange(path=marker.path, ttl=SHORT, reason=code)


def _last_turn(messages: list[Any]) -> int:
    """The last message that is no system message, -1 where there is none."""
    return next((index for index in range(len(messages) - 1, -1, -1) if role(messages[index]) != "system"), -1)


def _last_eligible(message: int, content: list[Any]) -> Path | None:
    for index in range(len(content) - 1, -1, -1):
        if not ineligibility(content[index], "messages") and isinstance(content[index], dict):
            return ("messages", message, "content", index)
    return None
