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

    COMPONENT_CLASSES = roles.COMPONENT_CLASSES
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
        for index, (tab, label) in enumerate(self._labels(), 1):
            active = tab == self.active
            number = base + self.role_styles.of(Role.ACCENT if active else Role.MUTED)
            title = base + self.role_styles.of(Role.STRONG if active else Role.MUTED)
            if active:
                title += Style(underline=True)
            segments += [Segment(" ", base), Segment(f"{index}", number), Segment(" ", base), Segment(label, title), Segment(" ", base)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()

    def on_click(self, event: events.Click) -> None:
        """Choose the tab under the mouse."""
        end = 0
        for tab, label in self._labels():
            end += len(label) + 4
            if event.x < end:
                self.post_message(self.Chosen(tab))
                return

    def _labels(self) -> list[tuple[str, str]]:
        full = [(tab, title) for tab, title, _ in self._tabs]
        if sum(len(title) + 4 for _, title in full) <= self.size.width:
            return full
        short = [(tab, title) for tab, _, title in self._tabs]
        if sum(len(title) + 4 for _, title in short) <= self.size.width:
            return short
        return [(tab, title if tab == self.active else "") for tab, title in short]
