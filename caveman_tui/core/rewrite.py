"""The one entry the worker calls: request bytes, client kind and policy in; edits and reasons out."""

import msgspec

from caveman_tui.core.cache_markers import Marker, Violation
from caveman_tui.core.edits import Edit
from caveman_tui.core.shrink.model import ShrunkCatalog


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why something was, or was not, changed."""

    code: str
    """Stable code, see `core.reasons`."""
    text: str
    """One sentence for a person."""
    pointer: str = ""
    """Where, if it is about one place."""


class ToolsChange(msgspec.Struct, frozen=True, kw_only=True):
    """One tools array of a request, with its shrunk form (made or only measured)."""

    pointer: str
    start: int
    end: int
    """Span of the value in the body as it came."""
    catalog: ShrunkCatalog
    applied: bool
    """False where the policy only measures, or where the conversation's latch says no."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one request body. `body` equals the input outside the spans of `edits`."""

    body: bytes
    edits: tuple[Edit, ...] = ()
    reasons: tuple[Reason, ...] = ()
    markers_before: tuple[Marker, ...] = ()
    markers_after: tuple[Marker, ...] = ()
    violations_before: tuple[Violation, ...] = ()
    """Rules that the request broke as it came: the provider will refuse it, and the screen names the culprit."""
    tools: tuple[ToolsChange, ...] = ()
    warning: str = ""
    """Set where our own result was discarded and the original is sent."""
