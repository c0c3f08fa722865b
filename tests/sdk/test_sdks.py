"""The `anthropic` and `openai` SDKs in front of the worker: they hand out what they hand out without it."""

import json
import re
from typing import Any

import pytest

from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.usage import Usage
from caveman_tui.demo.provider import Received
from tests.sdk.conftest import Runs
from tests.sdk.runs import CLIENTS, Run, Seen

pytestmark = pytest.mark.xdist_group("sdk")
"""All in one process: the runs that they compare take longer than all comparing."""
CASES = [(sdk, case.__name__) for sdk, client in CLIENTS.items() for case in client.CASES]
ENDS = {
    "too_many_markers": ["provider-error"],
    "wrong_order_of_markers": ["provider-error"],
    "missing_model": ["provider-error"],
    "overloaded_then_retried": ["provider-error", "provider-error", "done"],
    "overloaded": ["provider-error"],
    "error_event": ["provider-error"],
    "cut_stream": ["broken"],
    "cancelled": ["cancelled"],
    "async_cancelled": ["cancelled"],
    "async_task_cancelled": ["cancelled"],
    "chat_refused": ["provider-error"],
    "chat_overloaded_then_retried": ["provider-error", "done"],
    "chat_error_event": ["provider-error"],
    "chat_cancelled": ["cancelled"],
    "responses_error_event": ["provider-error"],
    "responses_cut": ["broken"],
    "responses_cancelled": ["cancelled"],
    "model_missing": ["provider-error"],
}
"""Case -> how its exchanges end; the others are done."""
WITH_TOOLS = {
    "anthropic": {
        "raw_events",
        "split_events",
        "accumulated",
        "whole_tools",
        "tool_loop",
        "large",
        "compressed_events",
        "async_whole_and_streamed",
    },
    "openai": {
        *("chat_tools", "chat_chunks", "chat_accumulated", "chat_tool_loop", "chat_compressed"),
        *("responses_whole", "responses_events", "responses_accumulated", "async_both"),
    },
}
"""Cases whose requests carry tools that get shorter."""
COMPRESSED = {"anthropic": {"compressed", "compressed_events"}, "openai": {"chat_compressed"}}

OF_THE_HOP = {"host", "connection", "content-length"}
MADE_ID = re.compile(r"[a-z]+_01[0-9A-Za-z]{22}")

each_case = pytest.mark.parametrize(("sdk", "case"), CASES)


@each_case
def test_untouched_requests_give_the_very_same_objects_and_events(runs: Runs, sdk: str, case: str) -> None:
    """Ids included: the stand-in makes them from the bytes it gets."""
    assert runs.untouched[sdk].got[case] == runs.straight[sdk].got[case] != []


@each_case
def test_untouched_requests_arrive_as_they_were_sent(runs: Runs, sdk: str, case: str) -> None:
    straight, through = in_order(runs.straight[sdk].received[case]), in_order(runs.untouched[sdk].received[case])
    assert [arrived(received) for received in through] == [arrived(received) for received in straight] != []
    assert [received.body for received in through] == [received.body for received in straight]


@each_case
def test_edited_requests_give_the_same_objects_and_events(runs: Runs, sdk: str, case: str) -> None:
    """But for what the stand-in makes from the bytes it gets, ids and token counts; all else is the same, and in the same order."""
    straight, through = runs.straight[sdk], runs.edited[sdk]
    assert comparable(through.got[case]) == comparable(straight.got[case])
    if not is_edited(through, case):
        assert through.got[case] == straight.got[case]


@each_case
def test_edited_requests_differ_in_tools_and_lifetimes_only(runs: Runs, sdk: str, case: str) -> None:
    straight, through = in_order(runs.straight[sdk].received[case]), in_order(runs.edited[sdk].received[case])
    assert [arrived(received) for received in through] == [arrived(received) for received in straight]
    assert comparable([rest_of(received) for received in through]) == comparable([rest_of(received) for received in straight])


@each_case
def test_what_the_worker_says_it_sent_and_got_is_what_was_sent_and_got(runs: Runs, sdk: str, case: str) -> None:
    for run in (runs.untouched[sdk], runs.edited[sdk]):
        for seen, received in pairs(run, case):
            exchange = seen.detail.exchange
            assert (exchange.method, exchange.status) == (received.method, received.status)
            assert exchange.bytes_after in (None, len(received.body))
            if exchange.state in ("done", "provider-error"):
                assert exchange.response_bytes == len(received.sent)
            if received.bill is not None and exchange.state == "done":
                assert_billed(exchange.usage, received)


@each_case
def test_the_worker_tells_how_each_exchange_ended(runs: Runs, sdk: str, case: str) -> None:
    for run in (runs.untouched[sdk], runs.edited[sdk]):
        ends = [seen.detail.exchange.state for seen in run.seen[case]]
        assert ends == ENDS.get(case, ["done"] * len(run.received[case]))
        assert not any(seen.detail.exchange.warnings for seen in run.seen[case])


@pytest.mark.parametrize(("sdk", "case"), [(sdk, case) for sdk, case in CASES if "cancelled" in case])
def test_a_stream_that_the_client_drops_is_dropped_at_the_provider(runs: Runs, sdk: str, case: str) -> None:
    for run in (runs.straight[sdk], runs.untouched[sdk], runs.edited[sdk]):
        assert [received.hung_up for received in run.received[case]] == [True]


