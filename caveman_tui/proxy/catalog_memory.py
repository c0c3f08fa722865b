"""Tool catalogs that passed through, by digest, so that many exchanges can refer to one."""

import hashlib
from collections import OrderedDict
from functools import lru_cache

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.core.tokens import count_json_tokens
from caveman_tui.protocol.control import CatalogDetail, CatalogTool

_BUDGET_BYTES = 32 * 1024 * 1024


class CatalogMemory:
    """The catalogs seen last, with the forms they were shrunk to, within a budget of bytes."""

    def __init__(self, budget_bytes: int = _BUDGET_BYTES) -> None:
        self._budget = budget_bytes
        self._bytes = 0
        self._catalogs: OrderedDict[str, dict[Level, ShrunkCatalog]] = OrderedDict()

    def put(self, catalog: ShrunkCatalog) -> str:
        """Keep a catalog; return the SHA-256 of its original bytes, hex."""
        digest = _digest(catalog.before)
        levels = self._catalogs.setdefault(digest, {})
        if levels.get(catalog.level) is catalog:
            self._catalogs.move_to_end(digest)
            return digest
        if (older := levels.pop(catalog.level, None)) is not None:
            self._bytes -= _size(older)
        levels[catalog.level] = catalog
        self._bytes += _size(catalog)
        self._catalogs.move_to_end(digest)
        while self._bytes > self._budget and len(self._catalogs) > 1:
            _, forgotten = self._catalogs.popitem(last=False)
            self._bytes -= sum(_size(one) for one in forgotten.values())
        return digest

    def get(self, digest: str, level: Level | None = None) -> ShrunkCatalog | None:
        """The catalog at a level, or at the level it was last shrunk to. None where it is not here.

        Where only other levels are here, one of those: its `before` is the same.
        """
        levels = self._catalogs.get(digest)
        if not levels:
            return None
        return levels.get(level) if level in levels else next(reversed(levels.values()))


def catalog_detail(catalog: ShrunkCatalog, digest: str) -> CatalogDetail:
    """A catalog tool by tool, with token counts. Takes a few ms per KB at first: call it in a thread."""
    return CatalogDetail(
        digest=digest,
        level=catalog.level,
        tools=tuple(
            CatalogTool(
                name=tool.name,
                before=tool.before.decode("utf-8", "replace"),
                after=tool.after.decode("utf-8", "replace"),
                tokens_before=_tokens(tool.before),
                tokens_after=_tokens(tool.after),
                excluded=tool.excluded,
            )
            for tool in catalog.tools
        ),
        bytes_before=len(catalog.before),
        bytes_after=len(catalog.after),
    )


@lru_cache(maxsize=32)
def _digest(original: bytes) -> str:
    """Remembered, since agents send the same catalog all day."""
    return hashlib.sha256(original).hexdigest()


def _tokens(text: bytes) -> int | None:
    try:
        return count_json_tokens(text)
    except ImportError:
        return None


def _size(catalog: ShrunkCatalog) -> int:
    return len(catalog.before) + len(catalog.after) + sum(len(tool.before) + len(tool.after) for tool in catalog.tools)
