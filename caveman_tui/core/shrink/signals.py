"""Signs that a sentence bears on choosing the tool or on building the call, each with the kind of fact it points to.

Written for kinds of statements, not for any one catalog. A sign can be wrong in the direction of keeping: that costs bytes only.
What single words say is looked up; a pattern is tried only where a word or character that it can't do without is there.
"""

import re
from itertools import pairwise

from caveman_tui.core.shrink.vocabulary import ENGLISH, IMPERATIVES, LABELS, PAIRS_OF, SHOUTED, TOOL_VERBS, Signal
from caveman_tui.core.shrink.words import Hint

STRONG = (
    Signal.PROHIBITION
    | Signal.EXCLUSIVE
    | Signal.ONLY
    | Signal.PREREQUISITE
    | Signal.DEFAULT
    | Signal.BOUND
    | Signal.DESTRUCTIVE
    | Signal.FORMAT
)
"""Signs that outweigh what looks like filler."""

_SIGNALS = sum(LABELS)
_SHOUTED = re.compile(r"\b(?:" + "|".join(sorted(word.upper() for word in SHOUTED)) + r")\b")
_DIGIT = re.compile(r"[0-9]")


def _by_first_word() -> dict[str, dict[str, int]]:
    seconds: dict[str, dict[str, int]] = {}
    for signal, pairs in reversed(PAIRS_OF.items()):
        for first, second in pairs:
            seconds.setdefault(first, {})[second] = signal
    return seconds


_SECONDS = _by_first_word()
"""What a pair of words says, by its first word and then by its second."""
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
    ("`", re.compile(r"`[^`]+`")),
    ('"', re.compile(r"\"[^\"]{1,80}\"")),
    ("“", re.compile(r"“[^”]{1,80}”")),
    ("'", re.compile(r"(?<!\w)'[^'\s][^']{0,60}'(?!\w)")),
    ("_", re.compile(r"[A-Za-z]_[A-Za-z]")),
    ("=", re.compile(r"\w=[^\s=]")),
    ("{", re.compile(r"\{\w+\}")),
    ("<", re.compile(r"<\w[\w\- ]*>")),
    ("/", re.compile(r"[a-z]://|(?<!\w)(?:/[\w.\-]+){2}")),
    ("*", re.compile(r"\*\.\w")),
)
"""Literal values by a character that they all have."""
_CAMEL = re.compile(r"\b[a-z]+[A-Z]")
_INNER_CAPITAL = re.compile(r"[A-Z](?<=[a-z].)")
_COLON_LIST = re.compile(r":\s[^.:]{1,60},|\((?:[\w.\-/ ]{1,20}, ){2}")
_CHOICE_LIST = re.compile(r"\((?:[\w.\-/]{1,20}, ){2}")
_STRESSED = re.compile(r"\*\w+\*")
_UNIT = re.compile(
    r"(?:(?<![a-z\d.,])|(?<=[a-z])(?=[.,]))[\d.,]*+(?<=\d)\s?(?:ms|s|sec|seconds?|minutes?|hours?|days?|bytes?|[kmg]i?b|px|pixels?|%|characters?|chars|words|lines?|tokens?|items?|results?|rows?)\b"
)
_IN_UNIT = re.compile(
    r"\bin (?:seconds|milliseconds|minutes|hours|days|bytes|meters|metres|inches|points|pixels|degrees|percent|usd|cents)\b", re.IGNORECASE
)
_BOUNDS = re.compile(r"[≤≥<>]=?\s?\d|\d\s?(?:-|–|~|to|\.\.)\s?\d|\[\d+,\s?\d+\]", re.IGNORECASE)
_LIMIT = re.compile(r"\blimits?\b(?!\s*=)", re.IGNORECASE)
_OF_OTHER_SCRIPTS: dict[int, str] = {
    Signal.PROHIBITION: "不 勿 禁 없 않 금지 마세요 しない できない ません",
    Signal.EXCLUSIVE: "而非 二选一 代替 대신 代わり",
    Signal.ONLY: r"仅 只 除非 必[须需传填] 만(?=\s) のみ だけ",
    Signal.PREREQUISITE: "先(?!进) 之前 之后 需要 请 확인 먼저 필요 반드시 必要 必ず 事前",
    Signal.DEFAULT: "默认 缺省 기본 デフォルト 既定",
    Signal.CONDITION: "如果 若 否则 当[^前地] 경우 場合",
    Signal.FORMAT: "格式 例如 如[:：] 比如 示例 形式 예: 例: 分隔",
    Signal.BOUND: "最多 最少 最大 最小 上限 取值 限制 최대 최소",
    Signal.UNIT: r"公里 米\) 毫秒 个字 字节",
    Signal.DESTRUCTIVE: "删除 覆盖(?!范围) 替换 清空 삭제 削除",
    Signal.WHEN: "使用 用于 适用 调用 相比 区别 사용 使う",
    Signal.INSTRUCTION: "设置 提供 指定 支持 传入 输入 注意",
    Signal.ENUMERATION: "、",
}
"""Patterns, each of which begins with a character as it is."""


