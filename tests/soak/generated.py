"""Generated requests and responses, as they travel: bodies of every dialect and coding, odd JSON, odd fields, both framings."""

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import brotli
import zstandard
from hypothesis import strategies as st

from tests.core import requests
from tests.core.shrink import noisy_schemas

Field = tuple[str, str]

_CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    "gzip, zstd": lambda data: zstandard.ZstdCompressor().compress(gzip.compress(data)),
    "identity": lambda data: data,
}
EDITABLE_PATHS = ("/v1/messages", "/v1/messages?beta=true", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses")
OTHER_PATHS = ("/v1/files", "/v1/messages/batches?a=%2F&b=", "/api/event_logging/batch")
_AGENTS = (requests.INTERACTIVE_AGENT, requests.INTERACTIVE_AGENT, requests.HEADLESS_AGENT, "codex_cli_rs/0.50 (linux)", "")


@dataclass(frozen=True)
class GeneratedRequest:
    """A POST as a client sends it."""

    path: str
    fields: tuple[Field, ...]
    """Without Host and framing."""
    plain: bytes
    """The body before its coding: what a worker reads that can decode it."""
    body: bytes
    """The body that is sent."""
    chunk_size: int
    """0 sends a length, anything else chunks of so many bytes."""


@dataclass(frozen=True)
class GeneratedResponse:
    """What the provider answers."""

    status: str
    fields: tuple[Field, ...]
    body: bytes
    chunk_size: int


_values = st.text(st.sampled_from("abcXYZ019 ;,=/\"\\'<>é漢"), max_size=20).map(str.strip)
_names = st.sampled_from(
    ["X-Odd", "x-lower", "X-UPPER", "anthropic-beta", "Authorization", "X-Api-Key", "X-Forwarded-For", "Cookie", "Accept"]
)
_fields = st.lists(st.tuples(_names, _values), max_size=6).map(tuple)

_with_tools = noisy_schemas.catalogs().map(lambda made: made[0])
_agents = st.builds(
    lambda request, tools: request | {"tools": tools, "stream": True},
    requests.generated,
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.sampled_from(["read", "write", "list"]),
                "description": st.sampled_from(["Reads a file.  It is very useful.", "Please note that this tool lists.", "é <b> \u2028"]),
                "input_schema": st.sampled_from([{"type": "object", "title": "T", "$comment": "c"}, {"type": "object"}]),
            }
        ),
        min_size=1,
        max_size=3,
    ),
)
_chats = st.fixed_dictionaries(
    {"model": st.just("m"), "messages": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": _values}), max_size=3)},
    optional={"functions": st.just([]), "prompt_cache_key": _values, "metadata": st.none()},
)
_documents = st.one_of(requests.spelled(_agents), requests.spelled(_agents), requests.spelled(requests.generated), _with_tools)


@st.composite
def _broken(draw: st.DrawFn) -> bytes:
    """What is no JSON, or not quite, or JSON that parsers quarrel about."""
    document = draw(_documents)
    match draw(st.sampled_from(["cut", "doubled", "nan", "surrogate", "mark", "bytes", "repeated", "empty", "deep"])):
        case "cut":
            return document[: draw(st.integers(0, len(document)))]
        case "doubled":
            return document + b" " + document
        case "nan":
            return document.replace(b'"messages"', b'"x":NaN,"messages"', 1)
        case "surrogate":
            return document.replace(b'"messages"', b'"x":"\\ud83d","messages"', 1)
        case "mark":
            return b"\xef\xbb\xbf" + document
        case "bytes":
            return draw(st.binary(max_size=200))
        case "repeated":
            return document.replace(b'"messages"', b'"tools":[],"messages":[],"messages"', 1)
        case "deep":
            return b'{"ttl":"1h","messages":' + b"[" * 2000 + b"]" * 2000 + b"}"
        case _:
            return b""


bodies = st.integers(0, 5).flatmap(lambda roll: _broken() if roll == 0 else _documents)


@st.composite
def generated_requests(
    draw: st.DrawFn, plain: st.SearchStrategy[bytes] = bodies, paths: tuple[str, ...] = EDITABLE_PATHS + OTHER_PATHS
) -> GeneratedRequest:
    """A request whose body is one of `plain`."""
    document = draw(plain)
    path = draw(st.sampled_from(paths))
    fields: list[Field] = [("Content-Type", "application/json"), *draw(_fields)]
    if agent := draw(st.sampled_from(_AGENTS)):
        fields.insert(0, ("User-Agent", agent))
    if draw(st.booleans()):
        fields.append(("X-Claude-Code-Session-Id", draw(st.sampled_from(["s1", "s2", "s3"]))))
    body = document
    match draw(st.sampled_from(["none", "none", "none", "coded", "coded", "wrong", "broken"])):
        case "coded":
            coding = draw(st.sampled_from(sorted(_CODERS)))
            body = _CODERS[coding](document)
            fields.append(("Content-Encoding", coding))
        case "wrong":
            fields.append(("Content-Encoding", draw(st.sampled_from(["gzip", "zstd", "made-up", "br"]))))
        case "broken":
            coding = draw(st.sampled_from(sorted(_CODERS)))
            body = _CODERS[coding](document)[:-3]
            if coding == "identity":
                # Nothing tells that it was cut short.
                document = body
            fields.append(("Content-Encoding", coding))
    return GeneratedRequest(path, tuple(fields), document, body, draw(st.sampled_from([0, 0, 7, 1000])) if body else 0)


_STREAM = (
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
    b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"\xc3\xa9\\u00e9"}}\n\n',
    b": comment\n\n",
    b"event: ping\r\ndata: {}\r\n\r\n",
    b"data: [DONE]\n\n",
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
)
_RESPONSE_NAMES = ("request-id", "X-Odd", "Set-Cookie", "anthropic-ratelimit-tokens-remaining", "Server", "Date", "ETag", "retry-after")


@st.composite
def generated_responses(draw: st.DrawFn) -> GeneratedResponse:
    """A whole answer: JSON, an event stream that comes to its end, or anything."""
    fields: list[Field] = draw(st.lists(st.tuples(st.sampled_from(_RESPONSE_NAMES), _values), max_size=4))
    status = draw(
        st.sampled_from(["200 OK", "200 OK", "200 Fine", "201 Created", "404 Not Found", "429 Too Many Requests", "529 Overloaded"])
    )
    kind, body = draw(
        st.one_of(
            st.tuples(st.just("application/json"), st.just(b'{"type":"message","usage":{"input_tokens":1,"output_tokens":2}}')),
            st.tuples(
                st.just("text/event-stream; charset=utf-8"),
                st.lists(st.sampled_from(_STREAM), max_size=6).map(lambda e: b"".join(e) + _STREAM[-1]),
            ),
            st.tuples(st.sampled_from(["application/octet-stream", "application/json", ""]), st.binary(max_size=300)),
        )
    )
    if draw(st.integers(0, 3)) == 0:
        coding = draw(st.sampled_from(["gzip", "br", "zstd", "deflate"]))
        body = _CODERS[coding](body)
        fields.append(("Content-Encoding", coding))
    if kind:
        fields.insert(0, ("Content-Type", kind))
    return GeneratedResponse(status, tuple(fields), body, draw(st.sampled_from([0, 0, 5, 200])) if body else 0)


def without_edits(request: Any) -> Any:
    """A parsed request without what may be edited: markers, and the tools that it carries."""
    if isinstance(request, dict):
        return {key: without_edits(value) for key, value in request.items() if key not in {"cache_control", "tools"}}
    if isinstance(request, list):
        return [without_edits(item) for item in request]
    return request
