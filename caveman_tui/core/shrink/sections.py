"""What a heading or a label announces, in the languages that descriptions are written in."""

import functools
import re
import string

from caveman_tui.core.shrink.vocabulary import SECTION_WORDS
from caveman_tui.core.shrink.words import parts_of


class Section:
    """What a heading or label announces, as far as it decides about the lines below it. Plain strings, for speed."""

    NONE = ""
    RETURNS = "returns"
    EXAMPLES = "examples"
    PARAMETERS = "parameters"
    BENEFITS = "benefits"
    DIALOGUE = "dialogue"


_COLONS = (":", "：")
_AT_ENDS = ":：*_ "
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))
"""All white space: in French a no-break one stands before the colon."""
_DECORATION = "#*_=>" + _BLANKS
_BEFORE = _DECORATION + "-•·|✅❌⚠️🚨🔴🟢📌💡.)(<" + string.digits
_AFTER = _DECORATION + ":："
_SECTIONS = re.compile(
    r"""
    (?P<returns>
        (?:expected\ |the\ |tool\ )?(?:returns?|responses?|results?)
            (?:\ (?:values?|format|type|shape|structure|schema|fields|objects?|includes?|contains?|data))*
        |(?:the\ |tool\ )?outputs?(?:\ (?:structure|schema|shape|fields|includes?|contains?))?
        |(?:example|sample)\ (?:responses?|outputs?|results?|returns?)
        |(?:response|return)s?\ (?:format|value|structure|schema|shape|field)s?\ .{0,30}
        |返回(?:值|结果|格式|内容|数据|字段|说明)*|输出(?:结果|内容|说明)*|响应(?:格式)?
        |반환(?:\ ?값)?|출력|戻り値|返り値|出力
        |devuelve|retorna|respuesta|salida|valor\ de\ retorno|renvoie|retourne|retour|sortie|rückgabe(?:wert)?|ausgabe
        |restituisce|retorno|saída
    )$
    |(?P<dialogue>
        (?:example|sample)\ (?:interactions?|conversations?|dialogu?e?s?|scenarios?|prompts?|queries|questions)s?
    )$
    |(?P<examples>
        (?:more\ |some\ |common\ |usage\ |query\ |code\ |quick\ |simple\ |basic\ |advanced\ )*(?:examples?|samples?)\b
            (?!\ (?:values?|options?|formats?|inputs?|parameters?|arguments?|ids?|identifiers?|names?|fields?|keys?|types?)\b).{0,60}
        |e\.g\.?|for\ (?:example|instance)|.{0,24}\bexamples?
        |示例|例子|举例|例如|使用示例|调用示例|예시|예제|예|例|使用例|ejemplos?(?:\ .{0,20})?|exemples?|beispiele?|esempi[o]?|exemplos?
    )$
    |(?P<parameters>
        (?:input\ )?(?:args|arguments|parameters|params|inputs?|takes|options|fields|properties)
        |参数(?:说明)?|输入(?:参数)?|매개변수|파라미터|引数|パラメータ
        |parámetros|argumentos|paramètres|parameter|argumente|parametri|parâmetros
    )$
    |(?P<benefits>
        (?:(?:key|main|core|performance|advanced)\ )*(?:benefits|advantages|highlights|optimi[sz]ations)
        |[A-Za-z\ ,'’⚠️-]{0,60}\b(?:will\ result\ in|results\ in|leads\ to|ensures\ you|helps\ you|lets\ you)
        |(?:smart|intelligent)\ (?:detection|features?)
        |why\ (?:use\ )?(?:this|it).{0,20}
        |(?:this\ (?:tool\ )?is\ )?(?:(?:particularly|especially|very|also)\ )*(?:useful|helpful|valuable|handy)\ (?:for|in)\b.{0,30}
        |(?:perfect|ideal|great|best\ suited|excellent)\ (?:for|use\ cases?)\b.{0,30}
        |优势|特点|优点
    )$
    """,
    re.IGNORECASE | re.VERBOSE,
)


def announces(text: str) -> bool:
    """Whether a line or sentence ends with a colon, stressed or not, and so says what comes below it."""
    return text[-1:] in _AT_ENDS and text.rstrip("*_ ").endswith(_COLONS)


def section_of(line: str) -> str:
    """Return what a heading or label line announces; its text before the colon counts where more text follows."""
    text = line
    if not announces(text):
        cut = min((at for at in (text.find(":"), text.find("：")) if at >= 0), default=-1)
        if 0 <= cut <= 40:
            text = text[:cut]
        elif len(text) > 60:
            return Section.NONE
    return _section_of_label(text)


@functools.lru_cache(maxsize=1024)
def _section_of_label(label: str) -> str:
    label = label.lstrip(_BEFORE).rstrip(_AFTER)
    if not label or len(label) > 80:
        return Section.NONE
    if label.isascii() and SECTION_WORDS.isdisjoint(parts_of(label.lower())):
        return Section.NONE
    found = _SECTIONS.match(label)
    return found.lastgroup or Section.NONE if found else Section.NONE
