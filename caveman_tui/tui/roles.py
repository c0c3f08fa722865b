"""From lines of spans to what Textual draws: a style for each role, taken from the theme."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from caveman_tui.traffic.lines import Line, Role

COMPONENT_CLASSES: set[str] = {f"role--{role.value}" for role in Role} | {"role--cursor", "role--match"}


class RoleStyles:
    """The styles of a widget's roles, looked up once and again after the theme changed."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def forget(self) -> None:
        """The theme or the classes changed."""
        self._styles.clear()

    def of(self, role: str) -> Style:
        """The style of a role, without a background of its own."""
        style = self._styles.get(role)
        if style is None:
            style = self._styles[role] = self._widget.get_component_rich_style(f"role--{role}", partial=True)
        return style

    def strip(self, line: Line, width: int, *, base: Style | None = None) -> Strip:
        """`line` cut or filled to `width` columns; `base` lies under it, for the cursor's row."""
        under = self._widget.rich_style if base is None else self._widget.rich_style + base
        segments = [Segment(span.text, under + self.of(span.role)) for span in line]
        return Strip(segments).adjust_cell_length(width, under)
