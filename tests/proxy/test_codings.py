"""Content codings decode to what was encoded, in pieces or whole, and within limits."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.proxy import codings
from caveman_tui.proxy.codings import CodingError

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
LIMIT = 1 << 24


def _pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


@settings(deadline=None)
@given(
    body=st.binary(max_size=3000) | st.binary(max_size=40).map(lambda part: part * 2000),
    applied=st.lists(st.sampled_from(sorted(ENCODERS)), min_size=1, max_size=3),
    sizes=st.lists(st.integers(0, 400), max_size=12),
)
def test_any_stack_of_codings_decodes_whole_and_in_pieces(body: bytes, applied: list[str], sizes: list[int]) -> None:
    encoded = body
    for name in applied:
        encoded = ENCODERS[name](encoded)
    header = ", ".join(applied)
    decoder = codings.decoder(header)
    assert b"".join(piece for part in _pieces(encoded, sizes) for piece in decoder.feed(part)) == body
    decoder.finish()
    if len(body) <= 1 << 20:
        assert codings.decode(encoded, header, limit=LIMIT) == body


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("size", [(1 << 18) - 1, 1 << 18, (1 << 18) + 1, (1 << 19), (1 << 20)])
def test_output_of_many_pieces_from_little_input_comes_out_whole(name: str, size: int) -> None:
    encoded = ENCODERS[name](b"\0" * size)
    assert codings.decode(encoded, name, limit=LIMIT) == b"\0" * size
    decoder = codings.decoder(name)
    assert sum(len(piece) for byte in encoded for piece in decoder.feed(bytes([byte]))) == size
    decoder.finish()


@pytest.mark.parametrize("name", ENCODERS)
def test_truncated_data_is_told(name: str) -> None:
    encoded = ENCODERS[name](bytes(range(256)) * 40)
    for end in range(1, len(encoded)):
        with pytest.raises(CodingError, match=r"truncated|broken"):
            codings.decode(encoded[:end], name, limit=LIMIT)


@pytest.mark.parametrize("name", ENCODERS)
def test_what_follows_the_end_is_told_or_decoded(name: str) -> None:
    with pytest.raises(CodingError):
        codings.decode(ENCODERS[name](b"x" * 500) + b"\x01garbage that is no frame", name, limit=LIMIT)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_members_after_one_another_are_one_body(name: str) -> None:
    assert codings.decode(ENCODERS[name](b"one") + ENCODERS[name](b"two"), name, limit=LIMIT) == b"onetwo"


def test_deflate_without_its_zlib_header() -> None:
    deflater = zlib.compressobj(wbits=-15)
    raw = deflater.compress(b"abc" * 100) + deflater.flush()
    assert codings.decode(raw, "deflate", limit=LIMIT) == b"abc" * 100


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_found_before_it_goes_off(name: str) -> None:
    bomb = ENCODERS[name](b"\0" * (8 << 20))
    size = 0
    with pytest.raises(CodingError, match="inflates more than 250 times"):
        codings.decode(bomb, name, limit=1 << 30)
    for piece in codings.decoder(name).feed(bomb):
        size = max(size, len(piece))
    assert size <= 8 << 20
    if name != "zstd":
        assert size <= 1 << 20


def test_the_limit_holds_for_bodies_that_inflate_little() -> None:
    with pytest.raises(CodingError, match="longer than 100 bytes"):
        codings.decode(gzip.compress(bytes(range(101))), "gzip", limit=100)
    assert len(codings.decode(gzip.compress(bytes(range(100))), "gzip", limit=100)) == 100


@pytest.mark.parametrize(
    ("header", "expected"), [("", ()), ("identity", ()), (" GZIP , x-gzip,identity", ("gzip", "gzip")), ("a,b", ("a", "b"))]
)
def test_names(header: str, expected: tuple[str, ...]) -> None:
    assert codings.names(header) == expected


def test_unknown_and_too_many_codings_are_told() -> None:
    with pytest.raises(CodingError, match="'rot13' is unknown"):
        codings.decoder("gzip, rot13")
    with pytest.raises(CodingError, match="stacks 5"):
        codings.decoder("gzip, gzip, gzip, gzip, gzip")


def test_an_empty_encoded_body_is_empty() -> None:
    for name in ENCODERS:
        assert codings.decode(b"", name, limit=LIMIT) == b""
