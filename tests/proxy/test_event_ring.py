import asyncio

import pytest

from caveman_tui.proxy.event_ring import EventRing, EventsForgotten


def _ring(budget: int, *lines: bytes) -> EventRing:
    ring = EventRing(budget)
    for line in lines:
        ring.append(line)
    return ring


async def test_replays_what_came_after_a_position() -> None:
    ring = _ring(100, b"a\n", b"b\n", b"c\n")
    assert await ring.follow(1) == (b"b\nc\n", 3)


async def test_waits_for_the_next_event() -> None:
    ring = _ring(100, b"a\n")
    waiting = asyncio.ensure_future(ring.follow(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    ring.append(b"b\n")
    assert await waiting == (b"b\n", 2)


async def test_what_passed_the_budget_is_forgotten_and_said_to_be() -> None:
    ring = _ring(6, b"a\n", b"b\n", b"c\n", b"d\n", b"e\n")
    assert await ring.follow(2) == (b"c\nd\ne\n", 5)
    with pytest.raises(EventsForgotten):
        await ring.follow(1)


def test_a_position_of_another_worker_is_forgotten_too() -> None:
    with pytest.raises(EventsForgotten):
        _ring(100, b"a\n").check(7)


async def test_a_follower_that_falls_behind_while_it_waits_is_cut_off() -> None:
    ring = _ring(4, b"a\n")
    waiting = asyncio.ensure_future(ring.follow(1))
    await asyncio.sleep(0)
    for _ in range(5):
        ring.append(b"x\n")
    with pytest.raises(EventsForgotten):
        await waiting


async def test_only_the_newest_line_of_a_series_is_replayed_and_all_others_are() -> None:
    ring = EventRing(100)
    ring.append(b"started\n")
    ring.append(b"usage 1\n", replaces="x")
    ring.append(b"other\n")
    ring.append(b"usage 2\n", replaces="x")
    assert await ring.follow(0) == (b"started\nother\nusage 2\n", 4)


async def test_a_series_that_was_partly_forgotten_goes_on() -> None:
    ring = EventRing(12)
    ring.append(b"usage 1\n", replaces="x")
    ring.append(b"started\n")
    ring.append(b"usage 2\n", replaces="x")
    ring.append(b"usage 3\n", replaces="x")
    assert await ring.follow(3) == (b"usage 3\n", 4)


async def test_a_long_ring_agrees_with_a_list_that_forgets_nothing() -> None:
    ring = EventRing(1000)
    lines: list[bytes] = []
    newest: dict[str, int] = {}
    for number in range(5000):
        series = f"s{number % 7}" if number % 3 else ""
        ring.append(b"%d\n" % number, replaces=series)
        lines.append(b"%d\n" % number)
        if series in newest:
            lines[newest[series]] = b""
        if series:
            newest[series] = number
    assert await ring.follow(4900) == (b"".join(lines[4900:]), 5000)


async def test_a_closed_ring_lets_followers_read_to_the_end() -> None:
    ring = _ring(100, b"a\n")
    waiting = asyncio.ensure_future(ring.follow(1))
    await asyncio.sleep(0)
    ring.close()
    assert await waiting == (b"", 1)
    assert await ring.follow(0) == (b"a\n", 1)
