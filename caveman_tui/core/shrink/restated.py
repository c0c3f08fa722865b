"""Sentences that only say what the tool's own schema says."""

import re

from caveman_tui.core.shrink.blocks import Section
from caveman_tui.core.shrink.model import ToolContext

_DEFAULT = re.compile(r"^(?:…\s*)?(?:the )?default(?:s)?(?: value)?(?: is| to|:|=|)\s*[\"'`]?([^\"'`]{1,40}?)[\"'`]?\s*\.?$", re.IGNORECASE)
_FIELD = re.compile(r"^[*`\"'@$-]*\s*([\w.\-]+)[`\"'*]*\s*(?:\([^()]*\))?\s*[:：]\s*(.*)$", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][a-z]*|[A-Z]+|\d+|[^\x00-\x7f]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GENERIC = frozenset(
    "a an the this that of to for in on at by from with and or as is are be it its you your which use used using string integer int number boolean bool "
    "value name id identifier optional specific given provided particular new existing "
    "tool function method operation command will can also optionally then user based simply existing".split()
)


def repeats_schema(text: str, is_field: bool, section: Section, context: ToolContext, lead: str) -> bool:
    """Whether a sentence, or a parameter's line in an argument list, says nothing beyond names and defaults of the schema."""
    found = _DEFAULT.match(text)
    if found:
        return found.group(1).strip() in context.defaults
    if not is_field or section is not Section.PARAMETERS:
        return False
    field = _FIELD.match(text)
    if field is None or field.group(1) not in context.parameters:
        return False
    known = _GENERIC | _stems(field.group(1)) | _stems(context.tool) | _stems(lead)
    return _stems(field.group(2)) <= known


def repeats_lead(text: str, context: ToolContext, lead: str) -> bool:
    """Whether a sentence has no content word that is not in the lead, in the tool's name or in a parameter's name."""
    known = _GENERIC | _stems(lead) | _stems(context.tool)
    return all(word in known or any(word in _stems(name) for name in context.parameters) for word in _stems(text))


def names_tool_anew(text: str, context: ToolContext, lead: str) -> bool:
    """Whether a sentence has words of the tool's name which the lead has not: then it says what the tool is for."""
    fresh = {word for word in _stems(context.tool) - _stems(lead) if len(word) > 2}
    return bool(fresh & _stems(text))


def _stems(text: str) -> set[str]:
    return {_stem(word.lower()) for part in _WORD.findall(text) for word in (_PARTS.findall(part) or [part])}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] in "se" and word[-2] != "s" else word
