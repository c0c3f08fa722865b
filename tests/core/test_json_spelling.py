import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caveman_tui.core.json_spelling import Spelling, spelling_of

_strings = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from('"\\/<>&\n\t\x00\x1f\x7f\u2028é漢🙂')), max_size=8)
_trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_strings, inner, max_size=3),
    max_leaves=12,
)
_objects = st.dictionaries(_strings, _trees, max_size=3)
_spellings = st.builds(
    Spelling, st.sampled_from([-1, 0, 1, 2, 4, 8]), st.sampled_from([b"", b" ", b"    ", b"       "]), st.booleans()
).filter(lambda spelling: spelling.indent > 0 or not spelling.margin)


@given(_objects, _spellings)
@example({"\x7f": None}, Spelling(-1, b"", True))
def test_what_a_spelling_wrote_is_read_as_written(tree: Any, spelling: Spelling) -> None:
    data = spelling.write(tree)
    assert json.loads(data) == tree
    found = spelling_of(data, msgspec.json.decode(data))
    assert found is not None and found.write(tree) == data


@given(_objects, _spellings)
@example({":": None}, Spelling(0, b"", False))
@example({'":': None}, Spelling(0, b"", False))
@example({'": ': None}, Spelling(-1, b"", False))
def test_a_found_spelling_writes_the_data(tree: Any, spelling: Spelling) -> None:
    data = spelling.write(tree).replace(b"/", b"\\/")
    found = spelling_of(data, msgspec.json.decode(data))
    assert (found is None) == (b"/" in data)


_TREE = {"a": [1, -2.5, True, None, {}, [], [{}], 'é \U0001f642 " \\ / \n \x1f \u2028 <&>'], "Ü": {"": {"b": []}}}


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda tree: json.dumps(tree, ensure_ascii=False, separators=(",", ":")), id="compact"),
        pytest.param(lambda tree: json.dumps(tree, ensure_ascii=False), id="spaced"),
        pytest.param(lambda tree: json.dumps(tree, ensure_ascii=False, indent=2), id="two blanks"),
        pytest.param(lambda tree: json.dumps(tree, ensure_ascii=False, indent=4), id="four blanks"),
        pytest.param(lambda tree: json.dumps([[tree]], ensure_ascii=False, indent=2)[10:-6], id="inside a document"),
        pytest.param(lambda tree: json.dumps(tree, separators=(",", ":")), id="compact ASCII"),
        pytest.param(lambda tree: json.dumps(tree), id="spaced ASCII"),
        pytest.param(lambda tree: json.dumps(tree, indent=2), id="pretty ASCII"),
    ],
)
def test_the_spellings_of_common_writers(write: Callable[[Any], str]) -> None:
    data = write(_TREE).encode()
    spelling = spelling_of(data, msgspec.json.decode(data))
    assert spelling is not None
    less = {key: value for key, value in _TREE.items() if key != "Ü"} | {"new": "…"}
    assert spelling.ascii_only == data.isascii()
    assert spelling.write(less) == write(less).encode()


@pytest.mark.parametrize(
    "data",
    [
        *('{"a":1,"a":1}', '{"a":1e5}', '{"a":-0}', '{"a":1.50}', '{"a":0.000001}', '{"a":1E400}', '{"a":NaN}', '{"a":"\\/"}'),
        *('{"a":"\\u0041"}', '{"a":"\\u003c"}', '{"a":"\\ud83d"}', '{"a":"é\\u00e9"}', '{"\\u0061":1}'),
        *('{"a":"\\u00E9"}', '{"a": 1,"b":2}', '{"a":1 }', '{ "a":1}', '{"a":[ ]}', '{\n}', '{\n\t"a": 1\n}', '{\n  "a":1\n}'),
        *('{\r\n  "a": 1\r\n}', '{\n  "a": []\n  ,"b": 1\n}', '{\n  "a": [\n  ]\n}', '{"a":\n1}', '{\n"a": 1\n}'),
        *('{\n  "a": 1\n  }', '{\n  "a": {\n   "b": 1\n  }\n}', '{"a":1}\n', ' {"a":1}'),
    ],
)  # fmt: skip
def test_the_spelling_of_nobody(data: str) -> None:
    tree = json.loads(data)
    assert spelling_of(data.encode(), tree) is None


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"{" + b'"a":{' * 100 + b"}" * 101, id="deep"),
        pytest.param(msgspec.json.encode({"a": "b" * 70_000}), id="large"),
        pytest.param(b"{\n" + b" " * 17 + b'"a": 1\n}', id="wide"),
        pytest.param(b"{\n" + b" " * 17 + b'"a": 1\n' + b" " * 16 + b"}", id="far from the margin"),
    ],
)
def test_nothing_is_written_that_could_be_much_longer_than_what_was_read(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    def refuse(*_: Any) -> bytes:
        raise AssertionError

    monkeypatch.setattr(Spelling, "write", refuse)
    assert spelling_of(data, msgspec.json.decode(data)) is None
