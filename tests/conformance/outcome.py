"""What came of one run of a case, and the differences that are allowed between two runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.conformance.wire import CUT, RESET, SILENT, WHOLE, Message

HOP_BY_HOP = ("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection")


@dataclass(frozen=True)
class Outcome:
    """What both ends saw. The provider's port in the requests is replaced, so that runs can be compared."""

    client: tuple[Message, ...]
    """Its responses."""
    provider: tuple[Message, ...]
    """The requests that it got."""
    provider_lost: bool = False
    """Whether, after the client had hung up, the provider found its connection closed."""
    held_back: bool = False
    """Whether the provider had to wait for a client that did not read."""
    warnings: tuple[str, ...] = ()
    """Codes of the worker's warnings."""

    def of_client(self, change: Callable[[Message], Message]) -> "Outcome":
        return replace(self, client=tuple(change(message) for message in self.client))

    def of_provider(self, change: Callable[[Message], Message]) -> "Outcome":
        return replace(self, provider=tuple(change(message) for message in self.provider))

    def of_both(self, change: Callable[[Message], Message]) -> "Outcome":
        return self.of_client(change).of_provider(change)


@dataclass(frozen=True)
class Difference:
    """A difference between direct and through the worker that is allowed where a case names it."""

    text: str
    level: Callable[[Outcome], Outcome]
    """Takes the difference out of an outcome: applied to both, they are equal."""


def _end_framing(message: Message) -> Message:
    return replace(message.without("transfer-encoding", "connection"), framing="-") if message.framing in {"end", "chunked"} else message


def _names_in_lower_case(message: Message) -> Message:
    return replace(message, fields=tuple((name.lower(), value) for name, value in message.fields))


def _ending(*same: str) -> Callable[[Outcome], Outcome]:
    return lambda outcome: outcome.of_client(lambda message: replace(message, ending="-") if message.ending in same else message)


def _version(message: Message) -> Message:
    return replace(message, line=message.line.replace("HTTP/1.0", "HTTP/1.1"))


DIFFERENCES = {
    "interim": Difference(
        "1xx responses (100, 102, 103 early hints) of the provider end at the worker; a client that asks for `100-continue` gets it "
        "from the worker.",
        lambda outcome: outcome.of_client(lambda message: replace(message, interim=())),
    ),
    "trailers": Difference(
        "Trailers, and the fields `TE` and `Trailer` that speak of them, end at the worker, in both directions.",
        lambda outcome: outcome.of_both(lambda message: replace(message.without("te", "trailer"), trailers=())),
    ),
    "hop-by-hop": Difference(
        "`Connection` and the fields it names, `Keep-Alive`, `TE`, `Trailer`, `Transfer-Encoding`, `Upgrade` and `Proxy-*` belong to one "
        "connection (RFC 9110, 7.6.1), and there are two.",
        lambda outcome: outcome.of_both(lambda message: message.without(*HOP_BY_HOP, "x-hop")),
    ),
    "end-framing": Difference(
        "A response that only the end of its connection frames comes in chunks, so that its end can be told from a break.",
        lambda outcome: outcome.of_client(_end_framing),
    ),
    "request-framing": Difference(
        "A request in chunks whose body is read whole goes out with `Content-Length`; chunk extensions and trailers end here.",
        lambda outcome: outcome.of_provider(
            lambda message: replace(message.without("transfer-encoding", "content-length"), framing="-", trailers=())
        ),
    ),
    "empty-length": Difference(
        "A request without a body, by another method than GET, HEAD, OPTIONS and TRACE, goes out with `Content-Length: 0`.",
        lambda outcome: outcome.of_provider(lambda message: replace(message.without("content-length"), framing="-")),
    ),
    "expect": Difference(
        "`Expect: 100-continue` is answered by the worker, which holds the client's connection, and goes no further.",
        lambda outcome: outcome.of_client(lambda message: replace(message, interim=())).of_provider(
            lambda message: message.without("expect")
        ),
    ),
    "name-case": Difference(
        "Repeated fields whose names differ in capitals get the spelling of the first.",
        lambda outcome: outcome.of_both(_names_in_lower_case),
    ),
    "encoding": Difference(
        "Bytes of a field that are no UTF-8 go on as the same text in UTF-8 (they are read as ISO 8859-1).",
        lambda outcome: outcome.of_both(lambda message: message.without("x-latin")),
    ),
    "version": Difference(
        "Each connection has its own version: a provider's HTTP/1.0 reaches a client of HTTP/1.1 as 1.1, a client's 1.0 goes out as 1.1.",
        lambda outcome: outcome.of_both(_version),
    ),
    "half-close": Difference(
        "A client that closes its sending side counts as gone, and its exchange as cancelled.",
        lambda outcome: replace(outcome, client=(), provider=()),
    ),
    "reset": Difference(
        "Where the provider resets its connection inside a body, the client's is closed without the end that its framing asks for, so "
        "that what came before the reset arrives.",
        _ending(CUT, RESET),
    ),
    "idle-limit": Difference(
        "A provider that falls silent inside a body is given up after the idle limit (10 minutes), and the client's connection closed.",
        _ending(CUT, SILENT),
    ),
    "read-whole": Difference(
        "A request that may be edited goes out once it is whole; of one that breaks off before, the provider sees nothing.",
        lambda outcome: replace(outcome, provider=()),
    ),
    "untidy-end": Difference(
        "An event stream that ends inside an event, or empty, is broken off at the client too, though its framing ended well: the client "
        "would else take it for a whole answer.",
        _ending(WHOLE, CUT),
    ),
}
"""By the name that cases give. Boundaries of chunks are never compared: HTTP gives them no meaning, and they may change."""
