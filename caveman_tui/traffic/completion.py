"""Completing a filter while it is typed."""

from collections.abc import Iterable, Mapping

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic import filter

_VALUES_AT_MOST = 200


def values_of(exchanges: Iterable[Exchange]) -> dict[str, list[str]]:
    """Values that fields have in `exchanges`, the ones met last first: what can stand behind `model:`, `client:` and so on."""
    found: dict[str, dict[str, None]] = {"model": {}, "client": {}, "conv": {}, "agent": {}, "provider": {}}
    for exchange in exchanges:
        for name, value in (
            ("model", exchange.model),
            ("client", exchange.client),
            ("conv", exchange.conversation),
            ("agent", exchange.agent),
            ("provider", exchange.provider),
        ):
            if value and value.isprintable():
                found[name].pop(value, None)
                found[name][value] = None
    return {name: list(reversed(values))[:_VALUES_AT_MOST] for name, values in found.items()}


def completed(text: str, values: Mapping[str, Iterable[str]]) -> str | None:
    """`text` with its last term written out, as far as there is one beginning so; None where there is none, or nothing to add."""
    start = max(text.rfind(" ") + 1, 0)
    term = text[start:]
    minus = "-" if term.startswith("-") else ""
    typed = term[len(minus) :]
    if not typed or text.count('"') % 2:
        return None
    name, colon, value = typed.partition(":")
    if colon and value and name.lower() in values:
        candidates: Iterable[str] = (f"{typed[: len(name) + 1]}{known}" for known in values[name.lower()] if " " not in known)
    else:
        candidates = filter.words()
    for candidate in candidates:
        if len(candidate) > len(typed) and candidate.lower().startswith(typed.lower()):
            return text + candidate[len(typed) :]
    return None
