import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.shrink.splicing import Splice, member_removals, respelled, spliced

_characters = st.text(st.one_of(st.characters(codec=None), st.sampled_from('"\\/<>&\n\t\x00é漢🙂\u2028\ud800')), max_size=20)


@given(_characters, _characters, st.booleans(), st.booleans())
def test_respelled_text_reads_as_what_it_is(before: str, text: str, escaped_before: bool, ascii_only: bool) -> None:
    literal = json.dumps(before, ensure_ascii=escaped_before)[1:-1]
    spelled = respelled(literal, text, ascii_only=ascii_only)
    assert json.loads(spelled) == text
    assert not ascii_only or spelled.isascii()


@given(_characters)
def test_any_spelling_is_kept(text: str) -> None:
    slashes = json.dumps(text).replace("/", "\\/").replace("<", "\\u003C")
    assert respelled(slashes[1:-1], text, ascii_only=False) == slashes


@pytest.mark.parametrize(
    ("literal", "text", "spelled"),
    [
        ("a\\/b", "b/a", '"b\\/a"'),
        ("a\\/b/c", "b/a", '"b/a"'),
        ("\\u003cb>", "<>", '"\\u003c>"'),
        ("\\u00FC", "ü…", '"\\u00FC…"'),
        ("ü", "ü…", '"ü…"'),
        ("\\ud83d\\ude42", "🙂", '"\\ud83d\\ude42"'),
        ("\\u006e and n", "n", '"n"'),
        ("\\u0022", '"', '"\\u0022"'),
    ],
)
def test_spellings(literal: str, text: str, spelled: str) -> None:
    assert respelled(literal, text, ascii_only=False) == spelled


def test_new_text_beside_escaped_text_is_escaped() -> None:
    assert respelled("\\u00fc", "ü… 🙂", ascii_only=True) == '"\\u00fc\\u2026 \\ud83d\\ude42"'


@given(
    st.lists(st.tuples(st.sampled_from(["keep", "drop"]), st.sampled_from(["", " ", "\n  "])), max_size=6), st.sampled_from(["", " ", "\n"])
)
def test_members_go_with_their_commas(members: list[tuple[str, str]], after_comma: str) -> None:
    text, places = "{", []
    for index, (fate, before_comma) in enumerate(members):
        text += after_comma if index else before_comma
        start = len(text)
        text += f'"{index}":{index}'
        if fate == "drop":
            places.append((start, len(text)))
        text += before_comma + ("," if index < len(members) - 1 else "")
    text += "}"
    left = spliced(text, member_removals(text, places))
    assert json.loads(left) == {str(index): index for index, (fate, _) in enumerate(members) if fate == "keep"}


def test_splices_leave_the_rest() -> None:
    assert spliced("abcdef", [Splice(1, 2), Splice(3, 3, "X"), Splice(5, 6, "YZ")]) == "acXdeYZ"
    assert spliced("abc", []) == "abc"


class _ReadOnce(str):
    """Text that refuses to be copied up to a place, as a removal at that place must not do."""

    def __getitem__(self, key: object) -> str:
        assert not isinstance(key, slice)
        return super().__getitem__(key)  # type: ignore[index]


def test_a_removal_looks_at_its_own_surroundings_only() -> None:
    text = _ReadOnce('{"a": 1,  "title" : 2 \n}')
    (splice,) = member_removals(text, [(10, 21)])
    assert spliced(str(text), [splice]) == '{"a": 1 \n}'