@pytest.mark.parametrize("sdk", CLIENTS)
def test_all_tools_and_nothing_else_was_shrunk_where_that_is_on(runs: Runs, sdk: str) -> None:
    assert {case for case in runs.untouched[sdk].got if is_edited(runs.untouched[sdk], case)} == set()
    through = runs.edited[sdk]
    assert {case for case in through.got if is_edited(through, case)} == WITH_TOOLS[sdk]
    for case in WITH_TOOLS[sdk]:
        shrunk = [(seen, received) for seen, received in pairs(through, case) if seen.detail.exchange.tools]
        assert shrunk
        for seen, received in shrunk:
            (tools,) = seen.detail.exchange.tools
            assert tools.applied and tools.handle
            assert len(received.body) < len(seen.sent)
            assert selection_profile(received.body) == selection_profile(seen.sent)


def test_the_loop_keeps_the_hour_where_a_person_may_return_and_nowhere_else(runs: Runs) -> None:
    def lifetimes(run: Run) -> list[list[str]]:
        bills = [received.bill for received in run.received["tool_loop"]]
        return [[marker.ttl for marker in bill.markers] for bill in bills if bill is not None]

    assert lifetimes(runs.straight["anthropic"]) == [["1h"] * 3, ["1h"] * 4, ["1h"] * 4]
    assert lifetimes(runs.untouched["anthropic"]) == lifetimes(runs.straight["anthropic"])
    assert lifetimes(runs.edited["anthropic"]) == [["1h"] * 3, ["1h", "1h", "1h", "5m"], ["1h", "1h", "1h", "5m"]]


@pytest.mark.parametrize("sdk", CLIENTS)
def test_compressed_answers_really_were(runs: Runs, sdk: str) -> None:
    for run in (runs.straight[sdk], runs.untouched[sdk], runs.edited[sdk]):
        packed = {case for case, arrived in run.received.items() if any(dict(one.sent_headers).get("content-encoding") for one in arrived)}
        assert packed == COMPRESSED[sdk]


def test_the_large_body_was_large(runs: Runs) -> None:
    for run in (runs.straight, runs.untouched, runs.edited):
        (received,) = run["anthropic"].received["large"]
        assert len(received.body) > 5_000_000


@pytest.mark.parametrize("sdk", CLIENTS)
def test_nothing_is_said_where_all_is_well(runs: Runs, sdk: str) -> None:
    """Warnings of Python are errors in the clients, so this is also about connections left open."""
    for run in (runs.straight[sdk], runs.untouched[sdk], runs.edited[sdk]):
        # On a busy machine an SDK may take longer to load than `exec` waits for the first request.
        assert [line for line in run.notes.splitlines() if "no request came through" not in line] == []


def in_order(received: list[Received]) -> list[Received]:
    """Requests sent at once may overtake each other; retries, which are equal, stay in their order."""
    return sorted(received, key=lambda one: json.dumps(comparable(rest_of(one)), sort_keys=True))


def arrived(received: Received) -> tuple[str, str, list[tuple[str, str]]]:
    """Request line and fields, names in their spelling. Cookies hold made ids, of whichever response came last."""
    fields = [(name, MADE_ID.sub("id", value)) for name, value in received.headers if name.lower() not in OF_THE_HOP]
    return received.method, received.target, sorted(fields)


def rest_of(received: Received) -> Any:
    """A body without what the transforms may touch: tools, and the values of markers."""

    def rest(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: "marked" if key == "cache_control" else rest(inner) for key, inner in value.items()}
        return [rest(inner) for inner in value] if isinstance(value, list) else value

    if not received.body:
        return None
    body = rest(json.loads(received.body))
    return {key: len(value) if key == "tools" else value for key, value in body.items()}


def comparable(value: Any) -> Any:
    """`value` with made ids numbered by their first appearance and with the counts of `usage` left out."""
    numbers: dict[str, str] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: sorted(inner) if key == "usage" and isinstance(inner, dict) else plain(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        if isinstance(value, str):
            return MADE_ID.sub(lambda found: numbers.setdefault(found[0], f"id {len(numbers)}"), value)
        return value

    return plain(value)


def pairs(run: Run, case: str) -> list[tuple[Seen, Received]]:
    """What the worker and what the stand-in saw of each exchange, joined by the response's id."""
    by_id = {request_id(received.sent_headers): received for received in run.received[case]}
    joined = [(seen, by_id[request_id((f.name, f.value) for f in seen.detail.response_headers)]) for seen in run.seen[case]]
    assert len(joined) == len(by_id) == len(run.received[case])
    return joined


def request_id(fields: Any) -> str:
    return next(value for name, value in fields if name.lower() in ("request-id", "x-request-id"))


def is_edited(run: Run, case: str) -> bool:
    return any(seen.sent != received.body for seen, received in pairs(run, case))


def assert_billed(usage: Usage | None, received: Received) -> None:
    assert usage is not None and received.bill is not None
    bill = received.bill.usage
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (bill.input, bill.read, bill.output)
    assert (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) == (bill.write_5m, bill.write_1h)
