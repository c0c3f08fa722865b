"""Pauses of conversations, from the exchanges that end."""

import pytest

from caveman_tui import places
from caveman_tui.core.pauses import PauseStatistics
from caveman_tui.core.reasons import reason
from caveman_tui.core.usage import Usage
from caveman_tui.protocol import discovery
from caveman_tui.protocol.events import MarkerEdit
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.proxy.pause_book import PauseBook
from caveman_tui.traffic.control import WorkerClient
from tests.proxy.conftest import StartBench, as_json
from tests.proxy.provider import Exchange as ProviderExchange

SHORTENED = (MarkerEdit(pointer="/x", kind="ttl", before='"1h"', after='"5m"', reason="loop-shortened"),)


def exchange(at: float, read: int, five: int, *, model: str = "m", conversation: str = "c", shortened: bool = False) -> Exchange:
    usage = Usage(input_tokens=1, cache_read_tokens=read, cache_write_tokens=five, cache_write_5m_tokens=five, cache_write_1h_tokens=0)
    return Exchange(
        id="x",
        started_at=at,
        method="POST",
        path="/",
        model=model,
        conversation=conversation,
        usage=usage,
        marker_edits=SHORTENED if shortened else (),
        reasons=(reason("loop-shortened"),) if shortened else (),
    )


def test_a_pause_is_told_on_the_exchange_that_paid_for_it() -> None:
    book = PauseBook()
    assert book.take(exchange(0, 900, 100)) == ""
    assert book.take(exchange(60, 1000, 100)) == ""
    assert book.take(exchange(1560, 0, 1150)) == "After a pause of 25 minutes 1,100 tokens were written to the cache again."
    assert book.of("c").pauses == 1
    assert book.of("other") == PauseStatistics()


def test_another_model_in_between_ends_no_pause_and_begins_none() -> None:
    book = PauseBook()
    book.take(exchange(0, 0, 1000, shortened=True))
    assert book.take(exchange(1200, 0, 0, model="small")) == ""
    assert "20 minutes" in book.take(exchange(1201, 0, 1000, shortened=True))
    assert (book.of("c").pauses, book.of("c").stalls, book.of("c").lost_tokens) == (1, 1, 1000)


def test_an_exchange_that_ran_beside_a_later_one_says_nothing_of_pauses() -> None:
    book = PauseBook()
    book.take(exchange(1000, 0, 1000))
    assert book.take(exchange(0, 0, 1000)) == ""
    assert book.take(exchange(1100, 1000, 0)) == ""
    assert book.of("c").pauses == 0


@pytest.mark.parametrize("changed", [{"conversation": ""}, {"usage": None}, {"usage": Usage(output_tokens=3)}])
def test_what_has_no_conversation_or_no_usage_is_passed_over(changed: dict[str, object]) -> None:
    book, first = PauseBook(), exchange(0, 0, 10)
    for name, value in changed.items():
        setattr(first, name, value)
    assert book.take(first) == ""
    assert book.of("c") == book.of("") == PauseStatistics()


def test_it_is_bounded() -> None:
    book = PauseBook()
    for number in range(2_100):
        book.take(exchange(0, 0, 10, conversation=str(number), shortened=True))
    assert book.of("0") == PauseStatistics() and book.of("2099").loop_tokens == 10


async def test_the_exchange_and_the_list_of_conversations_show_it(start_bench: StartBench) -> None:
    bench = await start_bench()
    reads_and_writes = [(900, 100), (0, 1050)]

    async def answer(made: ProviderExchange) -> None:
        read, written = reads_and_writes[len(bench.provider.seen) - 1]
        usage = {
            "input_tokens": 1,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 2,
        }
        await made.reply(as_json({"type": "message", "usage": usage}))

    bench.provider.answer = answer
    now = [1_000_000.0]
    bench.worker.log._clock = lambda: now[0]
    body = as_json({"model": "m", "messages": [{"role": "user", "content": "x"}]})
    await bench.post("/v1/messages", body, "x-claude-code-session-id: s")
    await bench.ended(1)
    # The machine slept: the wall clock has gone on, and that is the clock which the provider's cache goes by.
    now[0] += 25 * 60
    await bench.post("/v1/messages", body, "x-claude-code-session-id: s")
    last = await bench.ended(2)
    assert (last.state, last.note) == ("done", "After a pause of 25 minutes 1,000 tokens were written to the cache again.")
    (record,) = discovery.records(places.state_dir())
    async with WorkerClient(record) as client:
        (conversation,) = (await client.conversations()).conversations
    assert (conversation.id, conversation.pauses.pauses, conversation.pauses.rewritten_tokens) == ("s", 1, 1000)
