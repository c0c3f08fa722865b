"""The ASCII sign set: everything that is drawn, put into ASCII just before it reaches the terminal, width for width."""

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_SIGNS = str.maketrans(
    {
        "✓": "v",
        "✗": "x",
        "●": "*",
        "○": "o",
        "–": "-",
        "—": "-",
        "…": "~",
        "·": ".",
        "›": ">",
        "→": ">",
        "←": "<",
        "↑": "^",
        "↓": "v",
        "▸": "+",
        "▾": "-",
        "▌": "|",
        "▐": "|",
        "┆": ":",
        "│": "|",
        "┃": "|",
        "─": "-",
        "━": "-",
        "█": "#",
        "░": ".",
        "┌": "+",
        "┐": "+",
        "└": "+",
        "┘": "+",
        "├": "+",
        "┤": "+",
        "▂": "#",
        "▃": "#",
        "▄": "#",
        "▅": "#",
        "▆": "#",
        "▇": "#",
        "▀": "#",
        "▔": "-",
        "▁": "_",
        "▏": "|",
        "▕": "|",
        "▎": "|",
        "▊": "|",
    }
)


@lru_cache(8192)
def to_ascii(text: str) -> str:
    """`text` in ASCII, of the same width in columns; what has no sign of its own becomes `?`."""
    if text.isascii():
        return text
    text = text.translate(_SIGNS)
    if text.isascii():
        return text
    return "".join(character if character.isascii() else "?" * cell_len(character) for character in text)


class AsciiFilter(LineFilter):
    """Draws ASCII only, in our widgets and in Textual's."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments with their text in ASCII."""
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]
