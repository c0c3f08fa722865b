"""The filter language of the traffic list: one line of terms, all of which must hold.

model:opus status:4xx conv:3f2a     text fields: contains, case ignored; quotes keep blanks together
in>20k cache<50% took>=1.5s tools=0 numbers with units; what is unknown matches no comparison
has:edit has:warning                what an exchange has
opus                                a bare word is looked for in every text field
body:"rate limit"                   a text in a request or response that is in memory; the worker has to look for it
-has:edit                           a minus turns a term around
"""

import operator
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from caveman_tui.protocol.control import SEARCH_TEXT_LIMIT
from caveman_tui.protocol.exchanges import Exchange

Test = Callable[[Exchange], bool]


class FilterError(ValueError):
    """A term that means nothing; says what is wrong with it, where it stands and what would be right."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a filter."""

    text: str
    says: str
    """The condition in words."""
    test: Test
    body: str = ""
    """The text that the worker has to look for; empty where the exchange itself decides. Until then nothing holds it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter line."""

    text: str
    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def body_texts(self) -> tuple[str, ...]:
        """The texts that the worker has to look for in bodies, each once."""
        return tuple(dict.fromkeys(term.body for term in self.terms if term.body))

    def with_found(self, found: Mapping[str, Container[str]]) -> "Filter":
        """The same filter, with the body terms decided by `found`: text to the ids of the exchanges that hold it.

        The collections are asked anew at each match, so they may grow while the worker still searches.
        """
        return replace(self, terms=tuple(_decided(term, found) for term in self.terms))

    def without_bodies(self, found: Container[str]) -> "Filter":
        """The same filter without the body terms whose texts are not in `found`, for as long as nobody has looked for them."""
        return replace(self, terms=tuple(term for term in self.terms if not term.body or term.body in found))

    def matches(self, exchange: Exchange) -> bool:
        """Whether every term holds for `exchange`."""
        return all(term.test(exchange) for term in self.terms)

    def explain(self) -> str:
        """The filter in words; empty for the empty filter."""
        return ", ".join(term.says for term in self.terms)


NO_FILTER = Filter("", ())

_TEXTS: dict[str, tuple[str, Callable[[Exchange], str]]] = {
    "model": ("model", lambda e: e.model),
    "client": ("client", lambda e: e.client),
    "conv": ("conversation", lambda e: e.conversation),
    "agent": ("agent", lambda e: e.agent),
    "provider": ("provider", lambda e: e.provider),
    "path": ("path", lambda e: e.path),
    "note": ("note", lambda e: e.note),
    "id": ("id", lambda e: e.id),
}


def _tools_ratio(exchange: Exchange) -> float | None:
    before = sum(tools.bytes_before for tools in exchange.tools)
    return (before - sum(tools.bytes_after for tools in exchange.tools)) / before if before else None


_NUMBERS: dict[str, tuple[str, str, Callable[[Exchange], float | None]]] = {
    "in": ("input tokens", "count", lambda e: e.usage.total_input_tokens if e.usage else None),
    "out": ("output tokens", "count", lambda e: e.usage.output_tokens if e.usage else None),
    "cache": ("cache read share", "fraction", lambda e: e.usage.cache_read_share if e.usage else None),
    "written": ("tokens written to the cache", "count", lambda e: e.usage.cache_write_tokens if e.usage else None),
    "tools": ("tools ratio", "fraction", _tools_ratio),
    "markers": ("markers changed", "count", lambda e: len(e.marker_edits)),
    "size": ("request size", "bytes", lambda e: e.request_bytes),
    "ttfb": ("time to first byte", "time", lambda e: e.ttfb_ms),
    "took": ("duration", "time", lambda e: e.duration_ms),
}

_HAS: dict[str, tuple[str, Test]] = {
    "edit": ("was changed", lambda e: bool(e.marker_edits) or any(t.applied for t in e.tools)),
    "marker": ("carries cache markers", lambda e: bool(e.markers_before or e.markers_after)),
    "tools": ("carries tools", lambda e: bool(e.tools)),
    "shrink": ("had its tools shrunk", lambda e: any(t.applied for t in e.tools)),
    "handle": ("has an original in the store", lambda e: any(t.handle for t in e.tools)),
    "warning": ("has a warning", lambda e: bool(e.warnings)),
    "violation": ("breaks a marker rule", lambda e: bool(e.violations)),
    "usage": ("has usage", lambda e: e.usage is not None),
    "agent": ("comes from a sub-agent", lambda e: bool(e.agent)),
    "note": ("has a note", lambda e: bool(e.note)),
}

_STATES: dict[str, Test] = {
    "open": lambda e: e.state in ("open", "responding"),
    "done": lambda e: e.state == "done",
    "error": lambda e: e.state in ("provider-error", "broken", "failed"),
    "cancelled": lambda e: e.state == "cancelled",
    "broken": lambda e: e.state == "broken",
    "failed": lambda e: e.state == "failed",
}

_OPERATORS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "<": ("under", operator.lt),
    "<=": ("at most", operator.le),
    ">": ("over", operator.gt),
    ">=": ("at least", operator.ge),
    "=": ("equal to", operator.eq),
}

_UNITS: dict[str, dict[str, float]] = {
    "count": {"": 1, "k": 1e3, "m": 1e6},
    "fraction": {"%": 0.01, "": 1},
    "bytes": {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6},
    "time": {"ms": 1, "s": 1e3, "m": 6e4, "": 1e3},
}

