"""Content codings (gzip, deflate, br, zstd, stacked), decoded with limits, whole or as the bytes come."""

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli
import zstandard

_STEP = 1024
"""Encoded bytes given to a decoder at a time: bounds what one call can inflate to, 128 KiB for each 4 bytes at worst (zstd)."""
_OUTPUT = 256 * 1024
"""Decoded bytes of one piece, where the decoder lets us say so."""
_FREE_BYTES = 1024 * 1024
"""The ratio limit holds from here on: small bodies of one repeated letter are no attack."""
_RATIO_LIMIT = 250
"""JSON of agents shrinks 3 to 60 times."""


class CodingError(ValueError):
    """A body that can't be decoded: unknown coding, broken or truncated data, or a limit passed. The text says which."""


class Decoder(Protocol):
    """Takes encoded bytes as they come, gives decoded ones."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decoded pieces of `data`, none of them large. Raises CodingError."""

    def finish(self) -> None:
        """Raises CodingError where the data ended too early."""


class _Zlib:
    """gzip and deflate; the latter also without its zlib header, as some servers send it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._inflater = zlib.decompressobj(31) if name == "gzip" else None
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._inflater is None:
                has_header = data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] << 8 | data[1]) % 31 == 0)
                self._inflater = zlib.decompressobj(15 if has_header else -15)
            elif self._inflater.eof:
                if self._name != "gzip":
                    raise CodingError("bytes follow the end of its deflate data")
                self._inflater = zlib.decompressobj(31)
            self._started = True
            try:
                piece = self._inflater.decompress(data, _OUTPUT)
            except zlib.error as error:
                raise CodingError(f"its {self._name} data is broken ({error})") from None
            data = self._inflater.unconsumed_tail or self._inflater.unused_data
            if piece:
                yield piece
            if not data and len(piece) == _OUTPUT:
                yield from self._rest()

    def _rest(self) -> Iterator[bytes]:
        """What the inflater holds back although it took all input."""
        assert self._inflater is not None
        while not self._inflater.eof and (piece := self._inflater.decompress(b"", _OUTPUT)):
            yield piece

    def finish(self) -> None:
        if self._started and not (self._inflater and self._inflater.eof):
            raise CodingError(f"its {self._name} data is truncated")


class _Brotli:
    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._started = self._started or bool(data)
        try:
            piece = self._decompressor.process(data, output_buffer_limit=_OUTPUT)
            # It may have taken all input and still hold output back, or the other way round.
            while piece or not self._decompressor.can_accept_more_data():
                if piece:
                    yield piece
                piece = self._decompressor.process(b"", output_buffer_limit=_OUTPUT)
        except brotli.error as error:
            raise CodingError(f"its br data is broken ({error})") from None

    def finish(self) -> None:
        if self._started and not self._decompressor.is_finished():
            raise CodingError("its br data is truncated")


class _Zstd:
    def __init__(self) -> None:
        self._frame = self._new()
        self._started = False

    @staticmethod
    def _new() -> "zstandard.ZstdDecompressionObj":
        return zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._frame.eof:
                self._frame = self._new()
            step, data = data[:_STEP], data[_STEP:]
            self._started = True
            try:
                piece = self._frame.decompress(step)
            except zstandard.ZstdError as error:
                raise CodingError(f"its zstd data is broken ({error})") from None
            data = self._frame.unused_data + data
            if piece:
                yield piece

    def finish(self) -> None:
        if self._started and not self._frame.eof:
            raise CodingError("its zstd data is truncated")


class _Stacked:
    """Several codings, the last one applied taken off first."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> Iterator[bytes]:
        pieces: Iterator[bytes] = iter((data,))
        for decoder in self._decoders:
            pieces = _through(decoder, pieces)
        return pieces

    def finish(self) -> None:
        for decoder in self._decoders:
            decoder.finish()


def _through(decoder: Decoder, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from decoder.feed(piece)


def names(content_encoding: str) -> tuple[str, ...]:
    """The codings of a `Content-Encoding` value in the order they were applied, `identity` left out."""
    split = (name.strip().lower().removeprefix("x-") for name in content_encoding.split(","))
    return tuple(name for name in split if name and name != "identity")


def decoder(content_encoding: str) -> Decoder:
    """A decoder for a `Content-Encoding` value; for none it hands bytes through. Raises CodingError for an unknown coding."""
    decoders: list[Decoder] = []
    for name in reversed(names(content_encoding)):
        match name:
            case "gzip" | "deflate":
                decoders.append(_Zlib(name))
            case "br":
                decoders.append(_Brotli())
            case "zstd":
                decoders.append(_Zstd())
            case _:
                raise CodingError(f"its content coding '{name}' is unknown")
    if len(decoders) > 4:
        raise CodingError(f"it stacks {len(decoders)} content codings")
    return _Stacked(decoders)


class Meter:
    """Watches how much a body inflates to, and how many times."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._encoded = 0
        self._decoded = 0

    @property
    def decoded(self) -> int:
        """Bytes that came out."""
        return self._decoded

    def put_in(self, size: int) -> None:
        """So many encoded bytes go in."""
        self._encoded += size

    def came_out(self, size: int) -> None:
        """So many decoded bytes came out. Raises CodingError where that is too much."""
        self._decoded += size
        if self._decoded > self._limit:
            raise CodingError(f"it is longer than {self._limit} bytes")
        if self._decoded > _FREE_BYTES and self._decoded > _RATIO_LIMIT * self._encoded:
            raise CodingError(f"it inflates more than {_RATIO_LIMIT} times")


def decode(body: bytes, content_encoding: str, *, limit: int) -> bytes:
    """`body` decoded, at most `limit` bytes. Takes time in proportion to the output: call it in a thread. Raises CodingError."""
    if not names(content_encoding):
        return body
    taker, meter = decoder(content_encoding), Meter(limit)
    meter.put_in(len(body))
    pieces: list[bytes] = []
    for piece in taker.feed(body):
        meter.came_out(len(piece))
        pieces.append(piece)
    taker.finish()
    return b"".join(pieces)
