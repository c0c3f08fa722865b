"""Refusals in the provider's own shape."""


class Refused(Exception):
    """A request that the provider does not take.

    `status` and `kind` are what the API sends (`400`, `invalid_request_error`), the message is the exception's text.
    """

    def __init__(self, message: str, *, status: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class MarkerRuleBroken(Refused):
    """A request whose cache markers the API does not allow."""
