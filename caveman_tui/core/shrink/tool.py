"""Shrinks one tool definition. Whatever it does depends on the definition's bytes, its name and the level, and on nothing else.

A tool that a common writer wrote is edited as a tree and written again, any other in its text. Both ways give the same bytes.
"""

from typing import Any

from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_spelling import spelling_of
from caveman_tui.core.json_tree import pointer_step
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.description import WHOLE_BYTES, describe, shorten
from caveman_tui.core.shrink.model import ShrunkDescription, ShrunkTool
from caveman_tui.core.shrink.schema import Described, Survey, may_need_annotation
from caveman_tui.core.shrink.tool_text import RepeatedKey, ToolText

_REMEMBERED_TOOLS = 2048
_LARGEST_REMEMBERED = 1 << 14
"""Bytes of the largest tool that is remembered; with the number of tools this bounds the memory."""

_remembered: dict[tuple[bytes, str, Level], bytes] = {}


def shrink_tool(tool: bytes, tree: Any, name: str, level: Level) -> bytes:
    """Return the definition `tool` without what `level` drops; the same bytes where nothing is gained or it had better be left alone.

    Left alone are a tool with a repeated key anywhere in it, one nested too deep, and one that spells a keyword with escapes. `tree` is
    what a parser made of `tool`, and may be changed here. The answer is remembered, so that all callers get it at the cost of one.
    """
    key = (tool, name, level)
    after = _remembered.get(key)
    if after is None:
        after = _shrink(tool, tree, name, level)
        if len(tool) <= _LARGEST_REMEMBERED:
            if len(_remembered) >= _REMEMBERED_TOOLS:
                _remembered.clear()
            _remembered[key] = after
    return after


def explain_tool(tool: ShrunkTool, level: Level) -> tuple[ShrunkDescription, ...]:
    """Return every description of `tool` as it was and as `level` leaves it, with the decision about each part of it.

    Empty for an excluded tool and for one that is left alone.
    """
    if tool.excluded:
        return ()
    try:
        text = ToolText(tool.before)
    except (JsonRefused, RepeatedKey):
        return ()
    survey = Survey(text.tree, tool.name)
    described = {(id(holder), "description"): (holder, parameter) for holder, parameter in survey.described}
    pointers = _pointers(text.tree)
    explained = []
    for member in text.members:
        if member in described:
            holder, parameter = described[member]
            before = holder["description"]
            after, units = describe(before, survey.context(parameter), level)
            pointer = f"{pointers[id(holder)]}/description"
            explained.append(ShrunkDescription(pointer=pointer, before=before, after=after, units=units))
    return tuple(explained)


def _shrink(tool: bytes, tree: dict[str, Any], name: str, level: Level) -> bytes:
    survey = Survey(tree, name)
    unsettled = _unsettled(survey)
    if not survey.removable and not unsettled:
        return tool
    spelling = spelling_of(tool, tree)
    if spelling is None:
        return _shrink_text(tool, name, level)
    if may_need_annotation(tool):
        survey.keep_referenced()
    shorter = [
        (holder, text)
        for holder, text in _shortened(unsettled, survey, level)
        if len(spelling.write(text)) < len(spelling.write(holder["description"]))
    ]
    if not survey.removable and not shorter:
        return tool
    for holder, key in survey.removable:
        del holder[key]
    for holder, text in shorter:
        holder["description"] = text
    return spelling.write(tree)


def _shrink_text(tool: bytes, name: str, level: Level) -> bytes:
    try:
        text = ToolText(tool)
    except (JsonRefused, RepeatedKey):
        return tool
    survey = Survey(text.tree, name)
    if b"\\u" in tool or may_need_annotation(tool):
        survey.keep_referenced()
    removed = {(id(holder), key) for holder, key in survey.removable}
    return text.edited(removed, {id(holder): after for holder, after in _shortened(_unsettled(survey), survey, level)})


def _shortened(described: list[Described], survey: Survey, level: Level) -> list[tuple[dict[str, Any], str]]:
    """Return those of the objects whose description `level` changes, with what it makes of it."""
    shortened = []
    for holder, parameter in described:
        text = holder["description"]
        after = shorten(text, survey.context(parameter), level)
        if after != text:
            shortened.append((holder, after))
    return shortened


def _unsettled(survey: Survey) -> list[Described]:
    return [(holder, parameter) for holder, parameter in survey.described if not _is_settled(holder["description"])]


def _is_settled(text: str) -> bool:
    """Whether a description is seen at once to stay as it is: short, and without white space that may be layout."""
    return (
        len(text) <= WHOLE_BYTES
        and text.isprintable()
        and "  " not in text
        and text.strip() == text
        and (text.isascii() or len(text.encode()) <= WHOLE_BYTES)
    )


def _pointers(node: Any, pointer: str = "") -> dict[int, str]:
    """The JSON pointers of all objects and arrays from `node` on, by their `id`."""
    pointers = {id(node): pointer}
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list):
            pointers |= _pointers(value, f"{pointer}/{pointer_step(str(key))}")
    return pointers
