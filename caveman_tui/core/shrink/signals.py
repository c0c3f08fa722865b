"""Signs that a sentence bears on choosing the tool or on building the call, each with the kind of fact it points to.

Written for kinds of statements, not for any one catalog. A sign can be wrong in the direction of keeping: that costs bytes only.
"""

import re

_SIGNALS = re.compile(
    r"(?P<prohibition>\b(?:not|never|don[’']?t|doesn[’']?t|isn[’']?t|won[’']?t|can[’']?t|avoid|cannot|nor|forbidden|prohibited|unsupported|disallowed|incorrect|wrong"
    r"|nicht|niemals|kein[ers]?|nunca|jamais|não|non)\b|[不勿禁]|严禁|없|않|금지|마세요|しない|できない|ません|禁止)"
    r"|(?P<exclusive>\b(?:either|instead|rather than|mutually|exclusive(?:ly)?|not both|unlike|in contrast|whereas)\b|而非|而不是|二选一|代替|대신|代わり)"
    r"|(?P<only>\b(?:only|unless|except|solely|without|solo|sólo|solamente|nur|seulement|apenas|somente|uniquement)\b|仅|只|除非|必[须需传填]|만 |のみ|だけ)"
    r"|(?P<prerequisite>\b(?:first|before|after|prior to|once|until|previous(?:ly)?|beforehand|needs? to be|you(?:['’]ll)? need|ensure|make sure|be sure|verify|confirm|obtain(?:ed)?"
    r"|retrieved? from|prerequisites?|antes|después|primero|zuerst|vorher|avant|d[’']abord|debe[ns]?|deve[m]?|muss|doit)\b|先|之前|之后|需要|请|확인|먼저|필요|반드시|必要|必ず|事前)"
    r"|(?P<default>\bdefaults?\b|\bby default\b|\b(?:if|when) (?:omitted|unset|unspecified|empty|null|none|blank|left)\b|\bomit(?:ted|ting)?\b|默认|缺省|기본|デフォルト|既定|por defecto|predeterminad|standardmäßig|par défaut|por padrão)"
    r"|(?P<condition>\b(?:if|whenever|in case|depending|otherwise|as long as|falls|wenn)\b|如果|若|否则|当[^前地]|경우|場合)"
    r"|(?P<format>\be\.g\.|\bi\.e\.|\bformat(?:ted|s|ting)?\b|\bsyntax\b|\bpatterns?\b|\bprefix(?:ed)?\b|\bsuffix\b|\bseparat(?:ed|or)\b|\bdelimit|\bcomma\b|\b(?-i:YYYY\w*|UUIDs?|UUIDv\d|URIs?|ISO|UTC)\b|\b(?:base64|regex|hex)\b"
    r"|\bcase[- ](?:in)?sensitive\b|\b(?:0|1|zero|one)-(?:based|indexed)\b|\bindex(?:ed|es)?\b.{0,12}\bfrom\b|格式|例如|如:|如：|比如|示例|形式|예:|例:|分隔)"
    r"|(?P<literal>`[^`]+`|\"[^\"]{1,80}\"|“[^”]{1,80}”|(?<!\w)'[^'\s][^']{0,60}'(?!\w)|\b\w+=\S|\{\w+\}|<\w[\w\- ]*>|\b[a-z]+://|\b[a-zA-Z]+_[a-zA-Z_]+\b|\b(?-i:[a-z]+[A-Z])\w+\b|(?<!\w)(?:/[\w.\-]+){2,}|\*\.\w+)"
    r"|(?P<unit>\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|minutes?|hours?|days?|bytes?|[KMG]i?B|px|pixels?|%|characters?|chars|words|lines?|tokens?|items?|results?|rows?)\b"
    r"|\bin (?:seconds|milliseconds|minutes|hours|days|bytes|meters|metres|inches|points|pixels|degrees|percent|USD|cents)\b|公里|米\)|毫秒|个字|字节)"
    r"|(?P<bound>\b(?:up to|limit(?:ed|s)?|inclusive|exclusive|positive|negative|non-negative|no more than|cap(?:ped)?|at a time|quota|(?:allowed|supported|valid|permitted|possible|available|acceptable) (?:\w+ )?(?:values?|types?|options?|formats?|operations?|characters)|per (?:request|call|page))\b|最多|最少|最大|最小|不超过|上限|取值|限制|최대|최소|最大|[≤≥<>]=?\s?\d|\d\s?(?:-|–|~|to|\.\.)\s?\d|\[\d+,\s?\d+\])"
    r"|(?P<destructive>\b(?:delet(?:e|es|ed|ing|ion)|overwrit\w+|replac(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|eras\w+|destroy\w*|irreversibl\w+|permanent\w*|undone|undo|revert\w*|reboot\w*|restart\w*|reset\w*|charged?|billed|cost[s]?|fees?|paid|payment|modif(?:y|ies|ied)|clear(?:s|ed)|warning|danger\w*|caution|careful(?:ly)?)\b|删除|覆盖|替换|清空|삭제|削除)"
    r"|(?P<when>\b(?:use|used|using|when|prefer(?:red)?|recommend(?:ed)?|suitable|choose|alternative(?:ly)?|for (?:any|all|each|every)|whether|always|should|try|call(?:ed|ing)?|see)\b|使用|用于|适用|调用|사용|使う|usar|utilice|utiliser|verwenden)"
    r"|(?P<instruction>\b(?:set|provide|specify|pass|include|enter|give|supply|combine|separate|note|important|remember|keep|leave|support(?:s|ed)?|accepts?|allow(?:s|ed)?|enabl\w+|ignored?|fails?|error|raises?|warns?|consider)\b|设置|提供|指定|支持|传入|输入|注意)",
    re.IGNORECASE,
)

STRONG = frozenset({"prohibition", "exclusive", "only", "prerequisite", "default", "bound", "destructive", "format"})
"""Signs that outweigh what looks like filler."""


def signals_of(text: str) -> frozenset[str]:
    """Return the kinds of fact that a sentence shows signs of."""
    return frozenset(found.lastgroup or "" for found in _SIGNALS.finditer(text))
