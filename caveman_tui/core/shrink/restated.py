"""Sentences that only say what the tool's own schema says."""

import re

from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.vocabulary import GENERIC

_DEFAULT = re.compile(r"^(?:…\s*)?(?:the )?default(?:s)?(?: value)?(?: is| to|:|=|)\s*[\"'`]?([^\"'`]{1,40}?)[\"'`]?\s*\.?$", re.IGNORECASE)
_FIELD = re.compile(r"^[*`\"'@$-]*\s*([\w.\-]+)[`\"'*]*\s*(?:\([^()]*\))?\s*[:：]\s*(.*)$", re.DOTALL)
_STEM_WORD = re.compile(r"[a-z]+|\d+|[^\x00-\x7f]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("ing", "ed", "es", "s", "e")
_SHORTEST_STEM = 3
_SAME = {"identifier": "id", "url": "uri"}
_TAKES = frozenset({"accept", "tak"})


class Known:
    """What a reader knows without a sentence: the schema's names and defaults, the tool's name, the description's lead."""

    __slots__ = ("_context", "_lead", "_named", "_tool")

    def __init__(self, context: ToolContext, lead: str) -> None:
        self._context = context
        self._lead = _stems(lead)
        self._tool = _stems(context.tool)
        self._named: set[str] | None = None

    def holds_default(self, text: str) -> bool:
        """Whether a sentence states a default and nothing else, and the schema has it."""
        found = _DEFAULT.match(text)
        return found is not None and found.group(1).strip() in self._context.defaults

    def holds_field(self, line: str) -> bool:
        """Whether a parameter's line in an argument list says nothing beyond the parameter's name, the tool's and the lead."""
        field = _FIELD.match(line)
        if field is None or field.group(1) not in self._context.parameters:
            return False
        return _stems(field.group(2)) <= _GENERIC | _stems(field.group(1)) | self._tool | self._lead

    def holds_all_of(self, text: str) -> bool:
        """Whether a sentence has no content word that is not in the lead, in the tool's name or in a parameter's name."""
        left = _stems(text) - _GENERIC - self._lead - self._tool
        if not left:
            return True
        return left <= self._names()

    def holds_half_of(self, text: str) -> bool:
        """Whether half of a sentence's content words or more stand in the lead, in the tool's name or in a parameter's name."""
        content = _alike(_stems(text)) - _GENERIC - _TAKES
        return 2 * len(content - _alike(self._names()) - self._lead - self._tool) <= len(content)

    def names_argument(self, text: str) -> bool:
        """Whether a sentence has a word of a parameter's name."""
        return not _alike(_stems(text)).isdisjoint(_alike(self._names()))

    def names_tool_anew(self, text: str) -> bool:
        """Whether a sentence has words of the tool's name which the lead has not: then it says what the tool is for."""
        fresh = {stem for stem in self._tool - self._lead if len(stem) > 2}
        return bool(fresh) and not fresh.isdisjoint(_stems(text))

    def _names(self) -> set[str]:
        if self._named is None:
            self._named = {stem for name in self._context.parameters for stem in _stems(name)}
        return self._named


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _STEM_WORD.findall(_HUMP.sub(" ", text).lower())}


def _alike(stems: set[str]) -> set[str]:
    return {_SAME.get(stem, stem) for stem in stems}


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    return next((word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM), word)


_GENERIC = frozenset(_stem(word) for word in GENERIC)
