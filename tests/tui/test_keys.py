"""The key table: complete, without clashes, and what the screens are made of."""

import re
from collections import Counter

import pytest

from caveman_tui.traffic.lines import plain
from caveman_tui.tui import keys
from caveman_tui.tui.app import CavemanApp
from caveman_tui.tui.help_text import help_lines
from caveman_tui.tui.keymap import KeysRefused, remapped
from caveman_tui.tui.screens.cache import CacheScreen
from caveman_tui.tui.screens.compare import CompareScreen
from caveman_tui.tui.screens.dialog import DeleteDialog, ForceDialog, QuitDialog
from caveman_tui.tui.screens.exchange import ExchangeScreen
from caveman_tui.tui.screens.export_dialog import ExportDialog
from caveman_tui.tui.screens.help import HelpScreen
from caveman_tui.tui.screens.store import StoreList, StoreScreen
from caveman_tui.tui.screens.tools import ToolsScreen
from caveman_tui.tui.screens.traffic import TrafficScreen
from caveman_tui.tui.widgets.body_view import BodyView
from caveman_tui.tui.widgets.line_view import LineView
from caveman_tui.tui.widgets.prompt_line import PromptLine
from caveman_tui.tui.widgets.row_list import RowList
from caveman_tui.tui.widgets.tools_view import ToolList

CLASSES = (
    CavemanApp,
    TrafficScreen,
    ExchangeScreen,
    StoreScreen,
    CacheScreen,
    ToolsScreen,
    CompareScreen,
    ToolList,
    HelpScreen,
    QuitDialog,
    ForceDialog,
    DeleteDialog,
    ExportDialog,
    RowList,
    StoreList,
    LineView,
    BodyView,
    PromptLine,
)


def test_every_key_has_an_id_a_description_and_a_tooltip() -> None:
    for key in keys.TABLE:
        assert re.fullmatch(r"[a-z]+\.[a-z-]+", key.id), key
        assert key.description and key.tooltip.strip(), key
        assert key.context in keys.TITLES, key
    assert not [id for id, count in Counter(key.id for key in keys.TABLE).items() if count > 1]


@pytest.mark.parametrize("path", keys.FOCUS_PATHS, ids=" > ".join)
def test_no_key_stands_for_two_things_where_both_hold(path: tuple[str, ...]) -> None:
    taken: dict[str, str] = {}
    for key in keys.keys_of(keys.TABLE, *path):
        for name in key.keys.split(","):
            assert name not in taken, f"{name} is {taken[name]} and {key.id}"
            taken[name] = key.id


def test_every_context_is_in_a_path_and_in_help() -> None:
    assert {key.context for key in keys.TABLE} == {context for path in keys.FOCUS_PATHS for context in path} == set(keys.TITLES)


def test_keys_of_terminals_and_tmux_are_left_alone() -> None:
    for key in keys.TABLE:
        assert not keys.FORBIDDEN.intersection(key.keys.split(","))


def test_bindings_come_from_the_table_only() -> None:
    used: Counter[str] = Counter()
    for owner in CLASSES:
        for binding in owner.__dict__.get("BINDINGS", ()):
            assert binding.id in {key.id for key in keys.TABLE}, (owner, binding)
            used[binding.id] += 1
    assert set(used) == {key.id for key in keys.TABLE}


def test_every_action_exists_where_it_is_bound() -> None:
    for owner in CLASSES:
        for binding in owner.__dict__.get("BINDINGS", ()):
            name = binding.action.partition("(")[0]
            if name.startswith("screen."):
                assert any(hasattr(screen, f"action_{name.removeprefix('screen.')}") for screen in (TrafficScreen, StoreScreen)), name
            else:
                assert hasattr(owner, f"action_{name}"), (owner, name)


def test_help_shows_every_key() -> None:
    text = "\n".join(plain(row) for row in help_lines(200, url="http://127.0.0.1:1", places=(), policies="", table=keys.TABLE))
    for key in keys.TABLE:
        assert key.tooltip in text, key
        assert " ".join(keys.shown(name) for name in key.keys.split(",")) in text


def test_help_fits_narrow_screens() -> None:
    places = (("store", "/home/someone/.caveman/ccr.db"),)
    for row in help_lines(46, url="http://127.0.0.1:8788", places=places, policies="On.", table=keys.TABLE):
        assert len(plain(row)) <= 46, plain(row)


@pytest.mark.parametrize(
    ("overrides", "id", "names"),
    [
        ({"traffic.pause": "P"}, "traffic.pause", "P"),
        ({"traffic.pause": "ctrl+g, f5"}, "traffic.pause", "ctrl+g,f5"),
        ({"traffic.pause": ","}, "traffic.pause", "comma"),
        ({"traffic.pause": "PageDown", "list.page-down": "ctrl+g"}, "traffic.pause", "pagedown"),
        ({"app.help": "!"}, "app.help", "exclamation_mark"),
        ({"store.recover": "alt+r"}, "store.recover", "alt+r"),
    ],
)
def test_a_person_can_give_other_keys(overrides: dict[str, str], id: str, names: str) -> None:
    assert next(key for key in remapped(overrides) if key.id == id).keys == names


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"traffic.pauze": "P"}, "there is no action 'traffic.pauze'. Did you mean 'traffic.pause'?"),
        ({"traffic.pause": ""}, "traffic.pause needs a key"),
        ({"traffic.pause": "P,"}, "traffic.pause needs a key"),
        ({"traffic.pause": "pagdown"}, "there is no key 'pagdown'. Did you mean 'pagedown'?"),
        ({"traffic.pause": "ctrl+b"}, "traffic.pause can't have 'ctrl+b': terminals and tmux"),
        ({"traffic.pause": "m"}, "'m' can't stand for traffic.pause: where that holds it stands for traffic.mark. Give"),
        ({"app.store": "j"}, "'j' can't stand for app.store: where that holds it stands for list.down."),
    ],
)
def test_keys_that_cannot_be_are_refused_with_a_reason(overrides: dict[str, str], says: str) -> None:
    with pytest.raises(KeysRefused, match=re.escape(says)):
        remapped(overrides)


def test_the_defaults_can_be_written_as_they_are() -> None:
    assert remapped({key.id: key.keys for key in keys.TABLE}) == keys.TABLE
