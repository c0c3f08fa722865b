"""The worker: the proxy, what it remembers and its control API, put together, started and stopped."""

import asyncio
import contextlib
import errno
import os
import time
from pathlib import Path

from caveman_tui import __version__, places
from caveman_tui.config import WorkerConfig
from caveman_tui.core.loop_ttl import client_kind
from caveman_tui.core.policy import ClientKind, Level, ShrinkMode
from caveman_tui.core.rewrite import rewrite
from caveman_tui.core.shrink import SHRINKER_VERSION
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.protocol.control import Status
from caveman_tui.protocol.events import Settings, SettingsChanged, Warned
from caveman_tui.proxy import server, upstream
from caveman_tui.proxy.control_api import ControlApi
from caveman_tui.proxy.control_socket import has_unix_sockets
from caveman_tui.proxy.conversations import PIN_SECONDS, Conversations
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.forward import Forwarder
from caveman_tui.proxy.last_requests import LastRequests
from caveman_tui.proxy.limits import InFlightBudget
from caveman_tui.proxy.loopback import is_loopback
from caveman_tui.proxy.originals import PUT_SECONDS, Originals
from caveman_tui.proxy.pins import PinFile, remove_lapsed_pins
from caveman_tui.proxy.preload import preload
from caveman_tui.proxy.shrunk_forms import ShrunkForms
from caveman_tui.proxy.summaries import Summaries
from caveman_tui.proxy.transform import Transformer
from caveman_tui.proxy.trust import TrustProblem
from caveman_tui.proxy.upstream import ProviderClient, UpstreamProblem

_IDLE_CHECK_SECONDS = 5.0
_LAPSED_SECONDS = 2 * PIN_SECONDS
"""What no request has used for so long is of no conversation that is still pinned."""


class StartProblem(Exception):
    """Why a worker can't start: a stable code, what is wrong with the value, and what to do."""

    def __init__(self, code: str, what: str, todo: str) -> None:
        super().__init__(f"{what} {todo}")
        self.code = code
        """`not-loopback`, `port-taken`, `address`, `upstream`, `own-upstream`, `certificates`, `control-socket`."""
        self.what = what
        self.todo = todo


