"""Generates tools twice: as an author writes them, with annotations, and as they must be left. The second is known by construction."""

import json
import re
from typing import Any

from hypothesis import strategies as st

KEYWORDS = ["title", "type", "description", "default", "examples", "example", "enum", "$ref", "properties", "items", "required", "pattern"]
KEYWORDS += ["format", "const", "$comment", "$schema", "$defs", "a/b~c", "Ünïcödé", 'quote"back\\slash', ""]

Twin = tuple[Any, Any]
"""A value with its annotations, and the same without."""

_NUMBERS = ["1", "1.0", "1e5", "1E+5", "-0", "0.10", "9007199254740993", "12345678901234567890", "1e400"]


def number(spelling: str) -> str:
    """A number that `dumped` spells exactly like this."""
    return f"@@{spelling}@@"


def dumped(tree: Any, *, indent: int | None = None, ascii_only: bool = False, tight: bool = False) -> bytes:
    """The document, with numbers in the spelling that `number` asked for."""
    separators = (",", ":") if tight else None
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii_only, separators=separators)
    return re.sub(r'"@@([^"]*)@@"', r"\1", text).encode()


_words = st.text(st.sampled_from("abc <>&/\\\"\n\t é漢🙂'{}[],:"), max_size=12)
_scalars = st.one_of(st.none(), st.booleans(), _words, st.sampled_from(_NUMBERS).map(number))
_names = st.sampled_from(KEYWORDS)

_data = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_names, inner, max_size=3)),
    max_leaves=5,
)
"""Anything a caller could send: keywords in it are names like any other."""

_short_texts = _words.filter(lambda text: text == " ".join(text.split()))
"""Descriptions that shrinking has no reason to touch."""


@st.composite
def schemas(draw: st.DrawFn, depth: int, keeps_title: bool = False) -> Twin:
    """One schema, `depth` levels of schemas deep. `keeps_title` where it is an alternative among others."""
    parts: list[tuple[str, Any, Any]] = []
    if draw(st.booleans()):
        parts.append(("type", *[draw(st.sampled_from(["object", "string", ["string", "null"]]))] * 2))
    if draw(st.booleans()):
        parts.append(("description", *[draw(_short_texts)] * 2))
    for keyword in draw(
        st.lists(st.sampled_from(["default", "const", "x-vendor", "tomorrow", "pattern", "dependentRequired"]), max_size=2, unique=True)
    ):
        parts.append((keyword, *[draw(_data)] * 2))
    if draw(st.integers(0, 3)) == 0:
        parts.append(("enum", *[draw(st.lists(_data, min_size=1, max_size=3))] * 2))
    if depth:
        below = schemas(depth - 1)
        for keyword in draw(
            st.lists(st.sampled_from(["properties", "$defs", "patternProperties", "dependentSchemas"]), max_size=2, unique=True)
        ):
            named = draw(st.dictionaries(_names, below, max_size=3))
            parts.append((keyword, {name: twin[0] for name, twin in named.items()}, {name: twin[1] for name, twin in named.items()}))
        for keyword in draw(st.lists(st.sampled_from(["items", "additionalProperties", "not", "if"]), max_size=1)):
            parts.append((keyword, *draw(below)))
        for keyword in draw(st.lists(st.sampled_from(["anyOf", "oneOf", "allOf", "prefixItems"]), max_size=1)):
            branches = [draw(schemas(depth - 1, keeps_title=keyword in ("anyOf", "oneOf"))) for _ in range(draw(st.integers(1, 2)))]
            parts.append((keyword, [branch[0] for branch in branches], [branch[1] for branch in branches]))
    keywords = {keyword for keyword, _, _ in parts}
    title_stays = keeps_title and bool(keywords & {"const", "enum"})
    noise: list[tuple[str, Any]] = []
    if draw(st.booleans()):
        noise.append(("title", draw(_words)))
    if draw(st.integers(0, 2)) == 0:
        noise.append(("examples", draw(st.lists(_data, max_size=2))))
    for keyword in draw(st.lists(st.sampled_from(["$comment", "$schema"]), max_size=1)):
        noise.append((keyword, draw(_words)))
    if draw(st.integers(0, 4)) == 0:
        noise.append(("example", draw(_scalars)))
    members = [(keyword, before, after, True) for keyword, before, after in parts]
    members += [(keyword, value, value, keyword == "title" and title_stays) for keyword, value in noise]
    members = draw(st.permutations(members))
    return {keyword: before for keyword, before, _, _ in members}, {keyword: after for keyword, _, after, stays in members if stays}


@st.composite
def tools(draw: st.DrawFn) -> Twin:
    """One tool, in one of the shapes that providers and servers speak."""
    schema, clean = draw(schemas(2))
    name = draw(st.sampled_from(["read", "write", "title", "tools"]))
    extra = draw(
        st.dictionaries(
            st.sampled_from(["title", "_meta", "annotations", "cache_control", "defer_loading", "strict", "icons"]), _data, max_size=2
        )
    )
    description = draw(_short_texts)
    shape = draw(st.sampled_from(["inputSchema", "input_schema", "chat", "flat", "output", "grammar", "server"]))

    def made(body: Any) -> Any:
        match shape:
            case "chat":
                return {
                    "type": "function",
                    "function": {"name": name, "description": description, "parameters": body, "strict": True},
                    **extra,
                }
            case "flat":
                return {"type": "function", "parameters": body, **extra, "name": name, "description": description}
            case "output":
                return {"name": name, **extra, "outputSchema": body, "inputSchema": {"type": "object"}, "description": description}
            case "grammar":
                return {"type": "custom", "name": name, "description": description, "format": {"type": "grammar", "title": "x"}, **extra}
            case "server":
                return {"type": "web_search_20250305", "name": name, "input_schema": {"title": "stays"}, **extra}
            case _:
                return {"name": name, shape: body, "description": description, **extra}

    return made(schema), made(clean)


@st.composite
def catalogs(draw: st.DrawFn) -> tuple[bytes, Any]:
    """A document, and what parsing the shrunk one must give."""
    drawn = draw(st.lists(tools(), min_size=1, max_size=3))
    marker = {"name": "last", "description": "d", "inputSchema": {"type": "object"}}
    before, after = [twin[0] for twin in drawn] + [marker], [twin[1] for twin in drawn] + [marker]
    wrap = draw(
        st.sampled_from(
            [
                lambda listed: {"tools": listed},
                lambda listed: listed,
                lambda listed: {
                    "model": "m",
                    "messages": [{"role": "user", "content": [{"title": "t", "tools": listed[:1]}]}],
                    "tools": listed,
                },
                lambda listed: {"jsonrpc": "2.0", "id": 1, "result": {"tools": listed}},
                lambda listed: {"functions": listed},
                lambda listed: {
                    "input": [{"type": "additional_tools", "tools": [{"type": "namespace", "name": "n", "tools": listed}]}],
                    "tools": [],
                },
            ]
        )
    )
    style = {"indent": draw(st.sampled_from([None, 2])), "ascii_only": draw(st.booleans()), "tight": draw(st.booleans())}
    data = dumped(wrap(before), **style)
    wanted = wrap(after)
    if isinstance(wanted, dict) and "messages" in wanted:
        wanted["messages"] = wrap(before)["messages"]
    return data, exactly(dumped(wanted, **style))


def exactly(data: bytes) -> Any:
    """The document as nested lists of pairs in order, numbers as spelled: equal only if nothing but layout differs."""
    return json.loads(
        data, object_pairs_hook=lambda pairs: ("object", pairs), parse_int=lambda n: ("number", n), parse_float=lambda n: ("number", n)
    )
