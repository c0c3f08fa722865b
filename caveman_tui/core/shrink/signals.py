"""Signs that a sentence bears on choosing the tool or on building the call, each with the kind of fact it points to.

Written for kinds of statements, not for any one catalog. A sign can be wrong in the direction of keeping: that costs bytes only.
Words and pairs of words are looked up in tables, which is several times faster than one large pattern.
"""

import functools
import re
from enum import StrEnum
from itertools import pairwise


class Signal(StrEnum):
    """A kind of fact that a sentence may state."""

    MARKER = "constraint"
    """One of the constraint markers of the caveman-shrink document: such a sentence is kept in full."""
    PROHIBITION = "prohibition"
    EXCLUSIVE = "exclusive"
    ONLY = "only"
    PREREQUISITE = "prerequisite"
    DEFAULT = "default"
    CONDITION = "condition"
    FORMAT = "format"
    LITERAL = "literal"
    UNIT = "unit"
    BOUND = "bound"
    DESTRUCTIVE = "destructive"
    WHEN = "when"
    INSTRUCTION = "instruction"
    CHOICES = "choices"
    ENUMERATION = "enumeration"
    EMPHASIS = "emphasis"
    ARGUMENT = "argument"
    CAPABILITY = "capability"
    CHAIN = "chain"


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
WEAK = frozenset({Signal.ARGUMENT})
"""Signs that alone do not keep a sentence of prose."""

_WORDS_OF = {
    Signal.MARKER: "must cannot require requires required reject rejects rejected invalid max maximum min minimum range ranges between over above "
    "below unique format iso rfc absolute",
    Signal.PROHIBITION: "not never don't don’t doesn't doesn’t isn't isn’t won't won’t can't can’t shouldn't shouldn’t aren't avoid nor forbidden "
    "prohibited unsupported disallowed incorrect wrong nicht niemals kein keine keinen nunca jamais não non",
    Signal.EXCLUSIVE: "either instead mutually exclusive exclusively unlike whereas",
    Signal.ONLY: "only unless except solely without solo sólo solamente nur seulement apenas somente uniquement",
    Signal.PREREQUISITE: "before after once until previous previously beforehand ensure verify confirm obtain obtained prerequisite prerequisites "
    "antes después primero zuerst vorher avant debe deben deve devem muss doit",
    Signal.DEFAULT: "default defaults omit omitted omitting unset unspecified predeterminado predeterminada standardmäßig défaut padrão",
    Signal.CONDITION: "if whenever depending otherwise falls wenn",
    Signal.FORMAT: "exact exactly match matches matching matched valid format formats formatted formatting syntax pattern patterns prefix prefixed suffix separated separator delimited delimiter comma "
    "uuid uuids uri uris iso utc base64 regex hex",
    Signal.BOUND: "paginated pagination higher lower larger smaller increase increases decrease decreases number numbers count inclusive positive negative cap capped quota",
    Signal.DESTRUCTIVE: "auto automatic append appends appended insert inserts inserted delete deletes deleted deleting deletion overwrite overwrites overwriting overwritten replace replaces replaced replacing "
    "remove removes removed removing erase erases erased destroy destroys irreversible irreversibly permanent permanently undone undo revert "
    "reverts reverted reboot reboots restart restarts restarting reset resets charge charged billed cost costs fee fees paid payment modify "
    "modifies modified clears cleared subsequent persist persists persisted persistent affect affects globally stored saved manual manually "
    "irrevocably warning dangerous danger caution careful carefully",
    Signal.WHEN: "use using when prefer preferred recommend recommended suitable choose alternative alternatively whether always should try call "
    "calling see primary allow allows handle handles compared versus vs difference similar usar utilice utiliser verwenden",
    Signal.INSTRUCTION: "important note remember ignore ignored fail fails failing error errors raise raises warn warns enable enables enabled "
    "disable disables disabled",
    Signal.ENUMERATION: "or value values option options",
    Signal.ARGUMENT: "argument arguments parameter parameters field fields identifier identifiers path paths url urls filter filters query queries "
    "keyword keywords flag flags setting settings mode modes wildcard wildcards character characters timezone timestamp timestamps locale "
    "currency token tokens credential credentials permission permissions id ids access authenticate authentication authenticated account plan",
    Signal.CAPABILITY: "recursive recursively subdirectories subfolders cover covers support supports operation operations command commands action actions capability capabilities task tasks",
}
_PAIRS_OF = {
    Signal.MARKER: "can not|not allowed|exactly one|at least|at most|greater than|less than|more than|fewer than|longer than|shorter than|larger than|"
    "smaller than|higher than|lower than|mutually exclusive",
    Signal.EXCLUSIVE: "rather than|in contrast|not both",
    Signal.PREREQUISITE: "prior to|need to|needs to|needed to|you need|you'll need|make sure|be sure|retrieved from|d'abord avant",
    Signal.DEFAULT: "if empty|if null|if none|if blank|if left|when empty|when null|when none|when blank|when left|por defecto",
    Signal.CONDITION: "in case|as long",
    Signal.FORMAT: "by its|by their|by id|by name|e g|i e|such as|case sensitive|case insensitive|0 based|1 based|zero based|one based|0 indexed|1 indexed|zero indexed|one indexed|"
    "indexed from|index from|starts from|starting from",
    Signal.BOUND: "up to|limited to|non negative|per request|per call|per page|allowed values|supported values|valid values|permitted values|"
    "possible values|available values|acceptable values|allowed types|supported types|valid types|image types|available types|allowed options|"
    "valid options|available options|supported formats|allowed formats|valid formats|valid characters|allowed characters|supported operations|are allowed",
    Signal.DESTRUCTIVE: "side effect|side effects",
    Signal.INSTRUCTION: "you can|you may|you might|you could|you have",
    Signal.CHOICES: "one of",
    Signal.ENUMERATION: "type of|types of|subtype of",
    Signal.ARGUMENT: "api key|environment variable|environment variables",
    Signal.CAPABILITY: "belongs to|belong to",
    Signal.CHAIN: "for use",
}
_WORDS: dict[str, Signal] = {word: signal for signal, words in reversed(_WORDS_OF.items()) for word in words.split()}
_ALSO_FORMAT = frozenset({"format", "iso"})
_PAIRS: dict[tuple[str, str], Signal] = {
    (pair.split()[0], pair.split()[1]): signal for signal, pairs in reversed(_PAIRS_OF.items()) for pair in pairs.split("|")
}
_PAIR_STARTS = frozenset(first for first, _ in _PAIRS)
_SHOUTED_WORDS = frozenset("only all any not never always first before after stop now do does will must".split())
_SHOUTED = re.compile(r"\b(?:" + "|".join(sorted(word.upper() for word in _SHOUTED_WORDS)) + r")\b")
_VERBS = frozenset(
    "set provide specify pass include enter give supply combine separate keep leave add make create select choose start run search list check "
    "format write ask wait consider remember note".split()
)
_TOOL_VERBS = frozenset(
    "can retrieve get list create update delete manage view analyze analyse search find fetch query execute run monitor configure deploy generate "
    "convert send read write upload download add remove browse inspect track".split()
)
"""A sentence that begins with one says what the tool is for, or tells what to do."""

