"""Exchanges written down for other programs and people: curl, HAR 1.2, JSON lines, Markdown. Credentials are taken out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format as numbers
from caveman_tui.traffic.exports.curl import Curl
from caveman_tui.traffic.exports.format import Format
from caveman_tui.traffic.exports.har import Har
from caveman_tui.traffic.exports.json_lines import JsonLines
from caveman_tui.traffic.exports.markdown import Markdown
from caveman_tui.traffic.exports.material import gather
from caveman_tui.traffic.source import TrafficSource

__all__ = ["Export", "FormatName"]


class FormatName(StrEnum):
    """What an export can be written as."""

    CURL = "curl"
    HAR = "har"
    JSONL = "jsonl"
    MARKDOWN = "markdown"


class Export:
    """One document of some exchanges, oldest first."""

    def __init__(self, name: FormatName, *, with_bodies: bool = False, forwarded: bool = False) -> None:
        """`forwarded`: curl and HAR take the request as it was forwarded, not as the client sent it. curl has a body anyway."""
        self._format = _new(name, with_bodies, forwarded)
        self.suffix = self._format.suffix
        self.remarks: Sequence[str] = ()
        """What a person should know of it, a sentence each; known once all pieces were taken."""
        self.entries = 0
        """Exchanges that are in it, known likewise."""

    async def pieces(self, source: TrafficSource, exchanges: Sequence[Exchange]) -> AsyncIterator[bytes]:
        """The document piece by piece; no more than one exchange is held with its bodies. Raises WorkerGone.

        What takes long is done in threads: the screen goes on.
        """
        document = self._format
        replaced = missing = 0
        yield await asyncio.to_thread(document.begin, exchanges)
        for exchange in exchanges:
            wanted = document.wanted(exchange)
            material = await gather(source, exchange, wanted)
            piece = await asyncio.to_thread(document.entry, material)
            if piece:
                replaced += material.replaced
                missing += len(wanted) > len(material.bodies)
            yield piece
        yield document.end()
        self.entries = len(exchanges) - document.left_out
        remarks = list(document.remarks)
        if missing and not isinstance(document, Curl):
            remarks.append(f"Of {numbers.plural(missing, 'exchange')} not all bodies were in memory.")
        if replaced:
            remarks.append(f"{numbers.plural(replaced, 'text')} that looked like a key became [redacted].")
        self.remarks = remarks


def _new(name: FormatName, with_bodies: bool, forwarded: bool) -> Format:
    match name:
        case FormatName.CURL:
            return Curl(forwarded=forwarded)
        case FormatName.HAR:
            return Har(with_bodies=with_bodies, forwarded=forwarded)
        case FormatName.JSONL:
            return JsonLines(with_bodies=with_bodies)
        case FormatName.MARKDOWN:
            return Markdown(with_bodies=with_bodies)
