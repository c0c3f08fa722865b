"""The help screen's text: what this is, how to connect a client, what the signs mean, and every key from the table."""

from collections.abc import Sequence

from caveman_tui.traffic.fit import columns_of
from caveman_tui.traffic.lines import BLANK, Line, Role, Span, line, plain, wrap
from caveman_tui.tui import keys
from caveman_tui.tui.keys import Key

_SIGNS = (
    ("✓", "done"),
    ("●", "running"),
    ("✗", "refused by the provider, broken off or not forwarded"),
    ("!", "done, with a warning or a broken marker rule; between two catalogs: may break a caller"),
    ("x", "a tool that new conversations leave out of shrinking"),
    ("-", "cancelled by the client; in texts: dropped"),
    ("~ + =", "changed, added, as it came"),
    ("h m", "a cache marker of one hour, of five minutes, in prefix order: hhh>hhm"),
    ("(24%)", "tools ratio measured only; without brackets it was applied"),
    ("–", "unknown"),
)
_NAME_WIDTH = 16


def help_lines(
    width: int, *, url: str, places: tuple[tuple[str, str], ...], policies: str, table: Sequence[Key], here: Sequence[str] = ()
) -> list[Line]:
    """Everything, for a width. `places` are names and paths; `policies` says what is on; `table` holds the keys as they are now.

    `here` are the contexts of what had the focus, from the widget outwards: their keys come first.
    """
    lines: list[Line] = [
        *_text(
            "caveman-tui runs a local proxy between your coding agent and its model, and shows each request as it passes: which "
            "prompt-cache markers were changed and why, how much smaller the tool catalog became, what the provider billed. Nothing this "
            "screen does can hurt a request.",
            width,
        ),
        *(part for context in here for part in (BLANK, *_keys(context, table, width, here=True))),
        BLANK,
        line("WHAT IS ON", Role.HEADING),
        *_text(policies, width),
        BLANK,
        line("CONNECT A CLIENT", Role.HEADING),
        *_pair("Claude Code", f"export ANTHROPIC_BASE_URL={url}", width),
        *_pair("", "export ENABLE_TOOL_SEARCH=true", width),
        *_pair("Codex", f"codex -c openai_base_url='\"{url}/v1\"'", width),
        *_pair("OpenAI SDK", f"export OPENAI_BASE_URL={url}/v1", width),
        *_pair("any of them", "caveman-tui exec -- CLIENT", width),
        BLANK,
        line("WHERE THINGS LIE", Role.HEADING),
    ]
    for name, path in places:
        lines += _pair(name, path, width)
    lines += [BLANK, line("SIGNS", Role.HEADING)]
    for sign, meaning in _SIGNS:
        lines += _pair(sign, meaning, width)
    lines += [
        *_text(
            "Input and read come from the provider; times and bytes are measured here; token counts of tools, and all sums made "
            "with them, are inferred.",
            width,
        )
    ]
    for context in keys.TITLES:
        if context not in here:
            lines += [BLANK, *_keys(context, table, width)]
    lines += [BLANK, line("KEYS OF YOUR OWN", Role.HEADING)]
    lines += _text('Under [keys] in config.toml, with the names that stand behind the keys here: "traffic.pause" = "P,f5".', width)
    return lines


def _keys(context: str, table: Sequence[Key], width: int, *, here: bool = False) -> list[Line]:
    lines = [line(f"{'KEYS HERE' if here else 'KEYS'}: {keys.TITLES[context].upper()}", Role.HEADING)]
    for key in keys.keys_of(table, context):
        names = " ".join(keys.shown(name) for name in key.keys.split(","))
        *above, last = _pair(names, key.tooltip, width)
        if columns_of(plain(last)) + len(key.id) + 2 <= width:
            last = (*last, Span(f"  {key.id}", Role.MUTED))
        lines += [*above, last]
    return lines


def _text(words: str, width: int) -> list[Line]:
    return [line(part, Role.MUTED) for part in wrap(words, width)]


def _pair(name: str, value: str, width: int) -> list[Line]:
    parts = wrap(value, max(10, width - _NAME_WIDTH))
    first: Line = (Span(name.ljust(_NAME_WIDTH), Role.ACCENT), Span(parts[0]))
    return [first, *(line(" " * _NAME_WIDTH + part) for part in parts[1:])]
