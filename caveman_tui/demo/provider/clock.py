"""Time as the stand-in's cache sees it."""

import time
from dataclasses import dataclass, field

_EPOCH = 1_790_000_000.0


@dataclass(slots=True)
class Clock:
    """Seconds since the epoch. Stands still unless advanced; `ticking` lets real time pass besides."""

    ticking: bool = False
    _advanced: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        """The simulated time."""
        return _EPOCH + self._advanced + (time.monotonic() - self._started if self.ticking else 0.0)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass. Raises ValueError where they are negative."""
        if not seconds >= 0:
            raise ValueError(f"time does not run backwards: {seconds}")
        self._advanced += seconds
