"""Local `$ref`s of one tool: what they point at, and which members a removal must therefore leave in place."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from caveman_tui.core.json_schema import REFERENCES
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import DEEPEST

Member = tuple[int, str]
"""One member of one object of a parsed tree: `id` of the object, and the key. Valid while the tree lives."""

_ANCHORS = frozenset({"$anchor", "$dynamicAnchor", "$id"})
"""Keywords that name a schema; `$id` did so with `#name` before there was `$anchor`."""

_CONTAINERS = (dict, list)

Removable = Callable[[dict[str, Any], str, Any], bool]


class Reference(NamedTuple):
    """A `$ref` as it stands in a schema, and the schema that it counts from."""

    holder: dict[str, Any]
    keyword: str
    root: dict[str, Any]
    """The nearest enclosing schema with an `$id`, else the schema of the tool."""
    base: str
    """The `$id` of `root`, as absolute as the tool says it."""


class References:
    """The references of a tool's schemas, and what they can lead to.

    What is `removable`, and all below it, is not looked at. Any member called `$ref` counts, also where it is data: a reader may be
    less strict than the specification. Raises JsonRefused where a schema nests deeper than 200 levels.
    """

    def __init__(self, schemas: list[dict[str, Any]], removable: Removable) -> None:
        self.found: list[Reference] = []
        self._removable = removable
        self._resources: dict[str, dict[str, Any]] = {}
        self._anchors: set[tuple[int, str]] = set()
        for schema in schemas:
            self._walk(schema, schema, "", 0)

    def resolve(self, reference: Reference) -> list[Member] | None:
        """Return the members on the way from its root to its target; None where it leads nowhere in this tool.

        A reference to a plain-name anchor has no members on its way.
        """
        address, fragment = urldefrag(reference.holder[reference.keyword])
        root: dict[str, Any] | None = reference.root
        if address:
            root = self._resources.get(urljoin(reference.base, address)) or self._resources.get(address)
        if root is None:
            return None
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return [] if (id(root), fragment) in self._anchors else None
        return follow(root, fragment)

    def _walk(self, node: Any, root: dict[str, Any], base: str, depth: int) -> None:
        if depth > DEEPEST:
            raise JsonRefused("too-deep")
        if isinstance(node, list):
            for item in node:
                if isinstance(item, _CONTAINERS):
                    self._walk(item, root, base, depth + 1)
            return
        identity = node.get("$id")
        if isinstance(identity, str) and not identity.startswith("#"):
            address = urldefrag(identity).url
            root, base = node, urljoin(base, address)
            self._resources.setdefault(base, node)
            self._resources.setdefault(address, node)
        for key, value in node.items():
            if isinstance(value, str):
                if key in REFERENCES:
                    self.found.append(Reference(node, key, root, base))
                elif key in _ANCHORS:
                    self._anchors.add((id(root), value.removeprefix("#")))
            elif isinstance(value, _CONTAINERS) and not self._removable(node, key, value):
                self._walk(value, root, base, depth + 1)


def follow(root: Any, pointer: str) -> list[Member] | None:
    """Return the members that a JSON pointer passes through, None where nothing stands at its end."""
    members: list[Member] = []
    node = root
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and step in node:
            members.append((id(node), step))
            node = node[step]
        elif isinstance(node, list) and step.isascii() and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    return members


def referenced_members(schemas: list[dict[str, Any]], removable: Removable) -> frozenset[Member]:
    """Return every member on the way of a reference that stays. `removable` says which members would otherwise go.

    A member that a reference keeps may hold references itself, so this runs until nothing new is kept.
    """
    kept: frozenset[Member] = frozenset()
    while True:

        def goes(node: dict[str, Any], key: str, value: Any, kept: frozenset[Member] = kept) -> bool:
            return (id(node), key) not in kept and removable(node, key, value)

        references = References(schemas, goes)
        found = kept.union(*(references.resolve(reference) or () for reference in references.found))
        if found == kept:
            return kept
        kept = found
