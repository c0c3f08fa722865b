"""Shrinking and recovering tool catalogs, for other programs and for the command line: the transform and the recovery store together.

    result = shrink(data, level=Level.STANDARD)      # result.output is shorter, result.recovery_handle brings `data` back
    data == recover(result.recovery_handle)          # now, later, in another process

Token counts here are inferred, of the document as a provider sees it: indentation that it never sees is no saving.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from caveman_tui import __version__
from caveman_tui.ccr import COMPRESSOR, TOOLSCHEMA, Store, StoreError, open_store
from caveman_tui.core.catalog import find_tools
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import json_text
from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import SelectionProfile, selection_profile
from caveman_tui.core.shrink import SHRINKER_VERSION, explain_tool, shrink_catalog
from caveman_tui.core.shrink.model import ShrunkCatalog, ShrunkTool
from caveman_tui.core.tokens import count_json_tokens, minify

__all__ = [
    "Dropped",
    "Level",
    "LintReport",
    "LintedTool",
    "Report",
    "SelectionProfile",
    "ShrinkResult",
    "StoreUnavailable",
    "ToolUnknown",
    "lint",
    "recover",
    "recover_tool",
    "selection_profile",
    "shrink",
]

StoreChoice = Store | Path | str | None
"""An open store, the path of one, or None for the one that all Caveman tools share."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What shrinking did, under the names that Caveman tools have always used."""

    tokens_before: int
    tokens_after: int
    ratio: float
    """Fraction removed: (before - after) / before; 0 where nothing was gained."""
    basis: str = "inferred"
    content_type: str = TOOLSCHEMA
    recovery_handle: str | None = None
    """None where nothing was taken away."""
    note: str = ""
    """Why nothing was gained, where that is so."""


class ShrinkResult(msgspec.Struct, frozen=True, kw_only=True):
    """A document after shrinking, with its report."""

    output: bytes
    """The input itself where nothing was gained."""
    report: Report
    catalog: ShrunkCatalog
    """Tool by tool. Of a result that was discarded, the discarded one."""

    @property
    def tokens_before(self) -> int:
        """See `Report`."""
        return self.report.tokens_before

    @property
    def tokens_after(self) -> int:
        """See `Report`."""
        return self.report.tokens_after

    @property
    def ratio(self) -> float:
        """See `Report`."""
        return self.report.ratio

    @property
    def recovery_handle(self) -> str | None:
        """See `Report`."""
        return self.report.recovery_handle


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one kind shrinking takes from a tool."""

    kind: str
    """What it was recognised as (`repetition`, `return-shape` …), `annotations` for metadata of schemas, `layout` for white space."""
    characters: int
    """Of the tool's minified JSON."""


class LintedTool(msgspec.Struct, frozen=True, kw_only=True):
    """What shrinking would take from one tool."""

    name: str
    tokens_before: int
    tokens_after: int
    ratio: float
    excluded: bool = False
    dropped: tuple[Dropped, ...] = ()
    """What goes, the largest kind first."""


class LintReport(msgspec.Struct, frozen=True, kw_only=True):
    """What shrinking would take from a document. The totals are `shrink`'s, to the token.

    They are of the whole document, so they hold what stands around the tools, and may differ from the sum over the tools by a token
    at each joint.
    """

    tools: tuple[LintedTool, ...]
    """Most tokens saved first."""
    tokens_before: int
    tokens_after: int
    ratio: float
    basis: str = "inferred"
    content_type: str = TOOLSCHEMA
    level: Level = Level.STANDARD
    note: str = ""


class StoreUnavailable(StoreError):
    """The original could not be committed, so nothing was shrunk: `result` is the input, passed through."""

    code = "store-unavailable"

    def __init__(self, cause: StoreError, result: ShrinkResult) -> None:
        super().__init__(cause.what, cause.todo)
        self.cause = cause
        """What exactly is wrong with the store."""
        self.result = result


class ToolUnknown(LookupError):
    """The original holds no tool of that name, or several that differ."""


def shrink(data: bytes, *, level: Level = Level.STANDARD, store: StoreChoice = None, exclude: tuple[str, ...] = ()) -> ShrinkResult:
    """Shrink every tool in the document `data` but those named in `exclude`.

    The exact input is committed to the store before this returns, and the report's handle brings it back. What is malformed, holds no
    tools or cannot be made shorter comes back unchanged, with ratio 0 and no handle; the store is not touched then. Raises
    StoreUnavailable, with the unchanged document in it, where the store cannot be opened or written. Never raises on any bytes.
    """
    measured = _Measured.of(data, level, exclude)
    if measured.note:
        return measured.unchanged(measured.note)
    metadata = msgspec.json.encode({"product": f"caveman-tui {__version__}", "shrinker": SHRINKER_VERSION, "level": level})
    try:
        with _opened(store, create=True) as opened:
            handle = opened.put(
                data,
                content_type=TOOLSCHEMA,
                compressor=COMPRESSOR,
                tokens_before=measured.before,
                tokens_after=measured.after,
                metadata=metadata,
            )
    except StoreError as error:
        raise StoreUnavailable(error, measured.unchanged(error.what)) from error
    report = Report(
        tokens_before=measured.before, tokens_after=measured.after, ratio=_ratio(measured.before, measured.after), recovery_handle=handle
    )
    return ShrinkResult(output=measured.catalog.after, report=report, catalog=measured.catalog)


