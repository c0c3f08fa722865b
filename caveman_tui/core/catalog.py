"""Finds tool definitions: in a catalog of any shape, in a request body, in a wrapper around either.

Two questions are kept apart. `find_tools` looks at a document and says where its tools lie. `anatomy` looks at one tool and says where
its description and its schemas lie; it sees nothing but the tool, so that the answer is the same beside any neighbour.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.json_schema import looks_like_schema
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.json_tree import DEEPEST, Path, json_pointer, pointer_step


class FoundTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool definition in a document."""

    name: str
    """What the model calls it; of a tool without a name (`{"type": "web_search"}`) its type, of a bare schema its title or empty."""
    pointer: str
    """JSON pointer in the document, empty where the document is the tool."""
    start: int
    """First byte of the definition."""
    end: int
    """One past its last byte."""
    value: Any
    """The definition as the document was read, part of its value."""


class Anatomy(msgspec.Struct, frozen=True):
    """Where one tool holds what the model reads. Paths are from the tool's own root."""

    description: tuple[str, ...] | None = None
    """The tool's own description, where there is one."""
    schemas: tuple[tuple[str, ...], ...] = ()
    """The schemas of its input and its output; `()` alone means that the tool is a bare schema."""


INPUT_SCHEMAS = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema")
OUTPUT_SCHEMAS = ("outputSchema", "output_schema", "response", "responseJsonSchema", "response_json_schema")

_SCHEMAS = frozenset(INPUT_SCHEMAS + OUTPUT_SCHEMAS)

_UNMISTAKABLE = frozenset({"inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema"})
"""Names under which nothing but a tool's schema stands."""

_OWN_TYPES = frozenset({"function", "custom", "tool"})
"""Values of a tool's `type` that mean "defined here". Any other is a tool that the provider defines, and none of our business."""

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
"""Keys that say that tools stand below."""

_CONVERSATION = frozenset({"messages", "input", "contents", "prompt", "model"})
"""Keys of a request body (or of a response that repeats one). Everything in it but the fixed places of its tools is the user's."""

_TOOL_ITEMS = frozenset({"additional_tools", "mcp_list_tools"})
"""Types of conversation items that carry definitions (OpenAI Responses)."""

_USER_DATA = frozenset(
    {
        *("arguments", "args", "params", "content", "structuredContent", "text", "message", "history", "choices", "delta"),
        *("default", "const", "enum", "example", "examples", "metadata", "_meta", "annotations", "input_examples"),
        *("prompts", "resources", "resourceTemplates", "toolUseResult", "tool_calls", "tool_results"),
    }
)
"""Keys below which a wrapper is never searched: what stands there was written by a caller or came out of a tool."""

_WRAPPERS = frozenset({"result", "results", "data", "items", "response", "body", "request", "payload", "catalog"})
"""Keys under which the only list of a wrapper is taken for a catalog even where its tools have no schemas."""

_PLAIN_KEYS = frozenset(
    {
        *("name", "description", "title", "annotations", "arguments", "icons", "_meta", "id", "command", "type"),
        *("strict", "defer_loading", "cache_control", "allowed_callers", "execution", "tags", "enabled", "category"),
    }
)
"""What an entry without a schema may hold and still be taken for a tool where no key says that it is one."""

_WRAPPER_DEPTH = 6


def anatomy(tool: dict[str, Any]) -> Anatomy:
    """Return where `tool`, a parsed definition, holds its description and its schemas; empty for tools that the provider defines."""
    prefix: tuple[str, ...] = ()
    body = tool
    if isinstance(tool.get("function"), dict):
        prefix, body = ("function",), tool["function"]
    if _is_bare_schema(tool):
        return Anatomy(schemas=((),))
    kind = body.get("type", "function")
    if not isinstance(kind, str) or kind not in _OWN_TYPES:
        return Anatomy()
    schemas = [(*prefix, key) for key, value in body.items() if key in _SCHEMAS and isinstance(value, dict)]
    description = (*prefix, "description") if isinstance(body.get("description"), str) else None
    return Anatomy(description, tuple(schemas))


