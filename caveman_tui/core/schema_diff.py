"""What changed between two schemas of a tool's input, and whether a call that was valid may now be refused.

Subschemas that differ in ways this does not understand count as breaking: a change is called harmless only where it is seen to be.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import msgspec

from caveman_tui.core.json_schema import ALTERNATIVES, ANNOTATIONS, MANY, NAMED, ONE, REFERENCES
from caveman_tui.core.json_tree import DEEPEST, Number, json_text
from caveman_tui.core.schema_references import pointed_at


class SchemaChange(msgspec.Struct, frozen=True, kw_only=True):
    """One difference between two schemas."""

    where: str
    """The parameter as a caller writes it (`filter.tags[]`), empty for the schema itself."""
    kind: str
    """`parameter-removed`, `parameter-added`, `newly-required`, `no-longer-required`, `type-changed`, `type-widened`,
    `enum-narrowed`, `enum-widened`, `const-changed`, `bound-tightened`, `bound-loosened`, `constraint-changed`,
    `alternatives-changed`, `default-changed`, `description-changed`, `annotation-changed`."""
    breaking: bool
    before: str = ""
    """JSON text or prose as it was; of an enum the values that only the old one has."""
    after: str = ""


_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_STRUCTURAL = {
    "properties",
    "required",
    "type",
    "enum",
    "const",
    "default",
    "description",
    "items",
    "$defs",
    "definitions",
}
_CONSTRAINTS = {"pattern", "format", "multipleOf", "uniqueItems", "dependentRequired", "nullable"} | REFERENCES | ONE | MANY | NAMED
"""Beside those that are compared one by one. Any other keyword constrains nothing, or nothing that is known."""
_LONGEST = 400


def schema_changes(before: Any, after: Any) -> tuple[SchemaChange, ...]:
    """Return the differences between two schemas as parsed by `json_tree.parse_json`, in the order of their parameters.

    Local references are followed from each schema's own root; a reference into itself is compared once.
    """
    return tuple(_Comparison(before, after).changes(before, after, "", 0))


class _Comparison:
    """Two schemas and what has been compared of them."""

    def __init__(self, before_root: Any, after_root: Any) -> None:
        self.before_root = before_root
        self.after_root = after_root
        self.compared: set[tuple[str, str]] = set()

    def changes(self, before: Any, after: Any, where: str, depth: int) -> Iterator[SchemaChange]:
        if not isinstance(before, dict) or not isinstance(after, dict):
            if not _same(before, after):
                accepts_all = after is True
                yield _change(where, "constraint-changed", not accepts_all, before, after)
            return
        if depth > DEEPEST:
            return
        resolved_before, name_before = _resolve(before, self.before_root)
        resolved_after, name_after = _resolve(after, self.after_root)
        if name_before or name_after:
            pair = (name_before or where, name_after or where)
            if pair in self.compared:
                return
            self.compared.add(pair)
        yield from self._node(resolved_before, resolved_after, where, depth)

    def _node(self, before: dict[str, Any], after: dict[str, Any], where: str, depth: int) -> Iterator[SchemaChange]:
        yield from _prose(before, after, where)
        yield from _types(before, after, where)
        yield from _values(before, after, where)
        yield from _bounds(before, after, where)
        yield from _others(before, after, where)
        yield from self._alternatives(before, after, where, depth)
        yield from self._parameters(before, after, where, depth)
        if "items" in before or "items" in after:
            yield from self.changes(before.get("items", True), after.get("items", True), where + "[]", depth + 1)

    def _parameters(self, before: dict[str, Any], after: dict[str, Any], where: str, depth: int) -> Iterator[SchemaChange]:
        old, new = _named(before, "properties"), _named(after, "properties")
        was_required, is_required = _required(before), _required(after)
        for name in old:
            path = _join(where, name)
            if name not in new:
                yield _change(path, "parameter-removed", True, old[name], None)
                continue
            if name in is_required and name not in was_required:
                yield _change(path, "newly-required", True, None, None)
            if name in was_required and name not in is_required:
                yield _change(path, "no-longer-required", False, None, None)
            yield from self.changes(old[name], new[name], path, depth + 1)
        for name in new:
            if name not in old:
                path = _join(where, name)
                yield _change(path, "parameter-added", False, None, new[name])
                if name in is_required:
                    yield _change(path, "newly-required", True, None, None)
        for name in sorted((is_required ^ was_required) - old.keys() - new.keys()):
            kind = "newly-required" if name in is_required else "no-longer-required"
            yield _change(_join(where, name), kind, name in is_required, None, None)

    def _alternatives(self, before: dict[str, Any], after: dict[str, Any], where: str, depth: int) -> Iterator[SchemaChange]:
        for keyword in (*sorted(ALTERNATIVES), "allOf"):
            old, new = before.get(keyword), after.get(keyword)
            if old is None and new is None:
                continue
            if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
                for index, (left, right) in enumerate(zip(old, new, strict=True)):
                    yield from self.changes(left, right, f"{where}<{index + 1}>", depth + 1)
            elif not (_is_only_types(old) and _is_only_types(new)):
                missing = [item for item in old or [] if not any(_same_meaning(item, other) for other in new or [])]
                yield _change(where, "alternatives-changed", bool(missing) or old is None or keyword == "allOf", old, new)


def _resolve(schema: dict[str, Any], root: Any) -> tuple[dict[str, Any], str]:
    """The schema with its local references followed, and the first one's text; siblings of a reference win.

    A reference that leads nowhere, or back to itself, stays in the schema, to be compared as text.
    """
    first = ""
    followed: set[str] = set()
    while isinstance(reference := schema.get("$ref"), str) and reference.startswith("#/") and reference not in followed:
        first = first or reference
        followed.add(reference)
        node = pointed_at(root, unquote(reference[1:]))
        if not isinstance(node, dict):
            break
        schema = {**node, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema, first


def _prose(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[SchemaChange]:
    old, new = before.get("description"), after.get("description")
    if old != new:
        yield SchemaChange(where=where, kind="description-changed", breaking=False, before=_prose_text(old), after=_prose_text(new))


def _types(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[SchemaChange]:
    old, new = _accepted(before), _accepted(after)
    if old == new:
        return
    refused = new is not None and (old is None or not old <= new)
    yield SchemaChange(
        where=where, kind="type-changed" if refused else "type-widened", breaking=refused, before=_type_text(old), after=_type_text(new)
    )


def _values(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[SchemaChange]:
    old, new = _value_set(before.get("enum")), _value_set(after.get("enum"))
    if old != new:
        refused = new is not None and (old is None or not old <= new)
        gone, come = _only_in_first(before.get("enum"), after.get("enum")), _only_in_first(after.get("enum"), before.get("enum"))
        yield _change(where, "enum-narrowed" if refused else "enum-widened", refused, gone, come)
    if not _same(before.get("const"), after.get("const")):
        yield _change(where, "const-changed", "const" in after, before.get("const"), after.get("const"))
    if ("default" in before) != ("default" in after) or not _same(before.get("default"), after.get("default")):
        yield _change(where, "default-changed", False, before.get("default"), after.get("default"))


def _bounds(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[SchemaChange]:
    for keywords, sign in ((_LOWER, 1), (_UPPER, -1)):
        for keyword in keywords:
            old, new = before.get(keyword), after.get(keyword)
            if _same(old, new):
                continue
            tighter = new is not None and (old is None or _is_beyond(new, old, sign))
            kind = "bound-tightened" if tighter else "bound-loosened"
            yield SchemaChange(where=where, kind=kind, breaking=tighter, before=_field(keyword, old), after=_field(keyword, new))


def _others(before: dict[str, Any], after: dict[str, Any], where: str) -> Iterator[SchemaChange]:
    for keyword in dict.fromkeys([*before, *after]):
        if keyword in _STRUCTURAL or keyword in ALTERNATIVES or keyword == "allOf" or keyword in _LOWER or keyword in _UPPER:
            continue
        old, new = before.get(keyword), after.get(keyword)
        if _same(old, new):
            continue
        is_annotation = keyword not in _CONSTRAINTS
        loosened = keyword not in after or new is True
        if keyword == "nullable":
            is_told_by_type = None not in (_accepted(before), _accepted(after))
            if is_told_by_type or (old is True) == (new is True):
                continue
            loosened = new is True
        kind = "annotation-changed" if is_annotation else "constraint-changed"
        breaking = not is_annotation and not loosened
        yield SchemaChange(where=where, kind=kind, breaking=breaking, before=_field(keyword, old), after=_field(keyword, new))


def _accepted(schema: dict[str, Any]) -> frozenset[str] | None:
    """The types a value may have, None where the schema does not say."""
    kind = schema.get("type")
    found: set[str] | None = None
    if isinstance(kind, str):
        found = {kind}
    elif isinstance(kind, list):
        found = {item for item in kind if isinstance(item, str)}
    else:
        for keyword in sorted(ALTERNATIVES):
            branches = schema.get(keyword)
            if isinstance(branches, list) and _is_only_types(branches):
                found = {item["type"] for item in branches}
    if found is None:
        return None
    if schema.get("nullable") is True:
        found.add("null")
    if "number" in found:
        found.add("integer")
    return frozenset(found)


def _is_only_types(branches: Any) -> bool:
    return branches is None or (
        isinstance(branches, list)
        and all(
            isinstance(item, dict) and isinstance(item.get("type"), str) and item.keys() <= {"type", "description", "title"}
            for item in branches
        )
    )


def _is_beyond(new: Any, old: Any, sign: int) -> bool:
    try:
        after, before = Decimal(new.text), Decimal(old.text)
    except (AttributeError, ArithmeticError):
        return True
    return after > before if sign > 0 else after < before


def _named(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _required(schema: dict[str, Any]) -> set[str]:
    value = schema.get("required")
    return {item for item in value if isinstance(item, str)} if isinstance(value, list) else set()


def _value_set(values: Any) -> frozenset[str] | None:
    return frozenset(json_text(item) for item in values) if isinstance(values, list) else None


def _only_in_first(values: Any, others: Any) -> list[Any] | None:
    """The values of an enum that the other one does not have; None where there are none."""
    other = _value_set(others) or frozenset()
    return [value for value in values if json_text(value) not in other] or None if isinstance(values, list) else None


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and json_text(left) == json_text(right)


def _same_meaning(left: Any, right: Any) -> bool:
    return json_text(_without_annotations(left, 0)) == json_text(_without_annotations(right, 0))


def _without_annotations(tree: Any, depth: int) -> Any:
    if depth > DEEPEST or isinstance(tree, str | Number) or not isinstance(tree, dict):
        return tree
    return {
        key: _without_annotations(value, depth + 1)
        for key, value in tree.items()
        if key not in ANNOTATIONS and not (key == "description" and isinstance(value, str))
    }


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _change(where: str, kind: str, breaking: bool, before: Any, after: Any) -> SchemaChange:
    return SchemaChange(where=where, kind=kind, breaking=breaking, before=_text(before), after=_text(after))


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = json_text(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _field(keyword: str, value: Any) -> str:
    return "" if value is None else f"{keyword}: {_text(value)}"


def _prose_text(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


def _type_text(kinds: frozenset[str] | None) -> str:
    if kinds is None:
        return "any"
    return " or ".join(sorted(kinds - {"integer"} if "number" in kinds else kinds))
