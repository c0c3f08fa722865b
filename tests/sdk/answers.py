"""What the stand-in answers in each case of the SDK clients."""

from collections.abc import Iterable
from dataclasses import replace

from caveman_tui.demo.provider import Answer, Ending, Failure, Reply, Steps, Text, Thinking, ToolUse, say
from tests.sdk.transcript import Case

TEXT = say("Two files and a folder. Δύο αρχεία 🗂 and a rather long sentence after it, so that it takes several events. " * 3)
CALLS = Reply(
    (
        Thinking("Both can be read side by side. ✓ " * 4),
        Text("Reading both: ä, ö."),
        ToolUse("read_file", {"path": "/srv/α.txt", "lines": [1, 2.5, None, True, "x" * 90]}),
        ToolUse("read_file", {"path": "/srv/b.txt"}),
        ToolUse("list_folder", {}),
    ),
    pings=3,
)
LOOP = (CALLS, Reply((ToolUse("list_folder", {"path": "/srv"}),)), say("All read."))
RETRY_AT_ONCE = (("retry-after-ms", "1"), ("x-should-retry", "true"))
BUSY = Failure(529, "overloaded_error", "Overloaded", RETRY_AT_ONCE)
BUSY_OPENAI = Failure(503, "server_error", "The engine is currently overloaded", RETRY_AT_ONCE)
HELD = replace(TEXT, ending=Ending.HELD, ends_after=6)
LATE_ERROR = replace(TEXT, ending=Ending.ERROR, ends_after=5)
CUT = replace(TEXT, ending=Ending.CUT, ends_after=5)
PACKED = replace(TEXT, compressed=True)

_ANSWERS: dict[str, Answer | tuple[Answer, ...]] = {
    "raw_events": CALLS,
    "split_events": replace(CALLS, split=7),
    "accumulated": CALLS,
    "whole_tools": CALLS,
    "tool_loop": LOOP,
    "overloaded_then_retried": (BUSY, BUSY, TEXT),
    "overloaded": Failure(529, "overloaded_error", "Overloaded", (("retry-after", "3"), ("x-should-retry", "true"))),
    "error_event": LATE_ERROR,
    "cut_stream": CUT,
    "cancelled": HELD,
    "compressed": PACKED,
    "compressed_events": replace(CALLS, compressed=True),
    "async_cancelled": HELD,
    "async_task_cancelled": HELD,
    "chat_tools": CALLS,
    "chat_chunks": CALLS,
    "chat_accumulated": CALLS,
    "chat_tool_loop": LOOP,
    "chat_refused": Failure(400, "invalid_request_error", "Unsupported parameter: 'x' is not supported with this model."),
    "chat_overloaded_then_retried": (BUSY_OPENAI, TEXT),
    "chat_error_event": LATE_ERROR,
    "chat_cancelled": HELD,
    "chat_compressed": replace(CALLS, compressed=True),
    "responses_whole": CALLS,
    "responses_events": CALLS,
    "responses_accumulated": CALLS,
    "responses_error_event": LATE_ERROR,
    "responses_cut": CUT,
    "responses_cancelled": HELD,
}


def script(cases: Iterable[Case]) -> Steps:
    """A fresh script for these cases; one without an answer of its own gets a text."""
    return Steps({case.__name__: _ANSWERS.get(case.__name__, TEXT) for case in cases})
