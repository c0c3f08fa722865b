"""Keys that arrive together."""

from collections.abc import Callable

import pytest
from textual import events
from textual.widgets import Input

from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.screens.tools import ToolsScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.widgets.exchange_pane import ExchangePane
from caveman_tui.tui.widgets.tools_view import ToolList
from tests.tui.conftest import settle
from tests.tui.fake_source import FakeSource

MakeApp = Callable[..., CavemanApp]


def burst(app: CavemanApp, *names: str | events.Paste) -> None:
    """Keys as a terminal hands them over that got them in one piece."""
    for name in names:
        app.post_message(events.Key(name, name if len(name) == 1 else None) if isinstance(name, str) else name)


async def test_a_key_reaches_the_list_that_the_one_before_it_opened(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        burst(app, "K", "enter", "S")
        await settle(pilot)
        assert isinstance(app.screen, ToolsScreen) and app.screen.query_one(ToolList).order.value == "size"
        assert app.traffic_view.sort.value == "started"


async def test_a_way_through_several_screens_can_be_typed_at_once(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        burst(app, "k", "enter", "2", "S", "left_square_bracket", "escape", "C", "escape", "k")
        await settle(pilot)
        assert isinstance(app.screen, TrafficScreen) and app.traffic_view.current is not None
        # One up, one to the exchange before, and one up again, of 26.
        assert app.traffic_view.current.id == "5f0c-23"
        assert app.traffic_view.sort.value == "started"


async def test_what_is_typed_into_a_prompt_and_after_it_goes_where_it_belongs(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        burst(app, "slash", *"haiku", "enter", "enter", "7")
        await settle(pilot)
        assert app.traffic_view.filter.text == "haiku" and len(app.traffic_view.rows) == 3
        assert isinstance(app.screen, ExchangeScreen) and app.screen.query_one(ExchangePane).tab == "timing"
        burst(app, "slash", *"tok", "escape", "escape", "slash", "s")
        await settle(pilot)
        assert isinstance(app.screen, TrafficScreen) and app.screen.query_one(Input).value == "haikus"


async def test_what_is_pasted_goes_into_the_prompt_that_a_key_before_it_opened(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        burst(app, "slash", events.Paste("model:haiku "), *"in>", events.Paste("1"), "enter")
        await settle(pilot)
        assert app.traffic_view.filter.text == "model:haiku in>1"


async def test_a_question_gets_the_answer_that_was_typed_with_it(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        burst(app, "ctrl+q", "k")
        await pilot.pause()
    assert app.return_code == 0


async def test_keys_come_through_where_what_a_key_caused_never_ends(
    source: FakeSource, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caveman_tui.tui.key_order._PATIENCE_SECONDS", 0.01)
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        monkeypatch.setattr("caveman_tui.tui.key_order._passed", _never)
        burst(app, "k", "k")
        while app.traffic_view.current is None or app.traffic_view.current.id != "5f0c-24":
            await pilot.pause(0.01)


async def _never(_: object) -> None:
    import asyncio

    await asyncio.Event().wait()
