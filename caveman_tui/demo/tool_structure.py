"""What must survive of a tool definition, worked out by the judge's own means: everything but prose and annotations."""

import json
from typing import Any

_ANNOTATIONS = frozenset({"title", "description", "examples", "example", "$comment", "$schema"})
_SCHEMA_MEMBERS = frozenset({"input_schema", "inputSchema", "parameters"})
_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"default", "const", "enum", "required"})


def structure(tools: bytes) -> str:
    """The tools array in `tools` without annotations of schemas and without prose; equal strings mean equal structure.

    Names, order, types, values and the presence of descriptions count. Raises ValueError where it is no JSON array.
    """
    parsed = json.loads(tools)
    if not isinstance(parsed, list):
        raise ValueError("the tools are no array")
    return json.dumps([_tool(tool) for tool in parsed], ensure_ascii=False)


def _tool(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    kept: dict[str, Any] = {}
    for key, value in tool.items():
        if key == "description" and isinstance(value, str):
            kept[key] = bool(value.strip())
        elif key in _SCHEMA_MEMBERS:
            kept[key] = _schema(value)
        elif key == "function":
            kept[key] = _tool(value)
        else:
            kept[key] = value
    return kept


def _schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED_SCHEMAS and isinstance(value, dict):
            kept[key] = {name: _schema(child) for name, child in value.items()}
        elif key in _VALUES:
            kept[key] = value
        elif key not in _ANNOTATIONS:
            kept[key] = _schema(value)
    return kept
