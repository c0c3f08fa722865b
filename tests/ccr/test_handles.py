import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.ccr import HandleMalformed, handle_of, parse_handle


@given(st.binary(max_size=200))
def test_a_handle_is_the_first_half_of_the_hash(original: bytes) -> None:
    assert handle_of(original) == "ccr_" + hashlib.sha256(original).hexdigest()[:32]
    assert len(handle_of(original)) == 36


@given(st.binary(max_size=20), st.sampled_from(["{}", "<<ccr:{}>>", "ccr:{}", "ccr://{}", "  {}\n", "<< ccr:{} >>", "<<{}>>"]))
def test_all_spellings_lead_to_the_same_handle(original: bytes, spelling: str) -> None:
    handle = handle_of(original)
    assert parse_handle(spelling.format(handle)) == handle


def test_hex_in_capitals_is_accepted() -> None:
    handle = handle_of(b"x")
    assert parse_handle("ccr_" + handle[4:].upper()) == handle


def test_object_handles_keep_their_spelling() -> None:
    assert parse_handle("ccr://ccr_obj_75eb7bfB") == "ccr_obj_75eb7bfB"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ccr_",
        "ccr_123",
        "ccr_" + "g" * 32,
        "ccr_" + "a" * 33,
        "<<ccr:>>",
        "ccr_obj_",
        "ccr_obj_a b",
        "'; DROP TABLE recoveries",
        "x" * 5000,
    ],
)
def test_anything_else_is_refused_with_the_text_that_was_wrong(text: str) -> None:
    with pytest.raises(HandleMalformed) as caught:
        parse_handle(text)
    assert caught.value.code == "handle-malformed"
    assert text[:40] in caught.value.what
    assert len(caught.value.what) < 200
    assert "ccr list" in caught.value.todo
