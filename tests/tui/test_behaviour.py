"""What the app does when things happen to it."""

import asyncio
import hashlib
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from html import unescape

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerFailed

from caveman_tui import places
from caveman_tui.ccr import Recovered, Store
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.core.usage import Usage
from caveman_tui.protocol.control import Problem
from caveman_tui.protocol.events import AnyEvent, ExchangeFinished, ExchangeRewritten, ExchangeStarted, ExchangeUsage, Settings, Warned
from caveman_tui.traffic.feed import Link
from caveman_tui.traffic.lines import plain
from caveman_tui.traffic.source import Refused
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.ascii import to_ascii
from caveman_tui.tui.run import run_screen
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.screens.store import StoreScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.widgets.body_view import BodyView
from caveman_tui.tui.widgets.exchange_list import ExchangeList
from caveman_tui.tui.widgets.exchange_pane import ExchangePane
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.tools_view import ToolList
from tests.tui.conftest import settle
from tests.tui.fake_source import RESPONSE, FakeSource
from tests.tui.session import NOW, message, other_summary, system

MakeApp = Callable[..., CavemanApp]


def drawn(app: CavemanApp) -> str:
    """The text of the screen."""
    svg = app.export_screenshot()
    return unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))).replace("\xa0", " ")


def notices(app: CavemanApp) -> str:
    return "\n".join(f"{notice.title} {notice.message}" for notice in app._notifications)


async def test_a_worker_that_comes_back_is_followed_again(source: FakeSource, make_app: MakeApp) -> None:
    again = asyncio.Event()

    async def pause(_: float) -> None:
        await again.wait()

    app = make_app(source, pause=pause)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        source.break_off("It ended.")
        await settle(pilot)
        assert app.link is Link.LOST and "gone, reconnecting" in app.screen.query_one("#status", InfoLine).text
        source.gone, source.instance, source.seq, source.listing = "", "other", 3, source.listing[:0]
        again.set()
        await settle(pilot)
        assert app.link is Link.LIVE and len(app.traffic_log) == 26
        assert app.traffic_log.exchanges["5f0c-26"].note == "the worker ended"
        source.send(ExchangeStarted(id="fresh", at=1_773_480_000.0, method="POST", path="/v1/messages"))
        await settle(pilot)
        assert app.traffic_view.rows[-1].id == "fresh"


