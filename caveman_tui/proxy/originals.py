"""Committing the originals of tools arrays before their shrunk form leaves, without ever holding a request up for long."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from caveman_tui.ccr import (
    TOOLSCHEMA,
    HandleUnknown,
    Store,
    StoreError,
    StoreLocked,
    StoreMissing,
    default_path,
    handle_of,
    open_store,
)
from caveman_tui.protocol.control import StoreStatus
from caveman_tui.protocol.events import StoreChanged

PUT_SECONDS = 0.25
"""How long a request waits for its original to be committed."""
COMPRESSOR = "caveman-tui"
_THREADS = 2
_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an original is not known to be in the store."""

    code: str
    what: str
    todo: str


class Originals:
    """The recovery store as the worker uses it: opened at the first need, every call in a thread.

    An original that this process has put is not written again: a look at its row, by primary key, says that it is still there. A
    person may delete the row or the file at any time; then it is put again. (What is deleted between that look and the request's
    departure is deleted by a person's act.) A look that takes too long, or finds the store locked, has not found the original
    missing: a running conversation goes on with the bytes that it had.
    """

    def __init__(
        self,
        path: Path | str | None,
        emit: Callable[[StoreChanged], None],
        *,
        put_seconds: float = PUT_SECONDS,
        opener: Callable[[Path | str | None], Store] = open_store,
    ) -> None:
        """`emit` is called on the event loop's thread; a request waits for its original for `put_seconds` at most."""
        self._path = path
        self._emit = emit
        self._put_seconds = put_seconds
        self._opener = opener
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="store")
        self._committed: OrderedDict[str, None] = OrderedDict()
        self._running: dict[str, asyncio.Future[bool]] = {}
        self._tasks: set[asyncio.Future[bool]] = set()
        self._problem = ""
        self._status = StoreStatus(path=str(path or default_path()))

    @property
    def status(self) -> StoreStatus:
        """The store as last seen; counts are None until it was opened."""
        return self._status

    def open_soon(self) -> None:
        """Open the store in a thread, so that the first request that needs it need not wait for that. What is wrong with it is told."""
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._look)
        self._tasks.add(future)
        future.add_done_callback(self._looked)

    async def commit(self, original: bytes) -> str | Trouble:
        """The handle of `original` once it is in the store, or why it is not known to be there.

        A put that takes longer than a request waits completes all the same.
        """
        handle = handle_of(original)
        # Parallel requests of one agent carry the same catalog: they wait for one put.
        future = self._running.get(handle)
        if future is None:
            future = asyncio.get_running_loop().run_in_executor(self._threads, self._put, handle, original)
            self._running[handle] = future
            self._tasks.add(future)
            future.add_done_callback(lambda done: self._settled(handle, done))
        done, _ = await asyncio.wait({future}, timeout=self._put_seconds)
        if not done:
            if handle in self._committed:
                return handle
            return Trouble(
                "store-slow",
                f"the recovery store did not confirm the original within {self._put_seconds * 1000:.0f} ms",
                "Nothing, unless it happens often: another program may hold the store.",
            )
        error = future.exception()
        if error is None:
            return handle
        return _trouble(error)

    async def remember_counts(self, original: bytes, before: int, after: int) -> None:
        """Add token counts to an original that was put without; failing to is no trouble, and what was deleted stays deleted."""

        def add() -> None:
            self._opened().set_tokens(handle_of(original), before, after)

        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, add)
        except (StoreError, OSError):
            return

    async def close(self) -> None:
        """Wait for puts that are under way, then let go of the file."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        if self._store is not None:
            self._store.close()
            self._store = None

    def _put(self, handle: str, original: bytes) -> bool:
        """Runs in a thread. Returns whether the store is worth another look."""
        try:
            return self._put_into(self._opened(), handle, original)
        except StoreMissing:
            # The file was removed while it was open.
            self._committed.pop(handle, None)
            with self._opening:
                self._store = None
            return self._put_into(self._opened(), handle, original)

    def _put_into(self, store: Store, handle: str, original: bytes) -> bool:
        if handle in self._committed:
            if not _missing(store, handle, len(original)):
                return False
            # At once, for whoever is waiting must not take it for stored while it is put again.
            self._committed.pop(handle, None)
        if not _held(store, handle, original):
            store.put(original, content_type=TOOLSCHEMA, compressor=COMPRESSOR, tokens_before=0, tokens_after=0)
        self._count(store)
        return True

    def _look(self) -> bool:
        """Runs in a thread."""
        self._count(self._opened())
        return True

    def _count(self, store: Store) -> None:
        stats = store.stats()
        self._status = StoreStatus(
            path=stats.path, originals=stats.originals, payload_bytes=stats.payload_bytes, budget_bytes=stats.budget_bytes
        )

    def _opened(self) -> Store:
        with self._opening:
            if self._store is None:
                self._store = self._opener(self._path)
            return self._store

    def _looked(self, future: asyncio.Future[bool]) -> None:
        self._tasks.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            self._tell_problem(_trouble(error).what)

    def _settled(self, handle: str, future: asyncio.Future[bool]) -> None:
        self._tasks.discard(future)
        if self._running.get(handle) is future:
            del self._running[handle]
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self._committed.pop(handle, None)
            self._tell_problem(_trouble(error).what)
            return
        self._committed[handle] = None
        self._committed.move_to_end(handle)
        while len(self._committed) > _REMEMBERED:
            self._committed.popitem(last=False)
        if future.result() or self._problem:
            self._problem = ""
            self._emit(StoreChanged(handle=handle, originals=self._status.originals, payload_bytes=self._status.payload_bytes))

    def _tell_problem(self, what: str) -> None:
        known = self._status
        self._status = StoreStatus(
            path=known.path, problem=what, originals=known.originals, payload_bytes=known.payload_bytes, budget_bytes=known.budget_bytes
        )
        if what != self._problem:
            self._problem = what
            self._emit(StoreChanged(problem=what))


def _missing(store: Store, handle: str, size: int) -> bool:
    """Whether an original that was put is known to be there no more."""
    try:
        return store.record(handle).original_bytes != size
    except HandleUnknown:
        return True
    except StoreLocked:
        return False


def _held(store: Store, handle: str, original: bytes) -> bool:
    """Whether an earlier process has put the original.

    Reading waits for no writer and needs no space: so a conversation goes on with the bytes it had when its worker is started
    again beside a store that is locked, or on a disk that is full.
    """
    try:
        return store.get(handle).original == original
    except StoreError:
        return False


def _trouble(error: BaseException) -> Trouble:
    if isinstance(error, StoreError):
        return Trouble(error.code, error.what, error.todo)
    return Trouble("store-failed", f"the recovery store failed ({type(error).__name__}: {error})", "'caveman-tui doctor' looks at it.")