class Worker:
    """A model-API proxy on a loopback port with its control API. Lives on one event loop."""

    def __init__(self, config: WorkerConfig, *, stop_seconds: float = server.STOP_SECONDS, put_seconds: float = PUT_SECONDS) -> None:
        """`stop_seconds` is what running exchanges get to end by themselves, `put_seconds` what a request waits for the store."""
        self.config = config
        self.settings = config.settings
        self.port = config.port
        """Of the proxy, once started."""
        self.host = "127.0.0.1" if config.host == "localhost" else config.host.strip("[]")
        self.log = ExchangeLog(exchange_limit=config.exchange_limit, body_budget_bytes=config.body_budget_bytes)
        self._stop_seconds = stop_seconds
        self._put_seconds = put_seconds
        self._budget = InFlightBudget(config.in_flight_budget_bytes)
        self._started_at = 0.0
        self._stop_asked = asyncio.Event()
        self._idle_watch: asyncio.Task[None] | None = None
        self.loaded: asyncio.Future[None] | None = None
        """Done soon after the start, when all is imported that will be needed later."""
        # In the order of starting; stopped in the reverse one.
        self._running = contextlib.AsyncExitStack()

    @property
    def in_flight_bytes(self) -> int:
        """Bytes of bodies held for editing at this moment."""
        return self._budget.used

    @property
    def stopping(self) -> bool:
        """Whether no new requests are taken any more."""
        return self._proxy is not None and self._proxy.stopping

    async def start(self) -> None:
        """Listen. Raises StartProblem, and then nothing stays open."""
        if not is_loopback(self.config.host):
            raise StartProblem(
                "not-loopback", f"The host {self.config.host} is no loopback address.", "Use 127.0.0.1: keys of yours pass through here."
            )
        try:
            await self._start()
        except BaseException:
            await self._running.aclose()
            raise

    async def wait(self) -> None:
        """Until someone asks for the end, or nobody has used the worker for `idle_stop_seconds`. `stop` is then to be called."""
        await self._stop_asked.wait()

    async def stop(self) -> None:
        """Stop listening, let running exchanges end for a few seconds, and let go of everything. May be called again."""
        self._stop_asked.set()
        await self._running.aclose()

    # What the control API asks for

    def status(self) -> Status:
        """What the worker says of itself."""
        return Status(
            instance=self.log.instance,
            pid=os.getpid(),
            version=__version__,
            started_at=self._started_at,
            host=self.host,
            port=self.port,
            settings=self.settings,
            upstreams=self.config.upstreams,
            store=self._originals.status,
            seq=self.log.seq,
            exchanges=len(self.log),
            open_exchanges=self.log.open_exchanges,
            body_bytes=self.log.bodies.size,
            body_budget_bytes=self.log.bodies.budget_bytes,
            last_exchange_at=self.log.last_exchange_at,
            followers=self.log.followers,
        )

    def change_settings(self, settings: Settings) -> None:
        """Take these settings, and tell the followers."""
        self.settings = settings
        self.log.emit(SettingsChanged(settings=settings))
        if settings.shrink is ShrinkMode.APPLY:
            self._originals.open_soon()

    def request_stop(self) -> None:
        """End once running exchanges have; returns at once."""
        self._stop_asked.set()

    def shrink_catalog(self, tools: bytes, level: Level) -> ShrunkCatalog:
        """A tools array as it becomes at this level; may run in any thread."""
        return shrink_catalog(tools, level=level, exclude=self.settings.excluded_tools)

    # Starting, in the order of dependence

    async def _start(self) -> None:
        config = self.config
        try:
            provider = ProviderClient(config)
        except UpstreamProblem as problem:
            raise StartProblem("upstream", str(problem), "") from problem
        except TrustProblem as problem:
            raise StartProblem("certificates", str(problem), "") from problem
        self._running.push_async_callback(provider.close)
        try:
            listener = server.bind(self.host, config.port)
        except (OSError, OverflowError) as error:
            raise self._not_bound(error) from error
        self._running.callback(listener.close)
        self.port = listener.getsockname()[1]
        if (own := await upstream.points_at(config.upstreams, (self.host, self.port))) is not None:
            raise StartProblem(
                "own-upstream",
                f"The upstream '{own.name}' is {own.base_url}, which is this worker itself.",
                "Give the provider's own URL; ANTHROPIC_BASE_URL may still point here.",
            )
        self._running.callback(self.log.close)
        self._originals = Originals(config.store_path, self.log.emit, put_seconds=self._put_seconds)
        self._running.push_async_callback(self._originals.close)
        directory = self._state_dir()
        forms = ShrunkForms(directory, rewrite, shrink_catalog, version=SHRINKER_VERSION, seconds=_LAPSED_SECONDS)
        self._running.callback(forms.close)
        conversations = self._conversations(directory, forms)
        self._running.push_async_callback(conversations.close)
        if config.settings.shrink is ShrinkMode.APPLY or any(one.shrink is ShrinkMode.APPLY for one in conversations.list()):
            self._originals.open_soon()
        last_requests = LastRequests()
        transformer = Transformer(forms.rewrite, self._originals.commit, last_requests, decoded_limit=config.editable_body_limit_bytes)
        self._running.callback(transformer.close)
        summaries = Summaries(self.log, self._originals.remember_counts, last_requests)
        self._running.push_async_callback(summaries.close)
        self._started_at = time.time()
        # The port takes connections from here on, so whoever finds the record may connect; the control API ends after the proxy.
        await self._start_control(conversations)
        self._proxy = proxy = server.ProxyServer(
            Forwarder(
                log=self.log,
                conversations=conversations,
                transformer=transformer,
                summaries=summaries,
                provider=provider,
                upstreams=config.upstreams,
                settings=lambda: self.settings,
                client_kind=_client_kind,
                budget=self._budget,
                editable_limit=config.editable_body_limit_bytes,
                stopping=lambda: self.stopping,
            ),
            stop_seconds=self._stop_seconds,
        )
        self._running.push_async_callback(proxy.stop)
        await proxy.start(listener)
        self.loaded = asyncio.get_running_loop().run_in_executor(None, preload)
        if config.idle_stop_seconds > 0:
            self._idle_watch = asyncio.get_running_loop().create_task(self._watch_idleness())
            self._running.callback(self._idle_watch.cancel)

    def _not_bound(self, error: OSError | OverflowError) -> StartProblem:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            what = f"Port {self.config.port} on {self.host} is taken."
            return StartProblem("port-taken", what, "Use the worker that may run there, or another --port; --port 0 takes a free one.")
        what = f"{self.host}:{self.config.port} can't be listened on ({getattr(error, 'strerror', '') or error})."
        return StartProblem("address", what, "Choose another --port.")

    def _conversations(self, directory: Path | None, forms: ShrunkForms) -> Conversations:
        """With the pins of earlier workers on this port."""
        file = PinFile(directory / f"pins-{self.port}.json") if directory else None
        conversations = Conversations(file, shrinker=SHRINKER_VERSION, keeps_forms=forms.keeps, on_problem=self._warn_state)
        if directory is not None:
            remove_lapsed_pins(directory, _LAPSED_SECONDS)
        if conversations.problem:
            self._warn_state(conversations.problem)
        return conversations

    def _warn_state(self, what: str) -> None:
        self.log.emit(
            Warned(
                code="state-not-kept",
                what=what,
                done="what conversations are pinned to lasts as long as this worker",
                todo="Make the state directory writable, or remove the file.",
            )
        )

    async def _start_control(self, conversations: Conversations) -> None:
        path: Path | None = None
        try:
            if self.config.socket_path is not None:
                path = Path(self.config.socket_path)
            elif has_unix_sockets():
                path = places.runtime_dir() / f"worker-{self.port}.sock"
            control = ControlApi(self.log, conversations, self, socket_path=path, records=self._state_dir())
            await control.start()
        except OSError as error:
            what = f"The control socket {path or ''} can't be made ({error.strerror or error})."
            raise StartProblem("control-socket", what, "Set CAVEMAN_TUI_RUNTIME and CAVEMAN_TUI_STATE to directories of yours.") from error
        self._running.push_async_callback(control.stop)

    def _state_dir(self) -> Path | None:
        """None where there can be none: pins then live as long as this worker, and screens have to be told the socket."""
        try:
            return places.state_dir()
        except OSError as error:
            self._warn_state(f"there is no state directory ({error.strerror or error})")
            return None

    async def _watch_idleness(self) -> None:
        """End after `idle_stop_seconds` without a screen and without an exchange."""
        limit = self.config.idle_stop_seconds
        quiet_since, seen = time.monotonic(), self.log.last_exchange_at
        while True:
            await asyncio.sleep(min(_IDLE_CHECK_SECONDS, limit))
            busy = self.log.followers or self.log.open_exchanges or self.log.last_exchange_at != seen
            if busy:
                quiet_since, seen = time.monotonic(), self.log.last_exchange_at
            elif time.monotonic() - quiet_since >= limit:
                self.request_stop()
                return


def shrink_catalog(data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
    """`core.shrink.shrink_catalog`, which is imported after the start."""
    from caveman_tui.core import shrink

    return shrink.shrink_catalog(data, level=level, exclude=exclude)


def _client_kind(user_agent: str, settings: Settings) -> ClientKind:
    headless = settings.headless
    return client_kind(user_agent, "yes" if headless == "yes" else "no" if headless == "no" else "auto", settings.clients)
