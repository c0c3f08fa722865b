"""Who decides what the stand-in answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from caveman_tui.demo.provider.prefix import Json
from caveman_tui.demo.provider.replies import Answer, Reply, Text, Thinking, ToolUse, say

STEP_HEADER = "x-demo-step"
"""With it a scripted agent names the answer that it wants."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request as a script sees it."""

    dialect: str
    """`messages`, `chat` or `responses`."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Json

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered; side requests (a title, a summary) have none."""
        items = self.body.get("input")
        first = items[0] if isinstance(items, list) and items else None
        return bool(self.body.get("tools")) or (isinstance(first, dict) and first.get("type") == "additional_tools")

    @property
    def turns_taken(self) -> int:
        """How often the model has answered already, read from the conversation itself, so that a retry gets the same answer."""
        if self.dialect == "responses":
            return _runs(self.body.get("input"), lambda item: item.get("role") == "assistant" or str(item.get("type")).endswith("_call"))
        return _runs(self.body.get("messages"), lambda message: message.get("role") == "assistant")


class Script(Protocol):
    """Picks an answer for each request. Must be a function of what it is given, or count for itself."""

    def answer(self, question: Question) -> Answer:
        """The answer to `question`."""
        ...


@dataclass(frozen=True, slots=True)
class Turns:
    """Drives a real client: the n-th answer of a conversation is the n-th reply, and after the last one the turn ends with a sentence.

    Sub-agents (by their agent id) have replies of their own. Where a reply calls tools and the request offers none (a title, a summary),
    the sentence comes in its place.
    """

    replies: tuple[Answer, ...] = ()
    agent_replies: tuple[Answer, ...] = ()
    farewell: str = "Done."

    def answer(self, question: Question) -> Answer:
        """See the class."""
        replies = self.agent_replies if "x-claude-code-agent-id" in question.headers else self.replies
        taken = question.turns_taken
        answer = replies[taken] if taken < len(replies) else say(self.farewell)
        calls_tools = isinstance(answer, Reply) and any(isinstance(block, ToolUse) for block in answer.blocks)
        return say(self.farewell) if calls_tools and not question.has_tools else answer


@dataclass(slots=True)
class Steps:
    """Answers by the name in `x-demo-step`. A tuple of answers is used up one by one, its last one stays: a failure, then its retry."""

    answers: Mapping[str, Answer | tuple[Answer, ...]]
    _asked: dict[str, int] = field(default_factory=dict)

    def answer(self, question: Question) -> Answer:
        """See the class."""
        step = question.headers.get(STEP_HEADER, "")
        scripted = self.answers.get(step)
        if scripted is None:
            return say(f"No answer is scripted for the step '{step}'.")
        if not isinstance(scripted, tuple):
            return scripted
        asked = self._asked.get(step, 0)
        self._asked[step] = asked + 1
        return scripted[min(asked, len(scripted) - 1)]


def turns_from_json(data: Any) -> Turns:
    """`Turns` from a list of replies, each a list of `{"text"}`, `{"thinking"}` or `{"tool", "input"}`. Raises ValueError on others."""
    if not isinstance(data, list):
        raise ValueError("a script is a list of replies")
    return Turns(tuple(Reply(tuple(_block(block) for block in reply)) for reply in data))


def _block(data: Any) -> Text | Thinking | ToolUse:
    match data:
        case {"text": str(text)}:
            return Text(text)
        case {"thinking": str(text)}:
            return Thinking(text)
        case {"tool": str(name), "input": dict(arguments)}:
            return ToolUse(name, arguments)
        case _:
            raise ValueError(f"not a block of a reply: {data!r}")


def _runs(items: object, is_answer: Any) -> int:
    """Stretches of neighbouring items that are the model's."""
    runs, inside = 0, False
    for item in items if isinstance(items, list) else ():
        mine = isinstance(item, dict) and bool(is_answer(item))
        runs += mine and not inside
        inside = mine
    return runs


NAMED: dict[str, Turns] = {
    "hello": Turns((say("Hello from the stand-in."),)),
    "claude-loop": Turns(
        (
            Reply(
                (
                    Thinking("I look at where I am before I change anything."),
                    Text("Looking around first."),
                    ToolUse("Bash", {"command": "echo one", "description": "Print one"}),
                    ToolUse("Bash", {"command": "echo two", "description": "Print two"}),
                )
            ),
            Reply((ToolUse("Bash", {"command": "cat /nowhere/at/all", "description": "Read a file that is not there"}),)),
            Reply((Text("That one is missing; one more."), ToolUse("Bash", {"command": "echo three", "description": "Print three"}))),
            say("All three commands ran; the file is not there."),
        )
    ),
    "codex-loop": Turns(
        (
            Reply((Text("Looking around first."), ToolUse("exec_command", {"cmd": "echo one"}))),
            Reply((ToolUse("exec_command", {"cmd": "echo two"}),)),
            say("Both commands ran."),
        )
    ),
}
"""Scripts for `python -m caveman_tui.demo.provider --script NAME`."""
