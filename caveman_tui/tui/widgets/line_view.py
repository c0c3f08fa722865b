"""A document by lines: scrolled, searched, selected; only visible rows are made."""

import re
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from caveman_tui.traffic.body_text import next_match
from caveman_tui.traffic.lines import BuiltDocument, Document, Line, plain
from caveman_tui.tui import keys, roles

_MARGIN = 1
"""Blank columns on either side."""


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a Document."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("text")]
    KEY_CONTEXT = "text"

    needle: reactive[str] = reactive("")
    """What is searched for; its occurrences are drawn as matches."""

    class Searched(Message):
        """A search ended, or moved on to another match."""

        def __init__(self, view: "LineView", says: str) -> None:
            super().__init__()
            self.view = view
            self.says = says

    def __init__(self, document: Document | None = None, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.role_styles = roles.RoleStyles(self)
        self._document: Document = document or BuiltDocument(lambda _: [])
        self._rows = 0
        self._laid_out_for = -1
        self._matches: list[int] = []
        self._match_row = -1

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._document

    def show(self, document: Document, *, keep_place: bool = False) -> None:
        """Show another document, from its start, or from the row that is on top now."""
        self._document = document
        self._laid_out_for = -1
        self._matches, self._match_row = [], -1
        self.set_reactive(LineView.needle, "")
        self._lay_out()
        if not keep_place:
            self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    @property
    def allow_select(self) -> bool:
        """Text can be selected with the mouse."""
        return True

    def render_line(self, y: int) -> Strip:
        """One visible row."""
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= self._rows:
            return Strip.blank(width, self.rich_style)
        spans = self._document.row(index)
        strip = self.role_styles.strip(spans, max(0, width - _MARGIN))
        strip = self._highlight(strip, spans, index)
        strip = strip.apply_offsets(0, index)
        return Strip([Segment(" " * _MARGIN, self.rich_style), *strip], width)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it came, wrapped lines whole."""
        pieces: list[str] = []
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._rows - 1
        for index in range(max(0, first), min(last, self._rows - 1) + 1):
            span = selection.get_span(index)
            if span is None:
                continue
            text = self._document.source(index)
            pieces.append(text[span[0] :] if span[1] == -1 else text[span[0] : span[1]])
            if index < last and not self._document.continues(index):
                pieces.append("\n")
        return ("".join(pieces), "\n") if pieces else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()

    def on_mount(self) -> None:
        """Arrange what was given to the constructor."""
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap for the new width."""
        self._lay_out()
        self.refresh()

    def found(self, needle: str, matches: list[int]) -> None:
        """Take over the result of a search and go to the first match at or after the row on top."""
        self.needle = needle
        self._matches = matches
        self._match_row = -1
        if matches:
            self._go_to_match(next_match(matches, self.scroll_offset.y - 1))
        else:
            self.post_message(self.Searched(self, f"no match for {needle}" if needle else ""))
        self.refresh()

    def rearrange(self) -> None:
        """The document folded, or unfolded: other rows."""
        self._laid_out_for = -1
        self._lay_out()
        self.refresh()

    @property
    def text_width(self) -> int:
        """Columns that a row has."""
        return max(1, self.scrollable_content_region.width - 2 * _MARGIN)

    @property
    def current_row(self) -> int:
        """The row of the match that was gone to, where it is in view; else the row on top."""
        top = self.scroll_offset.y
        return self._match_row if self.needle and top <= self._match_row < top + self.size.height else top

    def action_move(self, rows: int) -> None:
        """Scroll by lines."""
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, immediate=True)

    def action_page(self, pages: int) -> None:
        """Scroll by what is visible."""
        self.scroll_to(y=self.scroll_offset.y + pages * max(1, self.size.height - 1), animate=False, immediate=True)

    def action_first(self) -> None:
        """Scroll to the start."""
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_last(self) -> None:
        """Scroll to the end."""
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)

    def action_match(self, step: int) -> None:
        """Go to another match."""
        if not self.needle:
            self.post_message(self.Searched(self, "nothing is searched for; / starts a search"))
            return
        here = self._match_row if self._match_row >= 0 else self.scroll_offset.y
        self._go_to_match(next_match(self._matches, here, backwards=step < 0))

    def _go_to_match(self, row: int | None) -> None:
        if row is None:
            self.post_message(self.Searched(self, f"no match for {self.needle}"))
            return
        self._match_row = row
        height = self.size.height
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, row - height // 3), animate=False, immediate=True)
        self.refresh()
        self.post_message(self.Searched(self, f"{self._matches.index(row) + 1} of {len(self._matches)} lines with {self.needle}"))

    def _lay_out(self) -> None:
        # Without a place there is no width to wrap for: wrapped for one column, a dialog begins as a column of letters.
        if not self.scrollable_content_region.width:
            return
        width = self.text_width
        if width == self._laid_out_for:
            return
        self._laid_out_for = width
        self._rows = self._document.lay_out(width)
        self.virtual_size = Size(self.scrollable_content_region.width, self._rows)
        if self.needle:
            self._matches = self._document.find(self.needle)

    def _highlight(self, strip: Strip, spans: Line, index: int) -> Strip:
        text = plain(spans)
        if self.needle:
            style = Style(bgcolor=self.role_styles.of("match").bgcolor, underline=index == self._match_row, bold=True)
            for match in re.finditer(re.escape(self.needle), text, re.IGNORECASE):
                strip = _restyle(strip, text, match.start(), match.end(), style)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(index)) is not None:
            end = len(text) if span[1] == -1 else min(span[1], len(text))
            if end > span[0]:
                strip = _restyle(strip, text, span[0], end, self.screen.get_component_rich_style("screen--selection"))
        return strip


def _restyle(strip: Strip, text: str, start: int, end: int, style: Style) -> Strip:
    """`strip` with the characters `start` to `end` of its text drawn in `style` too."""
    left, right = strip.index_to_cell_position(start), strip.index_to_cell_position(end)
    return Strip.join([strip.crop(0, left), strip.crop(left, right).apply_style(style), strip.crop(right)])
