"""Text from outside, made harmless."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.safe_text import may_be_wide, one_line, safe


def test_escapes_and_controls_become_pictures() -> None:
    assert safe("\x1b[31mred\x1b[0m\x07\x7f") == "␛[31mred␛[0m␇␡"


def test_bidirectional_marks_and_invisible_characters_are_visible() -> None:
    for character in "\u202e\u2066\u200f\u200b\u200d\ufeff\u2028\x9b\ud800\ufe0f\u3164":
        assert safe(f"a{character}b") == "a\ufffdb"


def test_text_that_looks_like_markup_stays_text() -> None:
    assert safe("[bold]x[/bold] {json}") == "[bold]x[/bold] {json}"


def test_right_to_left_and_wide_letters_stay() -> None:
    assert safe("שלום 解析器") == "שלום 解析器"


@given(st.text())
def test_one_character_in_gives_one_out_that_has_a_glyph(text: str) -> None:
    shown = safe(text)
    assert len(shown) == len(text)
    assert shown.isprintable()


@given(st.text(max_size=2000), st.integers(1, 60))
def test_one_line_is_one_line_and_short(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert len(shown) <= limit and "\n" not in shown and shown.isprintable()


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.integers(0, 40), st.booleans())
def test_fitting_gives_exactly_the_width(text: str, width: int, right: bool) -> None:
    assert columns_of(fit(safe(text), width, right=right)) == width


def test_widths_agree_with_what_draws_them() -> None:
    for text in ("plain", "解析器", "查找日程。最多返回50条", "naïve café", "e\u0301", "ｆｕｌｌ", "한국어", "שלום", "…·›✓✗●–┆█░"):
        assert columns_of(text) == cell_len(text), text


@given(st.text())
def test_text_without_wide_characters_is_never_wider_than_its_length(text: str) -> None:
    shown = safe(text)
    if not may_be_wide(text):
        assert cell_len(shown) <= len(shown)
