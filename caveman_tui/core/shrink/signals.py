"""Signs that a sentence bears on choosing the tool or on building the call, each with the kind of fact it points to.

Written for kinds of statements, not for any one catalog. A sign can be wrong in the direction of keeping: that costs bytes only.
"""

import re

_SIGNALS = re.compile(
    r"(?P<prohibition>\b(?:not|never|don[’']?t|doesn[’']?t|isn[’']?t|won[’']?t|can[’']?t|avoid|cannot|nor|forbidden|prohibited|unsupported|disallowed|incorrect|wrong"
    r"|nicht|niemals|kein[ers]?|nunca|jamais|não|non)\b|[不勿禁]|严禁|없|않|금지|마세요|しない|できない|ません|禁止)"
    r"|(?P<exclusive>\b(?:either|instead|rather than|mutually|exclusive(?:ly)?|not both|unlike|in contrast|whereas)\b|而非|而不是|二选一|代替|대신|代わり)"
    r"|(?P<only>\b(?:only|unless|except|solely|without|solo|sólo|solamente|nur|seulement|apenas|somente|uniquement)\b|仅|只|除非|必[须需传填]|만 |のみ|だけ)"
    r"|(?P<prerequisite>\bfirst\b(?! (?:content|block|line|node|column|row|item|element|option|few|page|N\b)|\))|\b(?:before|after|prior to|once|until|previous(?:ly)?|beforehand|need(?:s|ed)? to|you(?:['’]ll)? need|ensure|make sure|be sure|verify|confirm|obtain(?:ed)?"
    r"|retrieved? from|prerequisites?|antes|después|primero|zuerst|vorher|avant|d[’']abord|debe[ns]?|deve[m]?|muss|doit)\b|先|之前|之后|需要|请|확인|먼저|필요|반드시|必要|必ず|事前)"
    r"|(?P<default>\bdefaults?\b|\bby default\b|\b(?:if|when) (?:omitted|unset|unspecified|empty|null|none|blank|left)\b|\bomit(?:ted|ting)?\b|默认|缺省|기본|デフォルト|既定|por defecto|predeterminad|standardmäßig|par défaut|por padrão)"
    r"|(?P<condition>\b(?:if|whenever|in case|depending|otherwise|as long as|falls|wenn)\b|如果|若|否则|当[^前地]|경우|場合)"
    r"|(?P<format>\be\.g\.|\bi\.e\.|\bsuch as\b|\bformat(?:ted|s|ting)?\b|\bsyntax\b|\bpatterns?\b|\bprefix(?:ed)?\b|\bsuffix\b|\bseparat(?:ed|or)\b|\bdelimit|\bcomma\b|\b(?-i:YYYY\w*|UUIDs?|UUIDv\d|URIs?|ISO|UTC)\b|\b(?:base64|regex|hex)\b"
    r"|\bcase[- ](?:in)?sensitive\b|\b(?:0|1|zero|one)-(?:based|indexed)\b|\bindex(?:ed|es)?\b.{0,12}\bfrom\b|格式|例如|如:|如：|比如|示例|形式|예:|例:|分隔)"
    r"|(?P<literal>`[^`]+`|\"[^\"]{1,80}\"|“[^”]{1,80}”|(?<!\w)'[^'\s][^']{0,60}'(?!\w)|\b\w+=\S|\{\w+\}|<\w[\w\- ]*>|\b[a-z]+://|\b[a-zA-Z]+_[a-zA-Z_]+\b|\b(?-i:[a-z]+[A-Z])\w+\b|(?<!\w)(?:/[\w.\-]+){2,}|\*\.\w+)"
    r"|(?P<unit>\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|minutes?|hours?|days?|bytes?|[KMG]i?B|px|pixels?|%|characters?|chars|words|lines?|tokens?|items?|results?|rows?)\b"
    r"|\bin (?:seconds|milliseconds|minutes|hours|days|bytes|meters|metres|inches|points|pixels|degrees|percent|USD|cents)\b|公里|米\)|毫秒|个字|字节)"
    r"|(?P<bound>\b(?:up to|limited to|limits?\b(?=.{0,20}\d)|inclusive|exclusive|positive|negative|non-negative|no more than|cap(?:ped)?|at a time|quota|(?:allowed|supported|valid|permitted|possible|available|acceptable) (?:\w+ )?(?:values?|types?|options?|formats?|operations?|characters)|per (?:request|call|page))\b|最多|最少|最大|最小|不超过|上限|取值|限制|최대|최소|最大|[≤≥<>]=?\s?\d|\d\s?(?:-|–|~|to|\.\.)\s?\d|\[\d+,\s?\d+\])"
    r"|(?P<destructive>\b(?:delet(?:e|es|ed|ing|ion)|overwrit\w+|replac(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|eras\w+|destroy\w*|irreversibl\w+|permanent\w*|undone|undo|revert\w*|reboot\w*|restart\w*|reset\w*|charged?|billed|cost[s]?|fees?|paid|payment|modif(?:y|ies|ied)|clear(?:s|ed)|subsequent|persist\w*|affects?|globally|stored|saved|manual(?:ly)?|automatically (?:add|creat|set|generat|includ|assign|sav|sent|send|delet|remov|start|appl|replac|append|insert|conver)\w*|irrevocabl\w+|side effects?|warning|danger\w*|caution|careful(?:ly)?)\b|删除|覆盖|替换|清空|삭제|削除)"
    r"|(?P<when>\b(?:use|using|when|prefer(?:red)?|recommend(?:ed)?|suitable|choose|alternative(?:ly)?|whether|always|should|try|call(?:ing)?|see|instead|primary"
    r"|allows?|handles?|compared|versus|vs|difference|similar)\b|使用|用于|适用|调用|相比|区别|사용|使う|usar|utilice|utiliser|verwenden)"
    r"|(?P<instruction>(?:^|[,;:–—-] |\band |\bthen |\bplease |\bjust |\bsimply |\bto )(?:[-*•]\s|\d+[.)]\s)?(?:set|provide|specify|pass|include|enter|give|supply|combine|separate|keep|leave|add"
    r"|make|create|select|choose|start|run|search|list|check|format|write|ask|wait|consider|remember|note)\b|\byou (?:can|may|might|could|have)\b"
    r"|\b(?:important|note|remember|ignored?|fails?|failing|error|errors|raises?|warns?|enabl\w+|disabl\w+)\b|设置|提供|指定|支持|传入|输入|注意)"
    r"|(?P<choices>\((?:[\w.\-/]{1,20}, ){2,}|\bone of\b)|(?P<enumeration>:\s[^.:]{1,60},|\((?:[\w.\-/ ]{1,20}, ){2,}|\bor\b|\b(?:sub)?types? of\b|\bvalues?\b|\boptions?\b|、)"
    r"|(?P<emphasis>\*\w+\*|(?-i:\b(?:ONLY|ALL|ANY|NOT|NEVER|ALWAYS|FIRST|BEFORE|AFTER|STOP|NOW|DO|DOES|WILL|MUST)\b)|\d)"
    r"|(?P<argument>\b(?:argument|parameter|field|identifier|path|url|filter|query|syntax|keyword|flag|setting|mode|wildcard|character|timezone|timestamp|locale|currency"
    r"|token|credential|permission|IDs?|api key|environment variable|access|authenticat\w+|account|plan)s?\b)"
    r"|(?P<capability>\b(?:operation|command|action|capabilit(?:y|ie)|task)s?\b|\bsupports? \w+ing\b|^(?:…\s*)?can\b|\bbelongs? to\b|\bdescription:)"
    r"|(?P<chain>\bbe (?:used|passed|given|supplied) (?:with|by|in|as|to|when)\b|\bfor use (?:with|in)\b)"
    r"|(?P<description>\b(?:used|for (?:any|all|each|every)|called|supports?|accepts?|includes?|provides?|contains?)\b)",
    re.IGNORECASE,
)

STRONG = frozenset({"prohibition", "exclusive", "only", "prerequisite", "default", "bound", "destructive", "format"})
"""Signs that outweigh what looks like filler."""
WEAK = frozenset({"description"})
"""Signs that alone do not keep a sentence of prose."""


def signals_of(text: str) -> frozenset[str]:
    """Return the kinds of fact that a sentence shows signs of."""
    return frozenset(found.lastgroup or "" for found in _SIGNALS.finditer(text))
