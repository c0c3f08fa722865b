"""Local `$ref`s of one tool: what they point at, and which members a removal must therefore leave in place."""

from collections import defaultdict
from collections.abc import Container
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

from caveman_tui.core.json_schema import REFERENCES
from caveman_tui.core.json_spans import JsonRefused
from caveman_tui.core.json_tree import DEEPEST, array_index

Member = tuple[int, str]
"""One member of one object of a parsed tree: `id` of the object, and the key. Valid while the tree lives."""

_ANCHORS = frozenset({"$anchor", "$dynamicAnchor", "$id"})
"""Keywords that name a schema; `$id` did so with `#name` before there was `$anchor`."""

_CONTAINERS = (dict, list)

_Name = str | tuple[int, str]
"""What makes a place known: the address of a resource, or an anchor within the resource of that `id`."""


class Reference(NamedTuple):
    """A `$ref` as it stands in a schema, and the schema that it counts from."""

    holder: dict[str, Any]
    keyword: str
    root: dict[str, Any]
    """The nearest enclosing schema with an `$id`, else the schema of the tool."""
    base: str
    """The `$id` of `root`, as absolute as the tool says it."""


class _Place(NamedTuple):
    """A part of a schema that is still to be looked at, and what its references count from."""

    node: Any
    root: dict[str, Any]
    base: str
    depth: int


class References:
    """The references of a tool's schemas, what they can lead to, and what they keep.

    A member that is `removable`, and all below it, is looked at only once a reference leads through it: it is then `kept`, and the
    references in it count as well. Any member called `$ref` counts, also where it is data: a reader may be less strict than the
    specification. Raises JsonRefused where a schema nests deeper than 200 levels.
    """

    def __init__(self, schemas: list[dict[str, Any]], removable: Container[Member]) -> None:
        self.found: list[Reference] = []
        self.kept: set[Member] = set()
        """The removable members that a reference needs."""
        self._removable = removable
        self._resources: dict[str, dict[str, Any]] = {}
        self._anchors: set[tuple[int, str]] = set()
        self._passed_over: dict[Member, _Place] = {}
        self._open: list[Reference] = []
        """Found, and not yet followed."""
        self._waiting: defaultdict[_Name, list[Reference]] = defaultdict(list)
        """References to a place that nothing has named so far."""
        for schema in schemas:
            self._walk(schema, schema, "", 0)
        while self._open:
            self._follow_up(self._open.pop())

    def resolve(self, reference: Reference) -> list[Member] | None:
        """Return the members on the way from its root to its target; None where it leads nowhere in this tool.

        A reference to a plain-name anchor has no members on its way.
        """
        root, fragment, _ = self._target(reference)
        if root is None:
            return None
        if fragment and not fragment.startswith("/"):
            return [] if (id(root), fragment) in self._anchors else None
        return follow(root, fragment)

    def _target(self, reference: Reference) -> tuple[dict[str, Any] | None, str, tuple[_Name, ...]]:
        """The resource that a reference counts from, the rest of it, and the names that it depends on."""
        address, _, fragment = reference.holder[reference.keyword].partition("#")
        fragment = unquote(fragment)
        root: dict[str, Any] | None = reference.root
        names: tuple[_Name, ...] = ()
        if address:
            absolute = _joined(reference.base, address)
            root = self._resources.get(absolute) or self._resources.get(address)
            names = (absolute, address)
        if root is not None and fragment and not fragment.startswith("/"):
            names = ((id(root), fragment),)
        return root, fragment, names

    def _follow_up(self, reference: Reference) -> None:
        way = self.resolve(reference)
        if way is None:
            for name in self._target(reference)[2]:
                self._waiting[name].append(reference)
            return
        for member in way:
            place = self._passed_over.pop(member, None)
            if place is not None:
                self.kept.add(member)
                self._walk(*place)

    def _walk(self, node: Any, root: dict[str, Any], base: str, depth: int) -> None:
        if depth > DEEPEST:
            raise JsonRefused("too-deep")
        if isinstance(node, list):
            for item in node:
                if isinstance(item, _CONTAINERS):
                    self._walk(item, root, base, depth + 1)
            return
        if not isinstance(node, dict):
            return
        identity = node.get("$id")
        if isinstance(identity, str) and not identity.startswith("#"):
            address = identity.partition("#")[0]
            root, base = node, _joined(base, address)
            for name in (base, address):
                self._resources.setdefault(name, node)
                self._is_known(name)
        for key, value in node.items():
            if isinstance(value, str) and key in _ANCHORS:
                anchor = (id(root), value.removeprefix("#"))
                self._anchors.add(anchor)
                self._is_known(anchor)
            elif (id(node), key) in self._removable:
                self._passed_over[id(node), key] = _Place(value, root, base, depth + 1)
            elif isinstance(value, str):
                if key in REFERENCES:
                    found = Reference(node, key, root, base)
                    self.found.append(found)
                    self._open.append(found)
            elif isinstance(value, _CONTAINERS):
                self._walk(value, root, base, depth + 1)

    def _is_known(self, name: _Name) -> None:
        self._open += self._waiting.pop(name, ())


def follow(root: Any, pointer: str) -> list[Member] | None:
    """Return the members that a JSON pointer passes through, None where nothing stands at its end."""
    walked = _walk(root, pointer)
    return None if walked is None else walked[0]


def pointed_at(root: Any, pointer: str) -> Any:
    """Return what a JSON pointer leads to, None where it leads nowhere."""
    walked = _walk(root, pointer)
    return None if walked is None else walked[1]


def _walk(root: Any, pointer: str) -> tuple[list[Member], Any] | None:
    members: list[Member] = []
    node = root
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and step in node:
            members.append((id(node), step))
            node = node[step]
        elif isinstance(node, list) and (index := array_index(step)) is not None and index < len(node):
            node = node[index]
        else:
            return None
    return members, node


def _joined(base: str, address: str) -> str:
    """The address as seen from `base`; the address itself where one of the two is no URL at all."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address
