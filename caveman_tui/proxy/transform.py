"""From a request body as it came to what goes out: decoded, rewritten by the core, its originals committed; or as it came."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import msgspec

from caveman_tui.core.body_growth import NOTHING, Shared, grown, shared_start
from caveman_tui.core.edits import Edit, EditKind
from caveman_tui.core.json_spans import JsonDocument, JsonRefused
from caveman_tui.core.message_walk import Walk
from caveman_tui.core.policy import ClientKind, Dialect, Policy, ShrinkMode
from caveman_tui.core.rewrite import MARKER_EDITS, TOOLS_EDITS, Rewrite, ToolsChange, tools_paths, value_at, without
from caveman_tui.proxy import codings
from caveman_tui.proxy.identity import Identity, identify
from caveman_tui.proxy.last_requests import MOST_BYTES, Key, LastRequest, LastRequests, key_of
from caveman_tui.proxy.originals import Trouble
from caveman_tui.proxy.recording import Recording

INLINE_BYTES = 64 * 1024
"""So much that nobody has read before is worked on where the event loop runs: less time than handing it to a thread and back."""
_LONGEST_MODEL = 200
_THREADS = 3
_LARGE_BYTES = 8 * 1024 * 1024
"""Bodies from here on are parsed one at a time, since the parsed values take several times the body's size."""

_T = TypeVar("_T")


class Rewriter(Protocol):
    """`core.rewrite.rewrite`."""

    def __call__(self, body: bytes | JsonDocument, dialect: Dialect, client: ClientKind, policy: Policy, *, known: Walk | None) -> Rewrite:
        """Pure, and may take milliseconds for each megabyte."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A body that was read whole, and what it says of itself."""

    encoded: bytes
    """As it came over the wire."""
    content_encoding: str
    body: bytes | None
    """Decoded; None where it can't be, and is therefore not looked at."""
    identity: Identity
    document: JsonDocument | None = None
    """The body as read; None where it is nothing that may be edited, or where keeping what was read would take too much memory."""
    model: str = ""
    has_tools: bool = False
    key: Key = ()
    """Under which it is remembered for the next request."""
    earlier: LastRequest | None = None
    """The request before it in its conversation, where it begins like that one."""
    shared: Shared = NOTHING
    """What it has in common with that one."""

    @property
    def new_bytes(self) -> int:
        """How much of the body nobody has read before: what any work on it takes time for."""
        return len(self.body or b"") - self.shared.size - self.shared.tail


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request ready to go out."""

    examined: Examined
    rewrite: Rewrite | None = None
    """What is made of it; None where it could not be looked at."""
    policy: Policy | None = None
    """By which that was made."""
    handles: Mapping[str, str] = field(default_factory=dict)
    """Recovery handles by pointer of the tools edit."""
    to_measure: Policy | None = None
    """The policy whose shrinking is measured once the request is on its way; None where there is nothing to measure."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that go out."""
        return self.rewrite.edits if self.rewrite else ()

    @property
    def outgoing(self) -> bytes:
        """What goes to the provider: with edits the edited body, plain; without any the very bytes that came."""
        return self.rewrite.body if self.rewrite and self.rewrite.edits else self.examined.encoded

    @property
    def decoded(self) -> bool:
        """Whether `outgoing` lost the content coding that the body came with."""
        return bool(self.edits) and bool(codings.names(self.examined.content_encoding))

    def undo(self, kinds: frozenset[EditKind]) -> "Prepared":
        """The same request without the edits of these kinds."""
        rewrite, body = self.rewrite, self.examined.body
        if rewrite is None or body is None:
            return self
        for some, code in ((MARKER_EDITS, "markers-undone"), (TOOLS_EDITS, "tools-undone")):
            if some & kinds:
                rewrite = without(rewrite, body, some, code)
        return replace(self, rewrite=rewrite)


