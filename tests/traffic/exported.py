"""A worker that remembers a handful of exchanges, for exports."""

import json
from collections.abc import Sequence

from caveman_tui.core.cache_markers import Violation
from caveman_tui.core.policy import Level
from caveman_tui.core.reasons import reason
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.control import REDACTED, ExchangeDetail, HeaderField, Problem
from caveman_tui.protocol.events import MarkerEdit, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import Export, FormatName
from caveman_tui.traffic.source import Refused

KEY = "sk-ant-api03-" + "Ab3_" * 20
URL = "https://api.example/v1/messages?beta=true"

EDITED = Exchange(
    id="a-1",
    started_at=1_750_000_000.25,
    method="POST",
    path="/v1/messages?beta=true",
    provider="anthropic",
    dialect="anthropic-messages",
    model="claude-sonnet-4-5",
    client="claude-cli/2.1.197",
    conversation="5d1c-conversation",
    request_bytes=40,
    bytes_after=38,
    marker_edits=(
        MarkerEdit(pointer="/messages/4/content/0/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),
    ),
    tools=(
        ToolsSummary(
            pointer="/tools",
            digest="d" * 64,
            level=Level.STANDARD,
            applied=True,
            handle="ccr_" + "0" * 32,
            tools=3,
            bytes_before=1000,
            bytes_after=600,
            tokens_before=250,
            tokens_after=150,
        ),
    ),
    reasons=(reason("loop-shortened", "/messages/4/content/0"), reason("anchor-kept")),
    status=200,
    ttfb_ms=120.5,
    usage=Usage(input_tokens=10, output_tokens=20, cache_read_tokens=900, cache_write_tokens=90, cache_write_5m_tokens=90),
    response_bytes=31,
    duration_ms=1500.0,
    state="done",
)
REFUSED = Exchange(
    id="a-2",
    started_at=1_750_000_060.0,
    method="POST",
    path="/v1/messages",
    provider="anthropic",
    dialect="anthropic-messages",
    model="claude-sonnet-4-5",
    client="claude-cli/2.1.197",
    conversation="5d1c-conversation",
    request_bytes=20,
    violations=(Violation(code="ttl-order", pointer="/system/0", culprit="/tools/0", text="A 1h marker stands after a 5m one."),),
    status=400,
    ttfb_ms=80.0,
    duration_ms=81.0,
    response_bytes=2,
    state="provider-error",
    note="pipes | and <b>tags</b>\nand lines `here`",
    warnings=("markers-refused",),
)
RUNNING = Exchange(id="a-3", started_at=1_750_000_070.0, method="POST", path="/v1/responses", provider="openai", dialect="openai-responses")
PROBE = Exchange(
    id="a-4",
    started_at=1_750_000_080.0,
    method="HEAD",
    path="/",
    provider="anthropic",
    status=404,
    ttfb_ms=1.0,
    duration_ms=1.0,
    state="done",
)

REQUEST = json.dumps({"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": f"it's $HOME, `id` and {KEY}"}]}).encode()
SENT = REQUEST.replace(b"messages", b"m\xc3\xa4ssages")
RESPONSE = b'{"content":[{"type":"text","text":"\xe6\xbc\xa2"}]}'


class Remembers:
    """The part of a traffic source that exports use."""

    def __init__(self) -> None:
        self.bodies: dict[tuple[str, str], bytes] = {
            ("a-1", "request-before"): REQUEST,
            ("a-1", "request-after"): SENT,
            ("a-1", "response"): RESPONSE,
            ("a-2", "request-before"): b"\xff\x00raw",
            ("a-2", "response"): b"{}",
        }
        self.urls = {"a-1": URL, "a-2": "https://api.example/v1/messages", "a-4": "https://api.example/"}
        self.headers: tuple[tuple[str, str], ...] = (
            ("Host", "127.0.0.1:8788"),
            ("Content-Length", "40"),
            ("Content-Type", "application/json"),
            ("X-Api-Key", REDACTED),
            ("anthropic-version", "2023-06-01"),
            ("X-Odd", f"token {KEY}"),
        )
        self.gone: set[str] = set()

    async def exchange(self, exchange_id: str) -> ExchangeDetail:
        if exchange_id in self.gone:
            raise Refused(Problem(code="unknown-exchange", what="gone"))
        return ExchangeDetail(
            exchange=next((exchange for exchange in ALL if exchange.id == exchange_id), EDITED),
            request_headers=tuple(HeaderField(name=name, value=value) for name, value in self.headers),
            response_headers=(HeaderField(name="content-type", value="application/json"),),
            header_edits=("content-length was set to 38",) if exchange_id == "a-1" else (),
            bodies=tuple(which for id, which in self.bodies if id == exchange_id),
            url=self.urls.get(exchange_id, ""),
        )

    async def body(self, exchange_id: str, which: str) -> bytes:
        return self.bodies[exchange_id, which]


ALL = (EDITED, REFUSED, RUNNING, PROBE)


async def document(
    name: FormatName, exchanges: Sequence[Exchange] = ALL, source: Remembers | None = None, **options: bool
) -> tuple[bytes, Export]:
    export = Export(name, **options)
    pieces = [piece async for piece in export.pieces(source or Remembers(), exchanges)]  # type: ignore[arg-type]
    return b"".join(pieces), export
