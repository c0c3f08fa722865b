"""Signs of text that neither chooses the tool nor builds the call, with what outweighs each of them."""

import functools
import re
from dataclasses import dataclass

from caveman_tui.core.shrink.signals import LONGEST_REMEMBERED
from caveman_tui.core.shrink.vocabulary import Signal

_START = r"^(?:…\s*)?(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|_)?"
_THE_TOOL = r"(?:it|this|the (?:tool|function|method|operation|call|command)|this (?:tool|function|method|operation|call|command))"
_ADVERBS = r"(?:also |then |will |simply |automatically )*"


@dataclass(frozen=True, slots=True)
class FillerRule:
    """One kind of filler."""

    kind: str
    why: str
    pattern: re.Pattern[str]
    unless: frozenset[Signal]
    """Signals that outweigh this rule."""


_RULES_OUT = frozenset({Signal.PROHIBITION, Signal.EXCLUSIVE, Signal.ONLY, Signal.BOUND, Signal.DESTRUCTIVE})
_STATES_A_VALUE = _RULES_OUT | {Signal.DEFAULT, Signal.FORMAT}
_TELLS_WHAT_TO_DO = _STATES_A_VALUE | {Signal.PREREQUISITE, Signal.LITERAL}


def _rule(kind: str, why: str, unless: frozenset[Signal], *alternatives: str) -> FillerRule:
    return FillerRule(kind, why, re.compile("|".join(alternatives), re.IGNORECASE), unless)


RULES = (
    _rule(
        "return-shape",
        "says what is shown, not what goes in",
        _RULES_OUT,
        _START + r"(?:after [^,]{3,60}, )?(?:a|an|the) [\w ]{3,80}(?:will be|is|are) (?:displayed|shown|presented|printed|rendered)\b",
        _START + r"(?:also |then )?(?:shows?|displays?|prints?)\b",
    ),
    _rule(
        "return-shape",
        "says what comes back, not what goes in",
        _RULES_OUT | {Signal.DEFAULT, Signal.PREREQUISITE, Signal.CHAIN},
        _START + rf"(?:(?:{_THE_TOOL}|and|which) )?{_ADVERBS}(?:returns?|responds? with|yields?|produces)\b",
        _START
        + r"(?:the )?(?:response|results?|output|returned \w+)(?: \w+)? (?:is|are|includes?|contains?|will|has|have|shows?|consists?)\b",
        r"^(?:…\s*)?(?:返回|将返回|会返回)",
    ),
    _rule(
        "return-shape",
        "says what the parts of a result hold",
        _STATES_A_VALUE | {Signal.LITERAL, Signal.ARGUMENT},
        r"^(?:each|every) [\w ]{2,30}? (?:contains?|includes?|has|have|consists?)\b",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _STATES_A_VALUE | {Signal.PREREQUISITE},
        _START
        + r"(?:(?:it|this|the tool|this tool)(?:'s| is)? )?(?:particularly |especially |very |also )*"
        + r"(?:perfect|ideal|great|essential|invaluable|excellent|useful|helpful|valuable"
        + r"|well[- ]suited|best suited|handy|indispensable)"
        + r" (?:for|in)\b",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.CAPABILITY, Signal.ENUMERATION, Signal.INSTRUCTION},
        r"\b(?:state[- ]of[- ]the[- ]art|cutting[- ]edge|seamless(?:ly)?|effortless(?:ly)?|powerful|world[- ]class|blazing(?:ly)?)\b",
    ),
    _rule(
        "rationale",
        "gives a reason, not a rule",
        _TELLS_WHAT_TO_DO | {Signal.WHEN},
        _START
        + r"(?:this|that|these|which|it|doing so) (?:(?:will|can|also) )?(?:avoids?|ensures?|helps?|improves?|prevents?|reduces?"
        + r"|allows? you|lets? you|enables? you|makes? it (?:easier|possible)|gives? you|is because|saves?|means)\b",
    ),
    _rule(
        "restated-schema",
        "lists arguments that the schema names",
        (_TELLS_WHAT_TO_DO - {Signal.DESTRUCTIVE}) | {Signal.UNIT, Signal.CHOICES},
        _START + rf"(?:{_THE_TOOL} )?(?:also |optionally )*accepts?\b",
        _START
        + rf"(?:{_THE_TOOL} )?(?:also |optionally )*takes? (?:an?|the|one|two) "
        + r".{1,80}(?:and returns|as (?:an? )?(?:input|argument|parameter))",
    ),
    _rule(
        "naming",
        "says what people may call it",
        _RULES_OUT,
        _START
        + r"(?:this|the) (?:command|tool|function|server) (?:can|may) (?:also )?be (?:referenced|referred to|called|mentioned) (?:as|by)\b",
    ),
    _rule(
        "implementation",
        "says how it works inside",
        _TELLS_WHAT_TO_DO | {Signal.WHEN},
        r"\b(?:under the hood|behind the scenes|internally|leverages?|for (?:efficiency|better performance)"
        r"|optimi[sz]ed for|built on(?: top)?|powered by)\b",
    ),
    _rule(
        "restated-purpose",
        "says again what the tool does",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.CONDITION, Signal.UNIT, Signal.CAPABILITY, Signal.ENUMERATION},
        _START
        + r"(?:it|this (?:\w+ )?(?:tool|function|method|operation|endpoint|command|api)) (?:\w+ly )?(?:provides?"
        + r"|retrieves?|gets?|fetche?s?|performs?"
        + r"|lists?|creates?|adds?|updates?|calculates?|initiates?|executes?|generates?|gathers?|enables?|offers?|gives?)\b",
    ),
)
"""Tried in this order; the first that fits decides."""


def filler_of(text: str) -> FillerRule | None:
    """Return the first rule that takes a sentence for filler, before any signal is weighed against it."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _find(text)


def _find(text: str) -> FillerRule | None:
    return next((rule for rule in RULES if rule.pattern.search(text)), None)


_remembered = functools.lru_cache(maxsize=4096)(_find)
