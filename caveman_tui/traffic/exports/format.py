"""What every export format offers."""

from collections.abc import Sequence
from typing import Protocol

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports.material import Material


class Format(Protocol):
    """Writes exchanges down piece by piece, so that no more than one is held with its bodies. One object, one document."""

    suffix: str
    """Of a file, with its dot."""
    remarks: list[str]
    """What a person should know of the document, a sentence each; complete once `end` was called."""
    left_out: int
    """Exchanges that it has no form for; the remarks say why."""

    def wanted(self, exchange: Exchange) -> Sequence[str]:
        """The bodies it needs, by the control API's names."""
        ...

    def begin(self, exchanges: Sequence[Exchange]) -> bytes:
        """What comes first; `exchanges` are the records of all, oldest first."""
        ...

    def entry(self, material: Material) -> bytes:
        """One exchange."""
        ...

    def end(self) -> bytes:
        """What comes last."""
        ...


def was_edited(exchange: Exchange) -> bool:
    """Whether the request went out with another body than it came with."""
    return bool(exchange.marker_edits) or any(tools.applied for tools in exchange.tools)


def bodies_of(exchange: Exchange) -> tuple[str, ...]:
    """All bodies of an exchange that differ."""
    return ("request-before", *(("request-after",) if was_edited(exchange) else ()), "response")
