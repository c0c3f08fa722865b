"""A line of parts, some on the left and one on the right, cut to what fits."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from caveman_tui.traffic.fit import columns_of, fit
from caveman_tui.traffic.lines import Line, Role, Span, plain
from caveman_tui.traffic.status_line import Part, fitting
from caveman_tui.tui import roles

_GAP = 3


class InfoLine(Widget):
    """One line of text in parts; which of them are drawn is decided by the width."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, title: str = "") -> None:
        super().__init__(id=id)
        self.role_styles = roles.RoleStyles(self)
        self._title = title
        self._parts: list[Part] = []
        self._right: Line = ()

    def show(self, parts: list[Part], right: Line = ()) -> None:
        """Show other parts."""
        if parts != self._parts or right != self._right:
            self._parts, self._right = parts, right
            self.refresh()

    @property
    def text(self) -> str:
        """What the line says where it has all the room it wants."""
        return "   ".join(plain(part.spans) for part in self._parts) + (f"   {plain(self._right)}" if self._right else "")

    def render_line(self, y: int) -> Strip:
        """The line."""
        base = self.rich_style
        width = max(0, self.size.width - 2)
        right_width = columns_of(plain(self._right))
        room = width - (right_width + _GAP if self._right else 0)
        title = (Span(f"{self._title}   ", Role.HEADING),) if self._title and width >= 100 else ()
        spans: list[Span] = [Span(" "), *title]
        chosen = fitting(self._parts, room - columns_of(plain(title)), _GAP)
        for index, part in enumerate(chosen):
            if index:
                spans.append(Span(" " * _GAP))
            spans += part.spans
        text = plain(tuple(spans))
        if columns_of(text) > room + 1:
            spans = [Span(fit(text, room + 1))]
        spans.append(Span(" " * max(0, width + 1 - right_width - columns_of(plain(tuple(spans))))))
        spans += self._right
        segments = [Segment(span.text, base + self.role_styles.of(span.role)) for span in spans]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()
