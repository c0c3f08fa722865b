"""What an export is made of: one exchange with its headers and bodies, credentials taken out before any format sees it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from caveman_tui.protocol.control import ExchangeDetail, HeaderField
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports.redaction import without_secrets
from caveman_tui.traffic.source import Refused, TrafficSource

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Material:
    """One exchange, ready to be written down."""

    exchange: Exchange
    url: str
    """Where the provider got it, empty where that is not known any more."""
    request_headers: tuple[HeaderField, ...]
    response_headers: tuple[HeaderField, ...]
    header_edits: tuple[str, ...]
    bodies: dict[str, bytes]
    """Those that were asked for and are still in memory, decoded, by the control API's names."""
    replaced: int
    """What looked like a key in them, and is `[redacted]` now."""

    def header(self, name: str, *, response: bool = False) -> str:
        """The value of the first field of that name, case ignored; empty without one."""
        fields = self.response_headers if response else self.request_headers
        return next((field.value for field in fields if field.name.lower() == name), "")


async def gather(source: TrafficSource, exchange: Exchange, wanted: Sequence[str]) -> Material:
    """Fetch what `source` still has of `exchange`; of the bodies those that are `wanted`. Raises WorkerGone.

    The record stays as it is given, so that all parts of a document speak of the same state; what the worker has forgotten since
    then is left out.
    """
    try:
        detail = await source.exchange(exchange.id)
    except Refused:
        detail = ExchangeDetail(exchange=exchange)
    bodies: dict[str, bytes] = {}
    replaced = 0
    for which in wanted:
        if which not in detail.bodies:
            continue
        try:
            body = await source.body(exchange.id, which)
        except Refused:
            continue
        bodies[which], count = await asyncio.to_thread(without_secrets, body)
        replaced += count
    clean, count = _without_secrets(msgspec.structs.replace(detail, exchange=exchange, bodies=()))
    return Material(
        exchange=clean.exchange,
        url=clean.url,
        request_headers=clean.request_headers,
        response_headers=clean.response_headers,
        header_edits=clean.header_edits,
        bodies=bodies,
        replaced=replaced + count,
    )


def without_secrets_of(exchange: Exchange) -> Exchange:
    """The record of `exchange` with what looks like a key replaced."""
    return _without_secrets(exchange)[0]


def _without_secrets(record: T) -> tuple[T, int]:
    data, replaced = without_secrets(msgspec.json.encode(record))
    return (msgspec.json.decode(data, type=type(record)), replaced) if replaced else (record, 0)
