"""Local `$ref`s of one tool: what they point at, and which members a removal must therefore leave in place."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from caveman_tui.core.json_schema import REFERENCES
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import DEEPEST

Member = tuple[int, str]
"""One member of one object of a parsed tree: `id` of the object, and the key. Valid while the tree lives."""

Removable = Callable[[dict[str, Any], str, Any], bool]


class Reference:
    """A `$ref` as it stands in a schema, and the schemas that it may count from."""

    def __init__(self, holder: dict[str, Any], keyword: str, root: dict[str, Any], base: str) -> None:
        self.holder = holder
        self.keyword = keyword
        self.root = root
        """The nearest enclosing schema with an `$id`, else the schema of the tool."""
        self.base = base
        """The absolute `$id` of `root`, as far as the tool says it."""

    def resolve(self, resources: dict[str, dict[str, Any]]) -> list[Member] | None:
        """Return the members on the way from its root to the target; None where it leads nowhere in this tool.

        `resources` are the tool's schemas by `$id`. A reference to a plain-name anchor has no members on its way.
        """
        address, fragment = urldefrag(self.holder[self.keyword])
        root: Any = self.root
        if address:
            root = resources.get(urljoin(self.base, address), resources.get(address))
        if root is None:
            return None
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return [] if _has_anchor(root, fragment, 0) else None
        return follow(root, fragment)


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


def references_of(schemas: list[dict[str, Any]], removable: Removable) -> tuple[list[Reference], dict[str, dict[str, Any]]]:
    """Return the references of a tool's schemas and its resources by `$id`. What is removable, and all below it, is not looked at.

    Any member of that name counts, also where it is data: the reader may be less strict than the specification.
    """
    references: list[Reference] = []
    resources: dict[str, dict[str, Any]] = {}

    def walk(node: Any, root: dict[str, Any], base: str, depth: int) -> None:
        if depth > DEEPEST:
            raise JsonRefused("too-deep")
        if isinstance(node, list):
            for item in node:
                if isinstance(item, dict | list):
                    walk(item, root, base, depth + 1)
            return
        identity = node.get("$id")
        if isinstance(identity, str) and not identity.startswith("#"):
            root, base = node, urljoin(base, urldefrag(identity).url)
            resources.setdefault(base, node)
            resources.setdefault(urldefrag(identity).url, node)
        for key, value in node.items():
            if isinstance(value, str):
                if key in REFERENCES:
                    references.append(Reference(node, key, root, base))
            elif isinstance(value, dict | list) and not removable(node, key, value):
                walk(value, root, base, depth + 1)

    for schema in schemas:
        walk(schema, schema, "", 0)
    return references, resources


def referenced_members(schemas: list[dict[str, Any]], removable: Removable) -> frozenset[Member]:
    """Return every member on the way of a reference that stays. `removable` says which members would otherwise go.

    A member that a reference keeps may hold references itself, so this runs until nothing new is kept.
    """
    kept: frozenset[Member] = frozenset()
    while True:

        def goes(node: dict[str, Any], key: str, value: Any, kept: frozenset[Member] = kept) -> bool:
            return (id(node), key) not in kept and removable(node, key, value)

        references, resources = references_of(schemas, goes)
        found = kept.union(*(reference.resolve(resources) or () for reference in references))
        if found == kept:
            return kept
        kept = found


def _has_anchor(node: Any, name: str, depth: int) -> bool:
    if depth > DEEPEST:
        return False
    if isinstance(node, dict):
        if name in (node.get("$anchor"), node.get("$dynamicAnchor")) or node.get("$id") == "#" + name:
            return True
        return any(_has_anchor(value, name, depth + 1) for value in node.values() if isinstance(value, dict | list))
    return any(_has_anchor(item, name, depth + 1) for item in node if isinstance(item, dict | list))
