"""A worker that tells the hand-written story, and then whatever a test feeds it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import msgspec

from caveman_tui.config import ANTHROPIC, OPENAI
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol import events
from caveman_tui.protocol.control import (
    REDACTED,
    CatalogDetail,
    Conversation,
    ConversationList,
    ExchangeDetail,
    ExchangeList,
    HeaderField,
    Problem,
    SearchEnd,
    SearchHit,
    SearchResult,
    Status,
    StoreStatus,
)
from caveman_tui.protocol.events import AnyEvent, Settings
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.proxy.pause_book import PauseBook
from caveman_tui.traffic.source import Refused, WorkerGone
from tests.tui.session import NIGHTLY, OPUS, OTHER_DIGEST, REFACTOR, START, catalog, other_catalog

INSTANCE = "5f0c5f0c5f0c5f0c"
REQUEST = {
    "model": OPUS,
    "max_tokens": 32000,
    "system": [
        {"type": "text", "text": "You are a careful engineer.\nAnswer briefly."},
        {
            "type": "text",
            "text": "Rules \u001b[31mof\u001b[0m the house: [bold]no markup[/bold]",
            "cache_control": {"type": "ephemeral", "ttl": "1h"},
        },
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Rename the parser module and fix its imports. " * 12}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": "git grep -n parser"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "src/parser.py:1: 解析器"}]},
    ],
}
RESPONSE = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","usage":{"input_tokens":4}}}\n\n'
    b"event: ping\ndata: {}\n\n"
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Renamed."}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)


class FakeSource:
    """A worker that tells the story, then whatever a test feeds it. It keeps to TrafficSource."""

    def __init__(self, exchanges: Sequence[Exchange] = (), *, store_path: str = "", settings: Settings | None = None) -> None:
        self.listing = list(exchanges)
        self.now_settings = settings or Settings(shrink=ShrinkMode.APPLY)
        self.store_path = store_path
        self.store_problem = ""
        self.instance = INSTANCE
        self.seq = 1000
        self.gone = ""
        """Reason why nothing answers; empty where the worker lives."""
        self.calls: list[str] = []
        self.bodies: dict[tuple[str, str], bytes] = {}
        self.search_may_go_on = asyncio.Event()
        self.search_may_go_on.set()
        self._feed: asyncio.Queue[Sequence[AnyEvent] | None] = asyncio.Queue()

    def send(self, *batch: AnyEvent) -> None:
        """Let events happen; sequence numbers are given here."""
        numbered = []
        for event in batch:
            self.seq += 1
            numbered.append(msgspec.structs.replace(event, seq=self.seq))
        self._feed.put_nowait(numbered)

    def break_off(self, reason: str) -> None:
        """The worker dies."""
        self.gone = reason
        self._feed.put_nowait(None)

    async def status(self) -> Status:
        """As a worker on port 8788 would answer."""
        self._answer("status")
        return Status(
            instance=self.instance,
            pid=4242,
            version="0.1.0",
            started_at=START,
            host="127.0.0.1",
            port=8788,
            settings=self.now_settings,
            upstreams=(ANTHROPIC, OPENAI),
            store=StoreStatus(
                path=self.store_path, problem=self.store_problem, originals=14, payload_bytes=412_306, budget_bytes=536_870_912
            ),
            seq=self.seq,
            exchanges=len(self.listing),
            open_exchanges=1,
            body_bytes=1_204_332,
            body_budget_bytes=268_435_456,
        )

    async def settings(self) -> Settings:
        """The settings."""
        self._answer("settings")
        return self.now_settings

    async def change_settings(
        self,
        *,
        loop_ttl: LoopTtlMode | None = None,
        shrink: ShrinkMode | None = None,
        level: Level | None = None,
        excluded_tools: tuple[str, ...] | None = None,
    ) -> Settings:
        """Changes them and says so to followers, as a worker does."""
        self._answer(f"change_settings {loop_ttl} {shrink} {level}")
        given = (("loop_ttl", loop_ttl), ("shrink", shrink), ("level", level), ("excluded_tools", excluded_tools))
        changes = {name: value for name, value in given if value is not None}
        self.now_settings = msgspec.structs.replace(self.now_settings, **changes)
        self.send(events.SettingsChanged(settings=self.now_settings))
        return self.now_settings

    async def exchanges(self) -> ExchangeList:
        """All of the story."""
        self._answer("exchanges")
        copies = tuple(msgspec.structs.replace(exchange) for exchange in self.listing)
        return ExchangeList(instance=self.instance, seq=self.seq, exchanges=copies)

    async def exchange(self, exchange_id: str) -> ExchangeDetail:
        """Headers as Claude Code sends them."""
        self._answer(f"exchange {exchange_id}")
        return ExchangeDetail(
            exchange=next(exchange for exchange in self.listing if exchange.id == exchange_id),
            request_headers=(
                HeaderField(name="Accept", value="application/json"),
                HeaderField(name="X-Api-Key", value=REDACTED),
                HeaderField(name="anthropic-version", value="2023-06-01"),
                HeaderField(
                    name="anthropic-beta", value="claude-code-20250219,extended-cache-ttl-2025-04-11,context-management-2025-06-27"
                ),
                HeaderField(name="User-Agent", value="claude-cli/2.1.197 (external, cli)"),
                HeaderField(name="X-Claude-Code-Session-Id", value=REFACTOR),
            ),
            response_headers=(
                HeaderField(name="Content-Type", value="text/event-stream; charset=utf-8"),
                HeaderField(name="request-id", value="req_011CZk\u001b[2J"),
                HeaderField(name="anthropic-ratelimit-unified-status", value="allowed"),
            ),
            header_edits=("content-length set to 143201, because the body was edited",),
            bodies=("request-before", "request-after", "response"),
            url="https://api.anthropic.com/v1/messages?beta=true",
        )

    async def body(self, exchange_id: str, which: str) -> bytes:
        """The same request and response for all."""
        self._answer(f"body {exchange_id} {which}")
        if (exchange_id, which) in self.bodies:
            return self.bodies[exchange_id, which]
        if exchange_id == "5f0c-3":
            raise Refused(Problem(code="body-evicted", what="This body is no longer in memory.", todo="A larger body budget keeps more."))
        return RESPONSE if which == "response" else json.dumps(REQUEST, ensure_ascii=False, separators=(",", ":")).encode()

    async def catalog(self, digest: str, level: Level) -> CatalogDetail:
        """The one of the morning, or the other."""
        self._answer(f"catalog {digest} {level}")
        return other_catalog() if digest == OTHER_DIGEST else catalog()

    async def conversations(self) -> ConversationList:
        """What the story's conversations are pinned to."""
        self._answer("conversations")
        recorded = PauseBook()
        for exchange in self.listing:
            recorded.take(exchange)
        return ConversationList(
            conversations=(
                Conversation(id=REFACTOR, shrink=ShrinkMode.APPLY, level=Level.STANDARD, pauses=recorded.of(REFACTOR)),
                Conversation(id=NIGHTLY, pauses=recorded.of(NIGHTLY)),
            )
        )

    async def force_shrink(self, conversation: str, shrink: ShrinkMode, level: Level | None = None) -> Conversation:
        """Notes the wish."""
        self._answer(f"force_shrink {conversation} {shrink} {level}")
        return Conversation(id=conversation, shrink=shrink, level=level)

    async def search(self, text: str, ids: Sequence[str] = ()) -> AsyncGenerator[SearchResult, None]:
        """Looks into the bodies that a test put here; waits before each hit where it was told to hold."""
        self._answer(f"search {text}")
        holders = [id for (id, _), body in self.bodies.items() if text.encode() in body and (not ids or id in ids)]
        for exchange_id in sorted(holders, reverse=True):
            await self.search_may_go_on.wait()
            yield SearchHit(exchange=exchange_id, body="request-before", snippet=text)
        yield SearchEnd(searched=len(self.listing), without_bodies=3)

    async def stop(self) -> None:
        """Notes the wish."""
        self._answer("stop")

    async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        """What `send` was given."""
        self._answer(f"follow {after}")
        while True:
            batch = await self._feed.get()
            if batch is None:
                raise WorkerGone(self.gone)
            yield batch

    def _answer(self, call: str) -> None:
        self.calls.append(call)
        if self.gone:
            raise WorkerGone(self.gone)
