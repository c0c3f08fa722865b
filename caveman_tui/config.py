"""The config file and what a worker is started with."""

import msgspec

from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings

DEFAULT_PORT = 8788
ANTHROPIC = Upstream(name="anthropic", base_url="https://api.anthropic.com", dialect="anthropic")
OPENAI = Upstream(name="openai", base_url="https://api.openai.com", dialect="openai")


class WorkerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker needs to start."""

    host: str = "127.0.0.1"
    """A loopback address; anything else is refused."""
    port: int = DEFAULT_PORT
    """0 takes a free one."""
    upstreams: tuple[Upstream, ...] = (ANTHROPIC, OPENAI)
    """The first `anthropic` and the first `openai` one without a path prefix are the defaults of their dialects."""
    settings: Settings = Settings()
    store_path: str | None = None
    """None is the shared default, see `ccr`."""
    socket_path: str | None = None
    """None is `worker-PORT.sock` in the runtime directory."""
    idle_stop_seconds: float = 3600.0
    """A worker without a subscriber ends after so long without an exchange; 0 never."""
    body_budget_bytes: int = 256 * 1024 * 1024
    editable_body_limit_bytes: int = 64 * 1024 * 1024
    in_flight_budget_bytes: int = 256 * 1024 * 1024
    """Over it, further bodies stream through unedited."""
    exchange_limit: int = 10_000
    connect_timeout_seconds: float = 30.0
    idle_timeout_seconds: float = 600.0
    """Without a byte from the provider for so long, the exchange is broken off."""
