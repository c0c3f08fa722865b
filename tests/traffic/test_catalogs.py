"""Catalogs as rows: which there are, in what order tools stand, and what changed between two."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.catalog_diff import diff_catalogs
from caveman_tui.core.policy import Level, ShrinkMode
from caveman_tui.protocol.control import CatalogDetail, CatalogTool, Conversation
from caveman_tui.protocol.events import Settings, ToolsSummary
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import catalog_compare, catalogs_seen
from caveman_tui.traffic.catalogs_seen import CatalogBook, document, pinned_to
from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.log import Changes
from caveman_tui.traffic.switching import switch_text
from caveman_tui.traffic.tool_rows import ToolOrder, ToolRow, arranged, row_line


def summary(digest: str = "d" * 64, **given: object) -> ToolsSummary:
    fields: dict[str, object] = {
        "pointer": "/tools",
        "digest": digest,
        "level": Level.STANDARD,
        "applied": True,
        "tools": 2,
        "bytes_before": 900,
        "bytes_after": 600,
    }
    return ToolsSummary(**{**fields, **given})  # type: ignore[arg-type]


def exchange(number: int, *tools: ToolsSummary, conversation: str = "c") -> Exchange:
    return Exchange(id=f"e{number}", started_at=float(number), method="POST", path="/", conversation=conversation, tools=tools)


def row(name: str, before: int, after: int) -> ToolRow:
    return ToolRow(CatalogTool(name=name, before="", after=""), before, after)


def test_a_catalog_is_a_row_for_each_conversation_that_sent_it() -> None:
    book = CatalogBook()
    book.load([exchange(1, summary()), exchange(2, summary(applied=False)), exchange(3), exchange(4, summary(), conversation="d")])
    first, second = book.catalogs
    assert (first.last.conversation, second.last.conversation, second.requests) == ("d", "c", 2)
    assert second.summary.applied is False and second.first.id == "e1"
    assert not book.apply(Changes(added=[exchange(5)]))
    assert book.apply(Changes(added=[exchange(6, summary("e" * 64))]))
    assert [seen.summary.digest[0] for seen in book.catalogs] == ["e", "d", "d"]
    again = exchange(6, summary("e" * 64, tokens_before=9, tokens_after=5))
    assert book.apply(Changes(updated={"e6": again}))
    assert book.catalogs[0].requests == 1 and book.catalogs[0].summary.tokens_before == 9


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (ToolOrder.SENT, "b same a grew"),
        (ToolOrder.SIZE, "same b a grew"),
        (ToolOrder.SAVED, "b a same grew"),
        (ToolOrder.RATIO, "a b same grew"),
        (ToolOrder.NAME, "a b grew same"),
    ],
)
def test_tools_in_each_order(order: ToolOrder, names: str) -> None:
    rows = [row("b", 100, 60), row("same", 200, 200), row("a", 50, 20), row("grew", 10, 11)]
    assert [found.tool.name for found in arranged(rows, order, only_changed=False)] == names.split()
    assert [found.tool.name for found in arranged(rows, order, only_changed=True)] == [n for n in names.split() if n != "same"]


def test_what_is_saved_stands_in_its_column_when_it_orders() -> None:
    rows = [ToolRow(CatalogTool(name="a", before="", after="", tokens_before=100, tokens_after=40), 400, 160)]
    assert " 40 " in plain(row_line(rows, 0, 80)) and " 60 " in plain(row_line(rows, 0, 80, frozenset(), ToolOrder.SAVED))
    assert plain(row_line(rows, 0, 80, frozenset({"a"}))).startswith(" x ")


def test_a_pin_is_said_in_a_few_words() -> None:
    pins = (Conversation(id="c", shrink=ShrinkMode.APPLY, level=Level.TERSE, tools_refused=True), Conversation(id="d"))
    assert pinned_to("c", pins) == "pinned to apply, terse, refused by the provider"
    assert pinned_to("d", pins) == pinned_to("nowhere", pins) == "not pinned"


def test_before_a_switch_it_is_said_what_holds_and_that_the_cost_may_be_unknown() -> None:
    one, settings = exchange(1), Settings(shrink=ShrinkMode.MEASURE)
    pins = (Conversation(id="c", shrink=ShrinkMode.APPLY, level=Level.CAREFUL),)
    now, price = switch_text(one, [one], settings, pins)
    assert "pinned to 'apply', level careful; new conversations get 'measure', level standard" in now and "is unknown" in price
    assert "not pinned yet" in switch_text(one, [one], settings, ())[0]
    assert "not known" in switch_text(one, [one], settings, None)[0]


def _tool(name: str, **schema: object) -> dict[str, object]:
    return {"name": name, "description": f"{name} does it.", "input_schema": {"type": "object", **schema}}


def _document(*tools: dict[str, object]) -> bytes:
    return json.dumps(tools).encode()


def test_what_breaks_a_caller_comes_first_and_is_marked() -> None:
    before = _document(_tool("same"), _tool("gone"), _tool("strict", properties={"a": {"type": "string"}}))
    after = _document(_tool("same"), _tool("strict", properties={"a": {"type": "string"}}, required=["a"]), _tool("new"))
    diff = diff_catalogs(before, after)
    tools = catalog_compare.shown_tools(diff, only_changed=True)
    lines = [plain(catalog_compare.row_line(tools, index, 70)) for index in range(len(tools))]
    assert [line[:3] for line in lines] == [" -!", " ~!", " + "]
    assert "newly-required a" in lines[1]
    assert [tool.name for tool in catalog_compare.shown_tools(diff, only_changed=False)][-1] == "same"
    text = " ".join("".join(map(plain, (part.spans for part in catalog_compare.status_parts(diff, "A", "B")))).split())
    assert "A > B" in text and "2 may break a caller" in text
    added = "\n".join(map(plain, catalog_compare.tool_text(tools[2], 60, catalog_compare.definitions(after)["new"])))
    assert '"description": "new does it."' in added


def test_a_catalog_is_put_together_from_its_tools() -> None:
    tools = (CatalogTool(name="a", before='{"name":"a","x":1}', after='{"name":"a"}'), CatalogTool(name="b", before="{}", after="{}"))
    detail = CatalogDetail(digest="d", level=Level.STANDARD, tools=tools, bytes_before=9, bytes_after=5)
    assert json.loads(document(detail, shrunk=False)) == [{"name": "a", "x": 1}, {}]
    assert json.loads(document(detail, shrunk=True)) == [{"name": "a"}, {}]


@given(width=st.integers(38, 160), name=st.text(max_size=40), tokens=st.none() | st.integers(0, 10**7))
def test_rows_fit(width: int, name: str, tokens: int | None) -> None:
    book = CatalogBook()
    book.load([exchange(1, summary(tokens_before=tokens, tokens_after=tokens), conversation=name)])
    (seen,) = book.catalogs
    assert columns_of(plain(catalogs_seen.row_line(seen, width, None, marked=True))) <= max(width, 48)
    diff = diff_catalogs(_document(), _document(_tool(name or "x")))
    for found in diff.tools:
        assert columns_of(plain(catalog_compare.row_line(diff.tools, 0, width))) <= width
        catalog_compare.tool_text(found, width)
