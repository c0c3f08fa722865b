"""What a preview shows of an original: its bytes to read, or what shrinking makes of them."""

import msgspec

from caveman_tui.core.catalog_diff import CatalogDiff, diff_catalogs
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.traffic.body_text import BodyDocument, indented
from caveman_tui.traffic.diff_lines import diff_lines
from caveman_tui.traffic.lines import BuiltDocument, Document, Line, Role, line, message, wrap


def document(original: bytes, level: Level | None) -> Document:
    """The original to read or, with a level, its difference to what shrinking makes of it."""
    if level is None:
        return BodyDocument(indented(original) or original)
    try:
        diff = diff_catalogs(original, shrink_catalog(original, level=level).after)
    except JsonRefused as refused:
        return message(f"This can't be compared: it is no JSON document in UTF-8 ({refused.code}).")
    return BuiltDocument(lambda width: _with_level(diff, level, width))


def _with_level(diff: CatalogDiff, level: Level, width: int) -> list[Line]:
    head = f"Against its shrunk form, level {level.value}, as this version shrinks it; d shows the original."
    return [*(line(part, Role.MUTED) for part in wrap(head, width)), *diff_lines(diff, width)]


def stored_level(metadata: bytes) -> Level | None:
    """Level in the metadata that our library writes; other tools write what they like."""
    try:
        return msgspec.json.decode(metadata, type=_Metadata).level
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class _Metadata(msgspec.Struct):
    level: Level | None = None
