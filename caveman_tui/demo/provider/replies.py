"""What the stand-in answers: content blocks, how the response ends, or a failure."""

from dataclasses import dataclass, field
from enum import StrEnum

from caveman_tui.demo.provider.prefix import Json


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block; its signature is made by the provider."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text block."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call; its id is made by the provider."""

    name: str
    input: Json = field(default_factory=dict)


Block = Thinking | Text | ToolUse


class Ending(StrEnum):
    """How a streamed response ends."""

    COMPLETE = "complete"
    CUT = "cut"
    """The connection breaks off after `ends_after` events, in the middle of the next one."""
    ERROR = "error"
    """An `error` event follows `ends_after` events."""
    HELD = "held"
    """After `ends_after` events only pings come, until the client hangs up."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response with status 200. The stop reason is `tool_use` where a tool is called, `end_turn` elsewhere."""

    blocks: tuple[Block, ...]
    ending: Ending = Ending.COMPLETE
    ends_after: int = 0
    """Events sent before the ending."""
    pings: int = 1
    """Pings after the first block has started."""
    split: int | None = None
    """Write the stream in pieces of so many bytes instead of one event at a time: events break anywhere, also inside a character."""
    compressed: bool = False
    """Send the body in gzip where the client takes it; what is written of a stream is flushed, so that it can be read at once."""

    @property
    def stop_reason(self) -> str:
        """As Messages names it."""
        return "tool_use" if any(isinstance(block, ToolUse) for block in self.blocks) else "end_turn"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response."""

    status: int
    kind: str
    """`overloaded_error`, `rate_limit_error`, `api_error` …"""
    message: str
    headers: tuple[tuple[str, str], ...] = ()


OVERLOADED = Failure(529, "overloaded_error", "Overloaded", (("x-should-retry", "true"),))

Answer = Reply | Failure


def say(text: str) -> Reply:
    """A reply of one text block."""
    return Reply((Text(text),))
