"""Keys of a person's own: the `keys` table of the config file laid over the key table."""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from textual.keys import Keys

from caveman_tui.tui.keys import FOCUS_PATHS, FORBIDDEN, PUNCTUATION, TABLE, Key

_SIGNS = {sign: name for name, sign in PUNCTUATION.items()}
_NAMED = {key.value for key in Keys if not key.value.startswith("<") and key.value != "ctrl-at"} | set(PUNCTUATION)


class KeysRefused(ValueError):
    """An entry of the `keys` table that can't be; says which, and what would do."""


def remapped(overrides: Mapping[str, str]) -> tuple[Key, ...]:
    """The key table with other keys for some actions. `overrides` gives for an action's id its keys, comma-separated, as a person
    writes them: `x`, `?`, `ctrl+x`, `f5`, `pagedown`. Raises KeysRefused.
    """
    known = {key.id: key for key in TABLE}
    for action in overrides:
        if action not in known:
            raise KeysRefused(f"there is no action '{action}'.{_near(action, known)} Help (?) names the action of each key.")
    table = tuple(replace(key, keys=_keys(key.id, overrides[key.id])) if key.id in overrides else key for key in TABLE)
    for path in FOCUS_PATHS:
        _check(table, path, overrides)
    return table


def _keys(action: str, written: str) -> str:
    names = [_name(action, part.strip()) for part in (written.split(",") if written != "," else [","])]
    return ",".join(dict.fromkeys(names))


def _name(action: str, written: str) -> str:
    if not written:
        raise KeysRefused(f"{action} needs a key, such as 'x' or 'ctrl+x'; several are separated by commas.")
    modifier, plus, base = written.rpartition("+") if len(written) > 1 else ("", "", written)
    name = written if len(written) == 1 else f"{modifier.lower()}{plus}{base if len(base) == 1 else base.lower()}"
    name = _SIGNS.get(name, name)
    if name in FORBIDDEN:
        raise KeysRefused(f"{action} can't have '{written}': terminals and tmux keep that key to themselves.")
    if name in _NAMED or (len(name) == 1 and name.isprintable()):
        return name
    if modifier.lower() == "alt" and len(base) == 1:
        return name
    raise KeysRefused(f"{action}: there is no key '{written}'.{_near(name, _NAMED)}")


def _check(table: tuple[Key, ...], path: tuple[str, ...], overrides: Mapping[str, str]) -> None:
    taken: dict[str, str] = {}
    for key in (key for key in table if key.context in path):
        for name in key.keys.split(","):
            other = taken.setdefault(name, key.id)
            if other != key.id:
                ours, theirs = (key.id, other) if key.id in overrides else (other, key.id)
                raise KeysRefused(
                    f"'{name}' can't stand for {ours}: where that holds it stands for {theirs}. Give {theirs} another key too."
                )


def _near(word: str, known: "Mapping[str, Key] | set[str]") -> str:
    close = get_close_matches(word, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
