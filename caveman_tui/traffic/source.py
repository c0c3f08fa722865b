"""Where the screen's knowledge comes from: what a control client offers, and how it fails."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Protocol

from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import (
    CatalogDetail,
    Conversation,
    ConversationList,
    ExchangeDetail,
    ExchangeList,
    Problem,
    SearchResult,
    Status,
)
from caveman_tui.protocol.events import AnyEvent, Settings


class SourceError(Exception):
    """Base of what a source raises."""


class WorkerGone(SourceError):
    """The worker could not be reached, or the connection to it broke."""


class ResyncNeeded(SourceError):
    """The events asked for are no longer in the worker's memory: start again from `exchanges()`."""


class Refused(SourceError):
    """The worker answered with a problem: something is gone, unknown or invalid."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.what} {problem.todo}".strip())
        self.problem = problem


class TrafficSource(Protocol):
    """A worker, seen from its screen. Every method may raise WorkerGone or Refused."""

    async def status(self) -> Status:
        """What the worker says of itself."""
        ...

    async def settings(self) -> Settings:
        """The policies that new conversations take."""
        ...

    async def change_settings(
        self,
        *,
        loop_ttl: LoopTtlMode | None = None,
        shrink: ShrinkMode | None = None,
        level: Level | None = None,
        excluded_tools: tuple[str, ...] | None = None,
    ) -> Settings:
        """Change the fields that are given; the settings as they are then."""
        ...

    async def exchanges(self) -> ExchangeList:
        """All exchanges in memory, oldest first."""
        ...

    async def exchange(self, exchange_id: str) -> ExchangeDetail:
        """One exchange with headers and the names of the bodies still in memory."""
        ...

    async def body(self, exchange_id: str, which: str) -> bytes:
        """`request-before`, `request-after` or `response`, decoded from its content coding."""
        ...

    async def catalog(self, digest: str, level: Level) -> CatalogDetail:
        """A catalog, tool by tool, at one level."""
        ...

    async def conversations(self) -> ConversationList:
        """All conversations with what they are pinned to."""
        ...

    async def force_shrink(self, conversation: str, shrink: ShrinkMode, level: Level | None = None) -> Conversation:
        """Switch a running conversation now; its cached prefix is written again once."""
        ...

    def search(self, text: str, ids: Sequence[str] = ()) -> AsyncGenerator[SearchResult, None]:
        """A hit for each exchange whose bodies hold `text`, newest first as they are found, and at last the end.

        With `ids` only these exchanges are looked into. Closing the generator ends the search.
        """
        ...

    async def stop(self) -> None:
        """End the worker once running exchanges have ended."""
        ...

    def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        """Batches of the events after `after`, replayed and then as they come.

        Ends or raises WorkerGone when the connection breaks; raises ResyncNeeded where `after` is too old.
        """
        ...
