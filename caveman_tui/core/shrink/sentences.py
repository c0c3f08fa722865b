"""Where a sentence ends, in any script, and where it only seems to."""

import re

_END = (
    r"(?:(?<=[.!?])(?<![.!?][.!?])[.!?]*[\"')\]*_”’]*(?=\s)"
    r"|(?<=[。！？])(?<![。！？][。！？])[。！？]*[”」』）)]*(?=\s*\S)"
    r"|(?<=；)(?=\S))"
)
"""What follows the sign that ends a sentence, the first of several: from each of them on the work would grow with their square."""
_MAY_END = re.compile(rf"[.!?。！？；]{_END}")
_ENDS = re.compile(
    r"[`\"“「(:.!?。！？；]"
    r"(?:(?<=`)[^`\n]*`"
    r"|(?<=\")[^\"\n]*\""
    r"|(?<=“)[^“”\n]*”"
    r"|(?<=「)[^「」\n]*」"
    r"|(?<=\()[^()\n]*\)"
    r"|(?<=[a-z]:)//\S+"
    rf"|(?P<end>{_END}))"
)
"""Ends, and what has none inside. Both patterns begin with a set of signs, which the search skips to."""
_ABBREVIATIONS = (
    *("etc", "vs", "cf", "ca", "al", "approx", "incl", "excl", "resp", "fig", "no", "nr", "max", "min", "mr", "mrs", "ms", "dr", "st"),
    *("inc", "ltd", "corp", "dept", "est", "bzw", "ej"),
)
_NO_END = re.compile(
    rf"(?:\b(?:e\.?g|i\.?e|{'|'.join(_ABBREVIATIONS)}|z\.b|p\.ej)"
    r"|(?:^|(?<!\d)[\s(])[A-Za-z]|(?:^|\n)\s*\d{1,3})\.$",
    re.IGNORECASE,
)
_TAIL = 12
_LABEL = re.compile(r"[A-Z]\w*(?: \w+){0,3}: ")
"""What an abbreviation that ends a list may be followed by; it ends the sentence then."""
_MAY_SEEM_TO_END = frozenset({*_ABBREVIATIONS, "eg", "ie"})


def _seems_to_end(tail: str) -> bool:
    """Whether the full stop that `tail` ends with is that of an abbreviation, an initial or a number."""
    word = tail[:-1].rpartition(" ")[2]
    if len(word) > 1 and word.isalpha() and word.isascii() and word.lower() not in _MAY_SEEM_TO_END:
        return False
    return _NO_END.search(tail) is not None


def _is_one_sentence(text: str, start: int, end: int) -> bool:
    """Whether ASCII has no sign before its last character that could end a sentence; spares a pattern for most items of lists."""
    last = end - 1
    return text.isascii() and text.find(".", start, last) < 0 and text.find("?", start, last) < 0 and text.find("!", start, last) < 0


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Return where the sentences of `text[start:end]` end, white space after them included; the last is `end`. A line is never crossed."""
    if _is_one_sentence(text, start, end) or not _MAY_END.search(text, start, end):
        return [end]
    ends: list[int] = []
    for found in _ENDS.finditer(text, start, end):
        if found.lastgroup is None:
            continue
        at = found.end()
        stop = at
        while stop < end and text[stop].isspace():
            stop += 1
        if stop >= end:
            break
        sign = found.group()
        if sign[0] in ".!?":
            closes_list = text.endswith("etc.", start, at) and _LABEL.match(text, stop, end)
            if sign == "." and not closes_list and _seems_to_end(text[max(start, at - _TAIL) : at]):
                continue
            following = text[stop]
            if following.islower() and sign[0] == ".":
                continue
            if sign[0] in "!?" and sign[-1] not in '!?"' and following.islower():
                continue
        ends.append(stop)
    ends.append(end)
    return ends
