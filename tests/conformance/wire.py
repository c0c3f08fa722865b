"""HTTP/1.1 messages read from a socket as they are: what came before a connection broke counts too."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

Fields = tuple[tuple[str, str], ...]

WHOLE, CUT, RESET, SILENT = "whole", "closed", "reset", "silent"
"""How a message ended: as its framing says, with the connection closed, with the connection reset, or with nothing more coming."""

LIMIT_SECONDS = 20.0
_SILENCE_SECONDS = 0.3
"""After so long without a byte from a peer that is known to send none, nothing will come."""
_TURNS = 8
READER_LIMIT = 1 << 23


@dataclass(frozen=True)
class Message:
    """A request or response, as far as it came."""

    line: str = ""
    """Empty where not even a whole head came."""
    fields: Fields = ()
    body: bytes = b""
    framing: str = "none"
    """`none`, `length`, `chunked` or `end` (of the connection)."""
    trailers: Fields = ()
    interim: tuple[str, ...] = ()
    """Status lines of the 1xx responses that came first."""
    ending: str = WHOLE

    @property
    def status(self) -> int:
        return int(self.line.split(" ", 2)[1])

    def values(self, name: str) -> list[str]:
        return [value for given, value in self.fields if given.lower() == name]

    def without(self, *names: str) -> "Message":
        return replace(self, fields=tuple(field for field in self.fields if field[0].lower() not in names))


@dataclass
class Reading:
    """Reads messages from one side of a connection."""

    reader: asyncio.StreamReader
    silent: asyncio.Event
    """Set once the peer is known to send nothing more, though it keeps the connection."""
    on_bytes: Callable[[int], None] = lambda _: None
    """Told how many bytes of body have come so far."""
    began: bool = False
    """Whether any byte of a head came, though perhaps not all of it."""

    async def response(self, *, bodyless: bool = False) -> Message:
        """A response, `bodyless` to a HEAD."""
        interim: list[str] = []
        while True:
            head = await self._head()
            if isinstance(head, str):
                return Message(ending=head, interim=tuple(interim))
            line, fields = head
            if not re.match(r"HTTP/1\.[01] 1\d\d", line) or " 101 " in line:
                break
            interim.append(line)
        found = Message(line=line, fields=fields, interim=tuple(interim))
        if bodyless or re.match(r"HTTP/1\.. (204|304|101)", line):
            return found
        return await self._body(found, without="end")

    async def request(self) -> Message:
        head = await self._head()
        if isinstance(head, str):
            return Message(ending=head)
        return await self._body(Message(line=head[0], fields=head[1]), without="none")

    async def _body(self, found: Message, *, without: str) -> Message:
        lengths = found.values("content-length")
        if "chunked" in "".join(found.values("transfer-encoding")):
            return await self._chunks(replace(found, framing="chunked"))
        if lengths and lengths[0].isdecimal():
            return await self._exactly(replace(found, framing="length"), int(lengths[0]))
        return await self._exactly(replace(found, framing="end"), None) if without == "end" else found

    async def _exactly(self, found: Message, size: int | None) -> Message:
        body = bytearray()
        while size is None or len(body) < size:
            wanted = 1 << 20 if size is None else min(1 << 20, size - len(body))
            piece = await self._take(lambda wanted=wanted: self.reader.read(wanted))  # type: ignore[misc]
            if isinstance(piece, str):
                return replace(found, body=bytes(body), ending=WHOLE if size is None and piece == CUT else piece)
            body += piece
            self.on_bytes(len(body))
        return replace(found, body=bytes(body))

    async def _chunks(self, found: Message) -> Message:
        body = b""
        while True:
            line = await self._line()
            if isinstance(line, str):
                return replace(found, body=body, ending=line)
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError:
                return replace(found, body=body, ending=CUT)
            if not size:
                break
            while size:
                piece = await self._take(lambda size=size: self.reader.read(size))  # type: ignore[misc]
                if isinstance(piece, str):
                    return replace(found, body=body, ending=piece)
                body, size = body + piece, size - len(piece)
                self.on_bytes(len(body))
            await self._line()
        trailers: list[tuple[str, str]] = []
        while line := await self._line():
            if isinstance(line, str):
                return replace(found, body=body, ending=line)
            trailers.append(_field(line))
        return replace(found, body=body, trailers=tuple(trailers))

    async def _head(self) -> tuple[str, Fields] | str:
        head = await self._take(lambda: self.reader.readuntil(b"\r\n\r\n"))
        if isinstance(head, str):
            return head
        first, *lines = head[:-4].split(b"\r\n")
        return first.decode("latin-1"), tuple(_field(line) for line in lines)

    async def _line(self) -> bytes | str:
        line = await self._take(lambda: self.reader.readuntil(b"\r\n"))
        return line if isinstance(line, str) else line[:-2]

    async def _take(self, read: "Callable[[], asyncio.Future[bytes] | object]") -> bytes | str:
        """What `read` gives, or how the connection ended instead."""
        reading = asyncio.ensure_future(read())  # type: ignore[arg-type, var-annotated]
        hushed = asyncio.ensure_future(self.silent.wait())
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                await asyncio.wait({reading, hushed}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    await asyncio.wait({reading}, timeout=_SILENCE_SECONDS)
                for _ in range(_TURNS):
                    # A loop that was held up may find the time over and the bytes there, both at once.
                    await asyncio.sleep(0)
            if not reading.done():
                return SILENT
            data: bytes = reading.result()
            return data or CUT
        except asyncio.IncompleteReadError as error:
            self.began = self.began or bool(error.partial)
            return CUT
        except ConnectionError:
            return RESET
        finally:
            for task in (reading, hushed):
                task.cancel()
            await asyncio.gather(reading, hushed, return_exceptions=True)


def _field(line: bytes) -> tuple[str, str]:
    name, _, value = line.partition(b":")
    return name.decode("latin-1"), value.strip().decode("latin-1")
