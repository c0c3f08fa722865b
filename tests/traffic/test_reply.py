"""Replies, put together."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.reply import Block, reply_blocks, reply_lines


def sse(*events: object) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def said(data: bytes) -> list[tuple[str, str, str]]:
    return [(block.kind, block.name, block.text) for block in reply_blocks(data)]


def delta(index: int, **member: str) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": member}


def test_an_anthropic_stream_with_interleaved_blocks() -> None:
    data = sse(
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        delta(0, type="thinking_delta", thinking="Hm"),
        delta(1, type="text_delta", text="Ren"),
        delta(0, type="thinking_delta", thinking="m."),
        delta(1, type="text_delta", text="amed."),
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}},
        delta(2, type="input_json_delta", partial_json='{"command":'),
        delta(2, type="input_json_delta", partial_json='"ls"}'),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    )
    calls = [("tool_use", "Bash", '{"command":"ls"}'), ("stop", "", "tool_use")]
    assert said(data) == [("thinking", "", "Hmm."), ("text", "", "Renamed."), *calls]
    rows = [plain(line) for line in reply_lines(reply_blocks(data), 60)]
    assert rows[:6] == ["THINKING", "Hmm.", "", "TEXT", "Renamed.", ""]
    assert rows[6:] == ["TOOL CALL  Bash", "{", '  "command": "ls"', "}", "", "ENDED BECAUSE OF", "tool_use"]


def test_the_same_without_a_stream() -> None:
    document = {
        "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "name": "Read", "input": {"path": "/a"}}],
        "stop_reason": "end_turn",
    }
    assert said(json.dumps(document).encode()) == [("text", "", "Hi"), ("tool_use", "Read", '{"path":"/a"}'), ("stop", "", "end_turn")]


def test_chat_completions_streamed_and_whole() -> None:
    stream = sse(
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Lo"}}]},
        {"choices": [{"index": 0, "delta": {"content": "ok"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "grep", "arguments": ""}}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"q":1}'}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    )
    expected = [("text", "", "Look"), ("function_call", "grep", '{"q":1}'), ("stop", "", "tool_calls")]
    assert said(stream + b"data: [DONE]\n\n") == expected
    message = {"content": "Look", "tool_calls": [{"id": "1", "function": {"name": "grep", "arguments": '{"q":1}'}}]}
    assert said(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode()) == expected


def test_responses_streamed_and_whole() -> None:
    stream = sse(
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Do"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "name": "shell", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "ne"},
    )
    assert said(stream) == [("message", "", "Done"), ("function_call", "shell", "{}")]
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": "Done"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}"},
    ]
    assert said(json.dumps({"output": output}).encode()) == [("message", "", "Done"), ("function_call", "shell", "{}")]


def test_errors_in_a_stream_and_alone() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert said(sse(error)) == said(json.dumps(error).encode()) == [("error", "", "overloaded_error: Overloaded")]


ODD = [b"", b"{", b"plain text", b"[1]", b"data: 1\n\n", b'{"models":[]}', b"\xff\x00", b"[" * 3000, sse({"type": "ping"})]


@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_what_has_no_known_shape_says_nothing(data: bytes) -> None:
    assert reply_blocks(data) == []


MEMBERS = ["type", "index", "delta", "content", "choices", "tool_calls", "function", "name", "text", "item", "error", "input"]
anything = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
    max_leaves=20,
)
kinds = st.sampled_from(["content_block_start", "content_block_delta", "message_delta", "error", "response.output_item.added", "x"])


@given(st.dictionaries(st.sampled_from([*MEMBERS, "content_block", "output"]), anything), kinds)
def test_no_shape_is_too_odd(event: dict[str, object], kind: str) -> None:
    for data in (sse({**event, "type": kind}), json.dumps(event).encode()):
        for line in reply_lines(reply_blocks(data), 40):
            assert plain(line).isprintable()


def test_long_text_wraps_at_blanks_and_code_keeps_its_indent() -> None:
    block = Block("text", pieces=["def f():\n    return 1\n" + "word " * 20])
    rows = [plain(line) for line in reply_lines([block], 30)]
    assert rows[1:3] == ["def f():", "    return 1"] and all(len(row) <= 30 for row in rows)
