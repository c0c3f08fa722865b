"""Signs that a sentence bears on choosing the tool or on building the call, each with the kind of fact it points to.

Written for kinds of statements, not for any one catalog. A sign can be wrong in the direction of keeping: that costs bytes only.
Words and pairs of words are looked up in tables, which is several times faster than one large pattern.
"""

import functools
import re
from itertools import pairwise

from caveman_tui.core.shrink.vocabulary import ENGLISH, IMPERATIVES, PAIRS_OF, SHOUTED, TOOL_VERBS, WORDS_OF, Signal

STRONG = frozenset(
    {
        Signal.PROHIBITION,
        Signal.EXCLUSIVE,
        Signal.ONLY,
        Signal.PREREQUISITE,
        Signal.DEFAULT,
        Signal.BOUND,
        Signal.DESTRUCTIVE,
        Signal.FORMAT,
    }
)
"""Signs that outweigh what looks like filler."""

_WORDS: dict[str, Signal] = {word: signal for signal, words in reversed(WORDS_OF.items()) for word in words}
_ALSO_FORMAT = frozenset({"format", "iso"})
_PAIRS: dict[tuple[str, str], Signal] = {pair: signal for signal, pairs in reversed(PAIRS_OF.items()) for pair in pairs}
_PAIR_STARTS = frozenset(first for first, _ in _PAIRS)
_SHOUTED = re.compile(r"\b(?:" + "|".join(sorted(word.upper() for word in SHOUTED)) + r")\b")
LONGEST_REMEMBERED = 1000
"""Characters of the longest sentence that is remembered; with the number of sentences this bounds the memory."""

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_IMPERATIVE = re.compile(
    r"(?:^[\W\d_]*|[,;:–—-] |\b(?:and|then|please|just|simply|to) )(?:" + "|".join(sorted(IMPERATIVES)) + r")\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\bfirst\b(?! (?:content|block|line|node|column|row|item|element|option|few|page|n)\b|\))", re.IGNORECASE)
_AUTOMATIC = re.compile(
    r"automatically (?:add|creat|set|generat|includ|assign|sav|sent|send|delet|remov|start|appl|replac|append|insert|conver)", re.IGNORECASE
)
_CHAINED = re.compile(r"\bbe (?:used|passed|given|supplied) (?:with|by|in|as|to|when)\b", re.IGNORECASE)
_LITERALS = (
    (frozenset('`"“'), re.compile(r"`[^`]+`|\"[^\"]{1,80}\"|“[^”]{1,80}”")),
    (frozenset("'"), re.compile(r"(?<!\w)'[^'\s][^']{0,60}'(?!\w)")),
    (frozenset("="), re.compile(r"\w=[^\s=]")),
    (frozenset("_"), re.compile(r"[A-Za-z]_[A-Za-z]")),
    (frozenset("{<"), re.compile(r"\{\w+\}|<\w[\w\- ]*>")),
    (frozenset("/"), re.compile(r"[a-z]://|(?<!\w)(?:/[\w.\-]+){2}")),
    (frozenset("*"), re.compile(r"\*\.\w")),
)
"""Literal values by a character that they all have."""
_CAMEL = re.compile(r"\b[a-z]+[A-Z]")
_COLON_LIST = re.compile(r":\s[^.:]{1,60},|\((?:[\w.\-/ ]{1,20}, ){2}")
_CHOICE_LIST = re.compile(r"\((?:[\w.\-/]{1,20}, ){2}")
_STRESSED = re.compile(r"\*\w+\*")
_DIGITS = frozenset("0123456789")
_UNIT = re.compile(
    r"(?<![a-z\d])[\d.,]*\d\s?(?:ms|s|sec|seconds?|minutes?|hours?|days?|bytes?|[kmg]i?b|px|pixels?|%|characters?|chars|words|lines?|tokens?|items?|results?|rows?)\b"
)
_IN_UNIT = re.compile(
    r"\bin (?:seconds|milliseconds|minutes|hours|days|bytes|meters|metres|inches|points|pixels|degrees|percent|usd|cents)\b", re.IGNORECASE
)
_BOUNDS = re.compile(r"[≤≥<>]=?\s?\d|\d\s?(?:-|–|~|to|\.\.)\s?\d|\[\d+,\s?\d+\]")
_LIMITS = frozenset({"limit", "limits"})
_LIMIT = re.compile(r"\blimits?\b(?!\s*=)", re.IGNORECASE)
_OTHER_SCRIPTS = re.compile(
    r"(?P<prohibition>[不勿禁]|없|않|금지|마세요|しない|できない|ません)"
    r"|(?P<exclusive>而非|二选一|代替|대신|代わり)"
    r"|(?P<only>仅|只|除非|必[须需传填]|만 |のみ|だけ)"
    r"|(?P<prerequisite>先(?!进)|之前|之后|需要|请|확인|먼저|필요|반드시|必要|必ず|事前)"
    r"|(?P<default>默认|缺省|기본|デフォルト|既定)"
    r"|(?P<condition>如果|若|否则|当[^前地]|경우|場合)"
    r"|(?P<format>格式|例如|如[:：]|比如|示例|形式|예:|例:|分隔)"
    r"|(?P<bound>最多|最少|最大|最小|上限|取值|限制|최대|최소)"
    r"|(?P<unit>公里|米\)|毫秒|个字|字节)"
    r"|(?P<destructive>删除|覆盖(?!范围)|替换|清空|삭제|削除)"
    r"|(?P<when>使用|用于|适用|调用|相比|区别|사용|使う)"
    r"|(?P<instruction>设置|提供|指定|支持|传入|输入|注意)"
    r"|(?P<enumeration>、)"
)


