from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.group_rows import head_line, head_lines
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.outline import Group, Outline


def row(number: int, conversation: str = "c", agent: str = "", parent: str = "") -> Exchange:
    return Exchange(
        id=f"e{number}", started_at=float(number), method="POST", path="/", conversation=conversation, agent=agent, parent_agent=parent
    )


def spelled(outline: Outline) -> list[str]:
    """Heads as `>name` (folded) or `vname`, rows by id, indented by depth."""
    lines = []
    for line in outline.lines:
        if isinstance(line, Group):
            lines.append(f"{'  ' * line.depth}{'>' if line.folded else 'v'}{line.key[1] or line.key[0]}")
        else:
            lines.append(line.id)
    return lines


def built(rows: Sequence[Exchange]) -> Outline:
    outline = Outline()
    outline.build(rows)
    return outline


def test_conversations_stand_where_they_began_and_agents_where_they_were_called() -> None:
    rows = [row(1), row(2, "d"), row(3, agent="a"), row(4, agent="b", parent="a"), row(5), row(6, "d"), row(7, agent="a")]
    assert spelled(built(rows)) == ["vc", "e1", "  va", "e3", "    vb", "e4", "e7", "e5", "vd", "e2", "e6"]


def test_agents_stand_under_their_session_as_the_worker_names_them() -> None:
    rows = [row(1, "s"), row(2, "s/a", "a"), row(3, "s/b", "b", "a"), row(4, "s")]
    assert spelled(built(rows)) == ["vs", "e1", "  va", "e2", "    vb", "e3", "e4"]


def test_an_agent_without_its_parent_stands_under_the_conversation() -> None:
    assert spelled(built([row(1, agent="b", parent="gone"), row(2)])) == ["vc", "  vb", "e1", "e2"]
    assert spelled(built([row(1, agent="a", parent="a")])) == ["vc", "  va", "e1"]


def test_folding_hides_and_stays_when_rows_come() -> None:
    rows = [row(1), row(2, agent="a"), row(3)]
    outline = built(rows)
    assert outline.toggle(rows[1]) == ("c", "a")
    outline.build([*rows, row(4, agent="a")])
    assert spelled(outline) == ["vc", "e1", "  >a", "e3"]
    assert outline.index_of(rows[1]) == 2 and outline.index_of_group(("c", "a")) == 2
    outline.toggle(outline.lines[0])
    outline.build(rows)
    assert spelled(outline) == [">c"] and outline.index_of(rows[1]) == 0 and outline.index_of_group(("c", "a")) is None
    outline.reveal(rows[1])
    outline.build(rows)
    assert spelled(outline) == ["vc", "e1", "  va", "e2", "e3"]


def test_all_fold_and_unfold() -> None:
    rows = [row(1), row(2, "d"), row(3, agent="a")]
    outline = built(rows)
    for expected in ([">c", ">d"], ["vc", "e1", "  va", "e3", "vd", "e2"]):
        outline.toggle_all()
        outline.build(rows)
        assert spelled(outline) == expected


def test_a_head_counts_what_is_under_it() -> None:
    head = built([row(1), row(2, agent="a"), row(3, agent="b", parent="a")]).lines[0]
    assert isinstance(head, Group)
    assert (len(head.exchanges), head.agents, head.newest.id) == (3, 2, "e3")
    assert "3 exchanges   ● 3 open   2 sub-agents" in plain(head_line(head, 80))
    for width in range(1, 90):
        assert len(plain(head_line(head, width))) <= max(width, 3)
        assert all(len(plain(line)) <= max(width, 5) for line in head_lines(head, width))


def test_chains_of_agents_end() -> None:
    rows = [row(number, agent=f"a{number}", parent=f"a{number - 1}") for number in range(3_000)]
    outline = built(rows)
    assert max(line.depth for line in outline.lines if isinstance(line, Group)) <= 9
    assert sum(isinstance(line, Exchange) for line in outline.lines) == 3_000


names = st.sampled_from(["", "a", "b", "c"])


@given(st.lists(st.tuples(names, names, names), max_size=30), st.lists(st.integers(0, 29), max_size=5))
def test_every_row_is_there_once_or_under_a_folded_head(keys: list[tuple[str, str, str]], folds: list[int]) -> None:
    rows = [row(number, *key) for number, key in enumerate(keys)]
    outline = built(rows)
    assert sorted(line.id for line in outline.lines if isinstance(line, Exchange)) == sorted(exchange.id for exchange in rows)
    for number in folds:
        if number < len(rows):
            outline.toggle(rows[number])
    outline.build(rows)
    for exchange in rows:
        line = outline.lines[outline.index_of(exchange)]
        assert line is exchange or (isinstance(line, Group) and line.folded and exchange in line.exchanges)
