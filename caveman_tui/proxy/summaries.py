"""What the screen is told of a rewrite: at once what is known, and again after forwarding what had to be computed."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from caveman_tui.core.body_growth import open_for_growth
from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.core.policy import Dialect
from caveman_tui.core.prefix_digests import Digested, PrefixDigests, digest_body, digest_request
from caveman_tui.core.rewrite import MARKER_EDITS, ToolsChange, with_measure
from caveman_tui.core.tokens import count_json_tokens
from caveman_tui.protocol.events import ExchangeRewritten, MarkerEdit, ToolsSummary
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.last_requests import LastRequest, LastRequests, is_worth_it
from caveman_tui.proxy.recording import Recording
from caveman_tui.proxy.transform import REPORT, Prepared

_REMEMBERED_COUNTS = 512
_AT_ONCE_BYTES = 64 * 1024
"""So much that nobody has read before is digested where the event loop runs: less than a thread, and a second event, would take."""
_WAITING_AT_MOST = 16
"""Under a load that leaves more than so many waiting, prefixes stay unknown rather than take time from requests."""

_MEASURING_BYTES = 64 * 1024 * 1024
"""Bodies held for measuring; while so many wait, what shrinking would save stays unknown."""

_T = TypeVar("_T")

_CountKey = tuple[str, int]
_Counts = tuple[int | None, int | None]


class Summaries:
    """Makes `exchange-rewritten` events. Token counts are remembered for each catalog, since agents send the same one all day."""

    def __init__(
        self,
        log: ExchangeLog,
        remember_counts: Callable[[bytes, int, int], Coroutine[Any, Any, None]],
        last_requests: LastRequests,
        *,
        count: Callable[[bytes], int] = count_json_tokens,
    ) -> None:
        self._log = log
        # One, and none of those that rewrite: counting a catalog may take a second, and nobody waits for it.
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="summaries")
        self._remember_counts = remember_counts
        self.last_requests = last_requests
        self._count = count
        self._counts: OrderedDict[_CountKey, _Counts] = OrderedDict()
        self._counting: dict[_CountKey, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._measuring = 0

    async def close(self) -> None:
        """Wait for what is being computed."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        self._threads.shutdown(wait=False)

    def keep(self, change: ToolsChange) -> str:
        """Keep the catalog for the screen; its digest."""
        return self._log.keep_catalog(change)

    def counts(self, change: ToolsChange, digest: str) -> _Counts | None:
        """Tokens before and after, where they were counted before."""
        return self._counts.get((digest, hash(change.catalog.after)))

    async def count(self, change: ToolsChange, digest: str, *, stored: bool) -> None:
        """Count a catalog's tokens in a thread, and add them to its original in the store."""
        key = (digest, hash(change.catalog.after))
        if (counting := self._counting.get(key)) is not None:
            # A loop's next steps come while a large catalog is still being counted.
            await counting.wait()
            return
        self._counting[key] = asyncio.Event()
        try:
            await self._count_and_remember(change, digest, stored=stored)
        finally:
            self._counting.pop(key).set()

    async def _count_and_remember(self, change: ToolsChange, digest: str, *, stored: bool) -> None:
        catalog = change.catalog

        def work() -> _Counts:
            try:
                before = self._count(catalog.before)
                return before, self._count(catalog.after) if catalog.changed else before
            except ImportError:
                # Without a tokenizer the numbers are unknown, today and with the next request.
                return None, None

        before, after = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        self._counts[digest, hash(catalog.after)] = (before, after)
        while len(self._counts) > _REMEMBERED_COUNTS:
            self._counts.popitem(last=False)
        if stored and before is not None and after is not None:
            await self._remember_counts(catalog.before, before, after)

    @property
    def busy(self) -> bool:
        """Whether much is waiting to be computed."""
        return len(self._tasks) > _WAITING_AT_MOST

    @contextlib.contextmanager
    def room_to_measure(self, size: int) -> Iterator[bool]:
        """Whether a body of `size` bytes may wait to be measured; it counts as waiting inside."""
        fits = self._measuring + size <= _MEASURING_BYTES
        held = size if fits else 0
        self._measuring += held
        try:
            yield fits
        finally:
            self._measuring -= held

    async def in_thread(self, work: Callable[[], _T]) -> _T:
        """The result of `work`."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work` beside the exchange."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Told:
    """What is told of the rewrite of one exchange."""

    def __init__(self, summaries: Summaries, prepared: Prepared, dialect: Dialect, recording: Recording) -> None:
        self._summaries = summaries
        self._prepared = prepared
        self._dialect = dialect
        self._recording = recording
        self._forwarded = False
        self._digests: dict[str, str] = {}
        self._prefix: PrefixDigests | None = None

    def tell(self) -> None:
        """Emit what is known now."""
        try:
            if self._prefix is None and self._prepared.examined.new_bytes <= _AT_ONCE_BYTES:
                self._digested(self._prepared, _digests(self._prepared))
            self._recording.rewritten(self._event())
        except Exception as error:
            self._recording.warn("not-told", f"the rewrite could not be described ({type(error).__name__})", "the request went on")

    def changed(self, prepared: Prepared) -> None:
        """The provider refused, and a more timid form went out."""
        self._prepared = prepared
        self._prefix = None
        self._tell_all()

    def forwarded(self) -> None:
        """The request is on its way: tell what is known, and let the rest take its time. Calling it again does nothing."""
        if not self._forwarded:
            self._forwarded = True
            self._tell_all()

    def _tell_all(self) -> None:
        self.tell()
        self._summaries.run(self._complete())

    async def _complete(self) -> None:
        more = False
        try:
            more = await self._digest_prefix() | await self._measure()
            for change in self._prepared.rewrite.tools if self._prepared.rewrite else ():
                digest = self._digest(change)
                if self._summaries.counts(change, digest) is None:
                    await self._summaries.count(change, digest, stored=change.pointer in self._prepared.handles)
                    more = True
        except Exception as error:
            self._recording.warn(
                "not-counted", f"tokens or markers could not be counted ({type(error).__name__})", "they are shown as unknown"
            )
        if more:
            self.tell()

    async def _measure(self) -> bool:
        """What shrinking would save, where the policy only measures. Whether there is anything to tell."""
        prepared, dialect = self._prepared, self._dialect
        rewrite, body, policy = prepared.rewrite, prepared.examined.body, prepared.to_measure
        if rewrite is None or body is None or policy is None or rewrite.tools:
            return False
        with self._summaries.room_to_measure(len(body)) as fits:
            if not fits:
                return False
            request = prepared.examined.document or body
            measured = await self._summaries.in_thread(lambda: with_measure(rewrite, request, dialect, policy))
        if self._prepared is not prepared:
            # Another form went out meanwhile, and is measured for itself.
            return False
        if measured.warning != rewrite.warning:
            self._recording.warn("rewrite-discarded", measured.warning, "the request went out as it came", REPORT)
        self._prepared = replace(prepared, rewrite=measured)
        return measured is not rewrite

    async def _digest_prefix(self) -> bool:
        """Digest a body that has too much new in it to do so at once. Whether that said anything."""
        prepared = self._prepared
        if self._prefix is not None or prepared.examined.body is None or self._summaries.busy:
            return False
        digested = await self._summaries.in_thread(lambda: _digests(prepared))
        if self._prepared is not prepared:
            return False
        self._digested(prepared, digested)
        return digested is not None

    def _digested(self, prepared: Prepared, digested: Digested | None) -> None:
        """Take the digests, and remember the request for the next one of its conversation."""
        examined = prepared.examined
        self._prefix = digested.prefix if digested else None
        if digested is not None and examined.document is not None:
            chain = () if _lie_in_messages(prepared) else digested.chain
            walk = prepared.rewrite.walk if prepared.rewrite else None
            last = LastRequest(self._recording.id, examined.document, prepared.policy, walk, chain)
            self._summaries.last_requests.remember(examined.key, last)

    def _event(self) -> ExchangeRewritten:
        rewrite = self._prepared.rewrite
        length = len(self._prepared.outgoing)
        if rewrite is None:
            return ExchangeRewritten(id=self._recording.id, bytes_after=length, prefix=self._prefix)
        return ExchangeRewritten(
            id=self._recording.id,
            marker_edits=tuple(_marker_edit(edit) for edit in rewrite.edits if edit.kind in MARKER_EDITS),
            markers_before=rewrite.markers_before,
            markers_after=rewrite.markers_after,
            violations=rewrite.violations_before,
            tools=tuple(self._summary(change) for change in rewrite.tools),
            reasons=rewrite.reasons,
            bytes_after=length,
            prefix=self._prefix,
        )

    def _digest(self, change: ToolsChange) -> str:
        if change.pointer not in self._digests:
            self._digests[change.pointer] = self._summaries.keep(change)
        return self._digests[change.pointer]

    def _summary(self, change: ToolsChange) -> ToolsSummary:
        catalog, digest = change.catalog, self._digest(change)
        before, after = self._summaries.counts(change, digest) or (None, None)
        return ToolsSummary(
            pointer=change.pointer,
            digest=digest,
            level=catalog.level,
            applied=change.applied,
            handle=self._prepared.handles.get(change.pointer, "") if change.applied else "",
            tools=len(catalog.tools),
            bytes_before=len(catalog.before),
            bytes_after=len(catalog.after),
            tokens_before=before,
            tokens_after=after,
        )


def _digests(prepared: Prepared) -> Digested | None:
    """Of what went out; None where that is no request."""
    examined, rewrite = prepared.examined, prepared.rewrite
    if examined.body is None:
        return None
    value = rewrite.value if rewrite else None
    if value is None:
        # As after edits were undone, and of very long bodies.
        return digest_body(rewrite.body if rewrite else examined.body)
    if not isinstance(value, dict):
        return None
    try:
        known = examined.earlier.chain[: examined.shared.items] if examined.earlier and not _lie_in_messages(prepared) else ()
        if examined.document is not None and is_worth_it(examined.body):
            open_for_growth(examined.document)
        shrunk = next((edit.after for edit in prepared.edits if edit.pointer == "/tools"), None)
        return digest_request(value, known, shrunk)
    except RecursionError:
        return None


def _lie_in_messages(prepared: Prepared) -> bool:
    """Whether edits change what messages say: Codex sends tools among them."""
    return any(edit.kind is EditKind.TOOLS and edit.pointer.startswith(("/input", "/messages")) for edit in prepared.edits)


def _marker_edit(edit: Edit) -> MarkerEdit:
    return MarkerEdit(
        pointer=edit.pointer,
        kind=edit.kind,
        before=edit.before[:200].decode("utf-8", "replace"),
        after=edit.after[:200].decode("utf-8", "replace"),
        reason=edit.reason,
    )
