"""Four bodies of 35 MB at once: within the memory that was promised, and not a byte different."""

import asyncio
import hashlib
import random
import re

import pytest

from caveman_tui.traffic.control import WorkerClient
from tests.proxy.provider import Exchange, RawProvider
from tests.soak.agent_requests import AgentRequest, agent_request
from tests.soak.conftest import Report, serving_worker

BODY_BYTES = 35_000_000
AT_ONCE = 4
LIMIT_BYTES = 600_000_000
_PIECE = 1 << 18


@pytest.mark.parametrize("edited", [False, True], ids=["as-they-came", "edited"])
async def test_four_large_bodies_at_once(edited: bool, free_port: int, randomness: random.Random, report: Report) -> None:
    """35 MB each way; what came is compared by digest, so that this process holds little itself."""
    requests = [agent_request(randomness, tool_count=20, text_bytes=BODY_BYTES * 14 // 17) for _ in range(AT_ONCE)]
    received: dict[str, str] = {}

    async def answer(exchange: Exchange) -> None:
        digest = hashlib.sha256()
        missing = int(exchange.seen.values("content-length")[0])
        while missing:
            piece = await exchange.reader.read(min(missing, _PIECE))
            assert piece
            digest.update(piece)
            missing -= len(piece)
        received[exchange.seen.values("x-tag")[0]] = digest.hexdigest()
        await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % BODY_BYTES)
        for piece in _answer_pieces():
            await exchange.send(piece)

    mode = ("--shrink", "apply") if edited else ("--shrink", "off", "--ttl", "off")
    async with RawProvider(answer, reads_bodies=False) as provider, serving_worker(free_port, provider.url, *mode) as worker:
        before = worker.memory("VmHWM")
        answers = await asyncio.gather(*(_send(worker.port, str(tag), request) for tag, request in enumerate(requests)))
        peak = worker.memory("VmHWM")
        async with WorkerClient(worker.socket) as control:
            warnings = [code for exchange in (await control.exchanges()).exchanges for code in exchange.warnings]
    report(f"{AT_ONCE} requests of {len(requests[0].body) / 1e6:.0f} MB at once: {peak / 1e6:.0f} MB at most, {before / 1e6:.0f} MB before")
    wanted = hashlib.sha256(b"".join(_answer_pieces())).hexdigest()
    assert answers == [wanted] * AT_ONCE
    unshrunk = 0
    for tag, request in enumerate(requests):
        wanted = hashlib.sha256(request.expected if edited else request.body).hexdigest()
        if edited and received[str(tag)] != wanted:
            # A store that is slow for a moment costs that request's shrinking, and nothing else.
            wanted = hashlib.sha256(request.with_tools(request.tools)).hexdigest()
            unshrunk += 1
        assert received[str(tag)] == wanted
    # Answers of this size are not read for their usage, and that is said.
    assert sorted(warnings) == ["store-slow"] * unshrunk + ["usage-unread"] * AT_ONCE
    assert peak < LIMIT_BYTES


def _answer_pieces() -> list[bytes]:
    text = b'{"type":"message","usage":{"input_tokens":1,"output_tokens":2},"content":"'
    piece = bytes(32 + at % 90 for at in range(_PIECE)).replace(b'"', b"'").replace(b"\\", b"/")
    count, rest = divmod(BODY_BYTES - len(text) - 2, _PIECE)
    return [text, *[piece] * count, piece[:rest], b'"}']


async def _send(port: int, tag: str, request: AgentRequest) -> str:
    """The digest of the answer's body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    fields = (f"Host: 127.0.0.1:{port}", *request.fields(f"X-Tag: {tag}"), f"Content-Length: {len(request.body)}")
    writer.write("\r\n".join(("POST /v1/messages HTTP/1.1", *fields)).encode() + b"\r\n\r\n")
    for at in range(0, len(request.body), _PIECE):
        writer.write(request.body[at : at + _PIECE])
        await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    found = re.search(rb"(?i)content-length: (\d+)", head)
    assert found is not None
    digest = hashlib.sha256()
    missing = int(found[1])
    while missing:
        piece = await reader.read(min(missing, _PIECE))
        assert piece
        digest.update(piece)
        missing -= len(piece)
    writer.close()
    return digest.hexdigest()
