"""JSON lines: one exchange a line, for programs."""

import base64
from collections.abc import Sequence

import msgspec

from caveman_tui.protocol.control import HeaderField
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports.format import bodies_of
from caveman_tui.traffic.exports.material import Material


class ExportedBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A body, decoded from its content coding: as text where it is UTF-8, else in Base64."""

    which: str
    text: str | None = None
    base64: str | None = None


class ExportedExchange(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `exchange` holds usage as the provider reported it, edits with their reasons, and null for what is unknown."""

    exchange: Exchange
    url: str
    request_headers: tuple[HeaderField, ...]
    response_headers: tuple[HeaderField, ...]
    header_edits: tuple[str, ...]
    bodies: tuple[ExportedBody, ...]


class JsonLines:
    """The format `jsonl`."""

    suffix = ".jsonl"

    def __init__(self, *, with_bodies: bool) -> None:
        self.remarks: list[str] = []
        self.left_out = 0
        self._with_bodies = with_bodies
        self._encoder = msgspec.json.Encoder()

    def wanted(self, exchange: Exchange) -> Sequence[str]:
        """All bodies that differ, if any are to be in it."""
        return bodies_of(exchange) if self._with_bodies else ()

    def begin(self, exchanges: Sequence[Exchange]) -> bytes:
        """Nothing."""
        return b""

    def entry(self, material: Material) -> bytes:
        """A line."""
        exported = ExportedExchange(
            exchange=material.exchange,
            url=material.url,
            request_headers=material.request_headers,
            response_headers=material.response_headers,
            header_edits=material.header_edits,
            bodies=tuple(_body(which, data) for which, data in material.bodies.items()),
        )
        return self._encoder.encode(exported) + b"\n"

    def end(self) -> bytes:
        """Nothing."""
        return b""


def _body(which: str, data: bytes) -> ExportedBody:
    try:
        return ExportedBody(which=which, text=data.decode())
    except UnicodeDecodeError:
        return ExportedBody(which=which, base64=base64.b64encode(data).decode())
