import json
from typing import Any

import pytest

from caveman_tui.core.catalog import anatomy, find_tools
from caveman_tui.core.json_spans import JsonRefused

SCHEMA = {"type": "object", "properties": {"path": {"type": "string", "description": "where"}}, "required": ["path"]}
MCP = {"name": "read", "description": "Reads a file.", "inputSchema": SCHEMA}
ANTHROPIC = {"name": "read", "description": "Reads a file.", "input_schema": SCHEMA}
CHAT = {"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "read", "description": "Reads a file.", "parameters": SCHEMA, "strict": True}
GRAMMAR = {"type": "custom", "name": "patch", "description": "Applies a patch.", "format": {"type": "grammar", "definition": "start: x"}}
SEARCH = {"type": "web_search", "external_web_access": False}
NAMESPACE = {"type": "namespace", "name": "files", "description": "Files.", "tools": [FLAT, GRAMMAR]}
GEMINI = {"functionDeclarations": [{"name": "read", "description": "Reads.", "parameters": {"type": "OBJECT", "properties": {}}}]}
LISTED = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "files", "tools": [ANTHROPIC]}
PLAIN = {"name": "ping", "description": "Pings the server."}

SHAPES: list[tuple[str, Any, list[tuple[str, str]]]] = [
    ("mcp", {"tools": [MCP]}, [("read", "/tools/0")]),
    ("bare array", [MCP, PLAIN], [("read", "/0"), ("ping", "/1")]),
    ("array without any schema", [PLAIN, PLAIN], [("ping", "/0"), ("ping", "/1")]),
    ("chat", {"tools": [CHAT]}, [("read", "/tools/0")]),
    (
        "responses",
        [FLAT, GRAMMAR, SEARCH, NAMESPACE],
        [("read", "/0"), ("patch", "/1"), ("web_search", "/2"), ("read", "/3/tools/0"), ("patch", "/3/tools/1")],
    ),
    ("anthropic", {"tools": [ANTHROPIC]}, [("read", "/tools/0")]),
    ("functions", {"functions": [FLAT | {"type": "function"}]}, [("read", "/functions/0")]),
    ("one mcp tool", MCP, [("read", "")]),
    ("one chat tool", CHAT, [("read", "")]),
    ("one grammar tool", GRAMMAR, [("patch", "")]),
    ("raw schema", {"$schema": "x", "title": "Point", "type": "object", "properties": {}}, [("Point", "")]),
    ("raw schema with $defs alone", {"$defs": {"A": {}}, "$ref": "#/$defs/A"}, [("", "")]),
    ("array of raw schemas", [{"title": "A", "type": "object", "properties": {}}], [("A", "/0")]),
    ("json-rpc", {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": "c"}}, [("read", "/result/tools/0")]),
    ("by name", {"read": {"description": "Reads.", "inputSchema": SCHEMA}}, [("read", "/read")]),
    ("by name under tools", {"tools": {"a/b": {"description": "Reads.", "parameters": SCHEMA}}}, [("a/b", "/tools/a~1b")]),
    ("by name with bare parameters", {"read": {"parameters": SCHEMA}}, [("read", "/read")]),
    ("gemini", {"contents": [], "tools": [GEMINI]}, [("read", "/tools/0/functionDeclarations/0")]),
    ("gemini declarations alone", GEMINI, [("read", "/functionDeclarations/0")]),
    ("gemini in snake case", {"tools": [{"function_declarations": [PLAIN]}]}, [("ping", "/tools/0/function_declarations/0")]),
    ("anthropic body", {"model": "m", "messages": [], "tools": [ANTHROPIC]}, [("read", "/tools/0")]),
    ("chat body", {"model": "m", "messages": [], "tools": [CHAT], "functions": [FLAT]}, [("read", "/tools/0"), ("read", "/functions/0")]),
    (
        "codex body",
        {
            "model": "m",
            "input": [{"type": "additional_tools", "tools": [NAMESPACE]}, {"role": "user", "content": "x"}, LISTED],
            "tools": [],
        },
        [("read", "/input/0/tools/0/tools/0"), ("patch", "/input/0/tools/0/tools/1"), ("read", "/input/2/tools/0")],
    ),
    ("one listing of a server", LISTED, [("read", "/tools/0")]),
    ("responses input alone", [{"role": "user", "content": "x"}, LISTED], [("read", "/1/tools/0")]),
    ("response with a listing", {"model": "m", "output": [LISTED]}, [("read", "/output/0/tools/0")]),
    ("wrapper", {"status": 200, "results": [{"id": "", "name": "acr", "description": "d", "command": "acr"}]}, [("acr", "/results/0")]),
    ("servers", [{"server": "a", "tools": [MCP]}, {"server": "b", "tools": [MCP]}], [("read", "/0/tools/0"), ("read", "/1/tools/0")]),
    ("servers by name", {"a": {"tools": [MCP]}, "b": {"tools": [MCP]}}, [("read", "/a/tools/0"), ("read", "/b/tools/0")]),
    ("tools by server", {"tools": {"a": {"tools": [MCP]}}}, [("read", "/tools/a/tools/0")]),
    ("logged request", {"request": {"body": {"model": "m", "messages": [], "tools": [CHAT]}}}, [("read", "/request/body/tools/0")]),
    ("no tools", {"tools": []}, []),
    ("names of tools", {"tools": ["Bash", "Read"]}, []),
    ("null", None, []),
    ("text", "tools", []),
]


@pytest.mark.parametrize(("document", "expected"), [pytest.param(document, tools, id=name) for name, document, tools in SHAPES])
@pytest.mark.parametrize("indent", [None, 2])
def test_every_shape(document: Any, expected: list[tuple[str, str]], indent: int | None) -> None:
    data = json.dumps(document, indent=indent).encode()
    found = find_tools(data)
    assert [(tool.name, tool.pointer) for tool in found] == expected
    for tool in found:
        node = document
        for step in tool.pointer.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node[int(step)] if isinstance(node, list) else node[step]
        assert json.loads(data[tool.start : tool.end]) == tool.value == node


BY_A_USER: list[tuple[str, Any]] = [
    ("messages", {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{"tools": [MCP]}]}]}]}),
    (
        "arguments of a call",
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "name": "x", "input": {"tools": [MCP]}}]}]},
    ),
    ("chat call", {"messages": [], "tool_calls": [{"type": "function", "function": {"name": "x", "arguments": "{}"}}]}),
    ("metadata of a request", {"model": "m", "messages": [], "metadata": {"tools": [MCP]}}),
    ("input that looks like a catalog", {"model": "m", "input": [{"type": "function_call_output", "tools": [MCP]}]}),
    ("call over json-rpc", {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x", "arguments": {"tools": [MCP]}}}),
    ("result of a call", {"jsonrpc": "2.0", "result": {"content": [{"tools": [MCP]}], "structuredContent": {"tools": [MCP]}}}),
    ("hammers", {"shed": {"tools": [{"name": "hammer", "description": "For nails."}]}}),
    ("people", {"people": [{"name": "Ada", "description": "Wrote the first program.", "born": 1815}]}),
    ("a message array", [{"role": "user", "content": [{"type": "text", "text": "x"}]}]),
    ("content blocks", [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]),
    ("jobs with parameters", {"results": [{"name": "job", "parameters": {"retries": 3}, "owner": "x"}]}),
    ("calls", [{"id": "c", "type": "function", "function": {"name": "x", "arguments": "{}"}}]),
    ("a message with tools in it", {"role": "user", "content": "x", "tools": [MCP]}),
    (
        "a log of messages",
        {"conversation": [{"role": "user", "content": "x", "tools": [MCP]}, {"role": "model", "parts": [{"tools": [MCP]}]}]},
    ),
    ("prompts of a server", {"prompts": [{"name": "p", "description": "d"}]}),
]


@pytest.mark.parametrize("document", [pytest.param(document, id=name) for name, document in BY_A_USER])
def test_user_data_is_no_tool(document: Any) -> None:
    assert find_tools(json.dumps(document).encode()) == ()


def test_nothing_below_a_repeated_key() -> None:
    tool = json.dumps(MCP)
    assert find_tools(f'{{"tools":[{tool}],"tools":[{tool}]}}'.encode()) == ()
    assert [tool.name for tool in find_tools(f'{{"a":1,"tools":[{tool[:-1]},"name":"write"}}]}}'.encode())] == ["write"]


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "not-json"), (b"{} {}", "not-json"), (b'\xef\xbb\xbf{"tools":[]}', "byte-order-mark"), (b'"\xff"', "invalid-utf-8")],
)
def test_what_is_no_document(data: bytes, code: str) -> None:
    with pytest.raises(JsonRefused) as refused:
        find_tools(data)
    assert refused.value.code == code


def test_anatomy() -> None:
    assert anatomy(MCP | {"outputSchema": SCHEMA}).schemas == (("inputSchema",), ("outputSchema",))
    assert anatomy(MCP).description == ("description",)
    assert anatomy(CHAT).description == ("function", "description")
    assert anatomy(CHAT).schemas == (("function", "parameters"),)
    assert anatomy(GRAMMAR).schemas == () and anatomy(GRAMMAR).description == ("description",)
    assert anatomy(SCHEMA).schemas == ((),) and anatomy(SCHEMA).description is None
    assert anatomy({"type": "web_search_20250305", "name": "web_search", "description": "d", "input_schema": SCHEMA}).schemas == ()
    assert anatomy({"type": "web_search_20250305", "name": "web_search", "description": "d"}).description is None
    assert anatomy({"name": "a", "description": {"text": "no string"}, "inputSchema": None}) == anatomy({"name": "b"})
