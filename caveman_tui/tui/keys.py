"""Every key of the screens in one table. Bindings, footer, help and command palette are made from it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS

FORBIDDEN = frozenset({"ctrl+s", "ctrl+b", "ctrl+a", "ctrl+j", "ctrl+h", "ctrl+i", "ctrl+m"})
"""Owned by terminals and tmux."""


@dataclass(frozen=True, slots=True)
class Key:
    """One binding."""

    id: str
    """`area.verb`."""
    context: str
    """Where it holds: `app`, the name of a screen, or a kind of widget (`list`, `text`, `tabs`)."""
    keys: str
    """Textual's names, comma-separated; the first is the one shown."""
    action: str
    description: str
    """Two words for the footer."""
    tooltip: str
    """A sentence for help and palette."""
    footer: int | None = None
    """Place in the footer, the lowest first; None keeps it to help and palette."""
    priority: bool = False
    palette: bool = True


TABLE: tuple[Key, ...] = (
    # Everywhere
    Key("app.help", "app", "question_mark,f1", "help", "help", "Show what this is, all keys and how to connect a client.", 90),
    Key("app.palette", "app", "ctrl+p", "command_palette", "commands", "Find any action by name.", 91, palette=False),
    Key("app.quit", "app", "ctrl+q", "leave", "quit", "Leave the screen; asks whether the worker stays.", 92, priority=True),
    Key("app.store", "app", "o", "store", "originals", "Open the recovery store with every original that was replaced.", 50),
    Key("app.cache", "app", "C", "cache", "cache", "What the provider's cache holds, how long still, why it was last missed.", 51),
    Key("app.tools", "app", "K", "tools", "tool catalogs", "All tool catalogs: what is dropped of each tool, and how two differ.", 52),
    Key("app.copy", "app", "ctrl+c", "copy_selection", "copy selection", "Send the selected text to the clipboard."),
    Key("settings.shrink", "app", "s", "cycle_shrink", "shrink mode", "Tool shrinking off, measure or apply, for new conversations.", 60),
    Key("settings.level", "app", "L", "cycle_level", "shrink level", "How much text shrinking may drop: careful, standard, terse."),
    Key("settings.ttl", "app", "t", "toggle_ttl", "loop ttl", "Loop TTL: apply or off. It changes cache markers only.", 61),
    Key("settings.force", "app", "F", "force_shrink", "force here", "Switch the current conversation now, at the one-time cost shown."),
    Key("view.theme", "app", "T", "toggle_theme", "theme", "Switch between the dark and the light theme."),
    Key("view.mouse", "app", "M", "toggle_mouse", "mouse", "Let go of the mouse, so that the terminal selects text itself."),
    # The traffic list
    Key("traffic.filter", "traffic", "slash", "filter", "filter", "Show what matches: model:opus in>20k has:edit -status:4xx", 10),
    Key("traffic.unfilter", "traffic", "escape", "unfilter", "show all", "Show all again: what the filter hides, then what was cleared."),
    Key("traffic.conversation", "traffic", "c", "only_conversation", "conversation", "Only this conversation, or all again.", 20),
    Key("traffic.follow", "traffic", "f", "follow", "follow", "Follow the newest exchange, or stay where the cursor is.", 30),
    Key("traffic.pause", "traffic", "p", "pause", "pause", "Let the list stand still, or catch up; what arrives is kept and counted.", 31),
    Key("traffic.mark", "traffic", "m", "mark", "mark", "Mark the row, on a head all its rows; marked rows are exported together.", 35),
    Key("traffic.unmark", "traffic", "u", "unmark", "unmark all", "Take all marks away."),
    Key("traffic.next-mark", "traffic", "n", "next_mark(1)", "next mark", "The next marked row.", palette=False),
    Key("traffic.previous-mark", "traffic", "N", "next_mark(-1)", "previous mark", "The marked row before it.", palette=False),
    Key("traffic.clear", "traffic", "x", "clear", "clear", "Take all rows off the display; they stay in memory and esc shows them."),
    Key("traffic.group", "traffic", "z", "group", "group", "By conversations, sub-agents under their parents, or as they came.", 25),
    Key("traffic.fold", "traffic", "space", "fold", "fold", "Fold the conversation or sub-agent at the cursor, or unfold it.", 26),
    Key("traffic.fold-all", "traffic", "Z", "fold_all", "fold all", "Fold all conversations, or unfold all."),
    Key("traffic.sort", "traffic", "S", "sort", "sort", "Sort by start, input, read share, tools ratio, first byte, duration."),
    Key("traffic.reverse", "traffic", "R", "reverse", "reverse", "Turn the order around."),
    Key("traffic.copy", "traffic", "y", "copy_connect", "copy export line", "Send the line that connects Claude Code to the clipboard", 40),
    Key("traffic.export", "traffic", "e", "export", "export", "Write the marked rows, or else this one, to a new file.", 36),
    Key("traffic.export-all", "traffic", "E", "export_all", "export all", "Write all that the list shows to a new file."),
    Key("traffic.curl", "traffic", "Y", "copy_curl", "copy as curl", "Send this request as a curl command to the clipboard."),
    # One exchange
    Key("exchange.back", "exchange", "escape", "back", "back", "Back to the list.", 10),
    Key("exchange.next", "exchange", "right_square_bracket", "next(1)", "next", "The next exchange of the list.", 20),
    Key("exchange.previous", "exchange", "left_square_bracket", "next(-1)", "previous", "The exchange before it.", 21),
    Key("exchange.recover", "exchange", "r", "recover", "recover", "Write the original tools of this exchange to a new file.", 15),
    Key("exchange.copy", "exchange", "y", "copy", "copy handle", "Send the recovery handle, or else the id, to the clipboard."),
    Key("exchange.export", "exchange", "e", "export", "export", "Write this exchange to a new file.", 36),
    Key("exchange.curl", "exchange", "Y", "copy_curl", "copy as curl", "Send this request as a curl command to the clipboard.", 37),
    # Tabs of an exchange
    Key("tabs.next", "tabs", "l,right", "tab(1)", "next tab", "The next tab of the exchange.", 25, palette=False),
    Key("tabs.previous", "tabs", "h,left", "tab(-1)", "previous tab", "The tab before it.", palette=False),
    Key("tabs.ladder", "tabs", "1", "show_tab('ladder')", "ladder", "Cache markers before and after."),
    Key("tabs.tools", "tabs", "2", "show_tab('tools')", "tools", "The tool catalog before and after."),
    Key("tabs.before", "tabs", "3", "show_tab('request-before')", "request before", "The request as the client sent it."),
    Key("tabs.after", "tabs", "4", "show_tab('request-after')", "request after", "The request as it went to the provider."),
    Key("tabs.response", "tabs", "5", "show_tab('response')", "response", "The response as it came."),
    Key("tabs.headers", "tabs", "6", "show_tab('headers')", "headers", "Headers of both, secrets replaced."),
    Key("tabs.edits", "tabs", "8", "show_tab('edits')", "edits", "Every edit: what came, what went out, and why."),
    Key("tabs.timing", "tabs", "7", "show_tab('timing')", "timing", "Timing and usage, with where each number comes from."),
    # The store
    Key("store.back", "store", "escape", "back", "back", "Back to where you came from; first out of a search.", 10),
    Key("store.recover", "store", "r", "recover", "recover", "Check the original's hash and write it to a new file.", 15),
    Key("store.recover-to", "store", "R", "recover_to", "recover to", "The same, to a file that you name.", 16),
    Key("store.diff", "store", "d", "diff", "diff", "What shrinking drops from this catalog, or the catalog again.", 17),
    Key("store.check", "store", "v", "check", "check all", "Compare every original with its hash; nothing is changed.", 30),
    Key("store.delete", "store", "D", "delete", "delete", "Delete this original for good, after you typed that you mean it."),
    Key("store.copy", "store", "y", "copy", "copy", "Send the recovered file's path, or else the handle, to the clipboard.", 20),
    Key(
        "store.search",
        "store-list",
        "slash",
        "screen.search_store",
        "search",
        "Only what contains a text, or has it in type or handle.",
        25,
    ),
    Key("store.reload", "store", "u", "reload", "reload", "Read the store again."),
    # The cache
    Key("cache.back", "cache", "escape", "back", "back", "Back to where you came from; first out of the detail.", 10),
    Key(
        "cache.newest",
        "cache",
        "e",
        "open_newest",
        "newest request",
        "Open the conversation's newest request; enter opens the one that missed.",
        20,
    ),
    Key("cache.conversation", "cache", "c", "only_conversation", "its exchanges", "Back to the list, with this conversation only.", 25),
    # Tool catalogs
    Key("catalog.back", "catalog", "escape", "back", "back", "From a tool to the catalogs, and back to where you came from.", 10),
    Key(
        "catalog.compare", "catalog", "d", "compare", "compare", "Compare with the marked catalog, or else with another one before it.", 15
    ),
    Key("catalog.mark", "catalog", "m", "mark", "mark", "Mark this catalog as the one that d compares others with.", 16),
    Key("catalog.file", "catalog", "D", "compare_file", "compare file", "Compare with a catalog in a file.", 17),
    Key("tool.sort", "tool-list", "S", "sort", "sort", "Order tools as sent, by size, by what is saved, by ratio, by name.", 20),
    Key("tool.changed", "tool-list", "c", "only_changed", "only changed", "Only tools that shrinking changes, or all.", 21),
    Key("tool.exclude", "tool-list", "x", "exclude", "exclude", "Leave this tool out of shrinking in new conversations, or in again.", 22),
    # Two catalogs
    Key("compare.back", "compare", "escape", "back", "back", "From a tool to the list, and back to the catalogs.", 10),
    Key("compare.changed", "compare", "c", "only_changed", "only changed", "Only tools that changed, or all.", 15),
    Key("compare.swap", "compare", "x", "swap", "swap", "Compare the other way round.", 20),
    # Help
    Key("help.back", "help", "escape", "back", "back", "Back to where you came from.", 10),
    # Any list
    Key("list.down", "list", "j,down", "move(1)", "down", "One row down.", palette=False),
    Key("list.up", "list", "k,up", "move(-1)", "up", "One row up.", palette=False),
    Key("list.page-down", "list", "pagedown,ctrl+d", "page(1)", "page down", "One page down.", palette=False),
    Key("list.page-up", "list", "pageup,ctrl+u", "page(-1)", "page up", "One page up.", palette=False),
    Key("list.first", "list", "g,home", "first", "first", "The first row.", palette=False),
    Key("list.last", "list", "G,end", "last", "last", "The last row; the traffic list follows again.", palette=False),
    Key("list.open", "list", "enter", "open", "open", "Open what the cursor is on.", 5, palette=False),
    # Any text
    Key("text.down", "text", "j,down", "move(1)", "down", "One line down.", palette=False),
    Key("text.up", "text", "k,up", "move(-1)", "up", "One line up.", palette=False),
    Key("text.page-down", "text", "pagedown,ctrl+d,space", "page(1)", "page down", "One page down.", palette=False),
    Key("text.page-up", "text", "pageup,ctrl+u", "page(-1)", "page up", "One page up.", palette=False),
    Key("text.first", "text", "g,home", "first", "start", "The first line.", palette=False),
    Key("text.last", "text", "G,end", "last", "end", "The last line.", palette=False),
    Key("text.search", "text", "slash", "screen.search_text", "search", "Find a text; case is ignored.", 11),
    Key("text.next", "text", "n", "match(1)", "next match", "The next match.", palette=False),
    Key("text.previous", "text", "N", "match(-1)", "previous match", "The match before it.", palette=False),
    # Bodies
    Key("body.pretty", "body", "p", "pretty", "indent", "Indent JSON, or show it as it came.", 30),
    Key("body.text", "body", "v", "text", "text or events", "A response as the text that it says, or as its events.", 29),
    Key("body.fold", "body", "minus", "fold(-1)", "fold", "Show one level of JSON less.", 32),
    Key("body.unfold", "body", "plus,equals_sign", "fold(1)", "unfold", "Show one level of JSON more.", 33),
    Key(
        "body.fold-here",
        "body",
        "z,enter",
        "toggle_fold",
        "fold here",
        "Fold what begins on the row on top or at the match; a click folds too.",
    ),
    Key("body.wrap", "body", "w", "wrap", "wrap", "Wrap long lines, or cut them at the edge.", 31),
    # Dialogs
    Key("quit.keep", "quit", "k", "keep", "keep worker", "Leave; the worker goes on and clients stay connected.", 1, palette=False),
    Key("quit.stop", "quit", "x", "stop", "stop worker", "Leave and end the worker once running exchanges have ended.", 2, palette=False),
    Key("quit.cancel", "quit", "escape", "cancel", "stay", "Stay here.", 3, palette=False),
    Key("force.apply", "force", "a", "choose('apply')", "apply", "Shrink its tools; originals are stored first.", 1, palette=False),
    Key("force.measure", "force", "m", "choose('measure')", "measure", "Send its tools as they come, and measure.", 2, palette=False),
    Key("force.off", "force", "o", "choose('off')", "off", "Send its tools as they come; measure nothing.", 3, palette=False),
    Key("force.cancel", "force", "escape,n", "cancel", "leave it", "Leave the conversation as it is.", 4, palette=False),
    Key("export.curl", "export", "c", "format('curl')", "curl", "curl: commands for a shell, credentials as variables.", 1, palette=False),
    Key("export.har", "export", "h", "format('har')", "HAR", "HAR 1.2: for browsers' tools.", 2, palette=False),
    Key("export.jsonl", "export", "j", "format('jsonl')", "JSON lines", "JSON lines: one an exchange, for programs.", 3, palette=False),
    Key("export.markdown", "export", "m", "format('markdown')", "Markdown", "Markdown: a report for people.", 4, palette=False),
    Key("export.bodies", "export", "b", "bodies", "bodies", "With requests and responses, or without.", 5, palette=False),
    Key("export.cancel", "export", "escape", "cancel", "cancel", "Export nothing.", 6, palette=False),
    Key("delete.confirm", "delete", "enter", "confirm", "delete", "Delete it, once the word stands there.", 1, palette=False),
    Key("delete.cancel", "delete", "escape", "cancel", "keep it", "Leave the store as it is.", 2, palette=False),
    Key("quit.default", "quit", "enter", "default", "default", "The marked answer.", palette=False),
    Key("force.default", "force", "enter", "default", "default", "The marked answer.", palette=False),
    Key("prompt.close", "prompt", "escape", "close", "cancel", "Give up typing.", 1, palette=False),
)

