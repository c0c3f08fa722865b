"""What Claude Code wrote down of its conversations, without what differs from run to run."""

import json
import re
from pathlib import Path
from typing import Any

Said = tuple[str, str]
"""A kind of block and its text."""

_OF_THE_PROGRAM = ("<command-name>", "<local-command")
"""Begins a note about a command to the program itself, such as that to leave; it may leave before it is noted."""
_OWN_FIGURES = re.compile(r"\b[0-9a-f]{8,}\b|\d+")


def conversations(home: Path) -> list[list[Said]]:
    """The conversation of the main thread, then those of sub-agents; each as what was said, called and answered.

    Sorted: what happens at the same time is written down as it happens to be ready.
    """
    files = sorted((home / ".claude" / "projects").rglob("*.jsonl"), key=lambda path: ("subagents" in path.parts, path))
    return [sorted(_said(path)) for path in files]


def texts(home: Path) -> list[str]:
    """All texts of the main conversation so far, a person's and the model's."""
    return [text for kind, text in next(iter(conversations(home)), []) if kind.endswith("text")]


def _said(path: Path) -> list[Said]:
    said: list[Said] = []
    for line in path.read_text().splitlines():
        # The last line may be half written.
        if not line.endswith("}"):
            continue
        entry = json.loads(line)
        if entry.get("type") in {"user", "assistant"}:
            content = entry["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            said += [(f"{entry['type']} {block['type']}", _text(block)) for block in blocks]
    return [(kind, text) for kind, text in said if not text.startswith(_OF_THE_PROGRAM)]


def _text(block: dict[str, Any]) -> str:
    match block["type"]:
        case "tool_use":
            return f"{block['name']} {json.dumps(block['input'], sort_keys=True)}"
        case "tool_result":
            content = block["content"]
            inner = content if isinstance(content, str) else "\n".join(map(_text, content))
            return f"{'failed: ' if block.get('is_error') else ''}{inner}"
        case kind:
            text = str(block[kind])
            # A sub-agent's id, its tokens and its time: of each run its own.
            return _OWN_FIGURES.sub("N", text) if "<usage>" in text else text
