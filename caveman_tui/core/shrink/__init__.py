"""Transform 2: tool catalogs without their filler.

`shrink_catalog` takes any document that holds tool definitions and returns it shorter, `explain_tool` says what was kept, what
was dropped and why. Names, types, enums, required, defaults, constants, `$ref` targets and stated constraints stay.

The two are imported when they are first asked for: what they know of the language takes a tenth of a second to make ready, and most
who import this package only name the types of results.
"""

from typing import TYPE_CHECKING, Any

from caveman_tui.core.shrink.version import SHRINKER_VERSION

if TYPE_CHECKING:
    from caveman_tui.core.shrink.catalog import shrink_catalog
    from caveman_tui.core.shrink.tool import explain_tool

__all__ = ["SHRINKER_VERSION", "explain_tool", "shrink_catalog"]


def __getattr__(name: str) -> Any:
    if name == "shrink_catalog":
        from caveman_tui.core.shrink.catalog import shrink_catalog

        return shrink_catalog
    if name == "explain_tool":
        from caveman_tui.core.shrink.tool import explain_tool

        return explain_tool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
