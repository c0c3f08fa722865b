"""What each key does, by pressing it. There is a scenario for every row of the key table."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from caveman_tui import places
from caveman_tui.core.policy import Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.events import ExchangeRewritten, ExchangeStarted
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.body_text import BodyDocument
from caveman_tui.traffic.lines import BuiltDocument, plain
from caveman_tui.traffic.outline import Group
from caveman_tui.traffic.tool_rows import ToolOrder
from caveman_tui.traffic.view import SortKey
from caveman_tui.tui import keys
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.screens.cache import CacheList, CacheScreen
from caveman_tui.tui.screens.compare import CompareList, CompareScreen
from caveman_tui.tui.screens.dialog import DeleteDialog, ForceDialog, QuitDialog
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.screens.help import HelpScreen
from caveman_tui.tui.screens.store import StoreList, StoreScreen
from caveman_tui.tui.screens.tools import CatalogList, ToolsScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.widgets.body_view import BodyView
from caveman_tui.tui.widgets.exchange_pane import ExchangePane
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.tools_view import ToolList
from tests.tui.conftest import settle
from tests.tui.fake_source import FakeSource
from tests.tui.session import CODEX, EXPLORER, HANDLE, NIGHTLY, NOW, REFACTOR, TOOLS_BEFORE, other_summary


class Person:
    """Presses keys and looks."""

    def __init__(self, pilot: Pilot[int], source: FakeSource) -> None:
        self.pilot = pilot
        self.source = source

    @property
    def app(self) -> CavemanApp:
        assert isinstance(self.pilot.app, CavemanApp)
        return self.pilot.app

    async def press(self, *names: str) -> None:
        for name in names:
            await self.pilot.press(name)
            await settle(self.pilot)

    async def paste(self, text: str) -> None:
        focused = self.app.focused
        assert focused is not None
        focused.post_message(events.Paste(text))
        await settle(self.pilot)

    @property
    def row(self) -> str:
        """Id of the exchange under the cursor."""
        current = self.app.traffic_view.current
        assert current is not None
        return current.id

    @property
    def pane(self) -> ExchangePane:
        return self.app.screen.query_one(ExchangePane)

    @property
    def notices(self) -> str:
        return "\n".join(f"{notice.title} {notice.message}" for notice in self.app._notifications)

    @property
    def clipboard(self) -> str:
        return self.app.clipboard

    def shows(self, kind: type) -> bool:
        return isinstance(self.app.screen, kind)

    def text(self, selector: str) -> LineView:
        return self.app.screen.query_one(selector, LineView)


Scenario = Callable[[Person], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(*ids: str) -> Callable[[Scenario], Scenario]:
    def note(function: Scenario) -> Scenario:
        for id in ids:
            assert id not in SCENARIOS
            SCENARIOS[id] = function
        return function

    return note


@scenario("app.help", "help.back")
async def _(p: Person) -> None:
    for key in ("question_mark", "f1"):
        await p.press(key)
        assert p.shows(HelpScreen)
        await p.press(key)
        assert len(p.app.screen_stack) == 3 and p.shows(HelpScreen)
        await p.press("escape")
        assert p.shows(TrafficScreen)


@scenario("app.palette")
async def _(p: Person) -> None:
    await p.press("ctrl+p", *"settings: loop", "enter")
    assert p.source.now_settings.loop_ttl is LoopTtlMode.OFF


@scenario("app.quit", "quit.cancel", "quit.keep", "quit.default")
async def _(p: Person) -> None:
    await p.press("ctrl+q")
    assert p.shows(QuitDialog)
    await p.press("escape")
    assert p.shows(TrafficScreen)
    await p.press("question_mark", "ctrl+q", "ctrl+q")
    assert p.shows(QuitDialog) and len(p.app.screen_stack) == 4
    await p.press("escape", "ctrl+q", "k")
    assert not p.app.is_running or p.app._exit
    assert p.app.return_value == 0 and "stop" not in p.source.calls


@scenario("quit.stop")
async def _(p: Person) -> None:
    await p.press("ctrl+q", "x")
    assert p.source.calls[-1] == "stop" and p.app.return_value == 0


@scenario("app.store", "store.back")
async def _(p: Person) -> None:
    await p.press("o")
    assert p.shows(StoreScreen)
    await p.press("o")
    assert len(p.app.screen_stack) == 3
    await p.press("escape")
    assert p.shows(TrafficScreen)


@scenario("app.copy")
async def _(p: Person) -> None:
    await p.press("ctrl+c")
    assert "Nothing is selected" in p.notices
    await p.press("3")
    p.app.screen.selections = {p.app.screen.query_one(BodyView): __import__("textual.selection", fromlist=["SELECT_ALL"]).SELECT_ALL}
    await p.press("ctrl+c")
    assert p.clipboard.startswith("{\n") and '"model": "claude-opus-4-8"' in p.clipboard
    assert "Sent to the clipboard" in p.notices


@scenario("settings.shrink")
async def _(p: Person) -> None:
    seen = []
    for _ in ShrinkMode:
        await p.press("s")
        seen.append(p.source.now_settings.shrink)
    assert seen == [ShrinkMode.OFF, ShrinkMode.MEASURE, ShrinkMode.APPLY]
    assert p.app.traffic_log.settings.shrink is ShrinkMode.APPLY
    assert "running ones keep what they began with" in p.notices


@scenario("settings.level")
async def _(p: Person) -> None:
    await p.press("L")
    assert p.source.now_settings.level is Level.TERSE and "Shrink level: terse" in p.notices


@scenario("settings.ttl")
async def _(p: Person) -> None:
    await p.press("t", "t")
    assert p.source.now_settings.loop_ttl is LoopTtlMode.APPLY
    assert [call for call in p.source.calls if call.startswith("change")] == [
        "change_settings off None None",
        "change_settings apply None None",
    ]


@scenario("settings.force", "force.apply", "force.measure", "force.off", "force.cancel", "force.default")
async def _(p: Person) -> None:
    for answer in ("escape", "n", "enter"):
        await p.press("F")
        assert p.shows(ForceDialog)
        await p.press(answer)
        assert p.shows(TrafficScreen) and not any(call.startswith("force") for call in p.source.calls)
    for answer, mode in (("a", "apply"), ("m", "measure"), ("o", "off")):
        await p.press("F", answer)
        assert p.source.calls[-1] == f"force_shrink 3f2a9c1e-70d4-4b8e-9a55-1c2d3e4f5a6b {mode} standard"
        assert p.shows(TrafficScreen)
    await p.press("g", "F")
    assert p.shows(TrafficScreen) and "Put the cursor on an exchange" in p.notices


@scenario("view.theme")
async def _(p: Person) -> None:
    await p.press("T")
    assert p.app.theme == "caveman-light"
    await p.press("T")
    assert p.app.theme == "caveman-dark"


@scenario("view.mouse")
async def _(p: Person) -> None:
    written: list[str] = []
    assert p.app._driver is not None
    p.app._driver.write = written.append  # type: ignore[method-assign,assignment]
    await p.press("M")
    assert "\x1b[?1000l" in written and "the terminal's" in p.notices
    await p.press("M")
    assert "\x1b[?1000h" in written


@scenario("traffic.filter", "prompt.close")
async def _(p: Person) -> None:
    await p.press("slash", *"status:4xx")
    assert [row.status for row in p.app.traffic_view.rows] == [400]
    await p.press("escape")
    assert len(p.app.traffic_view.rows) == 26 and p.app.focused is not None and p.app.focused.id == "exchanges"
    await p.press("slash", *"status:529", "enter")
    assert [row.status for row in p.app.traffic_view.rows] == [529]
    await p.press("slash", *"x", "escape")
    assert [row.status for row in p.app.traffic_view.rows] == [529]
    await p.press("slash", *"0:", "enter")
    assert "Filter not understood" in p.notices and [row.status for row in p.app.traffic_view.rows] == [529]


@scenario("traffic.unfilter")
async def _(p: Person) -> None:
    await p.press("slash", *"gpt", "enter")
    assert len(p.app.traffic_view.rows) == 2
    await p.press("escape")
    assert len(p.app.traffic_view.rows) == 26


@scenario("traffic.conversation")
async def _(p: Person) -> None:
    await p.press("c")
    assert {row.conversation[:4] for row in p.app.traffic_view.rows} == {"3f2a"}
    await p.press("c")
    assert len(p.app.traffic_view.rows) == 26


@scenario("traffic.pause")
async def _(p: Person) -> None:
    await p.press("p")
    p.source.send(ExchangeStarted(id="fresh", at=NOW, method="POST", path="/v1/messages"))
    await settle(p.pilot)
    assert len(p.app.traffic_log) == 27 and len(p.app.traffic_view.rows) == 26
    assert p.app.screen.query_one("#totals", InfoLine).text.endswith("paused, 1 new")
    await p.press("p")
    assert p.row == "fresh" and len(p.app.traffic_view.rows) == 27


@scenario("traffic.mark", "traffic.unmark", "traffic.next-mark", "traffic.previous-mark")
async def _(p: Person) -> None:
    await p.press("n")
    assert "No row here is marked" in p.notices
    await p.press("m", "g", "j", "m", "n", "n")
    assert p.row == "5f0c-2" and "* 2 marked" in p.app.screen.query_one("#totals", InfoLine).text
    await p.press("N")
    assert p.row == "5f0c-26"
    await p.press("m")
    assert list(p.app.traffic_view.marks) == ["5f0c-2"]
    await p.press("u")
    assert not p.app.traffic_view.marks


@scenario("traffic.clear")
async def _(p: Person) -> None:
    await p.press("x")
    assert not p.app.traffic_view.rows and p.app.screen.has_class("-empty") and len(p.app.traffic_log) == 26
    await p.press("escape")
    assert len(p.app.traffic_view.rows) == 26


@scenario("traffic.group", "traffic.fold", "traffic.fold-all")
async def _(p: Person) -> None:
    await p.press("z")
    view = p.app.traffic_view
    heads = [line.key for line in view.lines if isinstance(line, Group)]
    assert heads == [("", ""), (REFACTOR, ""), (REFACTOR, EXPLORER), (NIGHTLY, ""), (CODEX, ""), ("d16e57f00d", "")]
    assert p.row == "5f0c-26" and view.lines[view.line_cursor] is view.current
    await p.press("space")
    assert sum(isinstance(line, Exchange) for line in view.lines) == 9
    await p.press("enter")
    assert p.shows(TrafficScreen) and sum(isinstance(line, Exchange) for line in view.lines) == 26
    await p.press("Z")
    assert len(view.lines) == 5
    await p.press("Z", "z")
    assert view.lines == view.rows
    await p.press("space")
    assert view.outline is not None and len(view.lines) < 26


@scenario(
    "traffic.export", "traffic.export-all", "export.curl", "export.har", "export.jsonl", "export.markdown", "export.bodies", "export.cancel"
)
async def _(p: Person) -> None:
    await p.press("up", "e", "escape")
    assert not list(places.exports_dir().iterdir())
    await p.press("e", "c")
    path = places.exports_dir() / "5f0c-25.sh"
    assert path.read_bytes().startswith(b"curl ") and path.stat().st_mode & 0o777 == 0o600
    assert f"Exported as curl, to a file {path}" in p.notices and "set ANTHROPIC_API_KEY" in p.notices
    await p.press("m", "g", "m", "e", "b", "j")
    (lines,) = places.exports_dir().glob("traffic-*.jsonl")
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [row["exchange"]["id"] for row in rows] == ["5f0c-1", "5f0c-25"] and rows[1]["bodies"]
    await p.press("slash", *"status:529", "enter", "E", "h")
    (archive,) = places.exports_dir().glob("*.har")
    assert [entry["response"]["status"] for entry in json.loads(archive.read_text())["log"]["entries"]] == [529]
    await p.press("E", "m")
    assert next(iter(places.exports_dir().glob("*.md"))).read_text().startswith("# Traffic report")
    await p.press("escape", "x", "E")
    assert "There is nothing to export" in p.notices and p.shows(TrafficScreen)


@scenario("traffic.curl", "exchange.curl", "exchange.export")
async def _(p: Person) -> None:
    await p.press("up", "Y")
    assert p.clipboard.startswith("curl ") and "api.anthropic.com" in p.clipboard and "$ANTHROPIC_API_KEY" in p.clipboard
    assert "Sent to the clipboard" in p.notices
    p.app.copy_to_clipboard("")
    await p.press("enter", "Y")
    assert p.clipboard.startswith("curl ")
    p.source.bodies["5f0c-25", "request-before"] = b'"' + b"x" * 70_000 + b'"'
    await p.press("Y", "e", "c")
    assert len((places.exports_dir() / "5f0c-25.sh").read_bytes()) > 70_000 and (places.exports_dir() / "5f0c-25-2.sh").exists()


@scenario("traffic.follow")
async def _(p: Person) -> None:
    await p.press("up")
    assert not p.app.traffic_view.following
    await p.press("f")
    assert p.app.traffic_view.following and p.row == "5f0c-26"
    await p.press("f")
    assert not p.app.traffic_view.following
    await p.press("S", "f")
    assert p.app.traffic_view.sort is SortKey.STARTED and p.app.traffic_view.following


@scenario("traffic.sort")
async def _(p: Person) -> None:
    seen = []
    for _ in SortKey:
        await p.press("S")
        seen.append(p.app.traffic_view.sort)
    assert seen == [*list(SortKey)[1:], SortKey.STARTED]


@scenario("traffic.reverse")
async def _(p: Person) -> None:
    await p.press("R")
    assert p.app.traffic_view.rows[0].id == "5f0c-26"


@scenario("traffic.copy")
async def _(p: Person) -> None:
    await p.press("y")
    assert p.clipboard == "export ANTHROPIC_BASE_URL=http://127.0.0.1:8788"
    assert "Sent to the clipboard" in p.notices


@scenario("list.open", "exchange.back")
async def _(p: Person) -> None:
    await p.press("up", "enter")
    assert p.shows(ExchangeScreen) and p.pane.exchange is not None and p.pane.exchange.id == "5f0c-25"
    await p.press("escape")
    assert p.shows(TrafficScreen) and p.row == "5f0c-25"


@scenario("exchange.next", "exchange.previous")
async def _(p: Person) -> None:
    await p.press("enter", "left_square_bracket", "left_square_bracket")
    assert p.pane.exchange is not None and p.pane.exchange.id == "5f0c-24"
    await p.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
    assert p.pane.exchange.id == "5f0c-26" and "last one" in p.notices


@scenario("exchange.recover")
async def _(p: Person) -> None:
    await p.press("enter", "r")
    path = places.recovered_dir() / f"{HANDLE}.json"
    assert path.read_bytes() == TOOLS_BEFORE and path.stat().st_mode & 0o777 == 0o600
    assert str(path) in p.notices
    await p.press("r")
    assert (places.recovered_dir() / f"{HANDLE}-2.json").read_bytes() == TOOLS_BEFORE
    await p.press("left_square_bracket", "left_square_bracket", "r")
    assert "Nothing to recover" in p.notices


@scenario("exchange.copy")
async def _(p: Person) -> None:
    await p.press("enter", "y")
    assert p.clipboard == HANDLE
    await p.press("left_square_bracket", "left_square_bracket", "y")
    assert p.clipboard == "5f0c-24"


@scenario("tabs.next", "tabs.previous")
async def _(p: Person) -> None:
    await p.press("l")
    assert p.shows(ExchangeScreen)
    seen = []
    for key in ("l", "right", "h", "left", "left"):
        await p.press(key)
        seen.append(p.pane.tab)
    assert seen == ["tools", "request-before", "tools", "ladder", "edits"]


@scenario("tabs.ladder", "tabs.tools", "tabs.before", "tabs.after", "tabs.response", "tabs.headers", "tabs.timing", "tabs.edits")
async def _(p: Person) -> None:
    await p.press("up")
    names = ["ladder", "tools", "request-before", "request-after", "response", "headers", "timing", "edits"]
    for number, name in enumerate(names, 1):
        await p.press(str(number))
        assert p.shows(ExchangeScreen) and p.pane.tab == name
        await p.press("escape")
    await p.press("1")
    for number, name in enumerate(names, 1):
        await p.press(str(number))
        assert p.pane.tab == name
    fetched = " ".join(p.source.calls)
    for wanted in ("catalog ", "request-before", "request-after", "response", "exchange 5f0c-25"):
        assert wanted in fetched


@scenario("store.recover")
async def _(p: Person) -> None:
    await p.press("o", "G", "r")
    path = places.recovered_dir() / f"{HANDLE}.json"
    assert path.read_bytes() == TOOLS_BEFORE and path.stat().st_mode & 0o777 == 0o600


@scenario("store.recover-to")
async def _(p: Person) -> None:
    await p.press("o", "G", "R")
    assert p.app.screen.query_one("#prompt-input", Input).value == str(places.recovered_dir() / f"{HANDLE}.json")
    folder = Path(p.source.store_path).parent
    await p.press(".")
    assert p.app.screen.query_one("#prompt-input", Input).value == "."
    await p.press("escape", "R")
    await p.paste(str(folder / "mine.json"))
    await p.press("enter")
    path = folder / "mine.json"
    assert path.read_bytes() == TOOLS_BEFORE and path.stat().st_mode & 0o777 == 0o600 and str(path) in p.notices
    await p.press("R")
    await p.paste(str(path))
    await p.press("enter")
    assert "something is there, and it was not touched" in p.notices
    await p.press("R")
    await p.paste(str(folder))
    await p.press("enter")
    assert (folder / f"{HANDLE}.json").read_bytes() == TOOLS_BEFORE
    await p.press("R", *"/no/such", "enter")
    assert "/no/such: No such file or directory. R asks again." in p.notices
    await p.press("R", "escape")
    assert isinstance(p.app.focused, StoreList)


@scenario("store.diff")
async def _(p: Person) -> None:
    await p.press("o", "d")
    assert "Only tool catalogs have a shrunk form" in p.notices
    await p.press("G", "d")
    document = p.text("#store-preview").document
    text = "\n".join(plain(document.row(index)) for index in range(document.lay_out(100)))
    assert "level standard" in text and "8 tools: 0 added, 0 removed" in text and "nothing breaks a caller" in text
    assert "- Our tracker is the best place" in text
    await p.press("d")
    assert isinstance(p.text("#store-preview").document, BodyDocument)


@scenario("store.check")
async def _(p: Person) -> None:
    await p.press("o", "v")
    assert "All 2 can be recovered Every hash fits." in p.notices
    with sqlite3.connect(p.source.store_path) as connection:
        connection.execute("UPDATE recoveries SET original = x'00' WHERE handle = ?", (HANDLE,))
    connection.close()
    await p.press("v")
    assert "1 of 2 are damaged" in p.notices and HANDLE in p.notices


@scenario("store.delete", "delete.confirm", "delete.cancel")
async def _(p: Person) -> None:
    await p.press("o", "G", "D", "enter", *"delte", "enter")
    assert p.shows(DeleteDialog) and "Nothing was deleted" in p.notices
    await p.press("escape")
    assert len(p.app.screen.query_one(StoreList).items) == 2
    await p.press("D", *"Delete", "enter")
    assert [record.content_type for record in p.app.screen.query_one(StoreList).items] == ["text"]
    assert f"Deleted {HANDLE} {len(TOOLS_BEFORE):,} bytes" in p.notices


@scenario("store.copy")
async def _(p: Person) -> None:
    await p.press("o", "G", "y")
    assert p.clipboard == HANDLE
    await p.press("r", "y")
    assert p.clipboard == str(places.recovered_dir() / f"{HANDLE}.json")


@scenario("store.search")
async def _(p: Person) -> None:
    await p.press("o", "slash", *"tracker__list", "enter")
    rows = p.app.screen.query_one(StoreList)
    assert [record.handle for record in rows.items] == [HANDLE] and p.app.focused is rows
    await p.press("escape")
    assert p.shows(StoreScreen) and len(rows.items) == 2
    await p.press("slash", *"nowhere to be found", "enter")
    assert rows.items == [] and p.app.screen.has_class("-empty")


@scenario("store.reload")
async def _(p: Person) -> None:
    from caveman_tui.ccr import open_store

    await p.press("o")
    with open_store(Path(p.source.store_path)) as store:
        store.put(b"third", content_type="text", compressor="squeeze", tokens_before=0, tokens_after=0)
    await p.press("u")
    assert len(p.app.screen.query_one(StoreList).items) == 3


@scenario("app.cache", "cache.back")
async def _(p: Person) -> None:
    await p.press("C")
    assert p.shows(CacheScreen)
    await p.press("C")
    assert len(p.app.screen_stack) == 3
    await p.press("tab", "escape")
    assert p.shows(CacheScreen) and isinstance(p.app.focused, CacheList)
    await p.press("escape")
    assert p.shows(TrafficScreen)


@scenario("cache.newest")
async def _(p: Person) -> None:
    await p.press("C", "enter")
    assert p.shows(ExchangeScreen) and p.pane.exchange is not None and p.pane.exchange.id == "5f0c-20"
    await p.press("escape", "e")
    assert p.shows(ExchangeScreen) and p.pane.exchange is not None and p.pane.exchange.id == "5f0c-26"


@scenario("cache.conversation")
async def _(p: Person) -> None:
    await p.press("C", "j", "c")
    assert p.shows(TrafficScreen)
    assert {row.conversation[:4] for row in p.app.traffic_view.rows} == {"c0de"}


@scenario("app.tools", "catalog.back")
async def _(p: Person) -> None:
    await p.press("K")
    assert p.shows(ToolsScreen) and isinstance(p.app.focused, CatalogList)
    await p.press("K")
    assert len(p.app.screen_stack) == 3
    await p.press("enter")
    assert isinstance(p.app.focused, ToolList)
    await p.press("enter")
    assert p.app.focused is p.text("#tools-text")
    for kind in (ToolList, CatalogList):
        await p.press("escape")
        assert isinstance(p.app.focused, kind) and p.shows(ToolsScreen)
    await p.press("escape")
    assert p.shows(TrafficScreen)


@scenario("catalog.compare", "compare.back", "compare.changed", "compare.swap")
async def _(p: Person) -> None:
    await p.press("K", "d")
    rows = p.app.screen.query_one(CompareList)
    assert p.shows(CompareScreen) and {tool.state for tool in rows.items} == {"changed"}
    await p.press("c")
    assert {tool.state for tool in rows.items} == {"changed", "same"}
    await p.press("enter")
    assert p.app.focused is p.text("#compare-text")
    await p.press("escape", "x")
    assert rows.items[0].sentences[0].added and not rows.items[0].sentences[0].removed
    await p.press("escape")
    assert p.shows(ToolsScreen)
    p.source.send(
        ExchangeStarted(id="other", at=NOW, method="POST", path="/", conversation="other"),
        ExchangeRewritten(id="other", tools=(other_summary(),)),
    )
    await settle(p.pilot)
    await p.press("g", "d")
    found = {(tool.name, tool.state, tool.breaking) for tool in p.app.screen.query_one(CompareList).items}
    assert {("Read", "removed", True), ("View", "added", False), ("Edit", "changed", True)} <= found
    await p.press("escape", "G", "m", "g", "d")
    assert {tool.name for tool in p.app.screen.query_one(CompareList).items if tool.breaking} == {"Read", "Edit"}


@scenario("catalog.mark")
async def _(p: Person) -> None:
    await p.press("K", "G", "m")
    rows = p.app.screen.query_one(CatalogList)
    assert rows.marked == rows.items[-1].key
    await p.press("m")
    assert rows.marked is None


@scenario("catalog.file")
async def _(p: Person) -> None:
    path = places.recovered_dir() / "old.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(TOOLS_BEFORE.replace(b'"name":"Bash"', b'"name":"Shell"'))
    await p.press("K", "D")
    p.app.screen.query_one(Input).value = str(path)
    await p.press("enter")
    assert p.shows(CompareScreen)
    changed = {(tool.name, tool.state, tool.breaking) for tool in p.app.screen.query_one(CompareList).items}
    assert changed == {("Shell", "removed", True), ("Bash", "added", False)}
    await p.press("escape", "D", *"/nowhere/at/all", "enter")
    assert p.shows(ToolsScreen) and "Not compared /nowhere/at/all: No such file or directory" in p.notices


@scenario("tool.sort", "tool.changed")
async def _(p: Person) -> None:
    await p.press("K", "enter")
    rows = p.app.screen.query_one(ToolList)
    seen = []
    for _ in ToolOrder:
        await p.press("S")
        seen.append((rows.order, rows.items[0].tool.name))
    assert [order for order, _ in seen] == [*list(ToolOrder)[1:], ToolOrder.SENT]
    assert dict(seen)[ToolOrder.SAVED] == "mcp__tracker__create_issue" and dict(seen)[ToolOrder.NAME] == "Bash"
    await p.press("c")
    assert {row.bytes_before == row.bytes_after for row in rows.items} == {False}
    await p.press("c")
    assert len(rows.items) == 8


@scenario("tool.exclude")
async def _(p: Person) -> None:
    await p.press("K", "enter", "x")
    assert p.source.now_settings.excluded_tools == ("mcp__index__search",)
    assert "excluded from shrinking" in p.notices and "running ones keep what they began with" in p.notices
    assert p.app.screen.query_one(ToolList).excluded == {"mcp__index__search"}
    await p.press("escape", "escape", "2")
    assert p.shows(ExchangeScreen) and p.app.screen.query_one(ToolList).excluded == {"mcp__index__search"}
    await p.press("x")
    assert p.source.now_settings.excluded_tools == () and "shrunk again" in p.notices


@scenario("list.down", "list.up", "list.page-down", "list.page-up", "list.first", "list.last")
async def _(p: Person) -> None:
    seen = []
    for key in ("g", "j", "down", "k", "up", "pagedown", "ctrl+d", "pageup", "ctrl+u", "G", "home", "end"):
        await p.press(key)
        seen.append(p.app.traffic_view.cursor)
    assert seen[:5] == [0, 1, 2, 1, 0] and seen[9:] == [25, 0, 25]
    assert 0 < seen[5] < seen[6] <= 25 and seen[5] > seen[7 + 1] >= 0 and seen[7] < seen[6]


@scenario("text.down", "text.up", "text.page-down", "text.page-up", "text.first", "text.last")
async def _(p: Person) -> None:
    await p.press("question_mark")
    text = p.text("#help-text")
    seen = []
    for key in ("j", "down", "k", "up", "pagedown", "ctrl+d", "space", "pageup", "ctrl+u", "G", "g", "end", "home"):
        await p.press(key)
        seen.append(text.scroll_offset.y)
    assert seen[:4] == [1, 2, 1, 0] and seen[9:] == [text.max_scroll_y, 0, text.max_scroll_y, 0]
    assert 0 < seen[4] < seen[5] < seen[6] > seen[7] > seen[8]


@scenario("text.search", "text.next", "text.previous")
async def _(p: Person) -> None:
    await p.press("question_mark", "n")
    assert "nothing is searched for" in p.notices
    await p.press("slash", *"TTL", "enter")
    text = p.text("#help-text")
    assert p.app.focused is text and text.needle == "TTL"
    first = text._match_row
    await p.press("n")
    assert text._match_row > first
    await p.press("N", "N")
    assert text._match_row > first
    await p.press("slash", *"zz", "enter")
    assert "no match for zz" in p.notices


@scenario("body.pretty", "body.wrap")
async def _(p: Person) -> None:
    await p.press("3")
    body = p.app.screen.query_one(BodyView)
    pretty = body._rows
    await p.press("p")
    raw = body._rows
    await p.press("w")
    assert pretty > raw > body._rows == 1


@scenario("body.fold", "body.unfold", "body.fold-here")
async def _(p: Person) -> None:
    await p.press("up", "3")
    body = p.app.screen.query_one(BodyView)
    whole = body._rows
    for _ in range(9):
        await p.press("minus")
    assert body._rows == 1
    await p.press("plus")
    document = body.document
    assert isinstance(document, BodyDocument) and '  "messages": [ … ' in plain(document.row(4))
    await p.press("slash", *"messages", "enter", "z")
    assert 5 < body._rows < whole
    await p.press("enter", *["equals_sign"] * 9)
    assert body._rows == whole
    await p.press("5", "minus")
    assert p.shows(ExchangeScreen)


@scenario("body.text")
async def _(p: Person) -> None:
    await p.press("up", "5")
    body = p.app.screen.query_one(BodyView)
    assert isinstance(body.document, BuiltDocument) and plain(body.document.row(1)) == "Renamed."
    await p.press("v")
    assert isinstance(body.document, BodyDocument) and plain(body.document.row(0)) == "event: message_start"
    await p.press("3", "v")
    assert "Only a response" in p.notices


def test_there_is_a_scenario_for_every_key() -> None:
    assert set(SCENARIOS) == {key.id for key in keys.TABLE}


@pytest.mark.parametrize(
    "function", list(dict.fromkeys(SCENARIOS.values())), ids=lambda f: "+".join(i for i, g in SCENARIOS.items() if g is f)
)
async def test_each_key_does_what_it_says(function: Scenario, source: FakeSource, make_app: Callable[..., CavemanApp]) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        await function(Person(pilot, source))


async def test_keys_typed_faster_than_the_prompt_opens_go_into_it(source: FakeSource, make_app: Callable[..., CavemanApp]) -> None:
    app = make_app(source)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        for key in ("slash", "s", "t", "o"):
            app.simulate_key(key)
        await asyncio.sleep(0)
        await settle(pilot)
        assert app.screen.query_one(Input).value == "sto" and isinstance(app.screen, TrafficScreen)
