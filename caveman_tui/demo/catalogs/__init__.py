"""Tool catalogs of the demo: eight MCP servers and a coding agent's own tools, as their authors would have written them."""

import json
from functools import cache
from importlib import resources
from typing import Any

SERVERS = ("tracker", "browser", "database", "files", "calendar", "ci", "chat", "metrics")
"""Names of the MCP servers."""


@cache
def _tools_of(name: str) -> tuple[dict[str, Any], ...]:
    document = json.loads(resources.files(__name__).joinpath(f"{name}.json").read_bytes())
    return tuple(document["tools"])


def coding_tools() -> list[dict[str, Any]]:
    """The tools of a coding agent, in Messages shape."""
    return [_messages_shape(tool, tool["name"]) for tool in _tools_of("coding")]


def mcp_tools(servers: tuple[str, ...] = SERVERS) -> list[dict[str, Any]]:
    """The tools of `servers` in Messages shape, named `mcp__SERVER__TOOL` as clients name them."""
    return [_messages_shape(tool, f"mcp__{server}__{tool['name']}") for server in servers for tool in _tools_of(server)]


def chat_tools(servers: tuple[str, ...]) -> list[dict[str, Any]]:
    """The tools of `servers` in Chat Completions shape."""
    return [
        {"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}}
        for tool in mcp_tools(servers)
    ]


def _messages_shape(tool: dict[str, Any], name: str) -> dict[str, Any]:
    return {"name": name, "description": tool["description"], "input_schema": tool["inputSchema"]}