class Transformer:
    """Examines and prepares bodies. Whatever fails in here costs the edits, never the request."""

    def __init__(
        self,
        rewriter: Rewriter,
        commit: Callable[[bytes], Awaitable[str | Trouble]],
        last_requests: LastRequests,
        *,
        decoded_limit: int,
    ) -> None:
        self._last_requests = last_requests
        self._rewriter = rewriter
        self._commit = commit
        self._decoded_limit = decoded_limit
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="transform")
        self._one_large = asyncio.Lock()

    async def examine(
        self, encoded: bytes, headers: Mapping[str, str], dialect: Dialect, recording: Recording, take: Callable[[int], bool]
    ) -> Examined:
        """Decode a body and read whose it is; `take` asks for the memory of a decoded copy. Never raises but for cancellation."""
        coding = headers.get("content-encoding", "")
        body: bytes | None = encoded
        if codings.names(coding):
            body = await self._decode(encoded, coding, recording)
            if body is not None and not take(len(body)):
                recording.warn("body-over-budget", "all bodies under way together pass their budget", "the request went out as it came")
                body = None
        if body is None:
            return Examined(encoded=encoded, content_encoding=coding, body=None, identity=Identity())
        try:
            key = key_of(headers, body)
            earlier = self._last_requests.find(key)
            shared = shared_start(body, earlier.document) if earlier else NOTHING
            came = Examined(encoded=encoded, content_encoding=coding, body=body, identity=Identity(), key=key)
            if shared.items:
                came = replace(came, earlier=earlier, shared=shared)
            return await self._run(came.new_bytes, lambda: _looked_into(came, body, headers, dialect))
        except Exception as error:
            recording.warn("not-examined", f"the request could not be read ({_name(error)})", "it went out as it came", REPORT)
            return Examined(encoded=encoded, content_encoding=coding, body=None, identity=Identity())

    async def prepare(self, examined: Examined, dialect: Dialect, client: ClientKind, policy: Policy, recording: Recording) -> Prepared:
        """Rewrite a body and commit the originals of what was replaced. Never raises but for cancellation."""
        body = examined.body
        if body is None:
            return Prepared(examined)
        try:
            # A number is nothing that a request should wait for.
            to_measure = policy if policy.shrink is ShrinkMode.MEASURE and examined.has_tools else None
            now = msgspec.structs.replace(policy, shrink=ShrinkMode.OFF) if to_measure else policy
            # The first look at a catalog may take long, however small it is beside a conversation.
            at_once = now.shrink is ShrinkMode.OFF or not examined.has_tools or _same_tools(examined, dialect, now)
            request = examined.document or body
            known = examined.earlier.walk if examined.earlier else None
            rewrite = await self._run(
                examined.new_bytes, lambda: self._rewriter(request, dialect, client, now, known=known), at_once=at_once
            )
            if examined.document is None:
                rewrite = msgspec.structs.replace(rewrite, value=None, walk=None)
            if rewrite.warning:
                recording.warn("rewrite-discarded", rewrite.warning, "the request went out as it came", REPORT)
            prepared = Prepared(examined, rewrite, now, to_measure=to_measure)
            # Counting is answered with a number, which nobody recovers anything from; it writes no store.
            return prepared if dialect is Dialect.ANTHROPIC_COUNT_TOKENS else await self._with_originals(prepared, recording)
        except Exception as error:
            recording.warn("rewrite-failed", f"rewriting the request failed ({_name(error)})", "it went out as it came", REPORT)
            return Prepared(examined)

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(wait=False, cancel_futures=True)

    async def _decode(self, encoded: bytes, coding: str, recording: Recording) -> bytes | None:
        def work() -> bytes:
            return codings.decode(encoded, coding, limit=self._decoded_limit)

        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)
        except Exception as error:
            why = str(error) if isinstance(error, codings.CodingError) else _name(error)
            recording.warn("not-decoded", f"the request's body could not be decoded: {why}", "it went out as it came")
            return None

    async def _with_originals(self, prepared: Prepared, recording: Recording) -> Prepared:
        """Commit what the tools edits replace; without a commit those edits are dropped."""
        rewrite = prepared.rewrite
        assert rewrite is not None
        tools = [edit for edit in prepared.edits if edit.kind is EditKind.TOOLS]
        if not tools:
            return prepared
        results = await asyncio.gather(*(self._commit(original) for original in _originals(tools, rewrite.tools)))
        if trouble := next((result for result in results if isinstance(result, Trouble)), None):
            recording.warn(trouble.code, trouble.what, "the tools went out as they came", trouble.todo)
            return prepared.undo(TOOLS_EDITS)
        handles = {edit.pointer: result for edit, result in zip(tools, results, strict=True) if isinstance(result, str)}
        return replace(prepared, handles=handles)

    async def _run(self, size: int, work: Callable[[], _T], *, at_once: bool = True) -> _T:
        if at_once and size <= INLINE_BYTES:
            return work()
        async with self._one_large if size >= _LARGE_BYTES else contextlib.nullcontext():
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)


REPORT = "Report it; --shrink off and --ttl off avoid it."


def _looked_into(came: Examined, body: bytes, headers: Mapping[str, str], dialect: Dialect) -> Examined:
    try:
        document = grown(body, came.earlier.document, came.shared) if came.earlier else JsonDocument(body)
    except JsonRefused:
        # The rewriter meets the same, and says why.
        return replace(came, identity=identify(headers, None))
    value = document.value
    model = value.get("model") if isinstance(value, dict) else None
    return replace(
        came,
        document=document if len(body) <= MOST_BYTES else None,
        identity=identify(headers, value),
        model=model[:_LONGEST_MODEL] if isinstance(model, str) else "",
        has_tools=bool(tools_paths(value, dialect)),
    )


def _same_tools(examined: Examined, dialect: Dialect, policy: Policy) -> bool:
    """Whether the very tools of the request before were shrunk by this policy: then what becomes of them is remembered."""
    earlier, document = examined.earlier, examined.document
    if earlier is None or document is None or earlier.policy != policy:
        return False
    paths = tools_paths(document.value, dialect)
    if paths != tools_paths(earlier.document.value, dialect):
        return False
    return all(value_at(document.value, path) is value_at(earlier.document.value, path) for path in paths)


def _originals(tools: list[Edit], changes: tuple[ToolsChange, ...]) -> list[bytes]:
    """The exact bytes of the tools value that each edit lies in."""
    originals = []
    for edit in tools:
        whole = next((change for change in changes if change.start <= edit.start and edit.end <= change.end), None)
        originals.append(whole.catalog.before if whole else edit.before)
    return originals


def _name(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
