"""From lines of spans to what Textual draws: a style for each role, taken from the theme."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from caveman_tui.traffic.lines import Line, Role

COMPONENT_CLASSES: set[str] = {f"role--{role.value}" for role in Role} | {"role--cursor", "role--cursor-blurred", "role--match"}
"""Every screen has these. Its widgets have none of their own: each class of each widget would be styled anew with every screen opened."""


class RoleStyles:
    """The styles of a widget's roles, looked up once and again after the theme changed."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}
        self._drawn: dict[tuple[str, Style | None], Style] = {}
        self._base: Style | None = None

    def forget(self) -> None:
        """The theme or the classes changed."""
        self._styles.clear()
        self._drawn.clear()
        self._base = None

    @property
    def base(self) -> Style:
        """The widget's own style."""
        if self._base is None:
            self._base = self._widget.rich_style
        return self._base

    def of(self, role: str) -> Style:
        """The style of a role, without a background of its own."""
        style = self._styles.get(role)
        if style is None:
            style = self._styles[role] = self._widget.screen.get_component_rich_style(f"role--{role}", partial=True)
        return style

    def strip(self, line: Line, width: int, *, base: Style | None = None) -> Strip:
        """`line` cut or filled to `width` columns; `base` lies under it, for the cursor's row."""
        segments = [Segment(span.text, self._over(span.role, base)) for span in line]
        return Strip(segments).adjust_cell_length(width, self.base if base is None else self.base + base)

    def _over(self, role: str, base: Style | None) -> Style:
        style = self._drawn.get((role, base))
        if style is None:
            under = self.base if base is None else self.base + base
            style = self._drawn[role, base] = under + self.of(role)
        return style