def find_tools(document: bytes | JsonDocument) -> tuple[FoundTool, ...]:
    """Return the tools in `document` in its order, nested ones (namespaces) one by one. Empty where it holds none.

    Below an object with a repeated key nothing is found: which of the two counts is the reader's choice. Raises JsonRefused where
    bytes are not exactly one JSON value in plain UTF-8.
    """
    if isinstance(document, bytes):
        document = JsonDocument(document)
    found: list[FoundTool] = []
    above: Path | None = None
    beside: _Beside | None = None
    for name, path in _search(document.value, (), 0):
        if not path:
            start, end = document.root
            return (FoundTool(name=name, pointer="", start=start, end=end, value=document.value),)
        if path[:-1] != above:
            above = path[:-1]
            beside = _beside(document, above)
        if beside is not None:
            step = path[-1]
            start, end = beside.spans[step]
            pointer = f"{beside.pointer}/{pointer_step(step) if isinstance(step, str) else step}"
            found.append(FoundTool(name=name, pointer=pointer, start=start, end=end, value=beside.values[step]))
    return tuple(found)


class _Beside(NamedTuple):
    """What one list or object holds, by index or by key."""

    pointer: str
    values: Any
    spans: Any


def _beside(document: JsonDocument, path: Path) -> _Beside | None:
    """What the list or object at `path` holds, None where a repeated key makes that the reader's choice."""
    around, repeats = document.locate(path)
    if repeats:
        return None
    values = document.value
    for step in path:
        values = values[step]
    spans = document.items_of(around) if isinstance(values, list) else document.members_of(around).spans
    return _Beside(json_pointer(path), values, spans)


_Located = Iterator[tuple[str, Path]]


def _search(node: Any, path: Path, depth: int) -> _Located:
    if depth > _WRAPPER_DEPTH:
        return
    if isinstance(node, list):
        yield from _search_list(node, path, depth)
    elif isinstance(node, dict) and not _is_message(node):
        if _CONVERSATION & node.keys() and not _is_tool(node):
            yield from _search_conversation(node, path)
        elif any(isinstance(node.get(key), list | dict) for key in _LISTS) and not _is_tool(node):
            yield from _search_container(node, path, depth)
        elif _is_tool(node) or (depth == 0 and node and looks_like_schema(node) and not _is_map_of_tools(node)):
            yield _name(node), path
        elif _is_map_of_tools(node):
            yield from ((key, (*path, key)) for key in node)
        else:
            yield from _search_wrapper(node, path, depth)


def _search_conversation(body: dict[str, Any], path: Path) -> _Located:
    for key, value in body.items():
        if key in _LISTS:
            yield from _listed(value, (*path, key))
        elif key in ("input", "output") and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict) and item.get("type") in _TOOL_ITEMS:
                    yield from _listed(item.get("tools"), (*path, key, index, "tools"))


def _search_container(node: dict[str, Any], path: Path, depth: int) -> _Located:
    for key, value in node.items():
        here = (*path, key)
        if key not in _LISTS:
            if key not in _USER_DATA:
                yield from _search_wrapped(value, here, depth + 1)
        elif _is_near(path) or _is_told_by_its_items(value):
            yield from _listed(value, here)


def _search_list(node: list[Any], path: Path, depth: int) -> _Located:
    told = any(_is_tool(item) or _is_group(item) for item in node)
    plain = _is_near(path)
    if told or (plain and node and all(_is_plain_tool(item) for item in node)):
        yield from _listed(node, path)
    elif plain and node and all(isinstance(item, dict) and item and looks_like_schema(item) and "name" not in item for item in node):
        yield from ((_name(item), (*path, index)) for index, item in enumerate(node))
    else:
        for index, item in enumerate(node):
            if isinstance(item, dict) and item.get("type") in _TOOL_ITEMS:
                yield from _listed(item.get("tools"), (*path, index, "tools"))
            else:
                yield from _search_wrapped(item, (*path, index), depth + 1)


