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
_OF_ITS_OWN = _TELLS_WHAT_TO_DO | {Signal.CONDITION, Signal.UNIT, Signal.CHOICES, Signal.CHAIN}
"""What outweighs set phrases of praise and explanation, in which other signs are chance words."""


def _rule(kind: str, why: str, unless: frozenset[Signal], *alternatives: str) -> FillerRule:
    return FillerRule(kind, why, re.compile("|".join(alternatives), re.IGNORECASE), unless)


_DOCUMENT = r"(?:\b(?:documentation|docs|guide|website|homepage|manual|readme|official|page)\b|https?://)"
_NO_TOOL = r"^(?!.*(?:\s|`)[a-z]+_[a-z_]+)"
_PRODUCT = (
    r"(?:platform|system|framework|service|registry|library|language|standard|protocol|database|engine|app|application|software|suite|solution"
    r"|toolkit|network|marketplace|community|company)"
)

RULES = (
    _rule(
        "return-shape",
        "says what is shown, not what goes in",
        _RULES_OUT,
        _START + r"(?:after [^,]{3,60}, )?(?:a|an|the) [\w ]{3,80}(?:will be|is|are) (?:displayed|shown|presented|printed|rendered)\b",
    ),
    _rule(
        "return-shape",
        "says what comes back, not what goes in",
        _RULES_OUT | {Signal.DEFAULT, Signal.PREREQUISITE, Signal.CHAIN},
        _START + rf"(?:(?:{_THE_TOOL}|and|which) )?{_ADVERBS}(?:returns?|responds? with|yields?)\b",
        _START + rf"(?:{_THE_TOOL}|the server) {_ADVERBS}(?:answers|replies|gives back)\b",
        r"^[:@](?:returns?|rtype)\b",
        _START
        + r"you(?:'ll| will) (?:receive|get)(?: back)? (?:an?|the) (?:\w+ )?"
        + r"(?:list|object|table|array|dictionary|summary|report|response)\b",
        r"^(?:…\s*)?(?:返回|将返回|会返回)",
    ),
    _rule(
        "return-shape",
        "says what comes back, not what goes in",
        _RULES_OUT | {Signal.DEFAULT, Signal.PREREQUISITE, Signal.CHAIN, Signal.INSTRUCTION},
        _START
        + r"(?:the )?(?:response|results?|answer|output|returned \w+)(?: \w+)? "
        + r"(?:is|are|includes?|contains?|will|has|have|shows?|consists?)\b",
    ),
    _rule(
        "return-shape",
        "says what comes back, not what goes in",
        _OF_ITS_OWN | {Signal.INSTRUCTION, Signal.EMPHASIS},
        r"^(?:…\s*)?(?:als ergebnis|zurückgegeben wird|como resultado|vous recevrez)\b",
        r"^(?:…\s*)?(?:devuelve|retorna|renvoie|retourne) (?:una?|une|el|la|los|las|le|les|des) "
        r"(?:lista|objeto|tabla|json|resultados?|detalles|datos|información|respuesta|liste|objet|tableau|résultats?|détails|données|informations)\b",
        r"^(?!.*(?:エラー|오류|에러)).*(?:返されます|返却されます|を返します|반환합니다|반환됩니다)[。.]?$",
    ),
    _rule(
        "return-shape",
        "says what the parts of a result hold",
        _RULES_OUT | {Signal.CHAIN},
        r"^(?:each|every) (?:element|item|entry|row|record|object|hit) (?:of|in) the (?:answer|results?|response|output) "
        r"(?:contains?|includes?|has|have|consists?)\b",
    ),
    _rule(
        "return-shape",
        "says what the parts of a result hold",
        _STATES_A_VALUE | {Signal.LITERAL, Signal.ARGUMENT},
        r"^(?:each|every) (?:result|match|hit|response|answer|(?:[\w ]{2,20} )?returned|returned [\w ]{2,20}?)"
        r" (?:contains?|includes?|has|have|consists?)\b",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _TELLS_WHAT_TO_DO,
        _START
        + r"(?:(?:it|this|the tool|this tool)(?:'s| is)? )?(?:particularly |especially |very |also )*"
        + r"(?:perfect|ideal|great|essential|invaluable|excellent|useful|helpful|valuable"
        + r"|well[- ]suited|best suited|handy|indispensable)"
        + r" (?:for|in)\b",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _OF_ITS_OWN | {Signal.CAPABILITY},
        r"\b(?:award[- ]winning|lightning[- ]fast|best[- ]in[- ]class|industry[- ]leading|market[- ]leading|next[- ]generation"
        r"|unparalleled|unmatched|hassle[- ]free|game[- ]chang\w+|supercharges?|turbocharges?|unleash(?:es)?|delightful(?:ly)?)\b",
        r"\b(?:loved|trusted) by (?:\w+ )?(?:thousands|millions|hundreds|developers|teams|companies|experts|professionals)\b",
        r"\bunlock (?:the|its|your|new) (?:full )?(?:value|power|potential|possibilities|insights?)\b",
        r"\bwith (?:great |the greatest )?ease\b|\bin no time\b|\bpeace of mind\b|\bfor your convenience\b",
        r"^(?!.*\bwhen\b).*\b(?:is|are) (?:an? )?(?:\w+ )?(?:great|excellent|fantastic|wonderful|perfect|modern|popular)"
        r" (?:and \w+ )?(?:way|means|choice|mechanism|option|fit)\b",
        r"\bone of the most (?:popular|loved|widely used|advanced|trusted|powerful)\b",
        r"\bof (?:outstanding|superior|unrivalled|highest|exceptional) quality\b",
        r"^(?!.*\bwhen\b).*\b(?:incredibly|extremely|amazingly|remarkably|tremendously)"
        r" (?:useful|helpful|powerful|fast|easy|simple|valuable)\b",
        r"\b(?:easy|fast|simple|quick|efficient|comprehensive) and"
        r" (?:easy|fast|simple|quick|intuitive|reliable|efficient|effective|detailed)\b",
        r"\b(?:better|smarter|informed) decisions\b|\b(?:has|have|got) you covered\b|^say goodbye to\b|^happy \w+ing\b",
        r"\b(?:designed|built|made) with [\w ]{2,30} in mind\b",
        r"^enjoy\b|\bheart and soul\b|\bstudies (?:have shown|show)\b|\bdelight (?:your|our)\b",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _OF_ITS_OWN | {Signal.INSTRUCTION},
        r"深受|倾力|保驾护航|致力于|愉快|畅享|尽享|一站式|行业领先|轻松(?:规划|掌握|实现|完成|搞定)",
        r"ぜひ|お役立て|皆様|最も(?:利用|愛用|使用)されている|知識がなくても簡単",
        r"kinderleicht|im handumdrehen|führende[rn]? anbieter",
        r"\bmiles de (?:comercios|clientes|usuarios|empresas)\b|líder(?:es)? del mercado|\bnuestros clientes\b",
        r"de la forma más (?:rápida|sencilla|fácil)",
        r"\bnos (?:équipes|clients|experts)\b|en un clin d'œil|leader du marché",
    ),
    _rule(
        "marketing",
        "praises the tool",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.CAPABILITY, Signal.ENUMERATION, Signal.INSTRUCTION},
        r"\b(?:state[- ]of[- ]the[- ]art|cutting[- ]edge|seamless(?:ly)?|effortless(?:ly)?|powerful|world[- ]class|blazing(?:ly)?)\b",
    ),
    _rule(
        "background",
        "explains what something is, not how to call",
        _OF_ITS_OWN,
        r"^(?:…\s*)?(?-i:[A-Z])[\w.&'-]*(?: (?-i:[A-Z(])[\w.&'()-]*){0,4}"
        r"(?:,? (?:also known as|formerly|or) [^,]{1,40},)? (?:is|are) (?:an?|the) "
        rf"(?:[\w-]+,? ){{0,6}}{_PRODUCT}(?= (?:for|of|that|which|to|used|designed|with|from|by|where|on|\w+ing)\b|[,.]|$)",
        rf"^(?:…\s*)?(?:it|this) is an? (?:[\w-]+,? ){{0,4}}{_PRODUCT} (?:that|which)"
        r" (?:allows?|lets?|enables?|helps?) (?:users?|you|people|teams)\b",
    ),
    _rule(
        "background",
        "explains what something is, not how to call",
        frozenset(Signal) - {Signal.ARGUMENT, Signal.ENUMERATION},
        r"^(?:…\s*)?(?:the |an? )?[\w(), -]{2,60}? (?:is|are) (?:an? |the )?(?:[\w-]+,? ){0,4}"
        r"(?:collections?|templates?|containers?|instances?|blocks?|namespace|concept|notion) (?:of|for|in|that|which|to)\b",
        r"^they are (?:primarily|mainly|typically|usually|often) used\b",
    ),
    _rule(
        "reference",
        "points to a document for further reading",
        _STATES_A_VALUE | {Signal.CHAIN},
        _START + r"(?:docs|documentation|api reference|homepage|website|source(?: code)?)\s*:\s*https?://\S+$",
        _NO_TOOL + _START + rf"(?:please )?(?:see|visit|read|check(?: out)?|refer to|consult)\b.{{0,40}}{_DOCUMENT}.{{0,80}}"
        r"\b(?:to learn more|for (?:(?:more|further|additional|full) )?(?:information|details?|reading))\b",
        _NO_TOOL
        + _START
        + rf"(?:to learn more|learn more|for (?:(?:more|further|additional|full) )?(?:information|details?))\b.{{0,80}}{_DOCUMENT}",
    ),
    _rule(
        "implementation",
        "says how it works inside",
        _STATES_A_VALUE,
        _START + r"(?:under the hood|behind the scenes)\b",
    ),
    _rule(
        "rationale",
        "gives a reason, not a rule",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.ARGUMENT, Signal.CONDITION, Signal.INSTRUCTION},
        _START
        + r"(?:this|that|these|which|it|doing so) (?:(?:will|can|also) )?(?:avoids?|ensures?|helps?|improves?|reduces?"
        + r"|allows? you|enables? you|makes? it (?:easier|possible)|is because|saves? (?:you|time|work|effort|tokens|money|calls))\b",
    ),
    _rule(
        "restated-schema",
        "lists what the tool takes",
        (_TELLS_WHAT_TO_DO - {Signal.DESTRUCTIVE}) | {Signal.UNIT, Signal.CHOICES},
        _START + rf"(?:{_THE_TOOL} )?(?:also |optionally )*accepts?\b",
        _START
        + rf"(?:{_THE_TOOL} )?(?:also |optionally )*takes? (?:an?|the|one|two) "
        + r".{1,80}(?:and returns|as (?:an? )?(?:input|argument|parameter))",
    ),
    _rule(
        "naming",
        "says how it is named or filed",
        _RULES_OUT,
        _START
        + r"(?:this|the) (?:command|tool|function|server) (?:can|may) (?:also )?be (?:referenced|referred to|called|mentioned) (?:as|by)\b",
        r"\b(?:belongs to|falls (?:under|into)) the [\w ]{2,60} category\b",
    ),
    _rule(
        "implementation",
        "says how it works inside",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.INSTRUCTION},
        r"\b(?:under the hood|behind the scenes|internally|leverages?|for (?:efficiency|better performance)"
        r"|optimi[sz]ed for|built on(?: top)?|powered by)\b",
    ),
    _rule(
        "restated-purpose",
        "one more sentence on what the tool does",
        _TELLS_WHAT_TO_DO | {Signal.WHEN, Signal.CONDITION, Signal.UNIT, Signal.CAPABILITY, Signal.ENUMERATION},
        _START
        + r"(?:it|this (?:\w+ )?(?:tool|function|method|operation|endpoint|command|api)) (?:\w+ly )?(?:provides?"
        + r"|retrieves?|gets?|fetche?s?|performs?"
        + r"|focuses on|specializes in"
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
