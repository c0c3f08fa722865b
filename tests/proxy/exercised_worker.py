"""Run as a process of its own: starts a worker, uses all of it, and prints which modules were imported after its start."""

import asyncio
import json
import sys
import urllib.parse

from caveman_tui import places
from caveman_tui.config import WorkerConfig
from caveman_tui.core.policy import ShrinkMode
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings
from caveman_tui.proxy.worker import Worker

MARKED = {"type": "ephemeral", "ttl": "1h"}
REQUEST = {
    "model": "claude-x",
    "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object", "title": "Arguments", "properties": {}}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a", "cache_control": MARKED}]},
    ],
}
PATHS = ("/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses", "/v1/files")


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    kinds = {b"/v1/messages ": b"text/event-stream"}
    kind = next((kind for path, kind in kinds.items() if path in head), b"application/json")
    body = b'event: message_stop\ndata: {"type":"message_stop"}\n\n' if kind != b"application/json" else b'{"usage":{"input_tokens":1}}'
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body))
    await writer.drain()
    writer.close()


async def ask(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], line: str, body: bytes = b"", *fields: str) -> bytes:
    """One request on a connection of its own, and the body of its answer, which HTTP/1.0 leaves without chunks."""
    reader, writer = connection
    head = [f"{line} HTTP/1.0", "Host: 127.0.0.1", f"Content-Length: {len(body)}", *fields]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
    whole = await reader.read()
    writer.close()
    return whole.partition(b"\r\n\r\n")[2]


async def main() -> None:
    provider = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{provider.sockets[0].getsockname()[1]}"
    upstreams = tuple(Upstream(name=name, base_url=url, dialect=name) for name in ("anthropic", "openai"))
    worker = Worker(WorkerConfig(port=0, upstreams=upstreams, settings=Settings(shrink=ShrinkMode.APPLY)), put_seconds=60.0)
    await worker.start()
    assert worker.loaded is not None
    await worker.loaded
    at_start = set(sys.modules)
    (control,) = places.runtime_dir().glob("*.sock")
    for path in PATHS:
        fields = ("Content-Type: application/json", "x-claude-code-session-id: s")
        await ask(await asyncio.open_connection("127.0.0.1", worker.port), f"POST {path}", json.dumps(REQUEST).encode(), *fields)
    listed = json.loads(await ask(await asyncio.open_unix_connection(control), "GET /v1/exchanges"))["exchanges"]
    asked = ["/v1/status", "/v1/conversations", "/v1/search?q=go", *(f"/v1/exchanges/{exchange['id']}" for exchange in listed)]
    for exchange in listed:
        asked += [f"/v1/exchanges/{exchange['id']}/bodies/{which}" for which in ("request-before", "request-after", "response")]
        asked += [f"/v1/catalogs/{tools['digest']}?level={level}" for tools in exchange["tools"] for level in ("careful", "terse")]
    for target in asked:
        assert await ask(await asyncio.open_unix_connection(control), f"GET {urllib.parse.quote(target, safe='/?=')}")
    await ask(await asyncio.open_unix_connection(control), "PATCH /v1/settings", b'{"shrink":"off"}')
    await ask(await asyncio.open_unix_connection(control), "PUT /v1/conversations/s/shrink", b'{"shrink":"measure"}')
    await worker.stop()
    provider.close()
    print(json.dumps({"exchanges": len(listed), "edited": bool(listed[0]["marker_edits"]), "late": sorted(set(sys.modules) - at_start)}))


if __name__ == "__main__":
    asyncio.run(main())