def _in_other_scripts() -> re.Pattern[str]:
    """Return one pattern of all that `_OF_OTHER_SCRIPTS` has. It begins with a set of signs, which the search skips to."""
    signs: set[str] = set()
    groups: list[str] = []
    for signal, patterns in _OF_OTHER_SCRIPTS.items():
        signs.update([pattern[0] for pattern in patterns.split()])
        after_sign = "|".join([f"(?<={pattern[0]}){pattern[1:]}" for pattern in patterns.split()])
        groups.append(f"(?P<{LABELS[signal]}>{after_sign})")
    return re.compile(f"[{''.join(sorted(signs))}](?:{'|'.join(groups)})")


_OTHER_SCRIPTS = _in_other_scripts()
_BY_GROUP: dict[str, int] = {label: signal for signal, label in LABELS.items()}


def is_english(text: str) -> bool:
    """Whether a sentence has an English function word, so that finding no sign in it means something."""
    return not ENGLISH.isdisjoint(text.lower().split())


def rules_of(text: str, words: list[str], bits: int) -> int:
    """Return the signals of `signals_of` that words, pairs of words, numbers or other scripts give; those of a rule are among them."""
    return _rules_of(text, words, bits, _DIGIT.search(text) is not None)


def _rules_of(text: str, words: list[str], bits: int, has_digits: bool) -> int:
    found: int = bits & _SIGNALS
    if bits & Hint.PAIR:
        for first, second in pairwise(words):
            if first in _SECONDS:
                found |= _SECONDS[first].get(second, 0)
    if has_digits and (_BOUNDS.search(text) or (bits & Hint.LIMIT and _LIMIT.search(text))):
        found |= Signal.BOUND
    if not text.isascii():
        for match in _OTHER_SCRIPTS.finditer(text):
            found |= _BY_GROUP[str(match.lastgroup)]
    return found


def signals_of(text: str, words: list[str], bits: int) -> int:
    """Return the kinds of fact that a sentence shows signs of, as a sum of `Signal`.

    `words` are those of the sentence in lower case, `bits` what each of them says by itself.
    """
    has_digits = _DIGIT.search(text) is not None
    found = _rules_of(text, words, bits, has_digits)
    lowered = text.lower()
    if "YYYY" in text:
        found |= Signal.FORMAT
    if (bits & Hint.SHOUTED and _SHOUTED.search(text)) or ("*" in text and _STRESSED.search(text)):
        found |= Signal.EMPHASIS
    if bits & Hint.FIRST and _FIRST.search(lowered):
        found |= Signal.PREREQUISITE
    if bits & Hint.IMPERATIVE and _IMPERATIVE.search(lowered):
        found |= Signal.INSTRUCTION
    if bits & Hint.AUTOMATIC and _AUTOMATIC.search(lowered):
        found |= Signal.DESTRUCTIVE
    if bits & Hint.BE and _CHAINED.search(lowered):
        found |= Signal.CHAIN
    if words and (words[0] in TOOL_VERBS or "description:" in lowered):
        found |= Signal.CAPABILITY
    if _has_literal(text):
        found |= Signal.LITERAL
    if "," in text and _COLON_LIST.search(text):
        found |= Signal.ENUMERATION
        if "(" in text and _CHOICE_LIST.search(text):
            found |= Signal.CHOICES
    if has_digits:
        found |= Signal.EMPHASIS
        if _UNIT.search(lowered):
            found |= Signal.UNIT
    if bits & Hint.IN and _IN_UNIT.search(lowered):
        found |= Signal.UNIT
    return found


def _has_literal(text: str) -> bool:
    for sign, literal in _LITERALS:
        if sign in text and literal.search(text):
            return True
    return _INNER_CAPITAL.search(text) is not None and _CAMEL.search(text) is not None
