"""One line of tabs with their numbers."""

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from caveman_tui.traffic.lines import Role
from caveman_tui.tui import roles


class TabBar(Widget):
    """Shows which tab is open; tabs are chosen by number, by `h` and `l`, or with the mouse."""

    ALLOW_SELECT = False

    active: reactive[str] = reactive("")

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: tuple[tuple[str, str, str], ...]) -> None:
        """`tabs` are id, title and short title."""
        super().__init__()
        self._tabs = tabs
        self.role_styles = roles.RoleStyles(self)
        self.set_reactive(TabBar.active, tabs[0][0])

    def render_line(self, y: int) -> Strip:
        """The line."""
        segments: list[Segment] = []
        base = self.rich_style
        labels, gap = self._labels()
        for index, (tab, label) in enumerate(labels, 1):
            active = tab == self.active
            number = base + self.role_styles.of(Role.ACCENT if active else Role.MUTED)
            title = base + self.role_styles.of(Role.STRONG if active else Role.MUTED)
            if active:
                title += Style(underline=True)
            segments += [
                Segment(" ", base),
                Segment(f"{index}", number),
                Segment(" ", base),
                Segment(label, title),
                Segment(" " * gap, base),
            ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()

    def on_click(self, event: events.Click) -> None:
        """Choose the tab under the mouse."""
        end = 0
        labels, gap = self._labels()
        for tab, label in labels:
            end += len(label) + 3 + gap
            if event.x < end:
                self.post_message(self.Chosen(tab))
                return

    def _labels(self) -> tuple[list[tuple[str, str]], int]:
        """Titles as long as they fit, with the blanks after each; where nothing fits, the open tab's title and the others' numbers."""
        full = [(tab, title) for tab, title, _ in self._tabs]
        short = [(tab, title) for tab, _, title in self._tabs]
        for labels, gap in ((full, 2), (full, 1), (short, 1), (short, 0)):
            if sum(len(title) + 3 + gap for _, title in labels) <= self.size.width:
                return labels, gap
        return [(tab, title if tab == self.active else "") for tab, title in short], 0
