"""Shrinks one tool definition. Whatever it does depends on the definition's bytes, its name and the level, and on nothing else."""

import functools
import json
import re

from caveman_tui.core.catalog import anatomy
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import json_pointer, parse_json
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.description import describe, shorten
from caveman_tui.core.shrink.model import ShrunkDescription, ShrunkTool
from caveman_tui.core.shrink.schema import WATCHED, RepeatedKey, Sighting, Survey
from caveman_tui.core.shrink.splicing import Splice, member_removals, respelled, spliced

_KEY = re.compile(rf'"({"|".join(map(re.escape, sorted(WATCHED)))})"[ \t\n\r]*:[ \t\n\r]*')
"""A watched member, unless a backslash stands before it: inside a string one does, and only a key is followed by a colon."""

_ESCAPED_NON_ASCII = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")

_scanner = json.JSONDecoder(parse_int=len, parse_float=len)

_REMEMBERED_TOOLS = 2048
_LARGEST_REMEMBERED = 1 << 14
"""Bytes of the largest tool that is remembered; with the number of tools this bounds the memory."""


def shrink_tool(tool: bytes, name: str, level: Level) -> bytes:
    """Return the definition `tool` without what `level` drops; the same bytes where nothing is gained or it had better be left alone.

    Left alone are a tool with a repeated key anywhere in it, one nested too deep, and one that spells a keyword with escapes. The
    answer is remembered, so that all callers get the same one at the cost of one.
    """
    return (_shrink_remembered if len(tool) <= _LARGEST_REMEMBERED else _shrink)(tool, name, level)


def explain_tool(tool: ShrunkTool, level: Level) -> tuple[ShrunkDescription, ...]:
    """Return every description of `tool` as it was and as `level` leaves it, with the decision about each part of it.

    Empty for an excluded tool and for one that is left alone.
    """
    if tool.excluded:
        return ()
    try:
        survey = _survey(tool.before, tool.name)
    except (JsonRefused, RepeatedKey):
        return ()
    explained = []
    for sighting in survey.sightings:
        found = sighting.description
        if found is not None:
            after, units = describe(found.text, survey.context(found.parameter), level)
            explained.append(ShrunkDescription(pointer=json_pointer(found.path), before=found.text, after=after, units=units))
    return tuple(explained)


def _survey(tool: bytes, name: str) -> Survey:
    tree = parse_json(tool)
    if not isinstance(tree, dict):
        raise JsonRefused("not-json")
    return Survey(tree, anatomy(tree), name)


def _shrink(tool: bytes, name: str, level: Level) -> bytes:
    try:
        survey = _survey(tool, name)
    except (JsonRefused, RepeatedKey):
        return tool
    text = tool.decode()
    places = [place for place in _KEY.finditer(text) if text[place.start() - 1] != "\\"]
    if [place[1] for place in places] != [sighting.key for sighting in survey.sightings]:
        return tool
    removed: list[tuple[int, int]] = []
    rewritten: list[Splice] = []
    for place, sighting in zip(places, survey.sightings, strict=True):
        if removed and place.start() < removed[-1][1]:
            continue
        if sighting.removable:
            removed.append((place.start(), _value_end(text, place.end())))
        elif sighting.description is not None:
            rewritten += _rewritten(text, place.end(), sighting, survey, level)
    if not removed and not rewritten:
        return tool
    return spliced(text, sorted(member_removals(text, removed) + rewritten)).encode()


_shrink_remembered = functools.lru_cache(maxsize=_REMEMBERED_TOOLS)(_shrink)


def _rewritten(text: str, start: int, sighting: Sighting, survey: Survey, level: Level) -> list[Splice]:
    found = sighting.description
    assert found is not None
    after = shorten(found.text, survey.context(found.parameter), level)
    if after == found.text:
        return []
    end = _value_end(text, start)
    ascii_only = text.isascii() and _ESCAPED_NON_ASCII.search(text) is not None
    literal = respelled(text[start + 1 : end - 1], after, ascii_only=ascii_only)
    return [Splice(start, end, literal)] if len(literal.encode()) < len(text[start:end].encode()) else []


def _value_end(text: str, start: int) -> int:
    end = _scanner.raw_decode(text, start)[1]
    return end
