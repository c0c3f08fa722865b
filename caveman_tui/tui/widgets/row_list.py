"""A list of rows with a cursor that draws only what is visible."""

from collections.abc import Callable, Hashable
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from caveman_tui.traffic.lines import BLANK, Line, Role, Span
from caveman_tui.tui import keys, roles

CURSOR_SIGN = "▌"
_STRIPS_AT_MOST = 500
_BAR_STEPS = 200
"""Parts of a list in which its scrollbar follows it: it shows no less, and with each step all is laid out anew."""


_HEADER = object()


class RowList(ScrollView, can_focus=True, inherit_bindings=False):
    """Base of all lists: a header row that stays, rows of one or two lines, a cursor, keys and mouse.

    Subclasses give `row_count`, `header` and `row_lines`; the cursor's place is theirs to keep through `get_cursor` and `set_cursor`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("list")]
    KEY_CONTEXT = "list"
    ALLOW_SELECT = False

    class Opened(Message):
        """The row under the cursor was opened."""

        def __init__(self, rows: "RowList") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "RowList":
            """The list."""
            return self.rows

    class Moved(Message):
        """The cursor went to another row."""

        def __init__(self, rows: "RowList") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "RowList":
            """The list."""
            return self.rows

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.role_styles = roles.RoleStyles(self)
        self._cursor = 0
        self._strips: dict[Hashable, dict[tuple[int, int, Style | None], Strip]] = {}
        """What was drawn of a row, by its key, and then by line, width, and the style of the cursor where it is on it."""

    row_height = 1
    """Lines of one row."""
    header_height = 1
    keeps_rows = False
    """Whether `row_key` is given; then what was drawn of a row is drawn again wherever it moves to."""

    def row_count(self) -> int:
        """How many rows there are."""
        raise TypeError(f"{type(self).__name__} says nothing of its rows")

    def header(self, width: int) -> Line:
        """The header row."""
        return BLANK

    def row_lines(self, index: int, width: int) -> tuple[Line, ...]:
        """The lines of one row, `row_height` of them, each with room for the cursor's sign in its first column."""
        raise TypeError(f"{type(self).__name__} says nothing of its rows")

    def row_key(self, index: int) -> Hashable:
        """What stands for a row until it is touched, for lists that keep rows: a row that moves keeps it."""
        raise TypeError(f"{type(self).__name__} keeps no rows")

    def get_cursor(self) -> int:
        """Index of the row under the cursor."""
        return min(self._cursor, max(0, self.row_count() - 1))

    def set_cursor(self, index: int) -> None:
        """Keep the cursor's new place, which is a row that exists."""
        self._cursor = index

    @property
    def row_width(self) -> int:
        """Columns beside the scrollbar, whose place is kept free."""
        return self.scrollable_content_region.width

    def rows_changed(self) -> None:
        """Rows came, went or moved anywhere: arrange and draw all that is visible."""
        self._strips.clear()
        self._fit()
        self.refresh()

    def rows_touched(self, rows: tuple[int, ...]) -> None:
        """These rows changed, or were appended: draw those of them that are visible."""
        self._fit()
        top, bottom = self._visible_rows()
        for index in rows:
            if self.keeps_rows and index < self.row_count():
                self._strips.pop(self.row_key(index), None)
            if top <= index <= bottom:
                line = self.header_height + index * self.row_height - self.scroll_offset.y
                self.refresh(Region(0, line, self.row_width, self.row_height))

    def show_cursor(self) -> None:
        """Scroll as little as needed to see the cursor's row."""
        height = self.scrollable_content_region.height - self.header_height
        if height <= 0:
            return
        start = self.get_cursor() * self.row_height
        top = self.scroll_offset.y
        if start < top:
            self.scroll_to(y=start, animate=False, immediate=True)
        elif start + self.row_height > top + height:
            self.scroll_to(y=start + self.row_height - height, animate=False, immediate=True)

    def go_to(self, index: int) -> None:
        """Put the cursor on a row, in view."""
        count = self.row_count()
        if not count:
            return
        old = self.get_cursor()
        self.set_cursor(max(0, min(index, count - 1)))
        self.show_cursor()
        self.rows_touched((old, self.get_cursor()))
        self.post_message(self.Moved(self))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible lines. Kept ones need nothing of what Textual would do for each: borders, padding, opacity."""
        if not self.keeps_rows:
            return super().render_lines(crop)
        width, top = self.row_width, self.scroll_offset.y
        strips = [self._line(y, top, width) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        left, right = crop.column_span
        return strips if (left, right) == (0, self.size.width) else [strip.crop(left, right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One visible line."""
        return self._line(y, self.scroll_offset.y, self.row_width)

    def _line(self, y: int, top: int, width: int) -> Strip:
        if y < self.header_height:
            return self._kept(_HEADER, 0, width, None, lambda: self.role_styles.strip(self.header(width), width))
        index, part = divmod(y - self.header_height + top, self.row_height)
        if index >= self.row_count():
            return Strip.blank(self.size.width, self.role_styles.base)
        under = self._cursor_style() if index == self.get_cursor() else None

        def draw() -> Strip:
            return self._row_strip(index, part, width, under)

        return self._kept(self.row_key(index), part, width, under, draw) if self.keeps_rows else draw()

    def _kept(self, key: Hashable, part: int, width: int, under: Style | None, draw: Callable[[], Strip]) -> Strip:
        """The strip that was drawn before, or a new one."""
        if len(self._strips) > _STRIPS_AT_MOST:
            self._strips.clear()
        drawn = self._strips.setdefault(key, {})
        strip = drawn.get((part, width, under))
        if strip is None:
            strip = drawn[part, width, under] = draw().adjust_cell_length(self.size.width, self.role_styles.base)
        return strip

    def _row_strip(self, index: int, part: int, width: int, under: Style | None) -> Strip:
        spans = self.row_lines(index, width)[part]
        if under is None:
            return self.role_styles.strip(spans, width)
        return self.role_styles.strip(_with_sign(spans, CURSOR_SIGN), width, base=under)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()
        self._strips.clear()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.go_to(self.get_cursor() + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by what is visible."""
        height = max(1, (self.scrollable_content_region.height - self.header_height) // self.row_height - 1)
        self.go_to(self.get_cursor() + pages * height)

    def action_first(self) -> None:
        """Go to the first row."""
        self.go_to(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self.go_to(self.row_count() - 1)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.row_count():
            self.post_message(self.Opened(self))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse points; twice opens."""
        line = event.y - self.header_height + self.scroll_offset.y
        index = line // self.row_height
        if event.y < self.header_height or index >= self.row_count():
            return
        self.go_to(index)
        if event.chain >= 2:
            self.action_open()

    def on_resize(self) -> None:
        """Another size: other columns, perhaps rows of another height."""
        self.rows_changed()
        self.show_cursor()

    def on_focus(self) -> None:
        """The cursor's row is drawn stronger."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor's row is drawn weaker."""
        self.refresh()

    def _cursor_style(self) -> Style:
        return Style(bgcolor=self.role_styles.of("cursor" if self.has_focus else "cursor-blurred").bgcolor)

    @property
    def _height(self) -> int:
        """Lines of the header and of all rows."""
        return self.header_height + self.row_count() * self.row_height

    @property
    def max_scroll_y(self) -> int:
        """By the rows, for the virtual size is rounded."""
        return max(0, self._height - self.container_size.height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the rows, and the bar where it would show that they moved."""
        bar = self.vertical_scrollbar
        if not new_value or abs(new_value - bar.position) * _BAR_STEPS >= self._height:
            bar.position = new_value
        if round(old_value) != round(new_value):
            self.refresh()

    def _fit(self) -> None:
        step = max(1, self._height // _BAR_STEPS)
        size = Size(self.row_width, -(-self._height // step) * step)
        if size != self.virtual_size:
            self.virtual_size = size

    def _visible_rows(self) -> tuple[int, int]:
        top = self.scroll_offset.y // self.row_height
        return top, top + self.size.height // self.row_height + 1


def _with_sign(spans: Line, sign: str) -> Line:
    """The row with `sign` in place of its first column."""
    if not spans:
        return (Span(sign, Role.ACCENT),)
    first, *rest = spans
    return (Span(sign, Role.ACCENT), Span(first.text[1:], first.role), *rest)
