"""The scripted agent: plays the conversations over HTTP, in simulated time, and checks what only a client can check."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from caveman_tui.demo.catalogs import chat_tools
from caveman_tui.demo.claude_client import ClaudeClient, encode
from caveman_tui.demo.plot import Conversation, Mishap, Step, step_name
from caveman_tui.demo.reply_reader import Json, streamed_message, whole_message
from caveman_tui.demo.wire import Sent, Wire

_MESSAGES = "/v1/messages?beta=true"
_COUNT = "/v1/messages/count_tokens?beta=true"
_RETRY_SECONDS = 2.0


class ScriptBroken(Exception):
    """The conversation can't go on: an answer was not the one that is scripted."""


@dataclass(slots=True)
class Agent:
    """Plays `conversations` side by side in the order of their simulated time; the same on every run.

    `pause` is called with the simulated seconds before each request and may take real time, so that a person can follow.
    """

    wire: Wire
    conversations: tuple[Conversation, ...]
    pause: Callable[[float], Awaitable[None]] | None = None
    problems: list[str] = field(default_factory=list)
    """What was not as scripted, a sentence each."""

    async def run(self) -> None:
        """Play everything to its end."""
        plays = [self._play(conversation) for conversation in self.conversations] + [self._others()]
        starts = [conversation.starts_at for conversation in self.conversations] + [20.0]
        due = [(start, index) for index, start in enumerate(starts)]
        heapq.heapify(due)
        while due:
            moment, index = heapq.heappop(due)
            if self.pause is not None:
                await self.pause(moment - self.wire.now)
            await self.wire.wait_until(moment)
            try:
                seconds = await anext(plays[index], None)
            except ScriptBroken as broken:
                self.problems.append(str(broken))
                continue
            if seconds is not None:
                heapq.heappush(due, (moment + seconds, index))

    async def _play(self, conversation: Conversation) -> AsyncIterator[float]:
        """One conversation; yields the simulated seconds until it wants to go on."""
        client = ClaudeClient(conversation)
        if not conversation.agent:
            await self._open(client)
            yield 1.0
        interrupted = False
        for turn_number, turn in enumerate(conversation.turns, 1):
            if turn.pause:
                yield turn.pause
            client.prompt(turn.prompt, interrupted=interrupted)
            interrupted = False
            for step_number, step in enumerate(turn.steps, 1):
                name = step_name(conversation, turn_number, step_number)
                if step.mishap is Mishap.CANCELLED:
                    await self._cancel(client, name)
                    interrupted = True
                    continue
                async for seconds in self._ask(client, name, step):
                    yield seconds
                if step.helper is not None:
                    async for seconds in self._play(step.helper):
                        yield seconds
                if step.results:
                    self._return(client, step, name)
                yield step.seconds
            if turn_number == 1 and conversation.counts_tokens:
                await self._count(client)

    async def _open(self, client: ClaudeClient) -> None:
        await self.wire.send("HEAD", "/", headers=(("User-Agent", "Bun/1.3.5"),))
        if not client.conversation.headless:
            body = client.title_body(client.conversation.turns[0].prompt)
            self._expect(await self._post(client, body, "title"), 200)

    async def _ask(self, client: ClaudeClient, name: str, step: Step) -> AsyncIterator[float]:
        """One answer of the model, with the retries that a client makes; yields the waiting in between."""
        sent = await self._post(client, client.body(), name)
        if step.mishap is Mishap.OVERLOADED:
            self._expect(sent, 529)
            yield _RETRY_SECONDS
            sent = await self._post(client, client.body(), name)
        if step.mishap is Mishap.CUT:
            if not sent.broke_off:
                raise ScriptBroken(f"request {sent.number}: the provider broke the stream off, but the response seemed complete")
            yield _RETRY_SECONDS
            sent = await self._post(client, client.body(stream=False), name)
        self._expect(sent, 200)
        client.answered(self._message(sent))

    def _return(self, client: ClaudeClient, step: Step, name: str) -> None:
        try:
            client.returned(step.results)
        except ValueError as error:
            raise ScriptBroken(f"step {name}: the answer calls other tools than are scripted") from error

    async def _cancel(self, client: ClaudeClient, name: str) -> None:
        sent = await self.wire.send(
            "POST",
            _MESSAGES,
            headers=client.headers(),
            body=client.body(),
            conversation=client.conversation.name,
            step=name,
            hang_up_after=b"text_delta",
        )
        if not sent.hung_up:
            raise ScriptBroken(f"request {sent.number}: the stream ended before it could be cancelled")

    async def _count(self, client: ClaudeClient) -> None:
        tools = client.conversation.tools
        bodies = [client.count_body(tools[number % len(tools)]) for number in range(client.conversation.counts_tokens)]
        burst = [
            self.wire.send("POST", _COUNT, headers=client.headers(), body=body, conversation=client.conversation.name) for body in bodies
        ]
        for sent in await asyncio.gather(*burst):
            self._expect(sent, 200)

    async def _others(self) -> AsyncIterator[float]:
        """What else passes a proxy: discovery, an odd path, a body that is no JSON, another provider."""
        self._expect(await self.wire.send("GET", "/v1/models?limit=1000"), 200)
        yield 5.0
        self._expect(await self.wire.send("GET", "/v1/nothing%20here/%2e%2e?x=%zz&x=1"), 404)
        yield 5.0
        json_type = (("Content-Type", "application/json"),)
        self._expect(await self.wire.send("POST", "/v1/messages", headers=json_type, body=b'{"model":"claude-opus-4-8","messages":['), 400)
        yield 5.0
        chat = {
            "model": "gpt-5",
            "messages": [{"role": "user", "content": "Which pipelines failed today?"}],
            "tools": chat_tools(("ci", "chat")),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        headers = (*json_type, ("Authorization", "Bearer demo-not-a-key"), ("User-Agent", "AsyncOpenAI/Python 3.57.0"))
        self._expect(await self.wire.send("POST", "/v1/chat/completions", headers=headers, body=encode(chat), step="chat"), 200)

    async def _post(self, client: ClaudeClient, body: bytes, name: str) -> Sent:
        return await self.wire.send(
            "POST", _MESSAGES, headers=client.headers(), body=body, conversation=client.conversation.name, step=name
        )

    def _expect(self, sent: Sent, status: int) -> None:
        if sent.status != status:
            said = bytes(sent.received[:300]).decode("utf-8", "replace") or sent.broke_off
            raise ScriptBroken(f"request {sent.number} ({sent.method} {sent.target}): status {sent.status} instead of {status}: {said}")

    def _message(self, sent: Sent) -> list[Json]:
        streamed = any(name.lower() == "content-type" and value.startswith("text/event-stream") for name, value in sent.received_headers)
        try:
            return streamed_message(bytes(sent.received)) if streamed else whole_message(bytes(sent.received))
        except (ValueError, KeyError) as error:
            raise ScriptBroken(f"request {sent.number}: the answer can't be put together: {error!r}") from error
