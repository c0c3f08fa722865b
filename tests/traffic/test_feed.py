"""The stream of events, kept alive."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

from caveman_tui.protocol.control import Problem
from caveman_tui.protocol.events import AnyEvent, StoreChanged
from caveman_tui.traffic.feed import Arrived, Feed, FeedMessage, Link, LinkChanged, Loaded
from caveman_tui.traffic.source import Refused, ResyncNeeded, WorkerGone
from tests.tui.fake_source import FakeSource


class Scripted(FakeSource):
    """Follows one script after the other: batches, and then an error or a plain end."""

    def __init__(self, *scripts: tuple[list[Sequence[AnyEvent]], Exception | None]) -> None:
        super().__init__()
        self.scripts = list(scripts)

    async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        if not self.scripts:
            await asyncio.Event().wait()
        batches, error = self.scripts.pop(0)
        for batch in batches:
            yield batch
        if error is not None:
            raise error


async def run_until_quiet(source: FakeSource, drain: float = 0.0) -> tuple[list[FeedMessage], list[float]]:
    got: list[FeedMessage] = []
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) >= 6:
            await asyncio.Event().wait()

    feed = asyncio.create_task(Feed(source, got.append, drain_seconds=drain, pause=pause).run())
    for _ in range(200):
        await asyncio.sleep(0)
    feed.cancel()
    await asyncio.gather(feed, return_exceptions=True)
    return got, pauses


async def test_it_loads_first_and_then_hands_out_what_comes() -> None:
    got, _ = await run_until_quiet(Scripted(([[StoreChanged(seq=1)], [StoreChanged(seq=2)]], None)))
    assert isinstance(got[0], Loaded) and got[1] == LinkChanged(Link.LIVE)
    assert [event.seq for message in got if isinstance(message, Arrived) for event in message.batch] == [1, 2]


async def test_batches_in_quick_succession_are_handed_out_as_one() -> None:
    batches: list[Sequence[AnyEvent]] = [[StoreChanged(seq=number)] for number in range(1, 50)]
    got, _ = await run_until_quiet(Scripted((batches, None)), drain=3600.0)
    arrived = [message for message in got if isinstance(message, Arrived)]
    assert len(arrived) <= 2 and sum(len(message.batch) for message in arrived) == 49


async def test_nothing_is_lost_when_the_connection_breaks_and_it_is_tried_again() -> None:
    source = Scripted(([[StoreChanged(seq=1)]], WorkerGone("it broke")), ([[StoreChanged(seq=2)]], None))
    got, pauses = await run_until_quiet(source, drain=3600.0)
    seqs = [event.seq for message in got if isinstance(message, Arrived) for event in message.batch]
    assert seqs == [1, 2]
    assert LinkChanged(Link.LOST, "it broke") in got and pauses[0] == 0.2
    assert sum(isinstance(message, Loaded) for message in got) >= 2


async def test_a_resync_loads_again_at_once_and_says_nothing() -> None:
    got, pauses = await run_until_quiet(Scripted(([], ResyncNeeded("too old"))))
    assert sum(isinstance(message, Loaded) for message in got) == 2
    assert not pauses and not any(message == LinkChanged(Link.LOST, "too old") for message in got)


async def test_a_worker_that_is_not_there_is_asked_ever_more_slowly() -> None:
    source = FakeSource()
    source.gone = "nobody listens"
    got, pauses = await run_until_quiet(source)
    assert got[0] == LinkChanged(Link.LOST, "nobody listens")
    assert pauses == [0.2, 0.5, 1.0, 2.0, 2.0, 2.0]


async def test_a_refusal_is_a_break_with_its_reason() -> None:
    got, _ = await run_until_quiet(Scripted(([], Refused(Problem(code="x", what="Not so.", todo="Do that.")))))
    assert LinkChanged(Link.LOST, "Not so. Do that.") in got


async def test_a_busy_screen_gets_batches_less_often_and_loses_none() -> None:
    loop = asyncio.get_running_loop()
    worked = 0.0
    got: list[tuple[float, list[int]]] = []

    def emit(message: FeedMessage) -> None:
        nonlocal worked
        if isinstance(message, Arrived):
            got.append((loop.time(), [event.seq for event in message.batch]))
            worked += 0.02

    class Steady(FakeSource):
        async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
            for number in range(1, 41):
                yield [StoreChanged(seq=number)]
                await asyncio.sleep(0.01)

    async def pause(_: float) -> None:
        await asyncio.Event().wait()

    feed = asyncio.create_task(Feed(Steady(), emit, drain_seconds=0.001, pause=pause, worked=lambda: worked).run())
    while sum(len(seqs) for _, seqs in got) < 40:
        await asyncio.sleep(0.01)
    feed.cancel()
    await asyncio.gather(feed, return_exceptions=True)
    assert [seq for _, seqs in got for seq in seqs] == list(range(1, 41))
    # The break at the end hands out what is left at once.
    assert all(later - earlier >= 0.2 - 0.001 for (earlier, _), (later, _) in pairwise(got[:-1]))
