"""Bodies as rows."""

import json

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from caveman_tui.traffic.body_text import BodyDocument, _indented_slowly, indented, next_match
from caveman_tui.traffic.lines import plain


def rows(data: bytes, width: int, *, wrapped: bool = True) -> list[str]:
    document = BodyDocument(data, wrapped=wrapped)
    return [plain(document.row(index)) for index in range(document.lay_out(width))]


def test_indenting_keeps_every_token_as_it_was_spelled() -> None:
    text = indented(b'{"a":1.0,"a":1E5,"b":"\\u00e9\\ud800","n":12345678901234567890}')
    assert text is not None
    assert b"1.0" in text and b"1E5" in text and b"\\u00e9\\ud800" in text and b"12345678901234567890" in text and text.count(b'"a"') == 2


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=12,
    )
)
def test_the_slow_way_indents_as_the_fast_one_does(value: object) -> None:
    data = json.dumps([value]).encode()
    if "\\ud" not in data.decode():
        assert _indented_slowly(data) == indented(data)


def test_what_is_no_json_is_not_indented() -> None:
    assert indented(b"data: {}") is None and indented(b"{broken") is None and indented(b"") is None


def test_long_lines_go_on_in_the_next_row_or_are_cut() -> None:
    assert rows(b"abcdefgh\nxy\n", 4) == ["abcd", "efgh", "xy"]
    assert rows(b"abcdefgh\nxy\n", 4, wrapped=False) == ["abc…", "xy"]


def test_bytes_that_are_no_text_and_escapes_are_drawn_harmlessly() -> None:
    assert rows(b"\xff\x1b[2J\xe2\x80\xae", 40) == ["\ufffd␛[2J\ufffd"]


@given(st.text(max_size=300), st.integers(2, 40), st.booleans())
def test_no_row_is_wider_than_asked_for(text: str, width: int, wrapped: bool) -> None:
    for row in rows(text.encode("utf-8", "surrogatepass"), width, wrapped=wrapped):
        assert cell_len(row) <= width


@given(st.text(st.characters(codec="utf-8"), max_size=300), st.integers(2, 40))
def test_wrapped_rows_put_together_are_the_text(text: str, width: int) -> None:
    document = BodyDocument(text.encode())
    count = document.lay_out(width)
    together = "".join(document.source(index) + ("" if document.continues(index) else "\n") for index in range(count))
    assert together == text.removesuffix("\n") + "\n" if text != "\n" else together == "\n"


@given(st.text("ab\n", max_size=200), st.integers(2, 9))
def test_matches_are_on_the_rows_where_they_begin(text: str, width: int) -> None:
    document = BodyDocument(text.encode())
    count = document.lay_out(width)
    found = document.find("AB")
    whole = "".join(document.source(index) + ("" if document.continues(index) else "\n") for index in range(count))
    starts, position = [], 0
    for index in range(count):
        piece = document.source(index) + ("" if document.continues(index) else "\n")
        if any(whole.startswith("ab", at) for at in range(position, position + len(piece))):
            starts.append(index)
        position += len(piece)
    assert found == starts


def test_matches_go_around_the_end() -> None:
    assert next_match([3, 8], 3) == 8 and next_match([3, 8], 8) == 3 and next_match([3, 8], 5, backwards=True) == 3
    assert next_match([3, 8], 3, backwards=True) == 8 and next_match([], 0) is None


def test_ten_megabytes_are_laid_out_once_and_drawn_by_row() -> None:
    document = BodyDocument(indented(json.dumps([{"text": "x" * 50_000} for _ in range(200)]).encode()) or b"")
    count = document.lay_out(100)
    assert count > 100_000 and plain(document.row(count - 1)) == "]"


def folded_rows(document: BodyDocument, width: int = 60) -> list[str]:
    return [plain(document.row(index)) for index in range(document.lay_out(width))]


def test_json_folds_by_levels_and_one_by_one() -> None:
    document = BodyDocument(indented(b'{"a":[1,{"b":2}],"c":{},"d":{"e":[3]}}') or b"")
    whole = folded_rows(document)
    assert document.depth == 3
    document.fold_to(1)
    assert folded_rows(document) == ["{", '  "a": [ … 5 lines ],', '  "c": {},', '  "d": { … 4 lines }', "}"]
    assert document.toggle_fold(1)
    assert folded_rows(document)[:4] == ["{", '  "a": [', "    1,", "    {"]
    assert document.toggle_fold(3) and folded_rows(document)[3] == "    { … 2 lines }"
    assert not document.toggle_fold(2)
    document.fold_to(0)
    assert folded_rows(document) == [f"{{ … {len(whole) - 1} lines }}"]
    document.unfold()
    assert folded_rows(document) == whole and document.folded == 0


def test_what_is_found_in_a_fold_is_found_on_the_row_that_hides_it() -> None:
    document = BodyDocument(indented(b'{"a":["needle"],"b":["needle",{"x":"needle"}]}') or b"")
    document.fold_to(1)
    rows = folded_rows(document)
    assert [rows[row] for row in document.find("needle")] == ['  "a": [ … 2 lines ],', '  "b": [ … 5 lines ]']
    assert document.row_of_line(2) == 1
    for width in range(4, 40):
        assert all(cell_len(row) <= width for row in folded_rows(document, width))


@given(
    st.recursive(
        st.none() | st.text("{}[]ab", max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("{[ab", max_size=4), inner, max_size=3),
        max_leaves=15,
    ),
    st.lists(st.integers(0, 30), max_size=6),
    st.integers(0, 4),
    st.booleans(),
)
def test_however_it_is_folded_unfolding_brings_everything_back(value: object, toggles: list[int], depth: int, wrapped: bool) -> None:
    data = indented(json.dumps([value]).encode()) or b""
    document = BodyDocument(data, wrapped=wrapped)
    whole = folded_rows(document, 30)
    document.fold_to(depth)
    rows = folded_rows(document, 30)
    assert len(rows) <= len(whole)
    for number in toggles:
        if number < len(rows):
            document.toggle_fold(number)
            rows = folded_rows(document, 30)
    for number in range(document.line_count):
        assert 0 <= document.row_of_line(number) < len(rows)
    document.unfold()
    assert folded_rows(document, 30) == whole
