"""Signs of text that neither chooses the tool nor builds the call, with what outweighs each of them."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from caveman_tui.core.shrink.vocabulary import LABELS, Signal

_THE_TOOL = r"(?:it|this|the (?:tool|function|method|operation|call|command)|this (?:tool|function|method|operation|call|command))"
_ADVERBS = r"(?:also |then |will |simply |automatically )*"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A set phrase that is looked for only in sentences that have a word of it, since looking costs more than knowing the words."""

    words: frozenset[str]
    """In lower case; empty for a phrase of a script without blanks, which is looked for in every text that is not ASCII."""
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FillerRule:
    """One kind of filler."""

    kind: str
    why: str
    unless: int
    """Signals that outweigh this rule."""
    opens: Phrase | None = None
    """What such a sentence begins with, after list signs; the words are those that this begins with."""
    opens_plainly: Phrase | None = None
    """The same for a sentence without list signs."""
    phrases: tuple[Phrase, ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrase(words: str, *alternatives: str) -> Phrase:
    return Phrase(_words(words), re.compile("|".join(alternatives), re.IGNORECASE))


_START = re.compile(r"(?:…\s*)?((?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|_)?)")
"""What stands before the first word; the group is a list sign or emphasis."""
_RULES_OUT = Signal.PROHIBITION | Signal.EXCLUSIVE | Signal.ONLY | Signal.BOUND | Signal.DESTRUCTIVE
_STATES_A_VALUE = _RULES_OUT | Signal.DEFAULT | Signal.FORMAT
_TELLS_WHAT_TO_DO = _STATES_A_VALUE | Signal.PREREQUISITE | Signal.LITERAL
_OF_ITS_OWN = _TELLS_WHAT_TO_DO | Signal.CONDITION | Signal.UNIT | Signal.CHOICES | Signal.CHAIN
"""What outweighs set phrases of praise and explanation, in which other signs are chance words."""
_ANYTHING_ELSE = sum(LABELS) & ~(Signal.ARGUMENT | Signal.ENUMERATION)
_AT_ONCE = r"^(?:…\s*)?"
_AFTER_SIGNS = r"^(?:…\s*)?(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|_)?"
_DOCUMENT = r"(?:\b(?:documentation|docs|guide|website|homepage|manual|readme|official|page)\b|https?://)"
_NO_TOOL = r"(?!.*(?:\s|`)[a-z]+_[a-z_]+)"
_PRODUCTS = (
    "platform system framework service registry library language standard protocol database engine app application software suite solution "
    "toolkit network marketplace community company"
)
_PRODUCT = f"(?:{'|'.join(_PRODUCTS.split())})"

RULES = (
    FillerRule(
        kind="return-shape",
        why="says what is shown, not what goes in",
        unless=_RULES_OUT,
        phrases=(
            _phrase(
                "displayed shown presented printed rendered",
                _AFTER_SIGNS
                + r"(?:after [^,]{3,60}, )?(?:a|an|the) [\w ]{3,80}(?:will be|is|are) (?:displayed|shown|presented|printed|rendered)\b",
            ),
        ),
    ),
    FillerRule(
        kind="return-shape",
        why="says what comes back, not what goes in",
        unless=_RULES_OUT | Signal.DEFAULT | Signal.PREREQUISITE | Signal.CHAIN,
        opens=_phrase(
            "it this the and which also then will simply automatically return returns respond responds yield yields you you'll",
            rf"(?:(?:{_THE_TOOL}|and|which) )?{_ADVERBS}(?:returns?|responds? with|yields?)\b",
            rf"(?:{_THE_TOOL}|the server) {_ADVERBS}(?:answers|replies|gives back)\b",
            r"you(?:'ll| will) (?:receive|get)(?: back)? (?:an?|the) (?:\w+ )?"
            r"(?:list|object|table|array|dictionary|summary|report|response)\b",
        ),
        opens_plainly=_phrase("return returns rtype 返回 将返回 会返回", r"[:@](?:returns?|rtype)\b|返回|将返回|会返回"),
    ),
    FillerRule(
        kind="return-shape",
        why="says what comes back, not what goes in",
        unless=_RULES_OUT | Signal.DEFAULT | Signal.PREREQUISITE | Signal.CHAIN | Signal.INSTRUCTION,
        opens=_phrase(
            "the successful json final full response result results answer output returned",
            r"(?:the )?(?:(?:successful|json|final|full) )?(?:response|results?|answer|output|returned \w+)(?: \w+)? "
            r"(?:is|are|includes?|contains?|will|has|have|shows?|consists?)\b",
        ),
    ),
    FillerRule(
        kind="return-shape",
        why="says what comes back, not what goes in",
        unless=_OF_ITS_OWN | Signal.INSTRUCTION | Signal.EMPHASIS,
        opens_plainly=_phrase(
            "als zurückgegeben como vous devuelve retorna renvoie retourne",
            r"(?:als ergebnis|zurückgegeben wird|como resultado|vous recevrez)\b",
            r"(?:devuelve|retorna|renvoie|retourne) (?:una?|une|el|la|los|las|le|les|des) "
            r"(?:lista|objeto|tabla|json|resultados?|detalles|datos|información|respuesta"
            r"|liste|objet|tableau|résultats?|détails|données|informations)\b",
        ),
        phrases=(_phrase("", r"^(?!.*(?:エラー|오류|에러)).*(?:返されます|返却されます|を返します|반환합니다|반환됩니다)[。.]?$"),),
    ),
    FillerRule(
        kind="return-shape",
        why="says what the parts of a result hold",
        unless=_RULES_OUT | Signal.CHAIN,
        opens_plainly=_phrase(
            "each every",
            r"(?:each|every) (?:element|item|entry|row|record|object|hit) (?:of|in) the (?:answer|results?|response|output) "
            r"(?:contains?|includes?|has|have|consists?)\b",
        ),
    ),
    FillerRule(
        kind="return-shape",
        why="says what the parts of a result hold",
        unless=_STATES_A_VALUE | Signal.LITERAL | Signal.ARGUMENT,
        opens_plainly=_phrase(
            "each every",
            r"(?:each|every) (?:result|match|hit|response|answer|(?:[\w ]{2,20} )?returned|returned [\w ]{2,20}?)"
            r" (?:contains?|includes?|has|have|consists?)\b",
        ),
    ),
    FillerRule(
        kind="marketing",
        why="praises the tool",
        unless=_TELLS_WHAT_TO_DO,
        opens=_phrase(
            "it it's this this's the particularly especially very also perfect ideal great essential invaluable excellent useful helpful "
            "valuable well best handy indispensable perfekt perfecto perfecta idéal ideale",
            r"(?:(?:it|this|the tool|this tool)(?:'s| is)? )?(?:particularly |especially |very |also )*"
            r"(?:(?:perfect|ideal|great|essential|invaluable|excellent|useful|helpful|valuable"
            r"|well[- ]suited|best suited|handy|indispensable) (?:for|in)"
            r"|(?:ideal|perfekt|perfect[oa]|idéal|ideale) (?:für|para|pour|per))\b",
        ),
    ),
    FillerRule(
        kind="marketing",
        why="praises the tool",
        unless=_OF_ITS_OWN | Signal.CAPABILITY,
        opens_plainly=_phrase("say happy enjoy", r"(?:say goodbye to|happy \w+ing|enjoy)\b"),
        phrases=(
            _phrase(
                "award lightning class leading generation unparalleled unmatched hassle game supercharge supercharges turbocharge "
                "turbocharges unleash unleashes delightful delightfully",
                r"\b(?:award[- ]winning|lightning[- ]fast|best[- ]in[- ]class|industry[- ]leading|market[- ]leading|next[- ]generation"
                r"|unparalleled|unmatched|hassle[- ]free|game[- ]chang\w+|supercharges?|turbocharges?|unleash(?:es)?|delightful(?:ly)?)\b",
            ),
            _phrase(
                "loved trusted",
                r"\b(?:loved|trusted) by (?:\w+ )?(?:thousands|millions|hundreds|developers|teams|companies|experts|professionals)\b",
            ),
            _phrase("unlock", r"\bunlock (?:the|its|your|new) (?:full )?(?:value|power|potential|possibilities|insights?)\b"),
            _phrase(
                "ease no peace convenience",
                r"\bwith (?:great |the greatest )?ease\b|\bin no time\b|\bpeace of mind\b|\bfor your convenience\b",
            ),
            _phrase(
                "great excellent fantastic wonderful perfect modern popular",
                r"^(?!.*\bwhen\b).*\b(?:is|are) (?:an? )?(?:\w+ )?(?:great|excellent|fantastic|wonderful|perfect|modern|popular)"
                r" (?:and \w+ )?(?:way|means|choice|mechanism|option|fit)\b",
            ),
            _phrase("most", r"\bone of the most (?:popular|loved|widely used|advanced|trusted|powerful)\b"),
            _phrase("quality", r"\bof (?:outstanding|superior|unrivalled|highest|exceptional) quality\b"),
            _phrase(
                "incredibly extremely amazingly remarkably tremendously",
                r"^(?!.*\bwhen\b).*\b(?:incredibly|extremely|amazingly|remarkably|tremendously)"
                r" (?:useful|helpful|powerful|fast|easy|simple|valuable)\b",
            ),
            _phrase(
                "easy fast simple quick efficient comprehensive",
                r"\b(?:easy|fast|simple|quick|efficient|comprehensive) and"
                r" (?:easy|fast|simple|quick|intuitive|reliable|efficient|effective|detailed)\b",
            ),
            _phrase("decisions covered", r"\b(?:better|smarter|informed) decisions\b|\b(?:has|have|got) you covered\b"),
            _phrase("mind", r"\b(?:designed|built|made) with [\w ]{2,30} in mind\b"),
            _phrase("heart studies delight", r"\bheart and soul\b|\bstudies (?:have shown|show)\b|\bdelight (?:your|our)\b"),
        ),
    ),
    FillerRule(
        kind="marketing",
        why="praises the tool",
        unless=_OF_ITS_OWN | Signal.INSTRUCTION,
        phrases=(
            _phrase("", r"深受|倾力|保驾护航|致力于|愉快|畅享|尽享|一站式|行业领先|轻松(?:规划|掌握|实现|完成|搞定)"),
            _phrase("", r"ぜひ|お役立て|皆様|最も(?:利用|愛用|使用)されている|知識がなくても簡単"),
            _phrase(
                "kinderleicht kinderleichte kinderleichter kinderleichtes handumdrehen anbieter "
                "miles líder líderes nuestros forma nos clin leader",
                r"\b(?:kinderleicht(?:e[rs]?)?|im handumdrehen|führende[rn]? anbieter)\b",
                r"\b(?:miles de (?:comercios|clientes|usuarios|empresas)|líder(?:es)? del mercado|nuestros clientes)\b",
                r"\bde la forma más (?:rápida|sencilla|fácil)",
                r"\b(?:nos (?:équipes|clients|experts)|en un clin d'œil|leader du marché)\b",
            ),
        ),
    ),
    FillerRule(
        kind="marketing",
        why="praises the tool",
        unless=_TELLS_WHAT_TO_DO | Signal.WHEN | Signal.CAPABILITY | Signal.ENUMERATION | Signal.INSTRUCTION,
        phrases=(
            _phrase(
                "art edge seamless seamlessly effortless effortlessly powerful class blazing blazingly",
                r"\b(?:state[- ]of[- ]the[- ]art|cutting[- ]edge|world[- ]class|powerful"
                r"|(?:seamless|effortless|blazing)(?:ly)?)\b",
            ),
        ),
    ),
    FillerRule(
        kind="background",
        why="explains what something is, not how to call",
        unless=_OF_ITS_OWN,
        phrases=(
            _phrase(
                _PRODUCTS,
                _AT_ONCE + r"(?-i:[A-Z])[\w.&'-]*(?: (?-i:[A-Z(])[\w.&'()-]*){0,4}"
                r"(?:,? (?:also known as|formerly|or) [^,]{1,40},)? (?:is|are) (?:an?|the) "
                rf"(?:[\w-]+,? ){{0,6}}{_PRODUCT}(?= (?:for|of|that|which|to|used|designed|with|from|by|where|on|\w+ing)\b|[,.]|$)",
                _AT_ONCE + rf"(?:it|this) is an? (?:[\w-]+,? ){{0,4}}{_PRODUCT} (?:that|which)"
                r" (?:allows?|lets?|enables?|helps?) (?:users?|you|people|teams)\b",
            ),
        ),
    ),
    FillerRule(
        kind="background",
        why="explains what something is, not how to call",
        unless=_ANYTHING_ELSE,
        opens_plainly=_phrase("they", r"they are (?:primarily|mainly|typically|usually|often) used\b"),
        phrases=(
            _phrase(
                "collection collections template templates container containers instance instances block blocks namespace concept notion",
                _AT_ONCE + r"(?:the |an? )?[\w(), -]{2,60}? (?:is|are) (?:an? |the )?(?:[\w-]+,? ){0,4}"
                r"(?:collections?|templates?|containers?|instances?|blocks?|namespace|concept|notion) (?:of|for|in|that|which|to)\b",
            ),
        ),
    ),
    FillerRule(
        kind="reference",
        why="points to a document for further reading",
        unless=_STATES_A_VALUE | Signal.CHAIN,
        opens=_phrase(
            "docs documentation api homepage website source please see visit read check refer consult to learn for",
            r"(?:docs|documentation|api reference|homepage|website|source(?: code)?)\s*:\s*https?://\S+$",
            rf"(?:please )?(?:see|visit|read|check(?: out)?|refer to|consult)\b{_NO_TOOL}.{{0,40}}{_DOCUMENT}.{{0,80}}"
            r"\b(?:to learn more|for (?:(?:more|further|additional|full) )?(?:information|details?|reading))\b",
            r"(?:to learn more|learn more|for (?:(?:more|further|additional|full) )?(?:information|details?))\b"
            rf"{_NO_TOOL}.{{0,80}}{_DOCUMENT}",
        ),
    ),
    FillerRule(
        kind="implementation",
        why="says how it works inside",
        unless=_STATES_A_VALUE,
        opens=_phrase("under behind", r"(?:under the hood|behind the scenes)\b"),
    ),
    FillerRule(
        kind="rationale",
        why="gives a reason, not a rule",
        unless=_TELLS_WHAT_TO_DO | Signal.WHEN | Signal.ARGUMENT | Signal.CONDITION | Signal.INSTRUCTION,
        opens=_phrase(
            "this that these which it doing",
            r"(?:this|that|these|which|it|doing so) (?:(?:will|can|also) )?(?:avoids?|ensures?|helps?|improves?|reduces?"
            r"|allows? you|enables? you|makes? it (?:easier|possible)|is because|saves? (?:you|time|work|effort|tokens|money|calls))\b",
        ),
    ),
    FillerRule(
        kind="restated-schema",
        why="lists what the tool takes",
        unless=(_TELLS_WHAT_TO_DO & ~Signal.DESTRUCTIVE) | Signal.UNIT | Signal.CHOICES,
        opens=_phrase(
            "it this the also optionally accept accepts take takes",
            rf"(?:{_THE_TOOL} )?(?:also |optionally )*accepts?\b",
            rf"(?:{_THE_TOOL} )?(?:also |optionally )*takes? (?:an?|the|one|two) "
            r".{1,80}(?:and returns|as (?:an? )?(?:input|argument|parameter))",
        ),
    ),
    FillerRule(
        kind="naming",
        why="says how it is named or filed",
        unless=_RULES_OUT,
        opens=_phrase(
            "this the",
            r"(?:this|the) (?:command|tool|function|server) (?:can|may) (?:also )?be"
            r" (?:referenced|referred to|called|mentioned) (?:as|by)\b",
        ),
        phrases=(_phrase("category", r"\b(?:belongs to|falls (?:under|into)) the [\w ]{2,60} category\b"),),
    ),
    FillerRule(
        kind="implementation",
        why="says how it works inside",
        unless=_TELLS_WHAT_TO_DO | Signal.WHEN | Signal.INSTRUCTION,
        phrases=(
            _phrase(
                "hood scenes internally leverage leverages efficiency performance optimised optimized built powered",
                r"\b(?:under the hood|behind the scenes|internally|leverages?|for (?:efficiency|better performance)"
                r"|optimi[sz]ed for|built on(?: top)?|powered by)\b",
            ),
        ),
    ),
    FillerRule(
        kind="restated-purpose",
        why="one more sentence on what the tool does",
        unless=_TELLS_WHAT_TO_DO | Signal.WHEN | Signal.CONDITION | Signal.UNIT | Signal.CAPABILITY | Signal.ENUMERATION,
        opens=_phrase(
            "it this",
            r"(?:it|this (?:\w+ )?(?:tool|function|method|operation|endpoint|command|api)) (?:\w+ly )?(?:provides?"
            r"|retrieves?|gets?|fetche?s?|performs?|focuses on|specializes in"
            r"|lists?|creates?|adds?|updates?|calculates?|initiates?|executes?|generates?|gathers?|enables?|offers?|gives?)\b",
        ),
    ),
)
"""The first that fits decides."""


_NO_RULE = len(RULES)


def _by_word() -> dict[str, list[tuple[int, re.Pattern[str]]]]:
    phrases: dict[str, list[tuple[int, re.Pattern[str]]]] = {}
    for index, rule in enumerate(RULES):
        for phrase in rule.phrases:
            for word in phrase.words or [_UNSPACED]:
                phrases.setdefault(word, []).append((index, phrase.pattern))
    return phrases


_UNSPACED = ""
_PHRASES = _by_word()
"""The phrases that have a word, each with the index of its rule."""
_PHRASE_WORDS = frozenset(_PHRASES)
_PARTS = re.compile(r"\w+").findall
"""Returns the words of a text, those that an apostrophe joins each by itself."""


class _Opening(NamedTuple):
    """What a sentence of a rule begins with."""

    rule: int
    """Index of the rule."""
    pattern: re.Pattern[str]
    plainly: bool
    """Only without list signs."""


def _by_first_word() -> dict[str, list[_Opening]]:
    openings: dict[str, list[_Opening]] = {}
    for index, rule in enumerate(RULES):
        for opening, plainly in ((rule.opens, False), (rule.opens_plainly, True)):
            if opening is not None:
                for word in opening.words:
                    openings.setdefault(word if word.isascii() else _UNSPACED, []).append(_Opening(index, opening.pattern, plainly))
    return openings


_OPENINGS = _by_first_word()
"""The openings by their first word, in the order of the rules; by no word those whose first word is not ASCII."""


def filler_of(text: str, words: list[str]) -> FillerRule | None:
    """Return the first rule that takes a sentence for filler, before any signal is weighed against it.

    `words` are those of the sentence in lower case.
    """
    if not words:
        return None
    first = _NO_RULE
    word = words[1] if words[0].isdigit() and len(words) > 1 else words[0]  # the number of an item is no word of it
    openings = _OPENINGS.get(word.lstrip("_") if word.isascii() else _UNSPACED)
    if openings:
        first = _opening_rule(text, openings)
    if "'" in text or "’" in text:
        words = _PARTS(text.lower())
    if not _PHRASE_WORDS.isdisjoint(words):
        for word in _PHRASE_WORDS.intersection(words):
            first = _phrase_rule(text, word, first)
    if not text.isascii():
        first = _phrase_rule(text, _UNSPACED, first)
    return RULES[first] if first < _NO_RULE else None


def _opening_rule(text: str, openings: list[_Opening]) -> int:
    """Return the index of the first rule that has what a sentence begins with."""
    start = _START.match(text)
    assert start is not None
    at, listed = start.end(), bool(start.group(1))
    for opening in openings:
        if not (listed and opening.plainly) and opening.pattern.match(text, at):
            return opening.rule
    return _NO_RULE


def _phrase_rule(text: str, word: str, first: int) -> int:
    """Return the index of the first rule that has a phrase with `word` in a sentence, or `first` where that comes before it."""
    for index, phrase in _PHRASES[word]:
        if index < first and phrase.search(text):
            return index
    return first
