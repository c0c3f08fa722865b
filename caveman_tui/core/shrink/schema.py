"""Reads one tool: which of its members are annotation and may go, and which strings are descriptions of what.

Nothing is looked for by name alone. A walk starts at the schemas that `anatomy` names and follows the keywords under which schemas
lie; only there does `title` mean a title. As a property's name, inside a default or a vendor's object, and on the tool's envelope it stays.
"""

from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.catalog import INPUT_SCHEMAS, Anatomy
from caveman_tui.core.json_schema import ALTERNATIVES, ANNOTATIONS, MANY, NAMED, ONE, REFERENCES, looks_like_schema
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import DEEPEST, Path, Repeated, json_text
from caveman_tui.core.schema_references import Member, References
from caveman_tui.core.shrink.model import ToolContext

WATCHED = ANNOTATIONS | {"description"}
"""Keys that a survey reports wherever they stand, so that its report can be laid beside the bytes."""


_DESCRIPTION, _ANNOTATION, _SCHEMAS, _NAMED, _CONSTANT, _REFERENCE = range(6)

_ROLES = (
    {"description": _DESCRIPTION}
    | dict.fromkeys(ANNOTATIONS, _ANNOTATION)
    | dict.fromkeys(ONE | MANY, _SCHEMAS)
    | dict.fromkeys(NAMED, _NAMED)
    | dict.fromkeys(("default", "const", "enum"), _CONSTANT)
    | dict.fromkeys(REFERENCES, _REFERENCE)
)
"""What a keyword's value is; one that is not here holds data."""

_CONTAINERS = (dict, list)


class Description(NamedTuple):
    """A description that a model reads."""

    path: Path
    """From the tool's root."""
    text: str
    parameter: str
    """The parameter that it belongs to, empty for the tool's own."""


class Sighting(NamedTuple):
    """One member with a watched key, wherever in the tool."""

    key: str
    removable: bool = False
    description: Description | None = None


_INERT = {key: Sighting(key) for key in WATCHED}
_REMOVABLE = {key: Sighting(key, True) for key in WATCHED}


class RepeatedKey(Exception):
    """An object of the tool has a key twice, and which of the two counts is the reader's choice."""


