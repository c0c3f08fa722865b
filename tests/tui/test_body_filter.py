"""A filter on bodies holds for what comes after it, too."""

from collections.abc import Callable

from caveman_tui.protocol.events import ExchangeFinished, ExchangeStarted
from caveman_tui.tui.app import CavemanApp
from tests.tui.conftest import settle
from tests.tui.fake_source import FakeSource
from tests.tui.session import NOW

MakeApp = Callable[..., CavemanApp]


def ended(name: str) -> tuple[ExchangeStarted, ExchangeFinished]:
    started = ExchangeStarted(id=name, at=NOW, method="POST", path="/v1/messages")
    return started, ExchangeFinished(id=name, outcome="done", duration_ms=1.0, response_bytes=1)


async def test_exchanges_that_end_later_are_looked_into_each_once(source: FakeSource, make_app: MakeApp) -> None:
    source.bodies = {("5f0c-4", "response"): b"needle"}
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"body:needle", "enter")
        await settle(pilot)
        source.bodies |= {("late-1", "response"): b"a needle", ("late-2", "response"): b"hay", ("late-3", "request-before"): b"needles"}
        source.calls.clear()
        source.send(*ended("late-1"), *ended("late-2"), ExchangeStarted(id="late-3", at=NOW, method="POST", path="/v1/messages"))
        await settle(pilot)
        assert [row.id for row in app.traffic_view.rows] == ["5f0c-4", "late-1"]
        source.send(*ended("late-3")[1:])
        await settle(pilot)
        assert [row.id for row in app.traffic_view.rows] == ["5f0c-4", "late-1", "late-3"]
        assert [call for call in source.calls if call.startswith("search")] == ["search needle"] * 2


async def test_without_a_filter_on_bodies_nothing_is_searched(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"body:needle", "enter")
        await settle(pilot)
        await pilot.press("escape")
        source.calls.clear()
        source.send(*ended("late-1"))
        await settle(pilot)
        assert app.traffic_view.rows[-1].id == "late-1" and not any(call.startswith("search") for call in source.calls)


async def test_what_ended_while_the_connection_was_broken_is_looked_into(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source, pause=_at_once)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"body:needle", "enter")
        await settle(pilot)
        source.bodies["5f0c-26", "response"] = b"needle"
        source.listing[-1].duration_ms, source.listing[-1].state = 5.0, "done"
        source.break_off("It broke.")
        source.gone = ""
        await settle(pilot)
        assert [row.id for row in app.traffic_view.rows] == ["5f0c-26"]


async def _at_once(_: float) -> None:
    """A wait that is none."""
