"""What is read from a copy of a response while it passes: usage, the stream's end, and the bytes for the screen."""

from typing import Protocol

from caveman_tui.core.policy import Dialect
from caveman_tui.core.usage import Usage
from caveman_tui.proxy import codings
from caveman_tui.proxy.stream_watch import StreamWatch

KEPT_BYTES = 16 * 1024 * 1024
"""A longer response is not kept for the screen."""
_READ_BYTES = 64 * 1024 * 1024
"""Of a longer response, decoded, the rest is not read for usage."""


class UsageSource(Protocol):
    """Reads usage from a decoded response body, as `core.usage.UsageReader` does."""

    def feed(self, chunk: bytes) -> None:
        """The next piece, split anywhere."""

    @property
    def usage(self) -> Usage | None:
        """What was found so far."""


class Tee:
    """Takes each chunk after it was passed on. Never raises; `trouble` says why reading stopped."""

    def __init__(self, dialect: Dialect | None, *, content_type: str, content_encoding: str, usage: UsageSource | None) -> None:
        self.content_encoding = content_encoding
        self.received = 0
        """Bytes as they came over the wire."""
        self.trouble = ""
        self.watch = StreamWatch(dialect) if content_type.lower().startswith("text/event-stream") else None
        self._usage = usage
        self._kept: list[bytes] | None = []
        self._decoded = 0
        self._decoder: codings.Decoder | None = None
        if usage is not None or self.watch is not None:
            try:
                self._decoder = codings.decoder(content_encoding)
            except codings.CodingError as error:
                self._stop_reading(str(error))

    def feed(self, chunk: bytes) -> None:
        """The next chunk as it came."""
        self.received += len(chunk)
        if self._kept is not None:
            self._kept.append(chunk)
            if self.received > KEPT_BYTES:
                self._kept = None
        if self._decoder is None:
            return
        try:
            for piece in self._decoder.feed(chunk):
                self._decoded += len(piece)
                if self._decoded > _READ_BYTES:
                    self._stop_reading(f"it is longer than {_READ_BYTES} bytes")
                    return
                if self._usage is not None:
                    self._usage.feed(piece)
                if self.watch is not None:
                    self.watch.feed(piece)
        except Exception as error:
            self._stop_reading(str(error) if isinstance(error, codings.CodingError) else type(error).__name__)

    @property
    def usage(self) -> Usage | None:
        """Usage so far, None where nothing was found."""
        try:
            return self._usage.usage if self._usage is not None else None
        except Exception as error:
            self._stop_reading(type(error).__name__)
            return None

    @property
    def kept(self) -> bytes | None:
        """The whole response so far as received, None where it grew too long."""
        return b"".join(self._kept) if self._kept is not None else None

    def _stop_reading(self, why: str) -> None:
        self.trouble = self.trouble or why
        self._decoder = None
        self.watch = None
