import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.core.policy import Dialect
from caveman_tui.core.usage import Usage, UsageReader, add_usage, usage_from_json

MESSAGES, CHAT, RESPONSES = Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES


def read(stream: bytes, dialect: Dialect, step: int = 0) -> UsageReader:
    reader = UsageReader(dialect)
    for at in range(0, len(stream), step or len(stream) or 1):
        reader.feed(stream[at : at + (step or len(stream))])
    reader.close()
    return reader


def sse(*documents: object) -> bytes:
    return b"".join(b"data: " + (json.dumps(d).encode() if not isinstance(d, bytes) else d) + b"  \n\n" for d in documents)


def start(**usage: object) -> dict[str, object]:
    return {"type": "message_start", "message": {"usage": usage}}


def delta(reason: str | None = None, **usage: object) -> dict[str, object]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


STOP = {"type": "message_stop"}


class TestAnthropic:
    def test_the_split_comes_first_and_the_totals_later_once(self) -> None:
        split = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 100}
        begun = start(input_tokens=5, output_tokens=1, cache_creation_input_tokens=400, cache_read_input_tokens=7, cache_creation=split)
        late = delta("end_turn", input_tokens=5, output_tokens=50, cache_creation_input_tokens=400, cache_read_input_tokens=7)
        reader = read(sse(begun, begun, late, late, STOP), MESSAGES)
        assert reader.usage == Usage(
            input_tokens=5,
            output_tokens=50,
            cache_read_tokens=7,
            cache_write_tokens=400,
            cache_write_5m_tokens=300,
            cache_write_1h_tokens=100,
        )
        assert (reader.stop_reason, reader.finished, reader.error) == ("end_turn", True, None)

    def test_null_and_absent_change_nothing(self) -> None:
        reader = read(
            sse(start(input_tokens=5, output_tokens=1), delta(None, input_tokens=None, output_tokens=9, cache_creation=None)), MESSAGES
        )
        assert reader.usage == Usage(input_tokens=5, output_tokens=9)
        assert reader.stop_reason is None and not reader.finished

    @pytest.mark.parametrize("value", [-1, "5", 1.5, True, [], {}])
    def test_what_is_no_count_is_unknown(self, value: object) -> None:
        assert read(sse(start(input_tokens=value, output_tokens=2)), MESSAGES).usage == Usage(output_tokens=2)

    def test_no_usage_is_none_not_zero(self) -> None:
        assert read(sse(STOP), MESSAGES).usage is None
        assert read(b"", MESSAGES).usage is None
        assert read(sse({"type": "message_start", "message": None}, {"type": "message_delta"}), MESSAGES).usage is None

    def test_a_smaller_total_later_outdates_the_split(self) -> None:
        begun = start(cache_creation_input_tokens=40, cache_creation={"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 0})
        usage = read(sse(begun, delta(cache_creation_input_tokens=10)), MESSAGES).usage
        assert usage == Usage(cache_write_tokens=10)

    def test_a_split_without_a_total_gives_the_total(self) -> None:
        usage = read(sse(start(cache_creation={"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6})), MESSAGES).usage
        assert usage is not None and usage.cache_write_tokens == 10

    def test_every_call_of_a_request_counts_but_an_advisors(self) -> None:
        calls = [
            {"type": "compaction", "input_tokens": 100, "output_tokens": 80, "cache_read_input_tokens": 1000},
            {"type": "message", "input_tokens": 20, "output_tokens": 5, "cache_read_input_tokens": 0},
            {"type": "advisor_message", "input_tokens": 999, "output_tokens": 999},
        ]
        usage = read(sse(delta(input_tokens=20, output_tokens=5, iterations=calls)), MESSAGES).usage
        assert usage == Usage(input_tokens=120, output_tokens=85, cache_read_tokens=1000)

    def test_several_messages_in_one_stream_are_all_billed(self) -> None:
        one = (start(input_tokens=10, output_tokens=1), delta("tool_use", output_tokens=5), STOP)
        reader = read(sse(*one, start(input_tokens=7, output_tokens=1), delta("end_turn", output_tokens=2)), MESSAGES)
        assert reader.usage == Usage(input_tokens=17, output_tokens=7)
        assert not reader.finished

    def test_a_stream_that_breaks_off_keeps_what_it_said(self) -> None:
        reader = read(sse(start(input_tokens=5, output_tokens=1)) + b'data: {"type":"message_del', MESSAGES)
        assert reader.usage == Usage(input_tokens=5, output_tokens=1)
        assert not reader.finished

    def test_an_error_event_after_the_start(self) -> None:
        broken = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        reader = read(b"event: error\n" + sse(broken), MESSAGES)
        assert reader.error == "overloaded_error: Overloaded" and not reader.finished

    def test_an_error_event_that_is_no_json(self) -> None:
        assert read(b"event: error\ndata: upstream went away\n\n", MESSAGES).error == "upstream went away"


class TestOpenAi:
    def test_cached_tokens_are_inside_the_prompt_and_taken_out(self) -> None:
        body = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
        reader = read(sse({"choices": [{"finish_reason": "stop"}]}, {"choices": [], "usage": body}, b"[DONE]"), CHAT)
        assert reader.usage == Usage(input_tokens=40, output_tokens=7, cache_read_tokens=60)
        assert reader.usage.total_input_tokens == 100
        assert (reader.stop_reason, reader.finished) == ("stop", True)

    def test_null_usage_in_every_chunk_and_a_chunk_after_it(self) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": None}
        reader = read(sse({"choices": [], "usage": None}, {"choices": [], "usage": usage}, {"choices": None, "usage": None}), CHAT)
        assert reader.usage == Usage(input_tokens=3, output_tokens=1)

    def test_cache_writes_of_a_router_are_taken_out_too(self) -> None:
        details = {"cached_tokens": 50, "cache_write_tokens": 30}
        usage = read(sse({"usage": {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": details}}), CHAT).usage
        assert usage == Usage(input_tokens=20, output_tokens=1, cache_read_tokens=50, cache_write_tokens=30)

    def test_a_cache_beside_the_prompt_takes_nothing_out(self) -> None:
        details = {"cached_tokens": 500}
        usage = read(sse({"usage": {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": details}}), CHAT).usage
        assert usage is not None and usage.input_tokens == 100

    def test_a_responses_stream(self) -> None:
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 9}
        reader = read(
            sse(
                {"type": "response.created", "response": {"usage": None}},
                {"type": "response.completed", "response": {"status": "completed", "usage": usage}},
            ),
            RESPONSES,
        )
        assert reader.usage == Usage(input_tokens=36, output_tokens=9, cache_read_tokens=64)
        assert (reader.stop_reason, reader.finished) == ("completed", True)

    def test_an_incomplete_response_says_why(self) -> None:
        document = {
            "type": "response.incomplete",
            "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        }
        reader = read(sse(document), RESPONSES)
        assert (reader.stop_reason, reader.finished) == ("max_output_tokens", True)

    def test_errors_inside_a_stream(self) -> None:
        assert read(sse({"error": {"code": 502, "message": "Provider died"}, "choices": []}), CHAT).error == "502: Provider died"
        flat = {"type": "error", "code": "server_error", "message": "Sorry", "error": None}
        assert read(sse(flat), RESPONSES).error == "server_error: Sorry"
        failed = {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x", "message": "y"}}}
        assert read(sse(failed), RESPONSES).error == "x: y"


class TestJson:
    def test_each_shape(self) -> None:
        anthropic = {"usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": None}}
        assert usage_from_json(json.dumps(anthropic).encode(), MESSAGES) == Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3)
        chat = {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}}
        assert usage_from_json(json.dumps(chat).encode(), CHAT) == Usage(input_tokens=4, output_tokens=2, cache_read_tokens=1)
        responses = {"usage": {"input_tokens": 5, "output_tokens": 2}}
        assert usage_from_json(json.dumps(responses).encode(), RESPONSES) == Usage(input_tokens=5, output_tokens=2)

    def test_counting_tokens_bills_nothing(self) -> None:
        assert usage_from_json(b'{"input_tokens": 5}', Dialect.ANTHROPIC_COUNT_TOKENS) is None

    @given(st.binary(max_size=60))
    def test_any_bytes_are_read_without_raising(self, body: bytes) -> None:
        for dialect in Dialect:
            assert usage_from_json(body, dialect) is None
            read(b"data: " + body + b"\n\n", dialect)

    @pytest.mark.parametrize("body", [b"[" * 100_000, b'{"usage": 1}', b'{"usage": {}}', b"null", b'{"a": NaN, "usage": null}'])
    def test_odd_documents_hold_no_usage(self, body: bytes) -> None:
        assert usage_from_json(body, MESSAGES) is None
        assert usage_from_json(body, CHAT) is None

    def test_a_lone_surrogate_beside_the_usage(self) -> None:
        body = b'{"text": "\\ud800", "usage": {"input_tokens": 1}}'
        assert usage_from_json(body, MESSAGES) == Usage(input_tokens=1)


@given(st.lists(st.builds(Usage, input_tokens=st.none() | st.integers(0, 9), cache_read_tokens=st.none() | st.integers(0, 9)), max_size=4))
def test_sums_know_what_is_unknown(reports: list[Usage]) -> None:
    total = None
    for report in reports:
        total = add_usage(total, report)
    known = [report.input_tokens for report in reports if report.input_tokens is not None]
    assert (total and total.input_tokens) == (sum(known) if known else None)


def dialect_of(stream: bytes) -> Dialect:
    return RESPONSES if b'"response.created"' in stream else CHAT if b"chat.completion.chunk" in stream else MESSAGES


def test_recorded_streams_give_the_same_however_they_are_cut(shared_data: Path) -> None:
    paths = sorted((shared_data / "streams").glob("*.sse"))
    assert len(paths) >= 16
    for path in paths:
        stream = path.read_bytes()
        dialect = dialect_of(stream)
        whole = read(stream, dialect)
        assert whole.finished, path.name
        assert (whole.usage is None) == ("error" in path.name), path.name
        assert (whole.error is None) == ("error" not in path.name), path.name
        for form in (stream, stream.replace(b"\n", b"\r\n"), stream.replace(b"\n", b"\r"), stream.rstrip()):
            for step in (1, 3, 997):
                again = read(form, dialect, step)
                assert (again.usage, again.stop_reason, again.error, again.finished) == (
                    whole.usage,
                    whole.stop_reason,
                    whole.error,
                    whole.finished,
                ), (path.name, step)


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        (
            "vai-prompt-cache",
            Usage(
                input_tokens=6,
                output_tokens=198,
                cache_read_tokens=6289,
                cache_write_tokens=3337,
                cache_write_5m_tokens=3068,
                cache_write_1h_tokens=0,
            ),
        ),
        (
            "pyai-compaction-cache",
            Usage(
                input_tokens=281,
                output_tokens=91,
                cache_read_tokens=55096,
                cache_write_tokens=0,
                cache_write_5m_tokens=0,
                cache_write_1h_tokens=0,
            ),
        ),
        ("openrouter-cache", Usage(input_tokens=254, output_tokens=5, cache_read_tokens=0, cache_write_tokens=0)),
        ("vai-openai-mcp-approval", Usage(input_tokens=422, output_tokens=48, cache_read_tokens=0)),
    ],
)
def test_recorded_streams_say_what_was_billed(shared_data: Path, name: str, usage: Usage) -> None:
    stream = (shared_data / "streams" / f"{name}.sse").read_bytes()
    assert read(stream, dialect_of(stream)).usage == usage
