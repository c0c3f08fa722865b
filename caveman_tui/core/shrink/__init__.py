"""Transform 2: tool catalogs without their filler.

`shrink_catalog` takes any document that holds tool definitions and returns it shorter, `explain_tool` says what was kept, what
was dropped and why. Names, types, enums, required, defaults, constants, `$ref` targets and stated constraints stay.
"""

from caveman_tui.core.shrink.catalog import SHRINKER_VERSION, shrink_catalog
from caveman_tui.core.shrink.tool import explain_tool

__all__ = ["SHRINKER_VERSION", "explain_tool", "shrink_catalog"]
