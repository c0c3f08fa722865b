"""What is read from a copy of a response while it passes: usage, the stream's end, and the bytes for the screen."""

import asyncio

from caveman_tui.core.policy import Dialect
from caveman_tui.core.usage import Usage, UsageReader, usage_from_json
from caveman_tui.proxy import codings

KEPT_BYTES = 16 * 1024 * 1024
"""A longer response is not kept for the screen, nor, unless it is an event stream, for its usage."""
_STREAM_READ_BYTES = 64 * 1024 * 1024
"""Of a longer event stream, decoded, the rest is not read for usage."""
_INLINE_BYTES = 256 * 1024
_EVENT_ENDS = (b"\n\n", b"\n\r\n")


class Tee:
    """Takes each chunk after it was passed on. Never raises; `trouble` says why reading stopped."""

    def __init__(self, dialect: Dialect | None, *, content_type: str, content_encoding: str) -> None:
        self.content_encoding = content_encoding
        self.received = 0
        """Bytes as they came over the wire."""
        self.trouble = ""
        self.usage: Usage | None = None
        """So far; None where the provider reported none."""
        self._dialect = dialect
        self._reader: UsageReader | None = None
        self._body: list[bytes] = []
        self._tail = b""
        self._kept: list[bytes] | None = []
        self._decoder: codings.Decoder | None = None
        streams = content_type.lower().startswith("text/event-stream")
        self._meter = codings.Meter(_STREAM_READ_BYTES if streams else KEPT_BYTES)
        if dialect is None:
            return
        if streams:
            self._reader = UsageReader(dialect)
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
            self._meter.put_in(len(chunk))
            for piece in self._decoder.feed(chunk):
                self._meter.came_out(len(piece))
                self._read(piece)
        except Exception as error:
            self._stop_reading(str(error) if isinstance(error, codings.CodingError) else type(error).__name__)

    async def finish(self) -> None:
        """Read what only the end makes whole; a large body in a thread."""
        if self._reader is None and self._meter.decoded > _INLINE_BYTES:
            await asyncio.to_thread(self.finish_now)
        else:
            self.finish_now()

    def finish_now(self) -> None:
        """As `finish`, at once. May be called again."""
        if self._decoder is None or self._dialect is None:
            return
        self._decoder = None
        try:
            if self._reader is not None:
                self._reader.close()
                self.usage = self._reader.usage
            elif self._body:
                self.usage = usage_from_json(b"".join(self._body), self._dialect)
        except Exception as error:
            self._stop_reading(type(error).__name__)
        self._body = []

    @property
    def streaming(self) -> bool:
        """Whether it is an event stream that could be read; the properties below speak of one."""
        return self._reader is not None

    @property
    def error(self) -> str:
        """What an error event in the stream said."""
        return (self._reader and self._reader.error) or ""

    @property
    def finished(self) -> bool:
        """Whether an event stream came to its closing event."""
        return self._reader is not None and self._reader.finished

    @property
    def ended(self) -> bool:
        """Whether the stream came to the end that its dialect asks for; chat completions of some providers end without one."""
        return self._reader is not None and (self._reader.finished or self._dialect is Dialect.OPENAI_CHAT)

    @property
    def inside_event(self) -> bool:
        """Whether the stream stopped in the middle of an event."""
        if self._reader is None or self._reader.finished:
            return False
        if self._dialect is Dialect.OPENAI_CHAT:
            return not self._tail.endswith(b"\n")
        return not self._tail.endswith(_EVENT_ENDS)

    @property
    def kept(self) -> bytes | None:
        """The whole response so far as received, None where it grew too long."""
        return b"".join(self._kept) if self._kept is not None else None

    def _read(self, piece: bytes) -> None:
        if self._reader is None:
            self._body.append(piece)
            return
        self._reader.feed(piece)
        self.usage = self._reader.usage
        self._tail = (self._tail + piece[-4:])[-4:]

    def _stop_reading(self, why: str) -> None:
        self.trouble = self.trouble or why
        self._decoder = None
        self._reader = None
        self._body = []
