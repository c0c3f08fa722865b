"""What decides which tool is called and with which arguments, as a value that two documents can be compared by.

This is the judge of every shrunk document, so it errs on its own side: everything of a tool is in its profile, envelope and unknown
keywords included, but for the text of descriptions and for annotations of schemas, and those only where a schema can't be mistaken.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from caveman_tui.core.catalog import anatomy, find_tools
from caveman_tui.core.json_schema import ALTERNATIVES, ANNOTATIONS, MANY, NAMED, ONE, looks_like_schema
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import DEEPEST, Repeated, json_pointer, json_text, parse_json, pointer_step
from caveman_tui.core.schema_references import Member, References


class Fact(NamedTuple):
    """One thing that a tool states."""

    pointer: str
    """Where, within the tool. Of a `$ref` there is a second fact with ` ->` after the pointer: whether it leads anywhere."""
    value: str
    """JSON text: strings quoted, numbers as spelled, so that 1, 1.0 and "1" differ. Of containers `{}`, or `[]` with its length."""


class ToolProfile(msgspec.Struct, frozen=True):
    """The facts of one tool, by pointer."""

    name: str
    pointer: str
    """Where the tool stands in its document."""
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        return "\n".join((f"{self.name} {self.pointer}", *(f"  {fact.pointer} {fact.value}" for fact in self.facts)))


class SelectionProfile(msgspec.Struct, frozen=True):
    """The tools of a document, one by one in its order, two of the same name too."""

    tools: tuple[ToolProfile, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.tools))

    def differences(self, other: "SelectionProfile") -> tuple[str, ...]:
        """Return what only one of the two says, `-` before what only this one does and `+` before what only `other` does."""
        mine, theirs = set(self._lines()), set(other._lines())
        missing = [f"- {line}" for line in self._lines() if line not in theirs]
        return (*missing, *(f"+ {line}" for line in other._lines() if line not in mine))

    def _lines(self) -> Iterator[str]:
        for tool in self.tools:
            yield f"{tool.pointer} is {tool.name}"
            yield from (f"{tool.pointer}{fact.pointer} {fact.value}" for fact in tool.facts)


def selection_profile(data: bytes) -> SelectionProfile:
    """Return the profile of the tools in `data`, in whatever shape; empty where it holds none.

    Two profiles are equal when the same tools stand in the same places and state the same; the order of an object's keys does not
    matter. Of a tool that can't be read (it nests deeper than 200 levels, or holds NaN) the one fact is its text. Raises JsonRefused
    where `data` is not exactly one JSON value in plain UTF-8.
    """
    profiles = []
    for tool in find_tools(data):
        text = data[tool.start : tool.end]
        try:
            facts = tuple(sorted(_ToolFacts(parse_json(text)).facts()))
        except JsonRefused:
            facts = (Fact("", text.decode()),)
        profiles.append(ToolProfile(tool.name, tool.pointer, facts))
    return SelectionProfile(tuple(profiles))


class _ToolFacts:
    def __init__(self, tool: Any) -> None:
        self._tool = tool
        self._anatomy = anatomy(tool)
        self._dropped: dict[Member, Any] = {}
        """Members that the profile leaves out unless a reference needs them, with their values."""
        self._pointer_of: dict[int, str] = {}
        self._schema_nodes: set[int] = set()
        self._schemas: list[dict[str, Any]] = []
        for path in self._anatomy.schemas:
            node = tool
            for step in path:
                node = node[step]
            self._schemas.append(node)
            self._mark_schema(node, 0, is_root=not path)
        self._references = self._references_that_count()

    def facts(self) -> Iterator[Fact]:
        yield from self._facts()
        for reference in self._references.found:
            where = self._pointer_of[id(reference.holder)]
            leads = self._references.resolve(reference) is not None
            yield Fact(f"{where}/{reference.keyword} ->", "resolves" if leads else "leads nowhere")

    def _mark_schema(self, node: Any, depth: int, *, is_root: bool = False, is_alternative: bool = False) -> None:
        """Note which members of a schema are left out, here and in the schemas below it."""
        if depth > DEEPEST:
            raise JsonRefused("too-deep")
        if not isinstance(node, dict) or isinstance(node, Repeated):
            return
        self._schema_nodes.add(id(node))
        tells_constants_apart = is_alternative and not {"const", "enum"}.isdisjoint(node)
        for key, value in node.items():
            if key in ANNOTATIONS:
                if _is_mere_annotation(key, value) and not (key == "title" and (is_root or tells_constants_apart)):
                    self._dropped[id(node), key] = value
            elif key in NAMED and isinstance(value, dict) and not isinstance(value, Repeated):
                for schema in value.values():
                    self._mark_schema(schema, depth + 2)
            elif key in ONE and isinstance(value, dict):
                self._mark_schema(value, depth + 1)
            elif key in MANY and isinstance(value, list):
                for schema in value:
                    self._mark_schema(schema, depth + 2, is_alternative=key in ALTERNATIVES)

    def _references_that_count(self) -> References:
        """References outside of what is left out. What one of them needs is left in, and its own references count."""
        references = References(self._schemas, self._dropped)
        for member in references.kept:
            del self._dropped[member]
        return references

    def _facts(self) -> Iterator[Fact]:
        own = json_pointer(self._anatomy.description or ())
        stack: list[tuple[Any, str, int]] = [(self._tool, "", 0)]
        while stack:
            node, pointer, depth = stack.pop()
            if depth > DEEPEST:
                raise JsonRefused("too-deep")
            if isinstance(node, Repeated):
                text = json_text(node)
                self._pointer_of.update((id(inner), pointer) for inner in _objects(node))
                yield Fact(pointer, text)
            elif isinstance(node, dict):
                self._pointer_of[id(node)] = pointer
                is_schema = id(node) in self._schema_nodes
                yield Fact(pointer, "{}")
                for key, value in node.items():
                    below = f"{pointer}/{pointer_step(key)}"
                    if key == "description" and isinstance(value, str) and (is_schema or below == own):
                        yield Fact(below, "described")
                    elif (id(node), key) not in self._dropped:
                        stack.append((value, below, depth + 1))
            elif isinstance(node, list):
                yield Fact(pointer, f"[] of {len(node)}")
                stack.extend((item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(node))
            else:
                yield Fact(pointer, json_text(node))


def _is_mere_annotation(keyword: str, value: Any) -> bool:
    match keyword:
        case "title" | "$comment" | "$schema":
            return isinstance(value, str)
        case "examples":
            return isinstance(value, list)
        case _:
            return not (isinstance(value, dict) and looks_like_schema(value))


def _objects(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _objects(value)
    elif isinstance(node, list):
        for item in node:
            yield from _objects(item)
