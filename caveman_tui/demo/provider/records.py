"""What the stand-in keeps of each request: the evidence that tests and the demo's summary judge by."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from caveman_tui.demo.provider.prompt_cache import Bill

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Received:
    """One request as it arrived, and what was answered. Filled while the exchange runs."""

    at: float
    """Simulated time."""
    method: str
    target: str
    """Path with query, as in the request line."""
    headers: Headers
    """As they arrived: order, case and duplicates."""
    body: bytes = b""
    """As it arrived, in its content coding."""
    status: int | None = None
    sent_headers: Headers = ()
    sent: bytearray = field(default_factory=bytearray)
    """Body bytes of the response, without transfer coding."""
    bill: Bill | None = None
    """Of Messages requests that were accepted."""
    rule_broken: str = ""
    """The marker rule that the request broke, in the API's words."""
    hung_up: bool = False
    """Whether the client went away before the response was complete."""

    def header(self, name: str) -> str:
        """The first header of that name, empty where there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


class Records:
    """The last requests, within a number and a budget of bytes; the oldest go first."""

    def __init__(self, *, limit: int = 5_000, budget_bytes: int = 512 * 1024 * 1024) -> None:
        self._kept: deque[Received] = deque()
        self._limit = limit
        self._budget_bytes = budget_bytes
        self._bytes = 0

    def add(self, received: Received) -> None:
        """Keep `received`, whose request body is complete."""
        self._kept.append(received)
        self._bytes += len(received.body)
        while len(self._kept) > 1 and (len(self._kept) > self._limit or self._bytes > self._budget_bytes):
            self._bytes -= len(self._kept.popleft().body)

    def __iter__(self) -> Iterator[Received]:
        return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, index: int) -> Received:
        return self._kept[index]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._bytes = 0

    def with_header(self, name: str, value: str) -> list[Received]:
        """Those that carry this header."""
        return [received for received in self._kept if received.header(name) == value]
