"""Sentences that only say what the tool's own schema says."""

import functools
import re

from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.reading import Reading
from caveman_tui.core.shrink.vocabulary import GENERIC
from caveman_tui.core.shrink.words import stem, stems_in_order, stems_of, words_of

_DEFAULT = re.compile(r"^(?:…\s*)?(?:the )?default(?:s)?(?: value)?(?: is| to|:|=|)\s*[\"'`]?([^\"'`]{1,40}?)[\"'`]?\s*\.?$", re.IGNORECASE)
_FIELD = re.compile(r"^(?:[-*•+]\s+)?[*`\"'@$-]*+\s*+([\w.\-]++)[`\"'*]*+\s*+(?:\([^()]*+\))?\s*+[:：]\s*(.*)$", re.DOTALL)
_SAME = {"identifier": "id", "url": "uri"}
_TAKES = frozenset({"accept", "tak"})
_GENERIC = frozenset(map(stem, GENERIC))
_REMEMBERED_TOOLS = 256
_LONGEST_DESCRIBED = 20_000
"""Characters of the parameters' descriptions, beyond which nothing is compared with them: each sentence is compared with all."""


class Restated:
    """Where a sentence is said already. Plain numbers, for speed."""

    NOWHERE = 0
    LEAD = 1
    SCHEMA = 2


class Known:
    """What a reader knows without a sentence: the schema's names and defaults, the tool's name, the description's lead."""

    __slots__ = (
        *("_all", "_context", "_described", "_fields", "_has_described"),
        *("_lead_stems", "_lead_text", "_lowered", "_lowered_described", "_tool_stems"),
    )

    def __init__(self, context: ToolContext, lead: str) -> None:
        self._context = context
        self._has_described = bool(context.described) and sum(map(len, context.described.values())) <= _LONGEST_DESCRIBED
        self._lead_text = lead
        self._fields: dict[str, tuple[str, str, list[str]]] = {}
        """By a parameter's name: all that is known of it in lower case, its description, and the stems of that once they were asked for."""
        self._lowered = ""
        self._lowered_described = ""
        self._all: frozenset[str] | None = None
        self._described: list[list[str]] | None = None
        self._lead_stems: set[str] | None = None
        self._tool_stems: set[str] | None = None

    def holds_default(self, text: str) -> bool:
        """Whether a sentence states a default and nothing else, and the schema has it."""
        found = _DEFAULT.match(text)
        return found is not None and found.group(1).strip() in self._context.defaults

    def holds_field(self, line: str) -> bool:
        """Whether a parameter's line in an argument list says nothing beyond the parameter's name, the tool's, the lead and itself."""
        field = _FIELD.match(line)
        if field is None or field.group(1) not in self._context.parameters:
            return False
        name, said = field.groups()
        if name not in self._fields:
            described = self._context.described.get(name, "") if self._has_described else ""
            known = f"{self._names_and_lead()} {described.lower()}" if described else self._names_and_lead()
            self._fields[name] = known, described, []
        known, described, stems = self._fields[name]
        if said.isascii() and not _may_stand_in(known, words_of(said)):
            return False
        if not stems:
            stems += stems_in_order(described)
        general = _GENERIC.union(stems_of(name), self._tool(), self._lead())
        return _stand_in_order([part for part in stems_in_order(said) if part not in general], stems)

    def restated_in(self, sentence: Reading) -> int:
        """Where all content words of a sentence stand: in the lead and in names, or in this order in a parameter's own description."""
        in_ascii, words = sentence.text.isascii(), sentence.words
        if not in_ascii or _may_stand_in(self._names_and_lead(), words):
            if self._all is None:
                self._all = _GENERIC.union(self._names(), self._tool(), self._lead())
            if self._all.issuperset(sentence.stems()):
                return Restated.LEAD
        if self._has_described and (not in_ascii or _may_stand_in(self._all_described(), words)):
            if self._described is None:
                self._described = [stems_in_order(described) for described in self._context.described.values()]
            content = [part for part in stems_in_order(sentence.text) if part not in _GENERIC]
            if any(_stand_in_order(content, described) for described in self._described):
                return Restated.SCHEMA
        return Restated.NOWHERE

    def holds_half_of(self, sentence: Reading) -> bool:
        """Whether half of a sentence's content words or more stand in the lead, in the tool's name or in a parameter's name."""
        content = _alike(sentence.stems()) - _GENERIC - _TAKES
        return 2 * len(content - _alike(self._names()) - self._lead() - self._tool()) <= len(content)

    def names_argument(self, sentence: Reading) -> bool:
        """Whether a sentence has a word of a parameter's name."""
        return not _alike(sentence.stems()).isdisjoint(_alike(self._names()))

    def names_tool_anew(self, sentence: Reading) -> bool:
        """Whether a sentence has words of the tool's name which the lead has not: then it says what the tool is for."""
        fresh = {word for word in self._tool() - self._lead() if len(word) > 2}
        return bool(fresh) and not fresh.isdisjoint(sentence.stems())

    def _names_and_lead(self) -> str:
        if not self._lowered:
            self._lowered = " ".join((self._lead_text, self._context.tool, *self._context.parameters)).lower()
        return self._lowered

    def _all_described(self) -> str:
        if not self._lowered_described:
            self._lowered_described = " ".join(self._context.described.values()).lower()
        return self._lowered_described

    def _tool(self) -> set[str]:
        if self._tool_stems is None:
            self._tool_stems = stems_of(self._context.tool)
        return self._tool_stems

    def _names(self) -> frozenset[str]:
        return _stems_of_names(self._context.parameters)

    def _lead(self) -> set[str]:
        if self._lead_stems is None:
            self._lead_stems = stems_of(self._lead_text)
        return self._lead_stems


def _stand_in_order(stems: list[str], others: list[str]) -> bool:
    rest = iter(others)
    return all(part in rest for part in stems)


def _may_stand_in(lowered: str, words: list[str]) -> bool:
    """Whether words in ASCII, their endings aside, may all stand in a text in lower case or are general: seen without their stems."""
    for word in words:
        if word not in GENERIC and word[: len(word) - 3 if len(word) > 6 else 3] not in lowered and stem(word) not in _GENERIC:
            return False
    return True


@functools.lru_cache(maxsize=_REMEMBERED_TOOLS)
def _stems_of_names(names: frozenset[str]) -> frozenset[str]:
    return frozenset(stems_of(" ".join(names)))


def _alike(stems: set[str] | frozenset[str]) -> set[str]:
    return {_SAME.get(word, word) for word in stems}