LONGEST_REMEMBERED = 1000
"""Characters of the longest sentence that is remembered; with the number of sentences this bounds the memory."""

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_IMPERATIVE = re.compile(
    r"(?:^[\W\d_]*|[,;:–—-] |\b(?:and|then|please|just|simply|to) )(?:" + "|".join(sorted(_VERBS)) + r")\b",
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
_CAMEL = re.compile(r"[a-z][A-Z]")
_COLON_LIST = re.compile(r":\s[^.:]{1,60},|\((?:[\w.\-/ ]{1,20}, ){2}")
_CHOICE_LIST = re.compile(r"\((?:[\w.\-/]{1,20}, ){2}")
_STRESSED = re.compile(r"\*\w+\*")
_DIGITS = frozenset("0123456789")
_UNIT = re.compile(
    r"\d\s?(?:ms|s|sec|seconds?|minutes?|hours?|days?|bytes?|[kmg]i?b|px|pixels?|%|characters?|chars|words|lines?|tokens?|items?|results?|rows?)\b"
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
    r"|(?P<prerequisite>先|之前|之后|需要|请|확인|먼저|필요|반드시|必要|必ず|事前)"
    r"|(?P<default>默认|缺省|기본|デフォルト|既定)"
    r"|(?P<condition>如果|若|否则|当[^前地]|경우|場合)"
    r"|(?P<format>格式|例如|如[:：]|比如|示例|形式|예:|例:|分隔)"
    r"|(?P<bound>最多|最少|最大|最小|上限|取值|限制|최대|최소)"
    r"|(?P<unit>公里|米\)|毫秒|个字|字节)"
    r"|(?P<destructive>删除|覆盖|替换|清空|삭제|削除)"
    r"|(?P<when>使用|用于|适用|调用|相比|区别|사용|使う)"
    r"|(?P<instruction>设置|提供|指定|支持|传入|输入|注意)"
    r"|(?P<enumeration>、)"
)


_ENGLISH = frozenset("the and are this that these with from for its it they".split())


def is_english(text: str) -> bool:
    """Whether a sentence has an English function word, so that finding no sign in it means something."""
    return not _ENGLISH.isdisjoint(text.lower().split())


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
    if (not _SHOUTED_WORDS.isdisjoint(present) and _SHOUTED.search(text)) or ("*" in signs and _STRESSED.search(text)):
        found.add(Signal.EMPHASIS)
    if "first" in present and _FIRST.search(lowered):
        found.add(Signal.PREREQUISITE)
    if not _VERBS.isdisjoint(present) and _IMPERATIVE.search(lowered):
        found.add(Signal.INSTRUCTION)
    if "automatically" in present and _AUTOMATIC.search(lowered):
        found.add(Signal.DESTRUCTIVE)
    if "be" in present and _CHAINED.search(lowered):
        found.add(Signal.CHAIN)
    if words and (words[0] in _TOOL_VERBS or "description:" in lowered):
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