def is_english(text: str) -> bool:
    """Whether a sentence has an English function word, so that finding no sign in it means something."""
    return not ENGLISH.isdisjoint(text.lower().split())


def signals_of(text: str) -> frozenset[Signal]:
    """Return the kinds of fact that a sentence shows signs of. Remembered, since the tools of a catalog say much in the same words."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _find(text)


def _find(text: str) -> frozenset[Signal]:
    lowered = text.lower()
    words = _WORD.findall(lowered)
    present = set(words)
    signs = set(text)
    found = {_WORDS[word] for word in present & _WORDS.keys()}
    if not _PAIR_STARTS.isdisjoint(present):
        found.update(_PAIRS[pair] for pair in set(pairwise(words)) & _PAIRS.keys())
    if not _ALSO_FORMAT.isdisjoint(present) or "YYYY" in text:
        found.add(Signal.FORMAT)
    if (not SHOUTED.isdisjoint(present) and _SHOUTED.search(text)) or ("*" in signs and _STRESSED.search(text)):
        found.add(Signal.EMPHASIS)
    if "first" in present and _FIRST.search(lowered):
        found.add(Signal.PREREQUISITE)
    if not IMPERATIVES.isdisjoint(present) and _IMPERATIVE.search(lowered):
        found.add(Signal.INSTRUCTION)
    if "automatically" in present and _AUTOMATIC.search(lowered):
        found.add(Signal.DESTRUCTIVE)
    if "be" in present and _CHAINED.search(lowered):
        found.add(Signal.CHAIN)
    if words and (words[0] in TOOL_VERBS or "description:" in lowered):
        found.add(Signal.CAPABILITY)
    if _CAMEL.search(text) or any(not needed.isdisjoint(signs) and literal.search(text) for needed, literal in _LITERALS):
        found.add(Signal.LITERAL)
    if "," in signs and _COLON_LIST.search(text):
        found.add(Signal.ENUMERATION)
        if "(" in signs and _CHOICE_LIST.search(text):
            found.add(Signal.CHOICES)
    if not _DIGITS.isdisjoint(signs):
        found.add(Signal.EMPHASIS)
        if _UNIT.search(lowered):
            found.add(Signal.UNIT)
        if _BOUNDS.search(lowered) or (not _LIMITS.isdisjoint(present) and _LIMIT.search(lowered)):
            found.add(Signal.BOUND)
    if "in" in present and _IN_UNIT.search(lowered):
        found.add(Signal.UNIT)
    if not text.isascii():
        found.update(Signal[match.lastgroup.upper()] for match in _OTHER_SCRIPTS.finditer(text) if match.lastgroup)
    return frozenset(found)


_remembered = functools.lru_cache(maxsize=4096)(_find)
