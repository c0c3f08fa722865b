"""What a plot is made of: conversations, turns, steps. The agent plays one side of it, the provider's script the other."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from caveman_tui.demo.provider import OVERLOADED, Answer, Ending, Reply, Text, Thinking, ToolUse


class Mishap(StrEnum):
    """What goes wrong with a step before it succeeds."""

    NONE = ""
    OVERLOADED = "overloaded"
    """The provider says 529; the client waits and asks again."""
    CUT = "cut"
    """The stream breaks off; the client asks again without streaming."""
    CANCELLED = "cancelled"
    """The person hits Esc in mid-stream and prompts anew; the answer is lost."""


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model and what its tool calls return."""

    reply: Reply
    results: tuple[str, ...] = ()
    """One for each tool call."""
    seconds: float = 8.0
    """Simulated time until the next request."""
    mishap: Mishap = Mishap.NONE
    helper: "Conversation | None" = None
    """A sub-agent that runs before the results are sent."""

    def answers(self) -> Answer | tuple[Answer, ...]:
        """What the provider is to say, in order of asking."""
        match self.mishap:
            case Mishap.OVERLOADED:
                return (OVERLOADED, self.reply)
            case Mishap.CUT:
                return (Reply(self.reply.blocks, ending=Ending.CUT, ends_after=6), self.reply)
            case Mishap.CANCELLED:
                return Reply(self.reply.blocks, ending=Ending.HELD, ends_after=8)
            case _:
                return self.reply


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's prompt and the loop that follows."""

    prompt: str
    steps: tuple[Step, ...]
    pause: float = 0.0
    """Simulated seconds that the person takes before it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation of one client."""

    name: str
    session: str
    model: str
    turns: tuple[Turn, ...]
    tools: list[dict[str, Any]] = field(default_factory=list)
    headless: bool = False
    agent: str = ""
    """Id of the sub-agent, empty for the main thread."""
    parent_agent: str = ""
    ttl: str = "1h"
    """Lifetime that its markers ask for."""
    starts_at: float = 0.0
    """Simulated seconds after the session's beginning."""
    counts_tokens: int = 0
    """How many count_tokens requests it sends at once after its first turn."""

    def steps(self) -> Iterator[tuple[str, Step]]:
        """All steps with their names, those of helpers included."""
        for turn_number, turn in enumerate(self.turns, 1):
            for step_number, step in enumerate(turn.steps, 1):
                yield step_name(self, turn_number, step_number), step
                if step.helper is not None:
                    yield from step.helper.steps()


def step_name(conversation: Conversation, turn: int, step: int) -> str:
    """The name by which agent and provider agree on an answer; counts from 1."""
    return f"{conversation.name}/{turn}/{step}"


def call(name: str, **arguments: Any) -> ToolUse:
    """A tool call."""
    return ToolUse(name, arguments)


def step(*blocks: Text | Thinking | ToolUse, results: tuple[str, ...] = (), **more: Any) -> Step:
    """A step of `blocks`."""
    return Step(Reply(blocks), results, **more)
