"""Shrinks every tool of a document, wherever in it they stand, and nothing else of it."""

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.json_spans import JsonDocument, JsonRefused
from caveman_tui.core.json_tree import parse_json
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ShrunkCatalog, ShrunkTool
from caveman_tui.core.shrink.tool import Definition, shrink_tools

NOTES = {
    "byte-order-mark": "the document starts with a byte order mark",
    "invalid-utf-8": "the document is not UTF-8",
    "not-json": "the document is not exactly one JSON value",
    "too-deep": "the document nests too deep",
}
"""Why a document is left alone, by the code of JsonRefused."""

_REMEMBERED_CATALOGS = 8
_LARGEST_REMEMBERED = 1 << 21
"""Bytes of the largest document that is remembered; with the number of documents this bounds the memory."""


def shrink_catalog(data: bytes, *, level: Level = Level.STANDARD, exclude: tuple[str, ...] = ()) -> ShrunkCatalog:
    """Return the document `data` with its tools shrunk to `level`. Tools named in `exclude` stay as they are.

    `after` is `before`, with a note, where the document is not exactly one JSON value in UTF-8 (NaN and a byte order mark included),
    holds no tools, or can't be made shorter. Between the tools not a byte changes. Never raises on any bytes.
    """
    if len(data) > _LARGEST_REMEMBERED:
        return _shrink(data, level, exclude)
    return _shrink_remembered(data, level, exclude)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from looking at what is being made: until the end none of it is garbage, and looking takes 6 % longer.

    A second thread that comes in between leaves switching it on again to the first.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            gc.enable()


@_collector_paused()
def _shrink(data: bytes, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
    try:
        document = JsonDocument(data)
        if not document.strict:
            parse_json(data)
        found = find_tools(document)
    except JsonRefused as refused:
        return ShrunkCatalog(before=data, after=data, level=level, note=NOTES[refused.code])
    definitions = [Definition(data[tool.start : tool.end], tool.value, tool.name) for tool in found]
    shrunk = iter(shrink_tools([tool for tool in definitions if tool.name not in exclude], level))
    tools = []
    pieces: list[bytes] = []
    position = 0
    for tool, (before, _, name) in zip(found, definitions, strict=True):
        excluded = name in exclude
        after = before if excluded else next(shrunk)
        tools.append(ShrunkTool(name=name, pointer=tool.pointer, before=before, after=after, excluded=excluded))
        pieces += (data[position : tool.start], after)
        position = tool.end
    pieces.append(data[position:])
    after = b"".join(pieces)
    if after == data:
        note = "nothing in it can be made shorter" if tools else "no tools were found in it"
        return ShrunkCatalog(before=data, after=data, level=level, tools=tuple(tools), note=note)
    return ShrunkCatalog(before=data, after=after, level=level, tools=tuple(tools))


_shrink_remembered = functools.lru_cache(maxsize=_REMEMBERED_CATALOGS)(_shrink)
