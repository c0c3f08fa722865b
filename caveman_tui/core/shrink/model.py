"""What shrinking hands out: documents, tools, descriptions and the decision about each unit of text."""

import msgspec

from caveman_tui.core.policy import Level


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a description that is kept or dropped as one. Units of a description cover it without gaps."""

    start: int
    """String index into the description (code points)."""
    end: int
    kept: bool
    kind: str
    """What it was recognised as: `purpose`, `bound`, `format`, `repetition`, `return-shape`, `marketing` …"""
    why: str
    """One short phrase for a person."""


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a description's own tool says structurally. Neighbouring tools are not in it: output must not depend on them."""

    tool: str = ""
    parameters: frozenset[str] = frozenset()
    """Names of all parameters, nested ones too."""
    enum_values: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()
    """JSON texts of the defaults, strings without quotes."""
    described: dict[str, str] = {}
    """For the tool's own description: what is left of each parameter's, by its name; of parameters of one name all of them."""
    parameter: str = ""
    """Name of the parameter this description belongs to, empty for the tool's own."""


class ShrunkDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One description before and after, with its decisions."""

    pointer: str
    """JSON pointer within the tool."""
    before: str
    after: str
    units: tuple[Unit, ...]


class ShrunkTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a catalog, before and after."""

    name: str
    pointer: str
    """JSON pointer in the document."""
    before: bytes
    after: bytes
    excluded: bool = False


class ShrunkCatalog(msgspec.Struct, frozen=True, kw_only=True):
    """A whole document, before and after."""

    before: bytes
    after: bytes
    """Is `before` where nothing could be gained or the document is no catalog."""
    level: Level
    tools: tuple[ShrunkTool, ...] = ()
    note: str = ""
    """Why `after` is `before`, where it is."""

    @property
    def changed(self) -> bool:
        """Whether shrinking took anything away."""
        return self.after != self.before
