"""Sentences that only say what the tool's own schema says."""

import functools
import re

from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.reading import Reading
from caveman_tui.core.shrink.vocabulary import GENERIC
from caveman_tui.core.shrink.words import stem, stems_of, stems_of_longest

_DEFAULT = re.compile(r"^(?:…\s*)?(?:the )?default(?:s)?(?: value)?(?: is| to|:|=|)\s*[\"'`]?([^\"'`]{1,40}?)[\"'`]?\s*\.?$", re.IGNORECASE)
_FIELD = re.compile(r"^(?:[-*•+]\s+)?[*`\"'@$-]*\s*([\w.\-]+)[`\"'*]*\s*(?:\([^()]*\))?\s*[:：]\s*(.*)$", re.DOTALL)
_SAME = {"identifier": "id", "url": "uri"}
_TAKES = frozenset({"accept", "tak"})
_GENERIC = frozenset(map(stem, GENERIC))
_REMEMBERED_TOOLS = 256


class Known:
    """What a reader knows without a sentence: the schema's names and defaults, the tool's name, the description's lead."""

    __slots__ = ("_all", "_context", "_lead_stems", "_lead_text", "_lowered", "_tool_stems")

    def __init__(self, context: ToolContext, lead: str) -> None:
        self._context = context
        self._lead_text = lead
        self._lowered = ""
        self._all: frozenset[str] | None = None
        self._lead_stems: set[str] | None = None
        self._tool_stems: set[str] | None = None

    def holds_default(self, text: str) -> bool:
        """Whether a sentence states a default and nothing else, and the schema has it."""
        found = _DEFAULT.match(text)
        return found is not None and found.group(1).strip() in self._context.defaults

    def holds_field(self, line: str) -> bool:
        """Whether a parameter's line in an argument list says nothing beyond the parameter's name, the tool's and the lead."""
        field = _FIELD.match(line)
        if field is None or field.group(1) not in self._context.parameters:
            return False
        name, said = field.groups()
        described = "" if self._context.parameter else self._context.described.get(name, "")
        if not self._may_hold(said, described):
            return False
        return _GENERIC.union(stems_of(name), self._tool(), self._lead(), stems_of(described)).issuperset(stems_of(said))

    def holds_all_of(self, sentence: Reading) -> bool:
        """Whether a sentence has no content word that is not in the lead, in the tool's name or in a parameter's name."""
        if not self._may_hold(sentence.text):
            return False
        if self._all is None:
            self._all = _GENERIC.union(self._names(), self._tool(), self._lead())
        return self._all.issuperset(sentence.stems())

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

    def holds_described(self, sentence: Reading) -> bool:
        """Whether a sentence of the tool's own description has no content word that the description of one parameter has not."""
        if self._context.parameter or not self._context.described:
            return False
        longest = stems_of_longest(sentence.text)
        for described in self._context.described.values():
            lowered = described.lower()
            if all(part in lowered or part in _GENERIC for part in longest):
                known = _GENERIC.union(self._names(), self._tool(), self._lead(), stems_of(described))
                if known.issuperset(sentence.stems()):
                    return True
        return False

    def _may_hold(self, text: str, also: str = "") -> bool:
        """Whether the longest word of a text is general or stands somewhere in what is known, which takes no stems to see."""
        if not self._lowered:
            self._lowered = " ".join((self._lead_text, self._context.tool, *self._context.parameters)).lower()
        return all(part in self._lowered or part in _GENERIC or part in also.lower() for part in stems_of_longest(text))

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


@functools.lru_cache(maxsize=_REMEMBERED_TOOLS)
def _stems_of_names(names: frozenset[str]) -> frozenset[str]:
    return frozenset(stems_of(" ".join(names)))


def _alike(stems: set[str] | frozenset[str]) -> set[str]:
    return {_SAME.get(word, word) for word in stems}
