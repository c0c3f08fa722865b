"""The events of one exchange, in order, and exactly one end."""

import time
from collections.abc import Callable
from typing import Any

from caveman_tui.core.policy import ClientKind, Dialect
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import (
    AnyEvent,
    ExchangeFinished,
    ExchangeResponding,
    ExchangeRewritten,
    ExchangeStarted,
    ExchangeUsage,
    Warned,
)
from caveman_tui.proxy import headers
from caveman_tui.proxy.exchange_log import ExchangeLog
from caveman_tui.proxy.identity import Identity

_USAGE_INTERVAL_SECONDS = 0.5


class Recording:
    """Tells the log of one exchange. Nothing in here raises: a request must not fail because it could not be shown.

    Whatever comes after `finish`, or a second `start`, is not told any more.
    """

    def __init__(self, log: ExchangeLog, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = log
        self.id = log.new_id()
        self._clock = clock
        self._arrived = clock()
        self._started = False
        self._finished = False
        self._responding = False
        self._usage: Usage | None = None
        self._usage_told_at = 0.0
        self._early: list[Warned] = []

    @property
    def finished(self) -> bool:
        """Whether the end was told."""
        return self._finished

    def start(
        self,
        *,
        method: str,
        target: str,
        provider: str,
        dialect: Dialect | None,
        user_agent: str,
        client_kind: ClientKind,
        model: str = "",
        identity: Identity | None = None,
        request_bytes: int | None = None,
    ) -> None:
        """The request came in."""
        if self._started:
            return
        self._started = True
        who = identity or Identity()
        self._emit(
            ExchangeStarted(
                id=self.id,
                method=method,
                path=headers.shown_path(target),
                provider=provider,
                dialect=dialect or "",
                model=model,
                client=client_name(user_agent),
                client_kind=client_kind,
                conversation=who.conversation,
                agent=who.agent,
                parent_agent=who.parent_agent,
                session=who.session,
                request_bytes=request_bytes,
            )
        )
        early, self._early = self._early, []
        for warning in early:
            self._emit(warning)

    def rewritten(self, event: ExchangeRewritten) -> None:
        """What the transforms did; told again when more is known, which may be after the end."""
        self._emit(event)

    def responding(self, status: int) -> None:
        """The status line is here."""
        if not self._responding:
            self._responding = True
            self._emit(ExchangeResponding(id=self.id, status=status, ttfb_ms=self._elapsed_ms()))

    def usage(self, usage: Usage | None, response_bytes: int, *, last: bool = False) -> None:
        """Usage so far; told when it changed, and not more often than twice a second until the last time."""
        if usage is None or usage == self._usage or usage == Usage():
            return
        now = self._clock()
        if not last and now - self._usage_told_at < _USAGE_INTERVAL_SECONDS:
            return
        self._usage = usage
        self._usage_told_at = now
        self._emit(ExchangeUsage(id=self.id, usage=usage, response_bytes=response_bytes))

    def warn(self, code: str, what: str, done: str = "", todo: str = "") -> None:
        """Something of ours went wrong, and the request went on."""
        warning = Warned(code=code, exchange=self.id, what=what, done=done, todo=todo)
        if self._started:
            self._emit(warning)
        else:
            self._early.append(warning)

    def finish(self, outcome: str, response_bytes: int = 0, note: str = "") -> None:
        """The end, whatever it was; the first one counts."""
        if self._finished or not self._started:
            return
        self._emit(ExchangeFinished(id=self.id, outcome=outcome, duration_ms=self._elapsed_ms(), response_bytes=response_bytes, note=note))
        self._finished = True

    def keep(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Hand something to the log's memory; what goes wrong there is not the exchange's trouble."""
        try:
            call(self.id, *arguments)
        except Exception as error:
            self.warn("not-kept", f"a body could not be kept in memory ({type(error).__name__})", "the exchange went on")

    def _elapsed_ms(self) -> float:
        return (self._clock() - self._arrived) * 1000

    def _emit(self, event: AnyEvent) -> None:
        if self._finished and not isinstance(event, ExchangeRewritten | Warned):
            return
        try:
            self.log.emit(event)
        except Exception:
            # Telling of it would take the same way.
            return


def client_name(user_agent: str) -> str:
    """The first product of a User-Agent; `codex` for all of Codex's."""
    first = user_agent.split(" ", 1)[0][:60]
    return "codex" if first.lower().startswith("codex") else first
