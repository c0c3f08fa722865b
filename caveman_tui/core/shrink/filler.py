"""Signs of text that neither chooses the tool nor builds the call, with what outweighs each of them."""

import re
from dataclasses import dataclass

_START = r"^(?:…\s*)?(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|_)?"
_SUBJECT = r"(?:(?:the|this|each|every|all|any) )?(?:(?:\w+[ -]){0,2}?(?:tool|function|method|operation|endpoint|api|command|call|response|result|output|answer|entry|entries|results|it|request)s? )?(?:also |then |will |can |always |automatically )*"


@dataclass(frozen=True, slots=True)
class FillerRule:
    """One kind of filler."""

    kind: str
    why: str
    pattern: re.Pattern[str]
    unless: frozenset[str]
    """Signals that outweigh this rule."""


def _rule(kind: str, why: str, pattern: str, *unless: str) -> FillerRule:
    return FillerRule(kind, why, re.compile(pattern, re.IGNORECASE), frozenset(unless))


_HARD = ("prohibition", "exclusive", "only", "bound", "destructive")

RULES = (
    _rule(
        "return-shape",
        "says what is shown, not what goes in",
        _START + r"(?:after [^,]{3,60}, )?(?:a|an|the) [\w ]{3,40}(?:will be|is|are) (?:displayed|shown|presented|printed|rendered)\b",
        "prohibition", "exclusive", "only", "bound", "destructive",
    ),
    _rule(
        "return-shape",
        "says what comes back, not what goes in",
        _START
        + r"(?:(?:it|this|also|then|and|which|the (?:tool|function|method|operation|response|result|output|call)|this (?:tool|function|method|operation)|(?:the )?tool) )*(?:also |then |will |simply )*"
        r"(?:returns?\b|outputs? (?:is|are|include|contain)|responds? with|yields?\b|produces\b|(?:the )?(?:response|results?|output|returned \w+)(?: \w+)? (?:is|are|includes?|contains?|will|has|have|shows?|consists?)\b)"
        r"|^(?:…\s*)?(?:返回|将返回|会返回|返回值)",
        *_HARD, "default", "prerequisite", "chain",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _START
        + r"(?:(?:it|this|the tool|this tool)(?:'s| is)? )?(?:particularly |especially |very |also )*(?:perfect|ideal|great|essential|invaluable|excellent|useful|helpful|valuable|designed|well[- ]suited|best suited|handy|indispensable) (?:for|when|to|in)\b"
        r"|\b(?:state[- ]of[- ]the[- ]art|cutting[- ]edge|seamless(?:ly)?|effortless(?:ly)?|powerful|world[- ]class|blazing(?:ly)?|rich set|robust|most popular)\b",
        *_HARD, "default", "prerequisite", "format",
    ),
    _rule(
        "rationale",
        "gives a reason, not a rule",
        _START + r"(?:this|that|these|which|it|doing so) (?:(?:will|can|also) )?(?:avoids?|ensures?|helps?|improves?|prevents?|reduces?|allows? you|lets? you|enables? you|makes? it (?:easier|possible)|gives? you|is because|saves?|means)\b",
        *_HARD, "default", "prerequisite", "format", "literal", "bound",
    ),
    _rule(
        "restated-schema",
        "lists arguments that the schema names",
        _START + r"(?:(?:it|this tool|the tool|also|optionally) )*(?:accepts?|takes?|optionally accepts?|also accepts?)\b",
        "prohibition", "exclusive", "only", "bound", "literal", "format", "unit", "prerequisite", "default", "choices",
    ),
    _rule(
        "naming",
        "says what people may call it",
        _START + r"(?:this|the) (?:command|tool|function|server) (?:can|may) (?:also )?be (?:referenced|referred to|called|invoked|mentioned) (?:as|by)\b",
        *_HARD,
    ),
    _rule(
        "implementation",
        "says how it works inside",
        r"\b(?:under the hood|behind the scenes|internally|leverages?|for efficiency|for better performance|optimi[sz]ed for|performance optimi[sz]|token[- ]efficient|byte estimation|state is maintained|built on(?: top)?|powered by)\b",
        *_HARD, "default", "prerequisite", "format", "when", "literal",
    ),
    _rule(
        "restated-purpose",
        "says again what the tool does",
        _START + r"this (?:\w+ )?(?:tool|function|method|operation|endpoint|command|api) (?:\w+ly )?(?:provides?|retrieves?|gets?|fetche?s?|performs?|lists?|creates?|adds?|updates?|returns?|calculates?|initiates?|executes?|generates?|gathers?|shows?|displays?|enables?|offers?|gives?)\b",
        *_HARD, "default", "prerequisite", "format", "when", "literal", "condition", "unit",
    ),
)


def filler_of(text: str) -> FillerRule | None:
    """Return the first rule that takes a sentence for filler, before any signal is weighed against it."""
    for rule in RULES:
        if rule.pattern.search(text):
            return rule
    return None
