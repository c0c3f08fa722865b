import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.reply_text import reply_text


def stream(*documents: object) -> bytes:
    return b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents)


def anthropic(*texts: str) -> bytes:
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts]
    return stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}, *deltas)


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([{"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}], "hm"),
        ([{"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"a'}}], '{"a'),
        ([{"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "EqQB"}}], ""),
        ([{"choices": [{"delta": {"content": "Hel"}}]}, {"choices": [{"delta": {"content": "lo"}}]}], "Hello"),
        ([{"choices": [{"delta": {"tool_calls": [{"function": {"name": "read", "arguments": "{}"}}]}}]}], "read{}"),
        ([{"type": "response.output_text.delta", "delta": "Hel"}, {"type": "response.output_text.delta", "delta": "lo"}], "Hello"),
        ([{"type": "response.output_item.added"}, {"type": "response.output_text.delta", "delta": "x"}], "\nx"),
        (["x", 3, None, [], {"delta": 7}, {"choices": 1}, {"choices": [1, {"delta": None}, {"delta": {"tool_calls": [None, {}]}}]}], ""),
    ],
)
def test_deltas_of_every_dialect(documents: list[object], said: str) -> None:
    assert "".join(reply_text([stream(*documents)])) == said


def test_what_is_no_event_stream_says_nothing() -> None:
    for data in (b"", b"{}", b"\xff\xfe\n\ndata: {\n\n", b'data: "\\ud800"\n\n'):
        assert "".join(reply_text([data])) == ""


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"))), st.integers(1, 60))
def test_the_text_is_whole_however_the_stream_is_cut(texts: list[str], size: int) -> None:
    data = anthropic(*texts)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert "".join(reply_text(pieces)) == "\n" + "".join(texts)
