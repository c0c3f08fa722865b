"""Pictures of every screen and state. `pytest tests/tui --snapshot-update` draws them anew; look at them before you commit."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from textual.pilot import Pilot

from caveman_tui.ccr import open_store
from caveman_tui.protocol.events import ExchangeStarted
from tests.tui.conftest import SIZES, Snap
from tests.tui.fake_source import FakeSource
from tests.tui.session import TOOLS_AFTER, other_summary, story, story_of_catalogs, story_of_misses

Size = tuple[int, int]
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


@pytest.fixture(autouse=True)
def _steady_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths on the screens are those of a person, not of a test."""
    monkeypatch.setattr("caveman_tui.tui.app.CavemanApp.places", lambda _: PLACES)


PLACES = (
    ("store", "/home/dana/.caveman/ccr.db"),
    ("recovered", "/home/dana/.local/share/caveman-tui/recovered"),
    ("state", "/home/dana/.local/state/caveman-tui"),
    ("config", "/home/dana/.config/caveman-tui/config.toml"),
)


@pytest.fixture
def steady_store(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSource:
    """The store with a fixed path and fixed times."""
    import sqlite3

    with sqlite3.connect(store_path) as connection:
        connection.execute("UPDATE recoveries SET created_at = '2026-03-14T09:00:11.000000Z' WHERE content_type = 'toolschema'")
        connection.execute("UPDATE recoveries SET created_at = '2026-03-14T08:12:40.000000Z' WHERE content_type = 'text'")
    connection.close()
    monkeypatch.chdir(store_path.parent)
    monkeypatch.setattr("caveman_tui.ccr.store.Store.path", Path("/home/dana/.caveman/ccr.db"))
    return FakeSource(story().exchanges, store_path=str(store_path))


@sizes
def test_traffic(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("traffic", source, size)


@sizes
def test_traffic_empty(snap: Snap, empty_source: FakeSource, size: Size) -> None:
    assert snap("traffic-empty", empty_source, size)


@sizes
def test_traffic_worker_gone(snap: Snap, empty_source: FakeSource, size: Size) -> None:
    empty_source.gone = "No worker answers at /run/user/1000/caveman-tui/worker-8788.sock. 'caveman-tui' starts one."
    assert snap("traffic-gone", empty_source, size)


@sizes
def test_traffic_connection_lost(snap: Snap, source: FakeSource, size: Size) -> None:
    async def breaks(pilot: Pilot[int]) -> None:
        source.break_off("The connection to the worker broke.")

    assert snap("traffic-lost", source, size, before=breaks)


@sizes
def test_traffic_filtered(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("traffic-filter", source, size, ["slash", *"in>30k -has:warning"])


@sizes
def test_traffic_filter_not_understood(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("traffic-filter-wrong", source, size, ["slash", *"modle:opus"])


@sizes
def test_traffic_nothing_matches(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("traffic-no-match", source, size, ["slash", *"model:llama", "enter"])


@sizes
def test_traffic_scrolled_away(snap: Snap, source: FakeSource, size: Size) -> None:
    async def more(pilot: Pilot[int]) -> None:
        source.send(*(ExchangeStarted(at=1_773_479_700.0 + n, id=f"new-{n}", method="POST", path="/v1/messages") for n in range(3)))

    assert snap("traffic-new-rows", source, size, ["g"], before=more)


def test_traffic_side_by_side(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic", source, (160, 40), ["up", "up"])


def test_traffic_store_trouble(snap: Snap, source: FakeSource) -> None:
    source.store_problem = "the disk is full"
    assert snap("traffic-store-trouble", source, (120, 36))


def test_too_small(snap: Snap, source: FakeSource) -> None:
    assert snap("too-small", source, (38, 9))


def test_smallest(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic", source, (40, 12))


def test_light_theme(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic-light", source, (120, 36), light=True)


def test_ascii(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic-ascii", source, (120, 36), ascii_only=True)


def test_no_color(snap: Snap, source: FakeSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap("traffic-no-color", source, (120, 36))


@sizes
def test_ladder(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("exchange-ladder", source, size, ["up", "enter"])


@sizes
def test_ladder_with_a_broken_rule(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("exchange-violation", source, size, ["up", "up", "up", "enter"])


@sizes
@pytest.mark.parametrize(
    ("name", "key"),
    [("tools", "2"), ("request-before", "3"), ("response", "5"), ("headers", "6"), ("timing", "7")],
)
def test_tabs(snap: Snap, source: FakeSource, size: Size, name: str, key: str) -> None:
    assert snap(f"exchange-{name}", source, size, ["up", key])


def test_search_in_a_body(snap: Snap, source: FakeSource) -> None:
    assert snap("exchange-search", source, (120, 36), ["up", "4", "slash", *"parser", "enter"])


def test_body_no_longer_in_memory(snap: Snap, source: FakeSource) -> None:
    assert snap("exchange-evicted", source, (80, 24), ["g", "down", "down", "3"])


def test_response_still_coming(snap: Snap, source: FakeSource) -> None:
    assert snap("exchange-open", source, (80, 24), ["5"])


@sizes
def test_store(snap: Snap, steady_store: FakeSource, size: Size) -> None:
    assert snap("store", steady_store, size, ["o"])


@sizes
def test_store_empty(snap: Snap, source: FakeSource, tmp_path: Path, size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source.store_path = "none/ccr.db"
    assert snap("store-empty", source, size, ["o"])


@sizes
def test_store_unreadable(snap: Snap, source: FakeSource, tmp_path: Path, size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.db").write_bytes(b"this is no database, whatever its name says" * 100)
    source.store_path = "bad.db"
    monkeypatch.setattr("caveman_tui.tui.screens.store.open_store", _refusing)
    assert snap("store-unreadable", source, size, ["o"])


def _refusing(path: Path, *, create: bool) -> object:
    from caveman_tui.ccr import StoreCorrupt

    try:
        return open_store(path, create=create)
    except StoreCorrupt as error:
        raise StoreCorrupt(error.what.replace(str(path.absolute()), "/home/dana/.caveman/ccr.db"), error.todo) from error


@sizes
def test_cache(snap: Snap, source: FakeSource, size: Size) -> None:
    source.listing = story_of_misses().exchanges
    assert snap("cache", source, size, ["C", "j"])


def test_cache_side_by_side(snap: Snap, source: FakeSource) -> None:
    assert snap("cache", source, (160, 40), ["C"])


@sizes
def test_cache_without_lifetimes(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("cache-openai", source, size, ["C", "j"])


@sizes
def test_cache_empty(snap: Snap, empty_source: FakeSource, size: Size) -> None:
    assert snap("cache-empty", empty_source, size, ["C"])


@sizes
def test_tools(snap: Snap, source: FakeSource, size: Size) -> None:
    source.listing = story_of_catalogs().exchanges
    assert snap("tools", source, size, ["K", "j"])


@sizes
def test_tools_sorted_one_excluded(snap: Snap, source: FakeSource, size: Size) -> None:
    source.now_settings = msgspec.structs.replace(source.now_settings, excluded_tools=("mcp__tracker__create_issue",))
    assert snap("tools-sorted", source, size, ["K", "enter", "S", "S", "c", "enter"])


@sizes
def test_tools_empty(snap: Snap, empty_source: FakeSource, size: Size) -> None:
    assert snap("tools-empty", empty_source, size, ["K"])


@sizes
def test_compare(snap: Snap, source: FakeSource, size: Size) -> None:
    source.listing = story_of_catalogs().exchanges
    assert snap("compare", source, size, ["K", "d", "j"])


@sizes
def test_compare_nothing_changed(snap: Snap, source: FakeSource, size: Size) -> None:
    source.listing = [exchange for exchange in story_of_catalogs().exchanges if exchange.tools[:1] == (other_summary(),)]
    assert snap("compare-same", source, size, ["K", "d"])


@sizes
def test_help(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("help", source, size, ["question_mark"])


@sizes
def test_quit_dialog(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("quit", source, size, ["ctrl+q"])


@sizes
def test_force_dialog(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("force", source, size, ["F"])


@sizes
def test_palette(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("palette", source, size, ["ctrl+p"])


def test_setting_changed(snap: Snap, source: FakeSource) -> None:
    assert snap("setting-changed", source, (120, 36), ["s"])


@sizes
def test_traffic_by_conversations(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("traffic-grouped", source, size, ["z", "g", "space", "j", "j", "m"])


@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{size[0]}x{size[1]}")
def test_traffic_paused_with_marks(snap: Snap, source: FakeSource, size: Size) -> None:
    async def more(pilot: Pilot[int]) -> None:
        source.send(*(ExchangeStarted(at=1_773_479_700.0 + n, id=f"new-{n}", method="POST", path="/v1/messages") for n in range(3)))

    assert snap("traffic-paused", source, size, ["k", "m", "k", "m", "p"], before=more)


def test_traffic_cleared(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic-cleared", source, (80, 24), ["x"])


def test_traffic_body_filter(snap: Snap, source: FakeSource) -> None:
    assert snap("traffic-filter-body", source, (80, 24), ["slash", *"model:opus body:parser"])


@sizes
def test_edits(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("exchange-edits", source, size, ["up", "8"])


def test_folded_body(snap: Snap, source: FakeSource) -> None:
    assert snap("exchange-folded", source, (80, 24), ["up", "3", "minus", "minus", "minus"])


def test_response_as_events(snap: Snap, source: FakeSource) -> None:
    assert snap("exchange-events", source, (80, 24), ["up", "5", "v"])


@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{size[0]}x{size[1]}")
def test_export_dialog(snap: Snap, source: FakeSource, size: Size) -> None:
    assert snap("export", source, size, ["e"])


@sizes
def test_store_difference(snap: Snap, steady_store: FakeSource, size: Size, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caveman_tui.traffic.store_preview.shrink_catalog", lambda *_, **__: SimpleNamespace(after=TOOLS_AFTER))
    assert snap("store-diff", steady_store, size, ["o", "d"])


@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{size[0]}x{size[1]}")
def test_delete_dialog(snap: Snap, steady_store: FakeSource, size: Size) -> None:
    assert snap("store-delete", steady_store, size, ["o", "D", *"del"])
