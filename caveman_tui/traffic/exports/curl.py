"""curl commands that can be pasted and run: the body byte for byte, credentials as shell variables."""

import base64
import re
import shlex
from collections.abc import Sequence

from caveman_tui.protocol.control import REDACTED, HeaderField
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import format
from caveman_tui.traffic.exports.format import was_edited
from caveman_tui.traffic.exports.material import Material
from caveman_tui.traffic.safe_text import one_line

_INLINE_BYTES = 2000
"""A longer body stands after the command: a single argument may have 128 KiB on Linux, and a person wants to see the command."""
_LEFT_TO_CURL = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Fields that belong to the connection, or to a coding that the body no longer has."""
_IN_URL = re.compile(rf"(?:([^?&=/]+)=)?{re.escape(REDACTED)}")
_NOT_FOR_DOUBLE_QUOTES = re.compile(r"[^A-Za-z0-9 ,.:;/?&=+_@%()*-]")
_DELIMITER = b"CAVEMAN_BODY"


class Curl:
    """The format `curl`: the request as the client sent it, or as it was forwarded, addressed to the provider."""

    suffix = ".sh"

    def __init__(self, *, forwarded: bool) -> None:
        self.remarks: list[str] = []
        self.left_out = 0
        self.variables: list[str] = []
        """Shell variables that the commands name, in order of appearance."""
        self._forwarded = forwarded
        self._many = False
        self._written = 0

    def wanted(self, exchange: Exchange) -> Sequence[str]:
        """The request."""
        return (self._which(exchange),)

    def begin(self, exchanges: Sequence[Exchange]) -> bytes:
        """Nothing: a single command is to be pasted as it is."""
        self._many = len(exchanges) > 1
        return b""

    def entry(self, material: Material) -> bytes:
        """A command; nothing, and a remark, where what it needs is no longer in memory."""
        exchange = material.exchange
        body = material.bodies.get(self._which(exchange), b"")
        if not material.url:
            return self._leave_out(exchange, "the provider it went to is not configured any more")
        if not body and (exchange.request_bytes or exchange.method not in ("GET", "HEAD")):
            return self._leave_out(exchange, "its request is no longer in memory")
        head = b""
        if self._many:
            what = f"{exchange.id}, {format.date_and_clock(exchange.started_at)} UTC, {exchange.model or exchange.method}"
            head = (b"\n" if self._written else b"") + f"# {one_line(what)}\n".encode()
        self._written += 1
        return head + self._command(material, body)

    def end(self) -> bytes:
        """Nothing; tells which variables the commands need."""
        if self.variables:
            self.remarks.append(f"Before you run it, set {' and '.join(self.variables)}.")
        return b""

    def _which(self, exchange: Exchange) -> str:
        return "request-after" if self._forwarded and was_edited(exchange) else "request-before"

    def _leave_out(self, exchange: Exchange, why: str) -> bytes:
        self.left_out += 1
        self.remarks.append(f"Exchange {exchange.id} is left out: {why}.")
        return b""

    def _command(self, material: Material, body: bytes) -> bytes:
        before, argument, after = _body(body)
        globbed = ["--globoff"] if set("[]{}") & set(material.url) else []
        options = ["curl", "--no-buffer", "--compressed", *globbed, *_method(material.exchange.method, bool(body))]
        lines = [" ".join([*options, self._url(material.url)])]
        lines += [f"-H {self._field(material, field)}" for field in material.request_headers if field.name.lower() not in _LEFT_TO_CURL]
        if body and not material.header("content-type"):
            # Without it curl would call the body a form.
            lines.append("-H content-type:")
        lines += [argument] if argument else []
        return before + " \\\n  ".join(lines).encode("utf-8", "replace") + b"\n" + after

    def _url(self, url: str) -> str:
        return self._quoted(url, [_variable(match[1] or "secret") for match in _IN_URL.finditer(url)])

    def _field(self, material: Material, field: HeaderField) -> str:
        name = field.name.lower()
        variable = _variable(name)
        if name in ("authorization", "x-api-key"):
            anthropic = material.exchange.dialect.startswith("anthropic") or bool(material.header("anthropic-version"))
            variable = "OPENAI_API_KEY" if not anthropic else "ANTHROPIC_API_KEY" if name == "x-api-key" else "ANTHROPIC_AUTH_TOKEN"
        # Of an authorization nothing is known but that there was one; these APIs take bearer tokens.
        scheme = "Bearer " if name == "authorization" and field.value == REDACTED else ""
        text = f"{field.name}: {scheme}{field.value}"
        return self._quoted(text, [variable] * text.count(REDACTED))

    def _quoted(self, text: str, variables: Sequence[str]) -> str:
        """`text` as one word of a shell, with a variable for each credential that was taken out."""
        if not variables:
            return shlex.quote(text)
        self.variables += [variable for variable in dict.fromkeys(variables) if variable not in self.variables]
        first, *rest = text.split(REDACTED)
        if _NOT_FOR_DOUBLE_QUOTES.search(first + "".join(rest)):
            return shlex.quote(first) + "".join(f'"${name}"{shlex.quote(part)}' for name, part in zip(variables, rest, strict=True))
        inner = "".join(f"${{{name}}}{part}" if part else f"${name}" for name, part in zip(variables, rest, strict=True))
        return f'"{first}{inner}"'


def _method(method: str, has_body: bool) -> list[str]:
    if method == "HEAD":
        return ["--head"]
    return [] if method == ("POST" if has_body else "GET") else ["-X", shlex.quote(method)]


def _variable(name: str) -> str:
    """A name for a shell variable."""
    return re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_") or "SECRET"


def _body(body: bytes) -> tuple[bytes, str, bytes]:
    """What stands before curl, its argument, and what follows the command, so that it sends exactly `body`.

    A here-document ends in a newline that may not be the body's own, so its length is given. What a shell can't hold as text
    (NUL, no UTF-8) goes as Base64.
    """
    if not body:
        return b"", "", b""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        lines = base64.encodebytes(body)
        return b"base64 --decode <<'%s' | " % _DELIMITER, "--data-binary @-", lines + _DELIMITER + b"\n"
    if len(body) <= _INLINE_BYTES:
        return b"", f"--data-raw {shlex.quote(text)}", b""
    delimiter, number = _DELIMITER, 1
    while delimiter in body:
        number += 1
        delimiter = b"%s_%d" % (_DELIMITER, number)
    return b"head -c %d <<'%s' | " % (len(body), delimiter), "--data-binary @-", body + b"\n" + delimiter + b"\n"
