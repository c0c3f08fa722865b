"""Every decision about the descriptions of a catalog, as text: what is kept, what is dropped, and why."""

from collections.abc import Iterator

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import explain_tool, shrink_catalog
from caveman_tui.core.shrink.model import ShrunkDescription
from caveman_tui.traffic.safe_text import safe

_WHY_COLUMN = 24


def explained(data: bytes, level: Level, exclude: tuple[str, ...], only: tuple[str, ...] = ()) -> Iterator[str]:
    """Lines on each description of the catalog that is long enough for a decision; of the tools named in `only`, where any are.

    `+` stands before kept text and `-` before dropped text, with kind and reason. Text is folded to one line a unit.
    """
    for tool in shrink_catalog(data, level=level, exclude=exclude).tools:
        if only and tool.name not in only:
            continue
        decided = [
            description
            for description in explain_tool(tool, level)
            if len(description.units) > 1 or description.before != description.after
        ]
        if decided:
            yield f"{safe(tool.name) or '(no name)'}"
        for description in decided:
            yield from _lines(description)


def _lines(description: ShrunkDescription) -> Iterator[str]:
    yield f"  {safe(description.pointer)}  {len(description.before)} > {len(description.after)} characters"
    for unit in description.units:
        text = safe(" ".join(description.before[unit.start : unit.end].split()))
        if text:
            yield f"    {'+' if unit.kept else '-'} {safe(unit.kind):<{_WHY_COLUMN - 4}}{text}"
            yield f"      {'':<{_WHY_COLUMN - 4}}because: {safe(unit.why)}"
