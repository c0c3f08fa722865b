"""What the tests of descriptions share."""

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.description import describe, shorten_all
from caveman_tui.core.shrink.model import ToolContext, Unit

CONTEXT = ToolContext(
    tool="book_table",
    parameters=frozenset({"guests", "day", "note", "place"}),
    enum_values=frozenset({"inside", "outside"}),
    defaults=frozenset({"2", "inside"}),
)
LEAD = "Reserves a table at one of the restaurants that the person named."
LONG = (
    "Reserves a table at one of the restaurants that the person named. Call find_restaurants first to learn which of them are open, "
    "and tell the person which one you took before you book anything on their behalf."
)
"""Longer than what stays whole at every level, and nothing in it may go."""


def shrunk(text: str, level: Level = Level.STANDARD, context: ToolContext = CONTEXT) -> str:
    """Return the description that `level` leaves."""
    return describe(text, context, level)[0]


def unit_at(text: str, part: str, level: Level = Level.STANDARD, context: ToolContext = CONTEXT) -> Unit:
    """Return the unit that `part` of the description begins in."""
    at = text.index(part)
    _, units = describe(text, context, level)
    return next(unit for unit in units if unit.start <= at < unit.end)


def shorten(text: str, context: ToolContext, level: Level) -> str:
    """Return the description that `level` leaves, the way catalogs are shrunk."""
    return shorten_all([(text, context)], level)[0]
