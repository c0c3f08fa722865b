"""Requests for the tests of this folder: small builders, and generated ones of every shape that matters to markers."""

import json
from typing import Any

from hypothesis import strategies as st

from caveman_tui.core.cache_markers import Marker, automatic_marker, block_markers, prefix_blocks
from caveman_tui.core.prefix_digests import PrefixDigests, digest_body

HOUR = {"type": "ephemeral", "ttl": "1h"}
FIVE = {"type": "ephemeral", "ttl": "5m"}
BARE = {"type": "ephemeral"}

HEADLESS_AGENT = "claude-cli/2.1.316 (external, sdk-cli)"
INTERACTIVE_AGENT = "claude-cli/2.1.316 (external, cli)"


def text(content: str = "words", marker: Any = ...) -> dict[str, Any]:
    return _marked({"type": "text", "text": content}, marker)


def call(number: int = 1, marker: Any = ...) -> dict[str, Any]:
    return _marked({"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"ttl": "1h", "cache_control": HOUR}}, marker)


def result(number: int = 1, marker: Any = ..., content: Any = "ok") -> dict[str, Any]:
    return _marked({"type": "tool_result", "tool_use_id": f"t{number}", "content": content}, marker)


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def loop(*prompt: Any, tail: Any = HOUR, steps: int = 1) -> list[dict[str, Any]]:
    """A person's prompt and the tool calls that follow it; the last result carries the marker `tail`."""
    messages = [user(*prompt)]
    for step in range(steps):
        last = step == steps - 1
        messages += [assistant(call(step)), user(result(step, tail if last else ...))]
    return messages


def encode(request: Any) -> bytes:
    return json.dumps(request, ensure_ascii=False).encode()


def find_markers(request: Any) -> tuple[Marker, ...]:
    """The markers of a parsed request, found block by block without anything known."""
    blocks = (block for block in prefix_blocks(request) if isinstance(block.value, dict))
    return (*(marker for block in blocks for marker in block_markers(block)), *automatic_marker(request))


def prefix_of(body: bytes) -> PrefixDigests | None:
    """The digests of a request body; None where it is no JSON object."""
    digested = digest_body(body)
    return digested.prefix if digested else None


def _marked(block: dict[str, Any], marker: Any) -> dict[str, Any]:
    return block if marker is ... else {**block, "cache_control": marker}


_words = st.text(alphabet=st.sampled_from('ab "\\{}[],:é\u2028😀\n1h'), max_size=12)
_markers = st.one_of(
    st.just(HOUR),
    st.just(HOUR),
    st.just(HOUR),
    st.sampled_from([FIVE, BARE, {**HOUR, "scope": "global"}, None]),
    st.sampled_from([HOUR, HOUR, None, {"ttl": None, "type": "ephemeral"}, "1h", {"ttl": "2h"}]),
)
_unmarked = st.one_of(
    st.builds(lambda content: {"type": "text", "text": content}, _words),
    st.just({"type": "thinking", "thinking": "t", "signature": "s"}),
    st.builds(lambda number: {"type": "tool_use", "id": number, "name": "n", "input": {"cache_control": HOUR}}, st.integers(0, 3)),
    st.builds(
        lambda content: {"type": "document", "source": {"type": "content", "content": content}},
        st.lists(st.builds(text, _words), max_size=2),
    ),
)


def _maybe_marked(blocks: st.SearchStrategy[Any], chance: int) -> st.SearchStrategy[Any]:
    marked = st.builds(lambda block, marker: {**block, "cache_control": marker}, blocks, _markers)
    return st.integers(0, chance).flatmap(lambda roll: marked if roll == 0 else blocks)


_results = st.builds(
    lambda content: {"type": "tool_result", "tool_use_id": "t", "content": content},
    st.one_of(_words, st.lists(_maybe_marked(_unmarked, 6), max_size=2)),
)
_blocks = _maybe_marked(st.one_of(_unmarked, _results), 9)
_messages = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "user", "assistant", "system"]),
    st.one_of(_words, st.lists(_blocks, max_size=4)),
)
_tools = _maybe_marked(st.builds(lambda name: {"name": name}, _words), 5)
_loops = st.builds(
    lambda head, prompt, middle, tail: [*head, user(*prompt), *middle, user(*tail)],
    st.lists(_messages, max_size=2),
    st.lists(_maybe_marked(_unmarked, 5), min_size=1, max_size=3),
    st.lists(_messages, max_size=3),
    st.lists(_maybe_marked(_results, 1), min_size=1, max_size=3),
)

generated = st.fixed_dictionaries(
    {"messages": st.one_of(_loops, _loops, st.lists(_messages, max_size=5))},
    optional={
        "model": st.just("m"),
        "system": st.one_of(_words, st.lists(_maybe_marked(st.builds(text, _words), 1), max_size=3)),
        "tools": st.lists(_tools, max_size=3),
        "cache_control": _markers,
        "number": st.sampled_from([1e5, 12345678901234567890123, 1.0]),
    },
)
"""Parsed requests, legal and illegal ones."""


@st.composite
def spelled(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> bytes:
    """The bytes of a value, with white space, escapes and number spellings as no serialiser would choose them."""

    def space() -> str:
        return draw(st.sampled_from(["", "", "", " ", "\n\t", " \r\n"]))

    def string(value: str) -> str:
        if draw(st.integers(0, 5)):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        return '"' + "".join(f"\\u{unit:04x}" for unit in _utf16(value)) + '"'

    def write(value: Any) -> str:
        if isinstance(value, dict):
            return (
                "{"
                + space()
                + ",".join(f"{space()}{string(key)}{space()}:{space()}{write(item)}{space()}" for key, item in value.items())
                + "}"
            )
        if isinstance(value, list):
            return "[" + space() + ",".join(space() + write(item) + space() for item in value) + "]"
        return string(value) if isinstance(value, str) else json.dumps(value)

    return (space() + write(draw(values)) + space()).encode()


def _utf16(value: str) -> list[int]:
    encoded = value.encode("utf-16-be")
    return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]
