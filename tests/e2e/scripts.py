"""What the stand-in's model does in these sessions: an agent's loops, each with a call that fails."""

from caveman_tui.demo.provider import Answer, Ending, Question, Reply, Text, Thinking, ToolUse, Turns, say


def _bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "Run a command"})


_LOOP = (
    Reply((Thinking("First a look around."), Text("Looking."), _bash("echo one > one.txt"), _bash("echo two > two.txt"))),
    Reply((_bash("cat /nowhere/at/all"),)),
    Reply((Text("That is missing; one more."), _bash("cat one.txt two.txt > three.txt"))),
    say("Three files are there."),
)

CLAUDE_LOOP = Turns(_LOOP)

CLAUDE_TWO_PROMPTS = Turns((*_LOOP, Reply((_bash("cat three.txt > four.txt"),)), say("And a fourth one.")))

CLAUDE_SUB_AGENT = Turns(
    (
        Reply(
            (
                Text("Somebody else looks."),
                ToolUse(
                    "Agent",
                    {
                        "description": "Look around",
                        "prompt": "Make a file and report",
                        "subagent_type": "general-purpose",
                        "run_in_background": False,
                    },
                ),
            )
        ),
        Reply((_bash("cat one.txt > two.txt"),)),
        say("Two files are there."),
    ),
    agent_replies=(Reply((_bash("echo one > one.txt"),)), Reply((_bash("cat /nowhere/at/all"),)), say("One file was made.")),
)

CODEX_LOOP = Turns(
    (
        Reply((Text("Looking."), ToolUse("exec_command", {"cmd": "echo one > one.txt"}))),
        Reply((ToolUse("exec_command", {"cmd": "cat /nowhere/at/all"}),)),
        Reply((ToolUse("exec_command", {"cmd": "cat one.txt > two.txt"}),)),
        say("Two files are there."),
    )
)


class Interrupted:
    """A loop; an answer that stays away after its first words, until the client hangs up; another loop after the next prompt."""

    FIRST_WORDS = "It begins here."
    _ANSWER = f"{FIRST_WORDS}\n\nAnd then, after a line that is complete and so is drawn, it goes on and never comes to its end."
    _EVENTS = 5

    def __init__(self, last_prompt: str) -> None:
        self._last_prompt = last_prompt

    def answer(self, question: Question) -> Answer:
        """By what stands at the end of the conversation."""
        if not question.has_tools:
            return say("A title")
        messages = question.body["messages"]
        prompt_at = next((at for at, message in enumerate(messages) if self._last_prompt in str(message)), None)
        if prompt_at is not None:
            called = any("tool_use" in str(message) for message in messages[prompt_at:])
            return say("Made after all.") if called else Reply((_bash("echo two > two.txt"),))
        if "tool_use" in str(messages):
            return Reply((Text(self._ANSWER),), ending=Ending.HELD, ends_after=self._EVENTS)
        return Reply((_bash("echo one > one.txt"),))