def _search_wrapper(node: dict[str, Any], path: Path, depth: int) -> _Located:
    for key, value in node.items():
        if key not in _USER_DATA:
            yield from _search_wrapped(value, (*path, key), depth + 1)


def _search_wrapped(value: Any, path: Path, depth: int) -> _Located:
    if isinstance(value, dict | list):
        yield from _search(value, path, depth)


def _listed(value: Any, path: Path, depth: int = 0) -> _Located:
    """The tools of a list, or of a map from names, that is known to hold tools."""
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if _is_group(item):
                yield from _grouped(item, (*path, key), depth)
            elif isinstance(item, dict) and (_is_definition(item) or isinstance(item.get("description"), str)):
                yield key, (*path, key)
        return
    if not isinstance(value, list):
        return
    for index, item in enumerate(value):
        if _is_group(item):
            yield from _grouped(item, (*path, index), depth)
        elif isinstance(item, dict) and (name := _name(item)):
            yield name, (*path, index)


def _grouped(group: dict[str, Any], path: Path, depth: int) -> _Located:
    for key in _LISTS:
        yield from _listed(group.get(key), (*path, key), depth + 1)


def _is_near(path: Path) -> bool:
    """Whether this is the document or the one thing that it wraps, so that a name and a description are enough to be a tool."""
    return not path or (len(path) == 1 and path[0] in _WRAPPERS)


def _is_group(item: Any) -> bool:
    """Whether an entry of a tools list holds tools itself: a namespace, Gemini's declarations, a server with its tools."""
    if not isinstance(item, dict) or item.keys().isdisjoint(_LISTS) or _is_definition(item) or _is_message(item):
        return False
    return any(isinstance(item.get(key), list) for key in _LISTS)


def _is_definition(item: dict[str, Any]) -> bool:
    """Whether schemas say that this is a tool."""
    body = item["function"] if isinstance(item.get("function"), dict) else item
    return any(isinstance(body[key], dict) for key in _UNMISTAKABLE & body.keys()) or (
        isinstance(body.get("parameters"), dict) and looks_like_schema(body["parameters"])
    )


def _is_message(item: dict[str, Any]) -> bool:
    """Whether this is one message of a conversation, of whatever API: everything in it is the user's or the model's."""
    return isinstance(item.get("role"), str) and ("content" in item or "parts" in item)


def _is_tool(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if isinstance(item.get("function"), dict):
        return isinstance(item["function"].get("name"), str) and item["function"].get("arguments") is None
    if not isinstance(item.get("name"), str):
        return False
    return _is_definition(item) or (item.get("type") in _OWN_TYPES and isinstance(item.get("description"), str))


def _is_plain_tool(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("name"), str)
        and isinstance(item.get("description"), str)
        and item.keys() <= _PLAIN_KEYS
    )


def _is_map_of_tools(node: dict[str, Any]) -> bool:
    return bool(node) and all(isinstance(item, dict) and _is_definition(item) for item in node.values())


def _is_told_by_its_items(value: Any) -> bool:
    items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return any(isinstance(item, dict) and (_is_definition(item) or _is_group(item)) for item in items)


def _is_bare_schema(tool: dict[str, Any]) -> bool:
    """Whether there is nothing around the schema, neither a name of the tool's own nor a key that holds it."""
    if isinstance(tool.get("name"), str) and not isinstance(tool.get("properties"), dict):
        return False
    if isinstance(tool.get("function"), dict) or any(isinstance(tool[key], dict) for key in _SCHEMAS & tool.keys()):
        return False
    return looks_like_schema(tool)


def _name(item: dict[str, Any]) -> str:
    body = item["function"] if isinstance(item.get("function"), dict) else item
    for key in ("title",) if _is_bare_schema(item) else ("name", "type"):
        if isinstance(body.get(key), str):
            return str(body[key])
    return ""
