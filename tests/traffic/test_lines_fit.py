"""What is laid out for a width stays within it, whatever the exchange."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.ccr import Record
from caveman_tui.core.cache_markers import Marker
from caveman_tui.core.policy import Level
from caveman_tui.protocol.control import ExchangeDetail, HeaderField
from caveman_tui.protocol.events import MarkerEdit
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import columns, details, ladder, store_rows, tool_rows
from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import BuiltDocument, Line, Role, Span, fold, plain, wrap
from caveman_tui.traffic.safe_text import safe
from tests.tui.session import catalog, story

WIDTHS = (38, 47, 60, 78, 118, 158)
EXCHANGES = story().exchanges


def document(lines: list[Line], width: int) -> list[Line]:
    """As a LineView shows them."""
    built = BuiltDocument(lambda _: lines)
    return [built.row(index) for index in range(built.lay_out(width))]


def too_wide(lines: list[Line], width: int) -> list[str]:
    return [plain(spans) for spans in lines if columns_of(plain(spans)) > width]


@pytest.mark.parametrize("width", WIDTHS)
def test_ladder_and_timing(width: int) -> None:
    for exchange in EXCHANGES:
        assert not too_wide(document(ladder.ladder(exchange, width), width), width), exchange.id
        assert not too_wide(document(details.timing(exchange, width, UTC), width), width), exchange.id


@pytest.mark.parametrize("width", WIDTHS)
def test_tools(width: int) -> None:
    rows = tool_rows.tool_rows([catalog()])
    assert not too_wide([tool_rows.header(rows, width)], width)
    assert not too_wide([tool_rows.row_line(rows, index, width) for index in range(len(rows))], width)
    for row in rows:
        assert not too_wide(document(tool_rows.tool_text(row, Level.STANDARD, width), width), width), row.tool.name


@pytest.mark.parametrize("width", WIDTHS)
def test_headers_of_any_length(width: int) -> None:
    field = HeaderField(name="x-very-long", value="a" * 500 + " \x1b[31m" + "b" * 90)
    detail = ExchangeDetail(exchange=EXCHANGES[0], request_headers=(field,), header_edits=("a sentence " * 20,))
    lines = details.headers(detail, width)
    assert not too_wide(lines, width) and not any("\x1b" in plain(spans) for spans in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_store(width: int) -> None:
    records = [
        Record(handle="ccr_" + "a" * 32, created_at="2026-03-14T09:00:11Z", content_type="toolschema" * 9, original_bytes=10**9),
        Record(
            handle="ccr_obj_x",
            created_at="?",
            content_type="查找日程" * 9,
            compressor="z",
            original_bytes=1,
            is_object=True,
            verified=False,
        ),
    ]
    assert not too_wide([store_rows.header(records, width)], width)
    assert not too_wide([store_rows.row_line(records, index, width) for index in range(2)], width)


@pytest.mark.parametrize("wide", [True, False])
def test_columns_of_the_list(wide: bool) -> None:
    for width in range(30, 200):
        chosen = columns.layout(width, wide=wide)
        used = columns.SIGN_WIDTH + sum(c.width for c in chosen.columns) + chosen.gap * (len(chosen.columns) - 1)
        used += chosen.note + chosen.gap if chosen.note else 0
        assert used <= width
        assert wide or all(column.core for column in chosen.columns)
    assert {c.id for c in columns.layout(118, wide=True).columns} == {c.id for c in columns.COLUMNS}


def test_cells_fit_their_columns() -> None:
    for exchange in EXCHANGES:
        for column in columns.COLUMNS:
            assert columns_of(column.cell(exchange, UTC).text) <= column.width, (column.id, exchange.id)


def test_every_state_has_a_sign_that_is_not_its_colour() -> None:
    def signed(state: str, **fields: object) -> str:
        given: dict[str, object] = {"id": "a", "started_at": 0.0, "method": "POST", "path": "/", "state": state, **fields}
        return columns.sign(Exchange(**given)).text  # type: ignore[arg-type]

    assert [signed(s) for s in ("open", "responding", "done", "cancelled", "provider-error", "broken", "failed")] == list("●●✓-✗✗✗")
    assert signed("done", warnings=("w",)) == "!"


def marked(before: tuple[Marker, ...], after: tuple[Marker, ...], *edits: MarkerEdit) -> Exchange:
    return Exchange(
        id="a",
        started_at=0.0,
        method="POST",
        path="/",
        dialect="anthropic-messages",
        markers_before=before,
        markers_after=after,
        marker_edits=edits,
    )


def marker(pointer: str, ttl: str, index: int) -> Marker:
    return Marker(pointer=pointer, section="messages", ttl=ttl, block_index=index)


def test_rungs_match_edits_of_the_marker_and_of_its_lifetime() -> None:
    exchange = marked(
        (marker("/a", "1h", 1), marker("/b", "1h", 5), marker("", "1h", 9)),
        (marker("/a", "1h", 1), marker("/b", "5m", 5), marker("/c", "1h", 3), marker("", "5m", 9)),
        MarkerEdit(pointer="/b/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),
        MarkerEdit(pointer="/c/cache_control", kind="marker", before="", after="{}", reason="prompt-anchored"),
        MarkerEdit(pointer="/cache_control/ttl", kind="ttl", before='"1h"', after='"5m"', reason="automatic-shortened"),
    )
    assert [(rung.pointer, rung.sign, rung.reason) for rung in ladder.rungs(exchange)] == [
        ("/a", "=", ""),
        ("/c", "+", "prompt-anchored"),
        ("/b", "~", "loop-shortened"),
        ("", "~", "automatic-shortened"),
    ]
    assert all(rung.why for rung in ladder.rungs(exchange) if rung.reason)


def test_more_markers_than_slots_are_all_shown() -> None:
    five = tuple(marker(f"/m/{n}", "1h", n) for n in range(5))
    text = "\n".join(plain(spans) for spans in ladder.ladder(marked(five, five), 100))
    assert "5 of 4 used" in text and "/m/4" in text


def test_a_marker_that_went_is_shown_as_removed() -> None:
    assert [rung.sign for rung in ladder.rungs(marked((marker("/a", "1h", 1),), ()))] == ["-"]


def test_wrapping_keeps_every_word_and_cuts_the_longest() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("a\n\nb", 4) == ["a", "", "b"]


@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from(list(Role))), max_size=6), st.integers(2, 30))
def test_folding_loses_nothing_but_blanks(pieces: list[tuple[str, Role]], width: int) -> None:
    spans = tuple(Span(safe(text), role) for text, role in pieces)
    folded = fold(spans, width)
    assert all(columns_of(plain(part)) <= width for part in folded)
    assert "".join(map(plain, folded)).replace(" ", "") == plain(spans).replace(" ", "")
