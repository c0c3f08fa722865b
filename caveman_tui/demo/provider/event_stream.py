"""Server-sent events as the providers write them."""

import json
from collections.abc import Iterable, Iterator
from typing import Any


def event(data: dict[str, Any], *, name: str = "", padding: int = 0) -> bytes:
    """One event; `padding` spaces stand after the data, as the real stream has them now and then."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {compact(data)}{' ' * padding}\n\n".encode("utf-8", "surrogatepass")


def comment(text: str) -> bytes:
    """A line that clients pass over."""
    return f": {text}\n\n".encode()


def compact(value: object) -> str:
    """JSON without white space, other scripts unescaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pieces(text: str, size: int) -> Iterator[str]:
    """`text` in stretches of `size` characters; at least one, which may be empty."""
    yield text[:size]
    for start in range(size, len(text), size):
        yield text[start : start + size]


def resplit(events: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """The same bytes in writes of `size`, or one event at a time where `size` is None."""
    if size is None:
        yield from events
        return
    whole = b"".join(events)
    for start in range(0, len(whole), size):
        yield whole[start : start + size]
