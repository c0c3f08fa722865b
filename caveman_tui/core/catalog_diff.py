"""What changed between two catalogs, tool by tool: schemas, the sentences of descriptions, everything else of the envelope."""

import difflib
from collections import defaultdict
from typing import Any, Literal

import msgspec

from caveman_tui.core.catalog import OUTPUT_SCHEMAS, anatomy, find_tools
from caveman_tui.core.json_tree import json_text, parse_json
from caveman_tui.core.schema_diff import SchemaChange, schema_changes
from caveman_tui.core.shrink.sentences import sentence_ends

State = Literal["added", "removed", "changed", "same"]


class SentenceChange(msgspec.Struct, frozen=True, kw_only=True):
    """Sentences of one description that stand on one side only."""

    where: str
    """The parameter, empty for the tool's own description."""
    removed: tuple[str, ...]
    added: tuple[str, ...]


class ToolDiff(msgspec.Struct, frozen=True, kw_only=True):
    """One tool in two catalogs."""

    name: str
    state: State
    breaking: bool
    """Whether a call that was valid may now be refused: the tool is gone, or one of `changes` is breaking."""
    changes: tuple[SchemaChange, ...] = ()
    """Of the input schema; of the output schema too, where `where` starts with `output:` and nothing breaks a caller."""
    sentences: tuple[SentenceChange, ...] = ()
    fields: tuple[SchemaChange, ...] = ()
    """Other members of the definition (annotations, title, strict), by name; kind `field-changed`."""


class CatalogDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Two catalogs, all tools in the order of the first and then the added ones in the order of the second."""

    tools: tuple[ToolDiff, ...]

    @property
    def breaking(self) -> bool:
        """Whether any change may break a caller."""
        return any(tool.breaking for tool in self.tools)

    def count(self, state: State) -> int:
        """How many tools are in `state`."""
        return sum(tool.state == state for tool in self.tools)


def diff_catalogs(before: bytes, after: bytes) -> CatalogDiff:
    """Compare the tools of two documents of any shape by name, several of one name in their order.

    Raises JsonRefused where one of them is not exactly one JSON value in UTF-8.
    """
    old, new = _tools_by_name(before), _tools_by_name(after)
    found = [_compared(name, tools, new.get(name, [])) for name, tools in old.items()]
    found += [_compared(name, [], tools) for name, tools in new.items() if name not in old]
    return CatalogDiff(tools=tuple(diff for group in found for diff in group))


def sentences_of(text: str) -> list[str]:
    """The sentences and list items of a description, white space folded."""
    found = []
    start = 0
    for line in text.splitlines(keepends=True):
        position = start
        for end in sentence_ends(text, start, start + len(line)):
            sentence = " ".join(text[position:end].split())
            if sentence:
                found.append(sentence)
            position = end
        start += len(line)
    return found


def _tools_by_name(document: bytes) -> dict[str, list[dict[str, Any]]]:
    tools: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for found in find_tools(document):
        tree = parse_json(document[found.start : found.end])
        if isinstance(tree, dict):
            tools[found.name].append(tree)
    return tools


def _compared(name: str, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[ToolDiff]:
    common = min(len(old), len(new))
    diffs = [_tool(name, left, right) for left, right in zip(old, new, strict=False)]
    diffs += [ToolDiff(name=name, state="removed", breaking=True) for _ in old[common:]]
    diffs += [ToolDiff(name=name, state="added", breaking=False) for _ in new[common:]]
    return diffs


def _tool(name: str, before: dict[str, Any], after: dict[str, Any]) -> ToolDiff:
    old, new = _Parts(before), _Parts(after)
    found = list(schema_changes(old.input, new.input))
    found += (
        msgspec.structs.replace(change, where="output:" + change.where, breaking=False) for change in schema_changes(old.output, new.output)
    )
    sentences = [_sentences(change.where, change.before, change.after) for change in found if change.kind == "description-changed"]
    if old.description != new.description:
        sentences.insert(0, _sentences("", old.description, new.description))
    changes = tuple(change for change in found if change.kind != "description-changed")
    fields = tuple(_fields(old.rest, new.rest))
    changed = bool(changes or sentences or fields)
    return ToolDiff(
        name=name,
        state="changed" if changed else "same",
        breaking=any(change.breaking for change in changes),
        changes=changes,
        sentences=tuple(sentences),
        fields=fields,
    )


class _Parts:
    """A tool taken apart: its description, its schemas and the rest."""

    def __init__(self, tool: dict[str, Any]) -> None:
        places = anatomy(tool)
        self.description = str(_at(tool, places.description)) if places.description else ""
        self.input: Any = {}
        self.output: Any = {}
        for path in places.schemas:
            schema = _at(tool, path)
            if path and path[-1] in _OUTPUTS:
                self.output = schema
            else:
                self.input = schema
        known = {path[-1] for path in (places.description or (), *places.schemas) if path} if () not in places.schemas else set(tool)
        inner = tool["function"] if isinstance(tool.get("function"), dict) else {}
        self.rest = {key: value for key, value in (tool | inner).items() if key not in known and key != "function"}


_OUTPUTS = frozenset(OUTPUT_SCHEMAS)


def _at(tool: dict[str, Any], path: tuple[str, ...]) -> Any:
    node: Any = tool
    for key in path:
        node = node[key]
    return node


def _sentences(where: str, before: str, after: str) -> SentenceChange:
    old, new = sentences_of(before), sentences_of(after)
    removed: list[str] = []
    added: list[str] = []
    for operation, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation != "equal":
            removed += old[a:b]
            added += new[c:d]
    return SentenceChange(where=where, removed=tuple(removed), added=tuple(added))


def _fields(before: dict[str, Any], after: dict[str, Any]) -> list[SchemaChange]:
    changes = []
    for key in dict.fromkeys([*before, *after]):
        old = json_text(before[key]) if key in before else ""
        new = json_text(after[key]) if key in after else ""
        if old != new:
            changes.append(SchemaChange(where=key, kind="field-changed", breaking=False, before=old, after=new))
    return changes
