"""Reads one tool: which of its members are annotation and may go, and which strings are descriptions of what.

Nothing is looked for by name alone. A walk starts at the schemas that `anatomy` names and follows the keywords under which schemas
lie; only there does `title` mean a title. As a property's name, inside a default or a vendor's object, and on the tool's envelope it stays.
"""

import re
from typing import Any

import msgspec

from caveman_tui.core.catalog import INPUT_SCHEMAS, anatomy
from caveman_tui.core.json_schema import ALTERNATIVES, ANNOTATIONS, MANY, NAMED, ONE, looks_like_schema
from caveman_tui.core.json_tree import json_text
from caveman_tui.core.schema_references import References
from caveman_tui.core.shrink.model import ToolContext

_READ = ANNOTATIONS | ONE | MANY | NAMED | {"description"}
"""The keywords that a survey looks at; any other holds data."""
_is_read = _READ.__contains__

_REFERENCE = re.compile(rf'\$\w*[rR]ef"\s*:\s*"[^"]*(?:{"|".join(map(re.escape, sorted(ANNOTATIONS)))}|[%\\])'.encode())
_Node = dict[str, Any]

Described = tuple[_Node, str]
"""An object with a `description` that a model reads, and the parameter that it belongs to, empty for the tool's own."""


class Survey:
    """The members of one tool that shrinking may touch, and what the tool says of itself structurally.

    `tool` is the parsed definition, no key repeated. It is only read; whoever edits it asks for contexts first.
    """

    def __init__(self, tool: _Node, name: str) -> None:
        self.removable: list[tuple[_Node, str]] = []
        """Each annotation, referenced or not, as the object that has it and the key there."""
        self.described: list[Described] = []
        self._name = name
        self._schemas: list[_Node] = []
        self._input: list[tuple[_Node, str]] = []
        """All schemas of the input, and the parameter that each belongs to."""
        self._own_context: ToolContext | None = None
        self._titled: set[int] = set()
        """The `id` of each schema whose title is all that its readers know it by."""
        places = anatomy(tool)
        if places.description is not None:
            self.described.append((_at(tool, places.description[:-1]), ""))
        for path in places.schemas:
            schema = _at(tool, path)
            self._schemas.append(schema)
            if not path:
                self._titled.add(id(schema))
            visited = self._walk(schema)
            if not path or path[-1] in INPUT_SCHEMAS:
                self._input += visited

    def keep_referenced(self) -> None:
        """Take from `removable` what a reference needs. Raises JsonRefused where a schema nests in more than 200 levels."""
        removable = {(id(node), key) for node, key in self.removable}
        kept = References(self._schemas, removable).kept
        self.removable = [(node, key) for node, key in self.removable if (id(node), key) not in kept]

    def context(self, parameter: str, left: dict[int, str]) -> ToolContext:
        """What a description of `parameter` may be compared with, or the tool's own for an empty name.

        `left` is what is left of the parameters' descriptions, by the `id` of the object that has each; only what is left is compared with.
        """
        if self._own_context is None:
            self._own_context = self._gathered()
        if parameter:
            return msgspec.structs.replace(self._own_context, parameter=parameter)
        described: dict[str, str] = {}
        for schema, name in self._input:
            if name and isinstance(schema.get("description"), str):
                described[name] = f"{described.get(name, '')}\n{left.get(id(schema), schema['description'])}"
        return msgspec.structs.replace(self._own_context, described=described) if described else self._own_context

    def _walk(self, schema: _Node) -> list[tuple[_Node, str]]:
        """Note what stands in `schema` and in all schemas below, and return them with the parameter that each belongs to."""
        visited = [(schema, "")]
        for node, parameter in visited:
            for key in filter(_is_read, node):
                value = node[key]
                if key == "description":
                    if isinstance(value, str):
                        self.described.append((node, parameter))
                elif key in ANNOTATIONS:
                    if is_annotation(key, value) and not (key == "title" and id(node) in self._titled):
                        self.removable.append((node, key))
                elif isinstance(value, dict):
                    if key == "properties":
                        visited += [(below, name) for name, below in value.items() if isinstance(below, dict)]
                    elif key in NAMED:
                        visited += [(below, parameter) for below in value.values() if isinstance(below, dict)]
                    elif key in ONE:
                        visited.append((value, parameter))
                elif isinstance(value, list) and key in MANY:
                    branches = [below for below in value if isinstance(below, dict)]
                    visited += [(below, parameter) for below in branches]
                    if key in ALTERNATIVES:
                        self._titled.update(id(below) for below in branches if "const" in below or "enum" in below)
        return visited

    def _gathered(self) -> ToolContext:
        parameters: set[str] = set()
        constants: set[str] = set()
        defaults: set[str] = set()
        for schema, _ in self._input:
            if "properties" in schema and isinstance(schema["properties"], dict):
                parameters.update(schema["properties"])
            if "enum" in schema and isinstance(schema["enum"], list):
                constants.update(map(_plain, schema["enum"]))
            if "const" in schema:
                constants.add(_plain(schema["const"]))
            if "default" in schema:
                defaults.add(_plain(schema["default"]))
        return ToolContext(
            tool=self._name, parameters=frozenset(parameters), enum_values=frozenset(constants), defaults=frozenset(defaults)
        )


def may_need_annotation(tool: bytes) -> bool:
    """Whether a reference of a tool may need an annotation: its pointer names one or has escapes. For tools that escape no key."""
    at = tool.find(b"$")
    while at >= 0:
        if _REFERENCE.match(tool, at):
            return True
        at = tool.find(b"$", at + 1)
    return False


def is_annotation(keyword: str, value: Any) -> bool:
    """Whether a schema's member is one that says nothing about valid calls, by its keyword and by the type that the keyword's value has.

    With a value of another type it is no annotation but a mistake, such as a property outside `properties`, and nothing is known about it.
    """
    if keyword in ("title", "$comment", "$schema"):
        return isinstance(value, str)
    if keyword == "examples":
        return isinstance(value, list)
    return keyword == "example" and not (isinstance(value, dict) and looks_like_schema(value))


def _at(tool: _Node, path: tuple[str, ...]) -> _Node:
    for step in path:
        tool = tool[step]
    return tool


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
