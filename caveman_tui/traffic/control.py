"""The client of a worker's control API."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar
from urllib.parse import quote

import httpx
import msgspec

from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol import events
from caveman_tui.protocol.control import (
    INSTANCE_HEADER,
    CatalogDetail,
    Conversation,
    ConversationList,
    ExchangeDetail,
    ExchangeList,
    PinChange,
    Problem,
    SearchEnd,
    SearchResult,
    SettingsChange,
    Status,
)
from caveman_tui.protocol.discovery import WorkerRecord
from caveman_tui.protocol.events import AnyEvent, Settings
from caveman_tui.traffic.source import Refused, ResyncNeeded, WorkerGone

_ANSWER_SECONDS = 30.0
_SILENCE_SECONDS = 60.0
"""The worker sends a blank line at least every 15 s; after so long without one the connection is dead."""

T = TypeVar("T")

_search_results: msgspec.json.Decoder[SearchResult] = msgspec.json.Decoder(SearchResult)


class WorkerClient:
    """A worker, reached over its socket or, where there are none, over loopback TCP with a token.

    It is a `traffic.source.TrafficSource`: every method may raise WorkerGone or Refused. One event loop, any number of calls
    at once.
    """

    def __init__(self, where: Path | WorkerRecord) -> None:
        """`where` is the path of a control socket, or a worker's record. Nothing is connected yet."""
        socket = str(where) if isinstance(where, Path) else where.socket
        headers: dict[str, str] = {}
        if socket:
            transport = httpx.AsyncHTTPTransport(uds=socket)
            base_url, self.place = "http://worker", socket
        else:
            assert isinstance(where, WorkerRecord)
            transport = httpx.AsyncHTTPTransport()
            base_url = f"http://127.0.0.1:{where.control_port}"
            headers["authorization"] = f"Bearer {where.token}"
            self.place = base_url
        # Without `trust_env` no HTTP_PROXY of the person's stands between us and our own socket.
        self._http = httpx.AsyncClient(
            transport=transport, base_url=base_url, headers=headers, trust_env=False, timeout=httpx.Timeout(_ANSWER_SECONDS, connect=5.0)
        )
        self._instance = ""

    async def __aenter__(self) -> "WorkerClient":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def status(self) -> Status:
        """What the worker says of itself."""
        status = await self._get("/v1/status", Status)
        self._instance = status.instance
        return status

    async def settings(self) -> Settings:
        """The policies that new conversations take."""
        return (await self.status()).settings

    async def change_settings(
        self,
        *,
        loop_ttl: LoopTtlMode | None = None,
        shrink: ShrinkMode | None = None,
        level: Level | None = None,
        excluded_tools: tuple[str, ...] | None = None,
    ) -> Settings:
        """Change the fields that are given; the settings as they are then."""
        change = SettingsChange(loop_ttl=loop_ttl, shrink=shrink, level=level, excluded_tools=excluded_tools)
        return await self._send("PATCH", "/v1/settings", change, Settings)

    async def exchanges(self) -> ExchangeList:
        """All exchanges in memory, oldest first."""
        listing = await self._get("/v1/exchanges", ExchangeList)
        self._instance = listing.instance
        return listing

    async def exchange(self, exchange_id: str) -> ExchangeDetail:
        """One exchange with headers and the names of the bodies still in memory."""
        return await self._get(f"/v1/exchanges/{quote(exchange_id, safe='')}", ExchangeDetail)

    async def body(self, exchange_id: str, which: str) -> bytes:
        """`request-before`, `request-after` or `response`, decoded from its content coding."""
        return await self._request("GET", f"/v1/exchanges/{quote(exchange_id, safe='')}/bodies/{quote(which, safe='')}")

    async def catalog(self, digest: str, level: Level) -> CatalogDetail:
        """A catalog, tool by tool, at one level."""
        return await self._get(f"/v1/catalogs/{quote(digest, safe='')}?level={level}", CatalogDetail)

    async def conversations(self) -> ConversationList:
        """All conversations with what they are pinned to."""
        return await self._get("/v1/conversations", ConversationList)

    async def force_shrink(self, conversation: str, shrink: ShrinkMode, level: Level | None = None) -> Conversation:
        """Switch a running conversation now; its cached prefix is written again once."""
        path = f"/v1/conversations/{quote(conversation, safe='')}/shrink"
        return await self._send("PUT", path, PinChange(shrink=shrink, level=level), Conversation)

    async def stop(self) -> None:
        """End the worker once running exchanges have ended."""
        await self._request("POST", "/v1/stop")

    async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        """Batches of the events after `after`, of the worker that `status` or `exchanges` spoke to last.

        Ends when the worker ends the stream: it stops, or cuts off a reader who fell too far behind. Raises ResyncNeeded where
        `after` is no longer in its memory or another worker has taken its place, WorkerGone where the connection breaks.
        """
        timeout = httpx.Timeout(_SILENCE_SECONDS, connect=5.0)
        with self._broken_connection():
            async with self._http.stream("GET", f"/v1/events?after={after}", timeout=timeout) as response:
                if response.status_code == httpx.codes.GONE:
                    raise ResyncNeeded(f"events after {after} are no longer in the worker's memory")
                if response.is_error:
                    raise Refused(_problem(response.status_code, await response.aread()))
                if self._instance and response.headers.get(INSTANCE_HEADER) != self._instance:
                    raise ResyncNeeded("another worker has taken the place of the one before")
                rest = b""
                async for chunk in response.aiter_raw():
                    *lines, rest = (rest + chunk).split(b"\n")
                    if batch := [event for line in lines if line and (event := _event(line)) is not None]:
                        yield batch

    async def search(self, text: str, ids: Sequence[str] = ()) -> AsyncGenerator[SearchResult, None]:
        """A hit for each exchange whose bodies hold `text`, newest first as they are found, and at last the end.

        With `ids` only these exchanges are looked into. Closing the generator ends the search. Raises WorkerGone where the stream
        breaks off before its end.
        """
        timeout = httpx.Timeout(_SILENCE_SECONDS, connect=5.0)
        with self._broken_connection():
            async with self._http.stream("GET", "/v1/search", params={"q": text, "in": list(ids)}, timeout=timeout) as response:
                if response.is_error:
                    raise Refused(_problem(response.status_code, await response.aread()))
                async for line in _lines(response):
                    result = _search_result(line)
                    yield result
                    if isinstance(result, SearchEnd):
                        return
        raise WorkerGone(f"The worker at {self.place} ended in the middle of a search.")

    async def _get(self, path: str, kind: type[T]) -> T:
        return _decoded(await self._request("GET", path), kind)

    async def _send(self, method: str, path: str, message: msgspec.Struct, kind: type[T]) -> T:
        return _decoded(await self._request(method, path, msgspec.json.encode(message)), kind)

    async def _request(self, method: str, path: str, content: bytes | None = None) -> bytes:
        headers = {"content-type": "application/json"} if content is not None else {}
        with self._broken_connection():
            response = await self._http.request(method, path, content=content, headers=headers)
        if response.is_error:
            raise Refused(_problem(response.status_code, response.content))
        return response.content

    @contextlib.contextmanager
    def _broken_connection(self) -> Iterator[None]:
        try:
            yield
        except httpx.ConnectError as error:
            raise WorkerGone(f"No worker answers at {self.place}. 'caveman-tui' starts one.") from error
        except httpx.TimeoutException as error:
            raise WorkerGone(f"The worker at {self.place} does not answer. 'caveman-tui doctor' looks into it.") from error
        except httpx.HTTPError as error:
            raise WorkerGone(f"The connection to the worker at {self.place} broke ({type(error).__name__}).") from error


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """The lines that are not blank, as they become whole."""
    rest = b""
    async for chunk in response.aiter_raw():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in filter(None, lines):
            yield line


def _decoded(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise _unreadable(error) from error


def _search_result(line: bytes) -> SearchResult:
    try:
        return _search_results.decode(line)
    except msgspec.MsgspecError as error:
        raise _unreadable(error) from error


def _unreadable(error: msgspec.MsgspecError) -> Refused:
    return Refused(
        Problem(
            code="unreadable-answer",
            what=f"The worker's answer can't be read ({error}).",
            todo="It may be of another version: end it with 'caveman-tui stop' and start again.",
        )
    )


def _event(line: bytes) -> AnyEvent | None:
    """The event of a line; None for a type that only a newer worker knows."""
    try:
        return events.load(line)
    except msgspec.MsgspecError:
        return None


def _problem(status: int, content: bytes) -> Problem:
    try:
        return msgspec.json.decode(content, type=Problem)
    except msgspec.MsgspecError:
        return Problem(code="unknown", what=f"The worker answered with status {status}.")