FOCUS_PATHS: tuple[tuple[str, ...], ...] = (
    ("app", "traffic", "tabs", "list"),
    ("app", "exchange", "tabs", "text"),
    ("app", "exchange", "tabs", "text", "body"),
    ("app", "exchange", "tabs", "list", "tool-list"),
    ("app", "store", "list", "store-list"),
    ("app", "store", "text"),
    ("app", "catalog", "list", "tool-list"),
    ("app", "catalog", "text"),
    ("app", "compare", "list"),
    ("app", "compare", "text"),
    ("app", "cache", "list"),
    ("app", "cache", "text"),
    ("app", "help", "text"),
    ("quit",),
    ("force",),
    ("delete",),
    ("export",),
    ("prompt",),
)
"""Contexts whose keys hold at the same time, from the app to the focused widget; in one path no key may stand for two things."""

TITLES: dict[str, str] = {
    "app": "Everywhere",
    "traffic": "Traffic list",
    "exchange": "Exchange",
    "tabs": "Tabs of an exchange (on the list too)",
    "store": "Store",
    "store-list": "Store, on the list",
    "cache": "Cache",
    "catalog": "Tool catalogs",
    "tool-list": "Any list of tools",
    "compare": "Two catalogs",
    "help": "Help",
    "list": "Any list",
    "text": "Any text",
    "body": "Bodies",
    "prompt": "Filter and search line",
    "quit": "Leaving",
    "force": "Forcing a conversation",
    "delete": "Deleting an original",
    "export": "Exporting",
}


def bindings(context: str) -> list[Binding]:
    """Textual bindings of one context."""
    return [
        Binding(key.keys, key.action, key.description, show=False, priority=key.priority, tooltip=key.tooltip, id=key.id)
        for key in TABLE
        if key.context == context
    ]


def keys_of(table: Sequence[Key], *contexts: str) -> list[Key]:
    """Rows of a table for these contexts, in its order."""
    return [key for key in table if key.context in contexts]


PUNCTUATION: dict[str, str] = {
    KEY_NAME_REPLACEMENTS.get(name, name): sign
    for sign in map(chr, range(0x21, 0x7F))
    if not sign.isalnum()
    for name in (unicodedata.name(sign).lower().replace("-", "_").replace(" ", "_"),)
}
"""Textual's names of the signs on a keyboard: `question_mark` -> `?`."""
_SHORT = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}


def shown(name: str) -> str:
    """A key as footer and help spell it: `?`, `^p`, `esc`."""
    modifier, plus, base = name.rpartition("+")
    base = PUNCTUATION.get(base) or _SHORT.get(base, base)
    return f"^{base}" if modifier == "ctrl" else f"{modifier}{plus}{base}"
