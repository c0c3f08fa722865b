"""The command palette: every action of the key table that can be taken where it was opened."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.dom import DOMNode

from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key

if TYPE_CHECKING:
    from caveman_tui.tui.app import CavemanApp


class KeyCommands(Provider):
    """Commands named `area: what it does`."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for key, command in self._commands():
            yield DiscoveryHit(_title(key), command, help=_help(key))

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for key, command in self._commands():
            score = matcher.match(f"{_title(key)} {key.tooltip}")
            if score > 0:
                yield Hit(score, matcher.highlight(_title(key)), command, help=_help(key))

    def _commands(self) -> list[tuple[Key, Callable[[], Awaitable[None]]]]:
        node: DOMNode = self.focused or self.screen
        table = cast("CavemanApp", self.app).key_table
        found: list[tuple[Key, Callable[[], Awaitable[None]]]] = []
        for ancestor in node.ancestors_with_self:
            for context in str(getattr(ancestor, "KEY_CONTEXT", "")).split():
                found += [(key, partial(self._run, key, ancestor)) for key in keys.keys_of(table, context) if key.palette]
        return found

    async def _run(self, key: Key, node: DOMNode) -> None:
        await self.app.run_action(key.action, default_namespace=node)


def _title(key: Key) -> str:
    return f"{key.id.partition('.')[0]}: {key.description}"


def _help(key: Key) -> str:
    return f"{key.tooltip} ({' '.join(keys.shown(name) for name in key.keys.split(','))})"