class Survey:
    """All members with a watched key in the order of the document, and what the tool says of itself structurally.

    Raises RepeatedKey, or JsonRefused where it nests too deep.
    """

    def __init__(self, tool: dict[str, Any], tool_anatomy: Anatomy, name: str) -> None:
        self._parameters: set[str] = set()
        self._constants: set[str] = set()
        self._defaults: set[str] = set()
        self._name = name
        self._anatomy = tool_anatomy
        ends = (*tool_anatomy.schemas, tool_anatomy.description or ())
        self._ways = {end[:length] for end in ends for length in range(1, len(end) + 1)}
        self._members: list[Member] = []
        self._sightings: list[Sighting] = []
        self._schemas: list[dict[str, Any]] = []
        self._own_context: ToolContext | None = None
        self._has_references = False
        self._is_input = True
        self._walk_envelope(tool, (), 0)
        self._keep_what_is_referenced()

    @property
    def sightings(self) -> list[Sighting]:
        """Every watched member, in document order."""
        return self._sightings

    def context(self, parameter: str) -> ToolContext:
        """What a description of `parameter` may be compared with."""
        if self._own_context is None:
            self._own_context = ToolContext(
                tool=self._name,
                parameters=frozenset(self._parameters),
                enum_values=frozenset(self._constants),
                defaults=frozenset(self._defaults),
            )
        return msgspec.structs.replace(self._own_context, parameter=parameter) if parameter else self._own_context

    def _keep_what_is_referenced(self) -> None:
        if not self._has_references or not any(sighting.removable for sighting in self._sightings):
            return
        removable = {member for member, sighting in zip(self._members, self._sightings, strict=True) if sighting.removable}
        kept = References(self._schemas, lambda node, key: (id(node), key) in removable).kept
        for index, member in enumerate(self._members):
            if member in kept and self._sightings[index].removable:
                self._sightings[index] = _INERT[member[1]]

    def _see(self, node: dict[str, Any], sighting: Sighting) -> None:
        self._members.append((id(node), sighting.key))
        self._sightings.append(sighting)

    def _walk_envelope(self, node: dict[str, Any], path: tuple[str, ...], depth: int) -> None:
        if path in self._anatomy.schemas:
            self._is_input = path[-1:] == () or path[-1] in INPUT_SCHEMAS
            self._schemas.append(node)
            self._walk_schema(node, path, "", depth, keeps_title=path == ())
            return
        _check(node, depth)
        for key, value in node.items():
            here = (*path, key)
            if key in WATCHED:
                own = here == self._anatomy.description and isinstance(value, str)
                self._see(node, Sighting(key, False, Description(here, value, "")) if own else _INERT[key])
            if isinstance(value, dict) and here in self._ways:
                self._walk_envelope(value, here, depth + 1)
            elif isinstance(value, _CONTAINERS):
                self._walk_data(value, depth + 1)

    def _walk_schema(self, node: Any, path: Path, parameter: str, depth: int, *, keeps_title: bool = False) -> None:
        if not isinstance(node, dict):
            if isinstance(node, list):
                self._walk_data(node, depth)
            return
        _check(node, depth)
        depth += 1
        for key, value in node.items():
            role = _ROLES.get(key)
            if role == _DESCRIPTION and isinstance(value, str):
                self._see(node, Sighting(key, False, Description((*path, key), value, parameter)))
            elif key in WATCHED:
                goes = role == _ANNOTATION and is_annotation(key, value) and not (keeps_title and key == "title")
                self._see(node, _REMOVABLE[key] if goes else _INERT[key])
            elif role == _CONSTANT and self._is_input:
                self._note_constant(key, value)
            elif role == _REFERENCE:
                self._has_references = True
            if not isinstance(value, _CONTAINERS):
                continue
            if role == _SCHEMAS and isinstance(value, dict) and key in ONE:
                self._walk_schema(value, (*path, key), parameter, depth)
            elif role == _SCHEMAS and isinstance(value, list) and key in MANY:
                for index, item in enumerate(value):
                    keeps = key in ALTERNATIVES and isinstance(item, dict) and ("const" in item or "enum" in item)
                    self._walk_schema(item, (*path, key, index), parameter, depth + 1, keeps_title=keeps)
            elif role == _NAMED and isinstance(value, dict):
                self._walk_named(key, value, (*path, key), parameter, depth)
            else:
                self._walk_data(value, depth)

    def _walk_named(self, keyword: str, names: dict[str, Any], path: Path, parameter: str, depth: int) -> None:
        _check(names, depth)
        for name, value in names.items():
            if name in WATCHED:
                self._see(names, _INERT[name])
            elif name in REFERENCES:
                self._has_references = True
            if keyword == "properties":
                if self._is_input:
                    self._parameters.add(name)
                self._walk_schema(value, (*path, name), name, depth + 1)
            else:
                self._walk_schema(value, (*path, name), parameter, depth + 1)

    def _walk_data(self, node: dict[str, Any] | list[Any], depth: int) -> None:
        _check(node, depth)
        if isinstance(node, list):
            for item in node:
                if isinstance(item, _CONTAINERS):
                    self._walk_data(item, depth + 1)
            return
        for key, value in node.items():
            if key in WATCHED:
                self._see(node, _INERT[key])
            elif key in REFERENCES:
                self._has_references = True
            if isinstance(value, _CONTAINERS):
                self._walk_data(value, depth + 1)

    def _note_constant(self, key: str, value: Any) -> None:
        if key == "default":
            self._defaults.add(_plain(value))
        elif key == "const":
            self._constants.add(_plain(value))
        elif isinstance(value, list):
            self._constants.update(map(_plain, value))


def is_annotation(keyword: str, value: Any) -> bool:
    """Whether a schema's member is one that says nothing about valid calls, by its keyword and by the type that the keyword's value has.

    With a value of another type it is no annotation but a mistake, such as a property outside `properties`, and nothing is known about it.
    """
    if keyword in ("title", "$comment", "$schema"):
        return isinstance(value, str)
    if keyword == "examples":
        return isinstance(value, list)
    return keyword == "example" and not (isinstance(value, dict) and looks_like_schema(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _check(node: dict[str, Any] | list[Any], depth: int) -> None:
    if depth > DEEPEST:
        raise JsonRefused("too-deep")
    if isinstance(node, Repeated):
        raise RepeatedKey
