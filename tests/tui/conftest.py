"""The app in front of a fake worker, and snapshots in the top-level folder."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import pytest_textual_snapshot
import textual.app
import textual.pilot
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation
from textual.pilot import Pilot
from textual.widgets import Input

from caveman_tui.ccr import open_store
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ShrunkDescription, ShrunkTool, Unit
from caveman_tui.traffic import tool_rows
from caveman_tui.tui.app import CavemanApp
from tests.tui.fake_source import FakeSource
from tests.tui.idle import until_idle
from tests.tui.session import HANDLE, NOW, TOOLS_BEFORE, story

SIZES = ((120, 36), (80, 24), (50, 16))
_SNAPSHOTS = Path(__file__).parents[2] / "snapshots"


class TopLevelSvg(pytest_textual_snapshot.SVGImageExtension):
    """One SVG a screen state, named for it and its size, in `snapshots/`."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The top-level folder."""
        return str(_SNAPSHOTS)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """`traffic_120x36`."""
        return str(index)


@pytest.fixture(autouse=True)
def _steady_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours, animation and blinking do not depend on who runs the tests."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture(autouse=True)
def _idle_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pilot goes on when the app has nothing left to do, on a busy machine as on an idle one."""
    for module in (textual.app, textual.pilot):
        monkeypatch.setattr(module, "wait_for_idle", until_idle)


@pytest.fixture(autouse=True)
def _steady_decisions(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What the shrinker would decide changes as it gets better; the pictures show one decision of each kind."""
    if "real_shrinker" not in request.fixturenames:
        monkeypatch.setattr(tool_rows, "explain_tool", decided)


@pytest.fixture
def real_shrinker() -> None:
    """Asked for by tests that want the shrinker's own decisions."""


def decided(tool: ShrunkTool, level: Level) -> tuple[ShrunkDescription, ...]:
    """Keeps the first and the last sentences of a long description and drops those between."""
    import json

    before, after = json.loads(tool.before)["description"], json.loads(tool.after)["description"]
    if tool.excluded:
        return ()
    units = []
    start = 0
    for sentence in before.replace(". ", ".\n").split("\n"):
        end = min(len(before), start + len(sentence) + 1)
        kept = sentence in after
        kind, why = ("bound", "says what the tool does or bounds an argument") if kept else _why_dropped(sentence)
        units.append(Unit(start=start, end=end, kept=kept, kind=kind, why=why))
        start = end
    return (ShrunkDescription(pointer="/description", before=before, after=after, units=tuple(units)),)


def _why_dropped(sentence: str) -> tuple[str, str]:
    return ("return-shape", "shows what comes back") if "result" in sentence else ("marketing", "praise")


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A store with the original of the session's catalog and a text."""
    path = tmp_path / "caveman" / "ccr.db"
    path.parent.mkdir(mode=0o700)
    with open_store(path) as store:
        store.put(TOOLS_BEFORE, content_type="toolschema", compressor="toolschema", tokens_before=900, tokens_after=420)
        store.put(b"plain notes\nsecond line\n", content_type="text", compressor="squeeze", tokens_before=0, tokens_after=0)
        assert store.get(HANDLE).original == TOOLS_BEFORE
    return path


@pytest.fixture
def source(store_path: Path) -> FakeSource:
    """A worker with the whole story."""
    return FakeSource(story().exchanges, store_path=str(store_path))


@pytest.fixture
def empty_source(tmp_path: Path) -> FakeSource:
    """A worker that has seen nothing, with a store that does not exist."""
    return FakeSource(store_path=str(tmp_path / "none" / "ccr.db"))


async def _never(_: float) -> None:
    await asyncio.Event().wait()


@pytest.fixture
def make_app() -> Callable[..., CavemanApp]:
    """An app with a frozen clock, in UTC, that draws every batch at once and does not reconnect by itself."""

    def make(source: FakeSource, **options: Any) -> CavemanApp:
        settings: dict[str, Any] = {"zone": UTC, "clock": lambda: NOW, "drain_seconds": 0.0, "pause": _never, **options}
        return CavemanApp(source, **settings)

    return make


async def settle(pilot: Pilot[int]) -> None:
    """Wait until all that was asked for has arrived and is drawn."""
    await pilot.pause()
    while waiting := [worker for worker in pilot.app.workers if worker.group != "feed" and not worker.is_finished]:
        for worker in waiting:
            await worker.wait()
        await pilot.pause()


Snap = Callable[..., bool]


@pytest.fixture
def snap(snapshot: SnapshotAssertion, make_app: Callable[..., CavemanApp]) -> Iterator[Snap]:
    """Compare a screen with its picture: `snap("traffic", source, (120, 36), ["slash"])`."""
    from textual._doc import take_svg_screenshot

    pictures = snapshot.use_extension(TopLevelSvg)

    def compare(
        name: str,
        source: FakeSource,
        size: tuple[int, int],
        press: Sequence[str] = (),
        *,
        before: Callable[[Pilot[int]], Awaitable[None]] | None = None,
        **options: Any,
    ) -> bool:
        async def prepare(pilot: Pilot[int]) -> None:
            await settle(pilot)
            for key in press:
                await pilot.press(key)
                await settle(pilot)
            if before is not None:
                await before(pilot)
                await settle(pilot)

        drawn = take_svg_screenshot(make_app(source, **options), terminal_size=size, run_before=prepare)
        assert "screen&#160;failed" not in drawn, "the picture shows a fault of the screen's own"
        return bool(pictures(name=f"{name}_{size[0]}x{size[1]}") == drawn)

    yield compare
