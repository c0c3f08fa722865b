"""Shrinks tool definitions. What becomes of one depends on its bytes, its name and the level, and on nothing else.

A tool that a common writer wrote is edited as a tree and written again, any other in its text. Both ways give the same bytes.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_spelling import Spelling, spelling_of
from caveman_tui.core.json_tree import pointer_step
from caveman_tui.core.policy import Level
from caveman_tui.core.schema_references import Member
from caveman_tui.core.shrink.description import describe, is_short, shorten_all
from caveman_tui.core.shrink.model import ShrunkDescription, ShrunkTool
from caveman_tui.core.shrink.schema import Described, Survey, may_need_annotation
from caveman_tui.core.shrink.tool_text import RepeatedKey, ToolText

_REMEMBERED_TOOLS = 2048
_LARGEST_REMEMBERED = 1 << 14
"""Bytes of the largest tool that is remembered; with the number of tools this bounds the memory."""
_LARGEST_BATCH = 1 << 20
"""Bytes of the tools that are shrunk in one go, which bounds the memory that their descriptions take, taken apart."""

_remembered: dict[tuple[bytes, str, Level], bytes] = {}


class Definition(NamedTuple):
    """One tool definition as it stands in its document."""

    source: bytes
    tree: Any
    """What a parser made of `source`. May be changed here."""
    name: str


def shrink_tools(tools: list[Definition], level: Level) -> list[bytes]:
    """Return each definition without what `level` drops; the same bytes where nothing is gained or it had better be left alone.

    Left alone are a tool with a repeated key anywhere in it, one nested too deep, and one that spells a keyword with escapes.
    The answers are remembered, so that all callers get them at the cost of one.
    """
    shrunk = [_remembered.get((tool.source, tool.name, level)) for tool in tools]
    fresh = [index for index, after in enumerate(shrunk) if after is None]
    for batch in _batches(fresh, [len(tools[index].source) for index in fresh]):
        for index, after in zip(batch, _shrink([tools[index] for index in batch], level), strict=True):
            shrunk[index] = after
            _remember(tools[index], level, after)
    return [after for after in shrunk if after is not None]


def _remember(tool: Definition, level: Level, after: bytes) -> None:
    if len(tool.source) <= _LARGEST_REMEMBERED:
        if len(_remembered) >= _REMEMBERED_TOOLS:
            _remembered.clear()
        _remembered[tool.source, tool.name, level] = after


def _batches(indices: list[int], sizes: list[int]) -> Iterator[list[int]]:
    start = size = 0
    for at, length in enumerate(sizes):
        size += length
        if size > _LARGEST_BATCH:
            yield indices[start : at + 1]
            start, size = at + 1, 0
    if start < len(indices):
        yield indices[start:]


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
    left: dict[int, str] = {}
    explained: dict[Member, ShrunkDescription] = {}
    for own in (False, True):
        for member in text.members:
            holder, parameter = described.get(member, ({}, ""))
            if holder and (not parameter) is own:
                before = holder["description"]
                after, units = describe(before, survey.context(parameter, left), level)
                left[id(holder)] = after
                pointer = f"{pointers[id(holder)]}/description"
                explained[member] = ShrunkDescription(pointer=pointer, before=before, after=after, units=units)
    return tuple(explained[member] for member in text.members if member in explained)


class _Edit(NamedTuple):
    """What one tool may lose, and the way to write it then."""

    survey: Survey
    unsettled: list[Described]
    way: Spelling | ToolText


def _shrink(tools: list[Definition], level: Level) -> list[bytes]:
    """Shrink all of the tools, one step of all after the other: see `shorten_all`."""
    shrunk = [tool.source for tool in tools]
    surveys = [Survey(tool.tree, tool.name) for tool in tools]
    unsettled = list(map(_unsettled, surveys))
    touched = [index for index, survey in enumerate(surveys) if survey.removable or unsettled[index]]
    edits = [(index, edit) for index in touched if (edit := _edit_of(tools[index], surveys[index], unsettled[index]))]
    left: dict[int, str] = {}
    for own in (False, True):
        wanted = [(edit.survey, holder, name) for _, edit in edits for holder, name in edit.unsettled if (not name) is own]
        texts = shorten_all([(holder["description"], survey.context(name, left)) for survey, holder, name in wanted], level)
        left |= {id(holder): text for (_, holder, _), text in zip(wanted, texts, strict=True)}
    for index, edit in edits:
        shorter = [(holder, left[id(holder)]) for holder, _ in edit.unsettled if left[id(holder)] != holder["description"]]
        shrunk[index] = _edited(tools[index], edit, shorter)
    return shrunk


def _edit_of(tool: Definition, survey: Survey, unsettled: list[Described]) -> _Edit | None:
    """Return how to edit a tool, None where it had better be left alone."""
    spelling = spelling_of(tool.source, tool.tree)
    if spelling is not None:
        if may_need_annotation(tool.source):
            survey.keep_referenced()
        return _Edit(survey, unsettled, spelling)
    try:
        text = ToolText(tool.source)
    except (JsonRefused, RepeatedKey):
        return None
    survey = Survey(text.tree, tool.name)
    if b"\\u" in tool.source or may_need_annotation(tool.source):
        survey.keep_referenced()
    return _Edit(survey, _unsettled(survey), text)


def _edited(tool: Definition, edit: _Edit, shorter: list[tuple[dict[str, Any], str]]) -> bytes:
    """Return a tool without its annotations, and with those of the descriptions that take fewer bytes so."""
    removable, way = edit.survey.removable, edit.way
    if not isinstance(way, Spelling):
        return way.edited({(id(holder), key) for holder, key in removable}, {id(holder): text for holder, text in shorter})
    shorter = [(holder, text) for holder, text in shorter if way.size(text) < way.size(holder["description"])]
    if not removable and not shorter:
        return tool.source
    for holder, key in removable:
        del holder[key]
    for holder, text in shorter:
        holder["description"] = text
    return way.write(tool.tree)


def _unsettled(survey: Survey) -> list[Described]:
    return [(holder, parameter) for holder, parameter in survey.described if not _is_settled(holder["description"])]


def _is_settled(text: str) -> bool:
    """Whether a description is seen at once to stay as it is: short, and without white space that may be layout."""
    return (
        is_short(text)
        and "  " not in text
        and "\n" not in text
        and "\t" not in text
        and "\r" not in text
        and text[:1] != " "
        and text[-1:] != " "
    )


def _pointers(node: Any, pointer: str = "") -> dict[int, str]:
    """The JSON pointers of all objects and arrays from `node` on, by their `id`."""
    pointers = {id(node): pointer}
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list):
            pointers |= _pointers(value, f"{pointer}/{pointer_step(str(key))}")
    return pointers
