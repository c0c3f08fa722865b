"""A stand-in for the model providers: streams like them, enforces the marker rules, simulates the prompt cache and bills it.

It is the judge of what the worker sends, so it shares no code with the rest of the product.
"""

from caveman_tui.demo.provider.clock import Clock
from caveman_tui.demo.provider.errors import MarkerRuleBroken, Refused
from caveman_tui.demo.provider.marker_rules import Marker, check_markers
from caveman_tui.demo.provider.prompt_cache import Bill, PromptCache, Usage
from caveman_tui.demo.provider.records import Received, Records
from caveman_tui.demo.provider.replies import OVERLOADED, Answer, Ending, Failure, Reply, Text, Thinking, ToolUse, say
from caveman_tui.demo.provider.scripts import STEP_HEADER, Question, Script, Steps, Turns
from caveman_tui.demo.provider.server import Provider

__all__ = [
    "OVERLOADED",
    "STEP_HEADER",
    "Answer",
    "Bill",
    "Clock",
    "Ending",
    "Failure",
    "Marker",
    "MarkerRuleBroken",
    "PromptCache",
    "Provider",
    "Question",
    "Received",
    "Records",
    "Refused",
    "Reply",
    "Script",
    "Steps",
    "Text",
    "Thinking",
    "ToolUse",
    "Turns",
    "Usage",
    "check_markers",
    "say",
]