_BODY = "body:"
_SPLIT = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_COMPARISON = re.compile(r"([a-z]+)(<=|>=|<|>|=)(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)\s*([a-z%]*)", re.IGNORECASE)
_STATUS = re.compile(r"[1-5](?:xx|[0-9]{2})", re.IGNORECASE)


def words() -> tuple[str, ...]:
    """Every way in which a term can begin, for completion."""
    return (
        *(f"{name}:" for name in _TEXTS),
        "body:",
        "status:",
        *(f"status:{name}" for name in _STATES),
        *(f"has:{name}" for name in _HAS),
        *(f"{name}>" for name in _NUMBERS),
    )


def parse(text: str) -> Filter:
    """The filter that `text` spells. Raises FilterError naming the first term that means nothing."""
    terms = tuple(_term(match.group(), match.start(), match.end()) for match in _SPLIT.finditer(text))
    return Filter(text.strip(), terms)


def _term(raw: str, start: int, end: int) -> Term:
    if raw == "-":
        raise FilterError("A minus turns the term after it around; write it without a blank: -has:edit", start, end)
    negated = raw.startswith("-")
    condition = raw[1:] if negated else raw
    body = condition[len(_BODY) :].replace('"', "") if condition.lower().startswith(_BODY) else ""
    try:
        says, test = _condition(condition)
    except ValueError as error:
        raise FilterError(str(error), start, end) from None
    if negated:
        return Term(raw, f"not ({says})", lambda exchange: not test(exchange), body)
    return Term(raw, says, test, body)


def _decided(term: Term, found: Mapping[str, Container[str]]) -> Term:
    if not term.body:
        return term
    ids, wanted = found.get(term.body, ()), not term.text.startswith("-")
    return replace(term, test=lambda exchange: (exchange.id in ids) is wanted)


def _condition(text: str) -> tuple[str, Test]:
    key, colon, value = text.partition(":")
    if colon and not key.startswith('"'):
        return _field(key.lower(), value.replace('"', ""))
    if comparison := _COMPARISON.fullmatch(text):
        return _comparison(comparison.group(1).lower(), comparison.group(2), comparison.group(3))
    return _anywhere(text.replace('"', ""))


def _field(key: str, value: str) -> tuple[str, Test]:
    if key not in _TEXTS and key not in ("status", "has", "body"):
        raise ValueError(f"There is no field '{key}'.{_suggest(key, (*_TEXTS, 'status', 'has', 'body'), ':')}")
    if not value:
        raise ValueError(f"'{key}:' needs a value, such as {_EXAMPLES.get(key, f'{key}:abc')}")
    if key == "status":
        return _status(value.lower())
    if key == "has":
        if value.lower() not in _HAS:
            raise ValueError(f"An exchange can't have '{value}'.{_suggest(value.lower(), tuple(_HAS))}")
        return _HAS[value.lower()]
    if key == "body":
        if len(value) > SEARCH_TEXT_LIMIT:
            raise ValueError(f"A text to look for in bodies has at most {SEARCH_TEXT_LIMIT} characters.")
        return f"a body in memory contains {value}", lambda _: False
    name, read = _TEXTS[key]
    wanted = value.casefold()
    return f"{name} contains {value}", lambda exchange: wanted in read(exchange).casefold()


def _status(value: str) -> tuple[str, Test]:
    if value in _STATES:
        return f"is {value}", _STATES[value]
    if not _STATUS.fullmatch(value):
        raise ValueError(f"'{value}' is no status: write 429, 4xx or one of {', '.join(_STATES)}")
    if value.endswith("xx"):
        hundred = int(value[0])
        return f"status is {value}", lambda exchange: exchange.status is not None and exchange.status // 100 == hundred
    code = int(value)
    return f"status is {value}", lambda exchange: exchange.status == code


def _comparison(key: str, sign: str, value: str) -> tuple[str, Test]:
    if key not in _NUMBERS:
        raise ValueError(f"'{key}' is no number of an exchange.{_suggest(key, tuple(_NUMBERS))}")
    name, unit_kind, read = _NUMBERS[key]
    number = _NUMBER.fullmatch(value)
    units = _UNITS[unit_kind]
    if number is None or number.group(2).lower() not in units:
        spelled = ", ".join(f"1{unit}" for unit in units if unit)
        raise ValueError(f"'{value}' is no value for {key}: write a number{f' such as {spelled}' if spelled else ''}")
    limit = float(number.group(1)) * units[number.group(2).lower()]
    says, compare = _OPERATORS[sign]

    def test(exchange: Exchange) -> bool:
        actual = read(exchange)
        return actual is not None and compare(actual, limit)

    return f"{name} {says} {value}", test


def _anywhere(word: str) -> tuple[str, Test]:
    wanted = word.casefold()
    readers = tuple(read for _, read in _TEXTS.values())
    return f"contains {word}", lambda exchange: any(wanted in read(exchange).casefold() for read in readers)


def _suggest(word: str, known: tuple[str, ...], tail: str = "") -> str:
    close = get_close_matches(word, known, n=1)
    if close:
        return f" Did you mean {close[0]}{tail}?"
    return f" Known are {', '.join(name + tail for name in known)}."


_EXAMPLES = {"status": "status:4xx or status:open", "has": "has:edit", "model": "model:opus"}
