"""HTTP Archive (HAR) 1.2, for browsers' tools and other viewers. Conversations are its pages.

Source: "HAR 1.2 Spec", Jan Odvarko. What it has no form for stands in members that begin with an underscore, as it asks for.
"""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from http.client import responses
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from caveman_tui import __version__
from caveman_tui.protocol.control import HeaderField
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.exports.format import was_edited
from caveman_tui.traffic.exports.material import Material, without_secrets_of

_UNKNOWN = -1
"""The specification's word for a size that is not known."""
_HTTP = "HTTP/1.1"


class Har:
    """The format `har`."""

    suffix = ".har"

    def __init__(self, *, with_bodies: bool, forwarded: bool) -> None:
        self.remarks: list[str] = []
        self._with_bodies = with_bodies
        self._forwarded = forwarded
        self.left_out = 0
        self._written = 0

    def wanted(self, exchange: Exchange) -> Sequence[str]:
        """Request and response, if they are to be in it."""
        return (self._request(exchange), "response") if self._with_bodies else ()

    def begin(self, exchanges: Sequence[Exchange]) -> bytes:
        """All but the entries."""
        pages: dict[str, Exchange] = {}
        for exchange in exchanges:
            pages.setdefault(exchange.conversation, exchange)
        log = {
            "version": "1.2",
            "creator": {"name": "caveman-tui", "version": __version__},
            "pages": [_page(without_secrets_of(exchange)) for exchange in pages.values()],
        }
        return b'{"log":' + msgspec.json.encode(log)[:-1] + b',"entries":['

    def entry(self, material: Material) -> bytes:
        """An entry; nothing for an exchange that still runs."""
        exchange = material.exchange
        if exchange.duration_ms is None:
            self.left_out += 1
            return b""
        self._written += 1
        entry = {
            "pageref": _page_id(exchange),
            "startedDateTime": _date(exchange.started_at),
            "time": exchange.duration_ms,
            "request": self._described_request(material),
            "response": _described_response(material),
            "cache": {},
            "timings": _timings(exchange, exchange.duration_ms),
            "_exchange": exchange,
            "_headerEdits": material.header_edits,
        }
        return (b"," if self._written > 1 else b"") + b"\n" + msgspec.json.encode(entry)

    def end(self) -> bytes:
        """What closes it."""
        if self.left_out:
            self.remarks.append(f"{format.plural(self.left_out, 'exchange')} left out: not ended yet, for which HAR has no form.")
        return b"\n]}}\n"

    def _request(self, exchange: Exchange) -> str:
        return "request-after" if self._forwarded and was_edited(exchange) else "request-before"

    def _described_request(self, material: Material) -> dict[str, Any]:
        exchange = material.exchange
        url = material.url or exchange.path
        size = exchange.bytes_after if self._forwarded else exchange.request_bytes
        request: dict[str, Any] = {
            "method": exchange.method,
            "url": url,
            "httpVersion": _HTTP,
            "cookies": [],
            "headers": _fields(material.request_headers),
            "queryString": [{"name": name, "value": value} for name, value in parse_qsl(urlsplit(url).query, keep_blank_values=True)],
            "headersSize": _UNKNOWN,
            "bodySize": _UNKNOWN if size is None else size,
        }
        body = material.bodies.get(self._request(exchange))
        if body:
            text, encoding = _text(body)
            # The specification knows an encoding of response contents only.
            coded = {"_encoding": encoding} if encoding else {}
            request["postData"] = {"mimeType": material.header("content-type"), "params": [], "text": text, **coded}
        return request


def _described_response(material: Material) -> dict[str, Any]:
    exchange = material.exchange
    content: dict[str, Any] = {"size": _UNKNOWN, "mimeType": material.header("content-type", response=True)}
    body = material.bodies.get("response")
    if body is not None:
        text, encoding = _text(body)
        content |= {"size": len(body), "text": text, **({"encoding": encoding} if encoding else {})}
    status = exchange.status or 0
    return {
        # 0 is how viewers show a request without an answer.
        "status": status,
        "statusText": responses.get(status, ""),
        "httpVersion": _HTTP,
        "cookies": [],
        "headers": _fields(material.response_headers),
        "content": content,
        "redirectURL": material.header("location", response=True),
        "headersSize": _UNKNOWN,
        "bodySize": exchange.response_bytes,
        **({"comment": exchange.note} if exchange.note else {}),
    }


def _timings(exchange: Exchange, duration: float) -> dict[str, Any]:
    """Where nothing came, all of the time was waiting."""
    waited = duration if exchange.ttfb_ms is None else min(exchange.ttfb_ms, duration)
    return {"send": 0, "wait": waited, "receive": duration - waited, "comment": "Sending is part of the waiting; it is not measured apart."}


def _page(exchange: Exchange) -> dict[str, Any]:
    title = f"{exchange.client or 'client'}, conversation {exchange.conversation}" if exchange.conversation else "Outside conversations"
    return {"id": _page_id(exchange), "startedDateTime": _date(exchange.started_at), "title": title, "pageTimings": {}}


def _page_id(exchange: Exchange) -> str:
    return exchange.conversation or "none"


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _fields(fields: tuple[HeaderField, ...]) -> list[dict[str, str]]:
    return [{"name": field.name, "value": field.value} for field in fields]


def _text(body: bytes) -> tuple[str, str]:
    try:
        return body.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), "base64"
