"""Errors of ours towards a client, in the shape its provider would use, so that every SDK can read them.

Only for what can't be forwarded at all; a provider's own errors are never touched.
"""

from dataclasses import dataclass

import msgspec
from aiohttp import web

ERROR_HEADER = "x-caveman-error"

_ANTHROPIC_TYPES = {400: "invalid_request_error", 403: "permission_error", 404: "not_found_error", 426: "invalid_request_error"}
_OPENAI_TYPES = {400: "invalid_request_error", 403: "permission_error", 404: "invalid_request_error", 426: "invalid_request_error"}


@dataclass(frozen=True, slots=True)
class OwnError:
    """Why a request was not forwarded."""

    status: int
    code: str
    """Stable, goes into the `x-caveman-error` header."""
    what: str
    todo: str

    @property
    def text(self) -> str:
        """What the client shows to its person."""
        return f"caveman-tui: {self.what} {self.todo}".rstrip()


class NotForwarded(Exception):
    """Forwarding is impossible; carries the error to answer with."""

    def __init__(self, error: OwnError) -> None:
        super().__init__(error.text)
        self.error = error


def error_body(error: OwnError, family: str) -> bytes:
    """JSON of an error in the shape of `family`, `anthropic` or `openai`.

    Sources: Anthropic API, "Errors"; OpenAI API, error object.
    """
    if family == "openai":
        kind = _OPENAI_TYPES.get(error.status, "server_error")
        return msgspec.json.encode({"error": {"message": error.text, "type": kind, "param": None, "code": error.code}})
    kind = _ANTHROPIC_TYPES.get(error.status, "api_error")
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": error.text}})


def error_response(error: OwnError, family: str) -> web.Response:
    """The response that carries `error`; the connection closes after it, since a body may be left unread."""
    response = web.Response(
        status=error.status,
        body=error_body(error, family),
        headers={"content-type": "application/json", ERROR_HEADER: error.code},
    )
    response.force_close()
    return response