async def test_what_informs_replaces_what_informed_and_leaves_errors(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        app.notify("went wrong", severity="error")
        for key in ("s", "t", "s"):
            await pilot.press(key)
            await settle(pilot)
        assert [notice.severity for notice in app._notifications] == ["error", "information"]


async def test_sizes_change_as_they_will(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for width, height in ((20, 5), (160, 50), (40, 12), (39, 12), (59, 10), (1, 1), (100, 9), (300, 80), (80, 24)):
            await pilot.resize_terminal(width, height)
            await settle(pilot)
            small = width < 40 or height < 10
            assert app.screen.has_class("-too-small") is small
            assert app.screen.query_one(ExchangePane).display is (width >= 140)
            assert app.screen.query_one(ExchangeList).row_height == (2 if width < 60 else 1) or small
        assert "opus-4-8" in drawn(app)


@pytest.mark.parametrize(
    "keys",
    [[], ["enter"], ["2"], ["3"], ["5"], ["6"], ["7"], ["o"], ["C"], ["K", "d"], ["question_mark"], ["ctrl+q"], ["F"], ["slash", "x"]],
)
async def test_with_ascii_nothing_else_is_drawn(source: FakeSource, make_app: MakeApp, keys: list[str]) -> None:
    app = make_app(source, ascii_only=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        assert not [character for character in drawn(app) if not character.isascii()]


def test_ascii_signs_are_as_wide_as_what_they_stand_for() -> None:
    for text in ("✓●✗–…·›↑↓▌┆│─█░", "查找日程 naïve", "e\u0301"):
        assert to_ascii(text).isascii() and cell_len(to_ascii(text)) == cell_len(text)
    assert len(set(map(to_ascii, "✓●✗!-"))) == 5


async def test_what_arrives_for_another_exchange_is_not_shown(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("up", "5")
        await settle(pilot)
        pane = app.screen.query_one(ExchangePane)
        before = app.screen.query_one(BodyView).document
        pane.supply("response", "5f0c-1", b"late")
        pane.supply("request-after", "5f0c-25", b"of another tab")
        pane.fail("headers", "5f0c-25", "late too")
        assert app.screen.query_one(BodyView).document is before
        pane.supply("response", "5f0c-25", b"wanted")
        assert app.screen.query_one(BodyView).document is not before


async def test_an_open_exchange_is_brought_up_to_date(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("5")
        await settle(pilot)
        assert isinstance(app.screen, ExchangeScreen) and "still coming" in drawn(app)
        source.send(ExchangeFinished(id="5f0c-26", outcome="done", duration_ms=9.0, response_bytes=len(RESPONSE)))
        await settle(pilot)
        assert "Renamed." in drawn(app)


async def test_the_side_pane_follows_the_cursor_and_never_takes_the_focus(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        pane = app.screen.query_one(ExchangePane)
        await pilot.press("2", "up", "up")
        await settle(pilot)
        assert pane.tab == "tools" and pane.exchange is not None and pane.exchange.id == "5f0c-24"
        await pilot.press("tab", "tab")
        await settle(pilot)
        assert app.focused is not None and app.focused.id == "exchanges"


async def test_the_shrinkers_own_decisions_are_shown(source: FakeSource, make_app: MakeApp, real_shrinker: None) -> None:
    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("2", "j")
        await settle(pilot)
        document = app.screen.query_one("#tools-text", LineView).document
        text = "\n".join(plain(document.row(index)) for index in range(document.lay_out(100)))
        assert "- Our tracker is the best place" in text and "because" in text and "Create an issue in the tracker." in text


async def test_a_warning_is_told_once_and_stays_on_its_row(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        source.send(Warned(code="store-locked", exchange="5f0c-25", what="[b]Locked[/b].", done="Sent as it came.", todo="Wait."))
        await settle(pilot)
        assert "Warning: store-locked [b]Locked[/b]. Sent as it came. Wait." in notices(app)
        assert app.traffic_log.exchanges["5f0c-25"].warnings == ("store-locked",)


async def test_the_cache_and_tools_screens_follow_what_arrives(source: FakeSource, make_app: MakeApp) -> None:
    source.listing = source.listing[:2]
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("C")
        await settle(pilot)
        assert "No conversation has used a cache yet" in drawn(app)
        source.send(
            ExchangeStarted(id="n", at=NOW - 60, method="POST", path="/", dialect="anthropic-messages", conversation="fresh", model="m"),
            ExchangeRewritten(id="n", markers_after=(system(1), message(2, 0, "5m")), tools=(other_summary(),)),
            ExchangeUsage(id="n", usage=Usage(input_tokens=1, cache_read_tokens=0, cache_write_tokens=9_000, cache_write_1h_tokens=4_000)),
        )
        await settle(pilot)
        assert "4:00 left" in drawn(app) and "59:00 left" in drawn(app) and "4,000 tokens" in drawn(app)
        await pilot.press("escape", "K")
        await settle(pilot)
        assert app.screen.query_one("#tools-status", InfoLine).text.startswith("1 catalog   fresh not pinned")
        assert "View" in {row.tool.name for row in app.screen.query_one(ToolList).items}


async def test_a_worker_that_is_gone_costs_the_tools_screen_no_more_than_its_text(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        source.break_off("It ended.")
        await settle(pilot)
        await pilot.press("K")
        await settle(pilot)
        assert "It ended." in drawn(app) and "pinned" not in drawn(app)
        await pilot.press("d")
        await settle(pilot)
        assert "Not compared It ended." in notices(app) and app.is_running


class Stubborn(FakeSource):
    """Refuses every wish."""

    async def change_settings(
        self,
        *,
        loop_ttl: LoopTtlMode | None = None,
        shrink: ShrinkMode | None = None,
        level: Level | None = None,
        excluded_tools: tuple[str, ...] | None = None,
    ) -> Settings:
        raise Refused(Problem(code="no", what="Not now.", todo="Later."))

    async def stop(self) -> None:
        raise Refused(Problem(code="no", what="Still busy."))


async def test_wishes_that_are_refused_are_said_and_change_nothing(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(Stubborn(source.listing, store_path=source.store_path))
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "Setting not changed Not now. Later." in notices(app)
        assert app.traffic_log.settings.shrink is ShrinkMode.APPLY
        await pilot.press("ctrl+q", "x")
        await settle(pilot)
        assert "Still busy." in notices(app) and app.is_running


class Broken(FakeSource):
    """Fails in ways that no source should."""

    def __init__(self, source: FakeSource) -> None:
        super().__init__(source.listing, store_path=source.store_path)
        self.followed_again = asyncio.Event()

    async def body(self, exchange_id: str, which: str) -> bytes:
        raise RuntimeError("a fault of ours")

    async def follow(self, after: int) -> AsyncIterator[Sequence[AnyEvent]]:
        if "follow" in self.calls:
            self.followed_again.set()
            await asyncio.Event().wait()
        self.calls.append("follow")
        raise RuntimeError("another fault")
        yield


async def test_faults_of_our_own_are_said_and_the_screen_goes_on(
    source: FakeSource, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caveman_tui.tui.following._FEED_RESTART_SECONDS", 0.001)
    broken = Broken(source)
    app = make_app(broken)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await asyncio.wait_for(broken.followed_again.wait(), 30)
        assert "RuntimeError: another fault" in notices(app)
        await pilot.press("3")
        await settle_despite_errors(pilot)
        assert "This screen failed at 'pane' RuntimeError: a fault of ours." in notices(app)
        assert app.is_running and isinstance(app.screen, ExchangeScreen)


async def settle_despite_errors(pilot: Pilot[int]) -> None:
    try:
        await settle(pilot)
    except WorkerFailed:
        await pilot.pause()
    await pilot.pause()


async def test_a_handle_that_is_not_there_and_a_damaged_one_are_said(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        app.recover("ccr_" + "0" * 32)
        await settle(pilot)
        assert "Not recovered" in notices(app) and "holds nothing under ccr_000" in notices(app)


async def test_large_text_goes_to_a_file_instead_of_the_clipboard(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        app.send_to_clipboard("x" * 70_000)
        await settle(pilot)
        assert app.clipboard == "" and "written to a file" in notices(app) and "selection.txt" in notices(app)


async def test_without_a_worker_leaving_asks_nothing(empty_source: FakeSource, make_app: MakeApp) -> None:
    empty_source.gone = "nobody"
    app = make_app(empty_source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+q")
        await settle(pilot)
    assert app.return_value == 0


async def test_an_old_session_offers_to_stop_the_worker_first(source: FakeSource, make_app: MakeApp) -> None:
    source.listing = source.listing[:-1]
    app = make_app(source, clock=lambda: source.listing[-1].started_at + 601)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+q", "enter")
        await settle(pilot)
    assert source.calls[-1] == "stop"


async def test_hostile_text_is_drawn_as_text(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        source.send(
            ExchangeStarted(
                id="\x1b[2J[red]x",
                at=1_773_480_000.0,
                method="PO\nST",
                path="/\u202e[/b]",
                model="[bold]查找\x1b]52;c;aGk=\x07",
                client="\x9b31m",
                conversation="\u202eabc\x00",
                dialect="anthropic-messages",
            )
        )
        await settle(pilot)
        text = drawn(app)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) and "[bold]" in text
        await pilot.press("7")
        await settle(pilot)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", drawn(app))


async def test_a_crash_keeps_the_conversation_out_of_the_traceback(
    source: FakeSource, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(_: object) -> None:
        prompt = "what the person asked"
        raise RuntimeError(f"crashed after {len(prompt)} characters")

    monkeypatch.setattr(TrafficScreen, "action_sort", crash)
    app = make_app(source)
    with pytest.raises(RuntimeError, match="crashed"):
        async with app.run_test(size=(100, 24)) as pilot:
            await settle(pilot)
            await pilot.press("S")
    said = capsys.readouterr().err + "".join(segment.text for part in app._exit_renderables for segment in app.console.render(part))
    assert app.return_code == 1 and "crashed after 21 characters" in said and "locals" not in said


def test_a_screen_needs_something_to_show() -> None:
    with pytest.raises(ValueError, match="neither"):
        run_screen(None, None)


async def test_bodies_are_searched_on_enter_streamed_and_given_up(source: FakeSource, make_app: MakeApp) -> None:
    source.bodies = {("5f0c-4", "response"): b"needle", ("5f0c-7", "request-before"): b"a needle", ("5f0c-9", "response"): b"hay"}
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"body:needle")
        await settle(pilot)
        assert len(app.traffic_view.rows) == 26 and "enter looks into bodies" in drawn(app)
        assert not any(call.startswith("search") for call in source.calls)
        await pilot.press("enter")
        await settle(pilot)
        assert [row.id for row in app.traffic_view.rows] == ["5f0c-4", "5f0c-7"]
        assert "26 exchanges searched. Of 3 exchanges no body is in memory" in notices(app)
        await pilot.press("slash", *" -model:haiku", "escape")
        await settle(pilot)
        assert [row.id for row in app.traffic_view.rows] == ["5f0c-4", "5f0c-7"]
        source.search_may_go_on.clear()
        await pilot.press("slash", "ctrl+u", *"-body:hay", "enter")
        await pilot.pause()
        assert len(app.traffic_view.rows) == 26
        search = next(worker for worker in app.workers if worker.group == "body search")
        await pilot.press("escape")
        await settle(pilot)
        assert search.is_cancelled and not app.traffic_view.filter


async def test_a_filter_is_completed_and_explained_while_it_is_typed(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"model:claude-h")
        await settle(pilot)
        await pilot.press("right")
        await settle(pilot)
        assert app.screen.query_one(Input).value == "model:claude-haiku-4-5-20251001"
        assert "3 of 26: model contains claude-haiku" in drawn(app)
        await pilot.press(*"z")
        await settle(pilot)
        assert "none of 26 matches" in drawn(app)


async def test_session_objects_of_other_tools_are_shown_recovered_and_left_alone(source: FakeSource, make_app: MakeApp) -> None:
    handle, data = "ccr_obj_" + "1" * 24, b'{"exit": 1}'
    with sqlite3.connect(source.store_path) as connection:
        connection.execute(
            "CREATE TABLE typed_objects (object_id TEXT PRIMARY KEY, object_type TEXT, content_hash TEXT, source TEXT, created_at TEXT,"
            " repository_state TEXT, session_id TEXT, transform_version TEXT, currentness TEXT, lifecycle TEXT, dependencies_json TEXT,"
            " original_byte_length INTEGER, stored_byte_length INTEGER, data BLOB)"
        )
        connection.execute(
            "INSERT INTO typed_objects VALUES (?, 'command', ?, 'bash', '2026-01-01T00:00:00Z', '', 's1', '1', '', '', '[]', ?, ?, ?)",
            (handle, "sha256:" + hashlib.sha256(data).hexdigest(), len(data), len(data), data),
        )
    connection.close()
    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        said = []
        for key in ("o", "G", "r", "D", "v"):
            await pilot.press(key)
            await settle(pilot)
            said.append(notices(app))
        assert "command · bash" in drawn(app) and "a session object of another tool" in drawn(app)
        assert (places.recovered_dir() / f"{handle}.json").read_bytes() == data
        assert "delete it with the tool that wrote it" in said[3] and "All 3 can be recovered" in said[4]


async def test_a_check_of_all_hashes_can_be_given_up(source: FakeSource, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    read = Store.get

    def slow(store: Store, handle: str) -> Recovered:
        begun.set()
        assert go_on.wait(30)
        return read(store, handle)

    app = make_app(source)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("o")
        await settle(pilot)
        monkeypatch.setattr(Store, "get", slow)
        await pilot.press("v")
        await asyncio.to_thread(begun.wait, 30)
        await pilot.pause()
        assert "checking 0 of 2 hashes" in drawn(app)
        await pilot.press("escape")
        go_on.set()
        await settle(pilot)
        assert isinstance(app.screen, StoreScreen) and "ended before it was through" in notices(app)


async def test_keys_of_a_persons_own_work_and_are_shown_everywhere(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source, keymap={"traffic.pause": "P", "app.help": "!", "quit.keep": "w"})
    async with app.run_test(size=(160, 36)) as pilot:
        await settle(pilot)
        for key, paused in (("p", False), ("P", True), ("P", False)):
            await pilot.press(key)
            await settle(pilot)
            assert app.traffic_view.paused is paused
        assert "P pause" in drawn(app) and "! help" in drawn(app)
        await pilot.press("question_mark")
        await settle(pilot)
        assert isinstance(app.screen, TrafficScreen)
        await pilot.press("!")
        await settle(pilot)
        document = app.screen.query_one("#help-text", LineView).document
        text = "\n".join(plain(document.row(index)) for index in range(document.lay_out(100)))
        assert "P               Let the list stand still" in text and "traffic.pause" in text
        await pilot.press("ctrl+q")
        await settle(pilot)
        await pilot.press("w")
        await settle(pilot)
    assert app.return_value == 0


async def test_leaving_asks_nothing_where_the_worker_ends_with_the_screen(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source, worker_ends=True)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+q")
        await settle(pilot)
    assert app.return_value == 0 and "stop" not in source.calls


async def test_an_export_that_fails_leaves_nothing_and_says_so(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        for key in ("e", "h"):
            await pilot.press(key)
            await settle(pilot)
        assert "1 exchange left out: not ended yet" in notices(app)
        source.break_off("It ended.")
        await settle(pilot)
        for key in ("E", "j", "Y"):
            await pilot.press(key)
            await settle(pilot)
        assert "Not exported It ended." in notices(app) and "Not copied It ended." in notices(app)
    assert list(places.exports_dir().iterdir()) == []


@pytest.mark.parametrize(("keys", "context"), [(["ctrl+q"], "quit"), (["F"], "force"), (["e"], "export"), (["o", "D"], "delete")])
async def test_a_low_screen_shows_every_answer_of_a_dialog(source: FakeSource, make_app: MakeApp, keys: list[str], context: str) -> None:
    app = make_app(source)
    async with app.run_test(size=(40, 10)) as pilot:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        text = drawn(app)
        for key in app.key_table:
            assert key.context != context or key.action == "default" or key.description in text, key.id


async def test_help_begins_with_the_keys_of_what_had_the_focus(source: FakeSource, make_app: MakeApp) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        for keys, first in ((["o"], "KEYS HERE: STORE, ON THE LIST"), (["escape", "escape", "up", "3"], "KEYS HERE: BODIES")):
            for key in (*keys, "question_mark"):
                await pilot.press(key)
                await settle(pilot)
            document = app.screen.query_one("#help-text", LineView).document
            rows = [plain(document.row(index)) for index in range(document.lay_out(98))]
            assert next(row for row in rows if row.startswith("KEYS")) == first
            assert len([row for row in rows if row.startswith("KEYS") and first.partition(": ")[2] == row.partition(": ")[2]]) == 1
