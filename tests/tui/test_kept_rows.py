"""What a list keeps of its rows is what it would draw anew, and a long one scrolls to its very ends."""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from textual.geometry import Region
from textual.strip import Strip

from caveman_tui.core.usage import Usage
from caveman_tui.protocol.events import AnyEvent, ExchangeFinished, ExchangeResponding, ExchangeStarted, ExchangeUsage
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.widgets.exchange_list import ExchangeList
from tests.tui.conftest import settle
from tests.tui.fake_source import FakeSource
from tests.tui.session import NOW, OPUS, REFACTOR, story

MakeApp = Callable[..., CavemanApp]


def lines(rows: ExchangeList) -> list[Strip]:
    return rows.render_lines(Region(0, 0, rows.size.width, rows.size.height))


def happenings() -> Iterator[AnyEvent]:
    for number in range(40):
        yield ExchangeStarted(id=f"n-{number}", at=NOW, method="POST", path="/v1/messages", model=OPUS, conversation=REFACTOR)
        if number:
            yield ExchangeResponding(id=f"n-{number - 1}", status=200, ttfb_ms=7.0)
            yield ExchangeUsage(id=f"n-{number - 1}", usage=Usage(input_tokens=number * 1_000, output_tokens=1), response_bytes=10)
            yield ExchangeFinished(id=f"n-{number - 1}", outcome="done", duration_ms=9.0, response_bytes=10)


@pytest.mark.parametrize("size", [(100, 14), (50, 16)])
async def test_kept_rows_are_those_that_would_be_drawn(source: FakeSource, make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(source)
    events = happenings()
    keys = (*"kkmgjmGTkSRRSSSSSSppz", "space", *"jZZzfux", "escape", *"ccMkgG")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        rows = app.screen.query_one(ExchangeList)
        for key in keys:
            source.send(*(event for event, _ in zip(events, range(3), strict=False)))
            await pilot.press(key)
            await settle(pilot)
            kept = lines(rows)
            rows._strips.clear()
            assert lines(rows) == kept, key


async def test_a_long_list_reaches_its_last_row_and_its_first(source: FakeSource, make_app: MakeApp) -> None:
    source.listing = [msgspec.structs.replace(story().exchanges[3], id=f"r-{number}", note=f"row {number}") for number in range(1_003)]
    app = make_app(source)
    async with app.run_test(size=(120, 20)) as pilot:
        await settle(pilot)
        rows = app.screen.query_one(ExchangeList)
        assert "row 1002" in lines(rows)[-1].text and rows.scroll_offset.y == rows.max_scroll_y
        rows.scroll_to(y=10_000, animate=False, immediate=True)
        assert "row 1002" in lines(rows)[-1].text
        await pilot.press("g")
        assert "row 0" in lines(rows)[1].text and rows.vertical_scrollbar.position == 0
        await pilot.press("G", "k", "pagedown")
        assert "row 1002" in lines(rows)[-1].text
        # So far as the bar shows it, it stands where the list does.
        assert abs(rows.vertical_scrollbar.position - rows.scroll_offset.y) <= len(source.listing) / 100
