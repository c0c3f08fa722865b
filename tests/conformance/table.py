"""The table of all cases as a document, made of what the runs showed."""

from collections.abc import Iterable
from pathlib import Path

from tests.conformance.outcome import DIFFERENCES, Outcome
from tests.conformance.run import Result
from tests.conformance.wire import CUT, RESET, SILENT, WHOLE, Message

PATH = Path(__file__).with_name("TABLE.md")
COMMAND = "python -m tests.conformance"

_INTRODUCTION = f"""# What a client sees of the worker when something fails

Made by `{COMMAND}` from runs on loopback; a test fails where it differs from what the runs show. Each case was run twice: the client
connected to the provider, and to a worker before it. *Equal* means: the same status line, fields (names as spelled, order, repeats),
body, framing and end at the client, and the same request line, fields and body at the provider. Anything else is an error of ours
(its code is in the field `x-caveman-error`, its body has the provider's own error shape), or one of the differences at the end, which
HTTP with two connections, or care for the client, forces. Nothing else differs.
"""

_ENDINGS = {
    WHOLE: "",
    CUT: ", then the connection closed",
    RESET: ", then the connection reset",
    SILENT: ", then nothing more",
}
_NO_RESPONSE = {
    "refused": "connection refused",
    CUT: "connection closed",
    RESET: "connection reset",
    SILENT: "nothing, for ever",
}


def row(result: Result) -> str:
    """The line for a case; it begins with the case's name."""
    return f"| {result.case.name} | {_seen(result.direct)} | {_through(result)} | {result.verdict} |"


def document(groups: Iterable[tuple[str, Iterable[str]]]) -> str:
    """The document for these groups of rows, each under its title."""
    parts = [_INTRODUCTION]
    for title, rows in groups:
        parts.append("\n".join([f"## {title}", "", "| it | direct | through the worker | |", "|---|---|---|---|", *rows, ""]))
    named = [f"* **{name}**: {difference.text}" for name, difference in DIFFERENCES.items()]
    chunks = "* **chunks**: Boundaries of chunks may change. HTTP gives them no meaning, so no case compares them."
    parts.append("\n".join(["## The differences that are forced", "", *named, chunks, ""]))
    return "\n".join(parts)


def _through(result: Result) -> str:
    # The HTTP parser's own words for what is no request change with its release.
    return f"{result.case.own_status}, a line of text" if result.case.own_status else _seen(result.through)


def _seen(outcome: Outcome) -> str:
    return "; ".join(_message(message) for message in outcome.client) or "–"


def _message(message: Message) -> str:
    if not message.line:
        return _NO_RESPONSE[message.ending]
    if not message.line.startswith("HTTP/1."):
        return "what is no HTTP"
    interim = "".join(f"{line.split(' ')[1]}, " for line in message.interim)
    trailers = ", trailers" if message.trailers else ""
    size = f"{len(message.body)} bytes" if message.framing != "none" else "no body"
    # Texts of errors of ours name the provider's address, whose length is the machine's affair.
    body = "our error" if message.values("x-caveman-error") else size
    return f"{interim}{message.status}, {body}{trailers}{_ENDINGS[message.ending]}"
