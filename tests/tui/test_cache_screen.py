"""What the worker recorded of pauses, on the cache screen."""

from collections.abc import Callable

from caveman_tui.protocol.events import ExchangeFinished, ExchangeStarted
from caveman_tui.traffic.lines import plain
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.screens.cache import CacheList, CacheScreen
from caveman_tui.tui.widgets.line_view import LineView
from tests.tui.conftest import settle
from tests.tui.fake_source import FakeSource
from tests.tui.session import NIGHTLY, NOW, REFACTOR

MakeApp = Callable[..., CavemanApp]


def detail(app: CavemanApp) -> str:
    """All of the text on the conversation under the cursor."""
    view = app.screen.query_one("#cache-detail", LineView)
    return "\n".join(plain(view.document.row(row)) for row in range(view.virtual_size.height))


async def test_pauses_are_told_of_the_conversation_under_the_cursor_and_unknown_of_others(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        seen: dict[str, str] = {}
        for _ in app.screen.query_one(CacheList).items:
            current = app.screen.query_one(CacheList).current
            assert current is not None
            seen.setdefault(current.last.conversation, detail(app))
            await pilot.press("j")
        assert "1 of 5 to 60 minutes" in seen.pop(REFACTOR) and "None of 5 to 60 minutes" in seen.pop(NIGHTLY)
        assert seen and all("–  the worker has not said" in text for text in seen.values())


async def test_they_are_asked_for_again_once_something_came_and_stay_where_the_worker_is_gone(
    source: FakeSource, make_app: MakeApp
) -> None:
    app = make_app(source)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CacheScreen)
        asked = source.calls.count("conversations")
        screen._tick()
        await settle(pilot)
        assert source.calls.count("conversations") == asked == 1
        started = ExchangeStarted(id="new", at=NOW, method="POST", path="/v1/messages", conversation=REFACTOR)
        source.send(started, ExchangeFinished(id="new", outcome="done", duration_ms=1.0, response_bytes=1))
        await settle(pilot)
        source.gone = "It ended."
        screen._tick()
        await settle(pilot)
        assert source.calls.count("conversations") >= asked and "1 of 5 to 60 minutes" in detail(app)
