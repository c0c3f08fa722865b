"""The agent's HTTP: sends requests through the worker and keeps every byte that comes back."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from caveman_tui.demo.provider import STEP_HEADER

REQUEST_HEADER = "x-demo-request"
"""Carries a request's number, so that what was sent, forwarded and received can be laid side by side."""

_SILENCE_SECONDS = 60.0

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Sent:
    """One request of the agent and what it got."""

    number: int
    conversation: str
    """Empty for requests outside a conversation."""
    method: str
    target: str
    headers: Headers
    body: bytes
    at: float
    """Simulated time."""
    status: int | None = None
    """None where no status line came."""
    received_headers: Headers = ()
    received: bytearray = field(default_factory=bytearray)
    broke_off: str = ""
    """The error with which the response ended, empty where it was complete."""
    hung_up: bool = False
    """Whether the agent went away on purpose."""

    @property
    def is_messages(self) -> bool:
        """Whether it asks for an answer of the model over Messages."""
        return self.method == "POST" and self.target.split("?")[0] == "/v1/messages"

    @property
    def counts_tokens(self) -> bool:
        """Whether it only asks for a count; nothing is stored for those."""
        return self.target.split("?")[0] == "/v1/messages/count_tokens"


class Wire:
    """A connection pool to the worker, and one to the provider's clock."""

    def __init__(self, session: aiohttp.ClientSession, worker_url: str, provider_url: str) -> None:
        self._session = session
        self._worker_url = worker_url
        self._provider_url = provider_url
        self.now = 0.0
        """Simulated seconds since the session's beginning."""
        self.sent: list[Sent] = []

    @staticmethod
    @contextlib.asynccontextmanager
    async def connected(worker_url: str, provider_url: str) -> AsyncIterator["Wire"]:
        """A wire that keeps bodies in their content coding. Proxy settings of the environment are left aside: both ends are loopback."""
        timeout = aiohttp.ClientTimeout(total=None, sock_read=_SILENCE_SECONDS)
        async with aiohttp.ClientSession(auto_decompress=False, timeout=timeout, trust_env=False) as session:
            yield Wire(session, worker_url, provider_url)

    async def wait_until(self, moment: float) -> None:
        """Let simulated time pass. It is told to the provider itself, past the worker."""
        if moment > self.now:
            async with self._session.post(f"{self._provider_url}/demo/clock", json={"advance": moment - self.now}) as response:
                response.raise_for_status()
            self.now = moment

    async def send(
        self,
        method: str,
        target: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        conversation: str = "",
        step: str = "",
        hang_up_after: bytes = b"",
    ) -> Sent:
        """Send one request and read the response to its end, or up to `hang_up_after`. Network errors end up in the record."""
        number = len(self.sent) + 1
        named = (*headers, (REQUEST_HEADER, str(number)), *(((STEP_HEADER, step),) if step else ()))
        sent = Sent(number=number, conversation=conversation, method=method, target=target, headers=named, body=body, at=self.now)
        self.sent.append(sent)
        url = URL(self._worker_url + target, encoded=True)
        try:
            async with self._session.request(method, url, data=body or None, headers=list(named), allow_redirects=False) as response:
                sent.status = response.status
                sent.received_headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers)
                async for piece in response.content.iter_any():
                    sent.received.extend(piece)
                    if hang_up_after and hang_up_after in sent.received:
                        sent.hung_up = True
                        response.close()
                        break
        except (TimeoutError, aiohttp.ClientError) as error:
            sent.broke_off = f"{type(error).__name__}: {error}"
        return sent