def recover(handle: str, *, store: StoreChoice = None) -> bytes:
    """The exact original behind `handle`, which may be written as people paste it (`<<ccr:…>>`, `ccr://…`).

    Raises a StoreError: HandleMalformed, HandleUnknown, OriginalDamaged, or what keeps the store from opening.
    """
    with _opened(store, create=False) as opened:
        return opened.get(handle).original


def recover_tool(handle: str, name: str, *, store: StoreChoice = None) -> bytes:
    """The exact original definition of one tool out of a stored catalog. Raises as `recover`, and ToolUnknown."""
    original = recover(handle, store=store)
    try:
        tools = find_tools(original)
    except JsonRefused:
        tools = ()
    found = {original[tool.start : tool.end] for tool in tools if tool.name == name}
    if len(found) > 1:
        raise ToolUnknown(f"{len(found)} different tools in {handle} are called {name!r}; recover the whole original instead")
    if not found:
        known = ", ".join(sorted({tool.name for tool in tools})[:20]) or "none at all"
        raise ToolUnknown(f"no tool in {handle} is called {name!r}; it holds {known}")
    return found.pop()


def lint(data: bytes, *, level: Level = Level.STANDARD, exclude: tuple[str, ...] = ()) -> LintReport:
    """Say what `shrink` would take away, tool by tool, without storing or changing anything. Never raises on any bytes."""
    measured = _Measured.of(data, level, exclude)
    tools = []
    for tool in measured.catalog.tools:
        before = count_json_tokens(tool.before)
        shrunk = not measured.note and tool.after != tool.before
        after = count_json_tokens(tool.after) if shrunk else before
        tools.append(
            LintedTool(
                name=tool.name,
                tokens_before=before,
                tokens_after=after,
                ratio=_ratio(before, after),
                excluded=tool.excluded,
                dropped=_dropped(tool, level) if shrunk else (),
            )
        )
    tools.sort(key=lambda tool: (tool.tokens_after - tool.tokens_before, tool.name))
    return LintReport(
        tools=tuple(tools),
        tokens_before=measured.before,
        tokens_after=measured.after,
        ratio=_ratio(measured.before, measured.after),
        level=level,
        note=measured.note,
    )


def _dropped(tool: ShrunkTool, level: Level) -> tuple[Dropped, ...]:
    """What is missing from `tool`, by kind; the kinds add up to the whole difference."""
    missing = len(minify(tool.before).decode()) - len(minify(tool.after).decode())
    kinds: Counter[str] = Counter()
    for description in explain_tool(tool, level):
        lost = _json_length(description.before) - _json_length(description.after)
        text = Counter({unit.kind: 0 for unit in description.units if not unit.kept})
        for unit in description.units:
            if not unit.kept:
                text[unit.kind] += _json_length(description.before[unit.start : unit.end])
        kinds += text
        kinds["layout"] += lost - text.total()
        missing -= lost
    kinds["annotations"] += missing
    found = [Dropped(kind=kind, characters=characters) for kind, characters in kinds.items() if characters > 0]
    return tuple(sorted(found, key=lambda dropped: (-dropped.characters, dropped.kind)))


def _json_length(text: str) -> int:
    return len(json_text(text)) - 2


class _Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A shrunk document that was counted and judged. With a note it is not to be used, and `after` is `before`."""

    catalog: ShrunkCatalog
    before: int
    after: int
    note: str = ""

    @classmethod
    def of(cls, data: bytes, level: Level, exclude: tuple[str, ...]) -> "_Measured":
        catalog = shrink_catalog(data, level=level, exclude=exclude)
        before = count_json_tokens(data)
        if not catalog.changed:
            return cls(catalog=catalog, before=before, after=before, note=catalog.note)
        after = count_json_tokens(catalog.after)
        if after >= before:
            return cls(catalog=catalog, before=before, after=before, note="nothing in it can be made shorter")
        if not _same_profile(data, catalog.after):
            note = "its shrunk form would change what decides a call, so it was discarded; please report the document"
            return cls(catalog=catalog, before=before, after=before, note=note)
        return cls(catalog=catalog, before=before, after=after)

    def unchanged(self, note: str) -> ShrinkResult:
        report = Report(tokens_before=self.before, tokens_after=self.before, ratio=0.0, note=note)
        return ShrinkResult(output=self.catalog.before, report=report, catalog=self.catalog)


def _same_profile(before: bytes, after: bytes) -> bool:
    try:
        return selection_profile(before) == selection_profile(after)
    except JsonRefused:
        return False


@contextmanager
def _opened(store: StoreChoice, *, create: bool) -> Iterator[Store]:
    if isinstance(store, Store):
        yield store
        return
    with open_store(store, create=create) as opened:
        yield opened


def _ratio(before: int, after: int) -> float:
    return (before - after) / before if before else 0.0
