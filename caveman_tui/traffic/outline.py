"""The traffic list by conversations: heads that can be folded, sub-agents under their parent."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from caveman_tui.protocol.exchanges import Exchange

GroupKey = tuple[str, str]
"""Main conversation and agent; the agent is empty for the conversation's main thread."""

_DEEPEST = 8
"""Levels of sub-agents that are drawn below each other; who they are is whatever a client writes into a header."""


@dataclass(frozen=True, slots=True)
class Group:
    """The head of a conversation, or of a sub-agent in it."""

    key: GroupKey
    depth: int
    """0 for a conversation, 1 for its sub-agents, and so on."""
    folded: bool
    exchanges: Sequence[Exchange]
    """Its own rows and those of the sub-agents under it."""
    agents: int
    """Sub-agents under it."""

    @property
    def newest(self) -> Exchange:
        """The exchange of it that started last."""
        return max(self.exchanges, key=lambda exchange: exchange.started_at)


def key_of(exchange: Exchange) -> GroupKey:
    """The group of an exchange. The worker calls a sub-agent's conversation `SESSION/AGENT`; here it belongs to its session."""
    return exchange.conversation.removesuffix(f"/{exchange.agent}") if exchange.agent else exchange.conversation, exchange.agent


@dataclass(slots=True)
class _Branch:
    key: GroupKey
    depth: int
    children: list["Exchange | _Branch"] = field(default_factory=list)


class Outline:
    """Arranges rows; what is folded stays so when rows come and go."""

    def __init__(self) -> None:
        self.lines: list[Exchange | Group] = []
        self._folded: set[GroupKey] = set()
        self._parents: dict[GroupKey, GroupKey | None] = {}
        self._places: dict[str | GroupKey, int] = {}

    def build(self, rows: Sequence[Exchange]) -> None:
        """Arrange `rows`: a group stands where its first row does, and inside a group the rows keep their order."""
        branches: dict[GroupKey, _Branch] = {}
        roots: list[_Branch] = []
        self._parents = {}
        for row in rows:
            key = key_of(row)
            branch = branches.get(key) or self._grow(row, branches, roots)
            branch.children.append(row)
        self.lines, self._places = [], {}
        for root in roots:
            self._add(root)

    def index_of_group(self, key: GroupKey) -> int | None:
        """The line of a group's head, None where it is folded away or gone."""
        return self._places.get(key)

    def index_of(self, exchange: Exchange | None) -> int:
        """The line of an exchange, or of the head that hides it; 0 where neither is there."""
        if exchange is None:
            return 0
        place = self._places.get(exchange.id)
        key: GroupKey | None = key_of(exchange)
        while place is None and key is not None:
            place, key = self._places.get(key), self._parents.get(key)
        return place or 0

    def toggle(self, line: Exchange | Group) -> GroupKey:
        """Fold the group that `line` is in or heads, or unfold it; its key."""
        key = line.key if isinstance(line, Group) else key_of(line)
        self._folded ^= {key}
        return key

    def toggle_all(self) -> None:
        """Fold every conversation, or unfold everything where all are folded."""
        heads = {line.key for line in self.lines if isinstance(line, Group) and line.depth == 0}
        if heads <= self._folded:
            self._folded.clear()
        else:
            self._folded |= heads

    def reveal(self, exchange: Exchange) -> None:
        """Unfold what hides `exchange`."""
        key: GroupKey | None = key_of(exchange)
        while key is not None:
            self._folded.discard(key)
            key = self._parents.get(key)

    def _grow(self, row: Exchange, branches: dict[GroupKey, _Branch], roots: list[_Branch]) -> _Branch:
        """A branch for the group of `row`, under its parent's; under the conversation's where the parent was not seen before it."""
        key = key_of(row)
        if not row.agent:
            return self._plant(key, branches, roots)
        above = branches.get((key[0], row.parent_agent))
        if above is None or above.depth >= _DEEPEST:
            main = (key[0], "")
            above = branches.get(main) or self._plant(main, branches, roots)
        branch = branches[key] = _Branch(key, above.depth + 1)
        above.children.append(branch)
        self._parents[key] = above.key
        return branch

    def _plant(self, key: GroupKey, branches: dict[GroupKey, _Branch], roots: list[_Branch]) -> _Branch:
        branch = branches[key] = _Branch(key, 0)
        roots.append(branch)
        self._parents[key] = None
        return branch

    def _add(self, branch: _Branch) -> None:
        place = len(self.lines)
        folded = branch.key in self._folded
        exchanges, agents = _contents(branch)
        self._places[branch.key] = place
        self.lines.append(Group(branch.key, branch.depth, folded, exchanges, agents))
        if folded:
            return
        for child in branch.children:
            if isinstance(child, _Branch):
                self._add(child)
            else:
                self._places[child.id] = len(self.lines)
                self.lines.append(child)


def _contents(branch: _Branch) -> tuple[list[Exchange], int]:
    exchanges: list[Exchange] = []
    agents = 0
    for child in branch.children:
        if isinstance(child, _Branch):
            below, more = _contents(child)
            exchanges += below
            agents += 1 + more
        else:
            exchanges.append(child)
    return exchanges, agents
