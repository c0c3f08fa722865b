"""The footer: what the keys do here, as many as fit, always help and the way out: back where there is one, else quit."""

from typing import TYPE_CHECKING, cast

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from caveman_tui.traffic.lines import Role
from caveman_tui.tui import keys, roles
from caveman_tui.tui.keys import Key

if TYPE_CHECKING:
    from caveman_tui.tui.app import CavemanApp


class KeyFooter(Widget):
    """Made from the key table for the contexts that hold at the focused widget."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.role_styles = roles.RoleStyles(self)

    def on_mount(self) -> None:
        """Draw again when another widget has the focus."""
        self.watch(self.screen, "focused", self._focus_moved, init=False)

    def render_line(self, y: int) -> Strip:
        """The line."""
        base = self.rich_style
        accent, muted = base + self.role_styles.of(Role.ACCENT), base + self.role_styles.of(Role.MUTED)
        segments: list[Segment] = [Segment(" ", base)]
        for key in self._fitting():
            meta = Style(meta={"@click": f"screen.press_key('{key.keys.split(',')[0]}')"})
            segments += [Segment(keys.shown(key.keys.split(",")[0]), accent + meta), Segment(f" {key.description}", muted + meta)]
            segments.append(Segment("  ", base))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.role_styles.forget()

    def _focus_moved(self) -> None:
        self.refresh()

    def _fitting(self) -> list[Key]:
        candidates = [
            key
            for key in keys.keys_of(cast("CavemanApp", self.app).key_table, *contexts_at(self))
            if key.footer is not None and self._applies(key)
        ]
        candidates.sort(key=lambda key: key.footer or 0)
        wanted = ("app.help",) if any(key.action == "back" for key in candidates) else ("app.help", "app.quit")
        always = [key for key in candidates if key.id in wanted]
        room = self.size.width - 1 - sum(map(_width, always))
        chosen: list[Key] = []
        for key in candidates:
            if key in always:
                continue
            room -= _width(key)
            if room < 0:
                break
            chosen.append(key)
        return chosen + always

    def _applies(self, key: Key) -> bool:
        applies = getattr(self.screen, "key_applies", None)
        return applies is None or bool(applies(key))


def contexts_at(widget: Widget) -> tuple[str, ...]:
    """Contexts of the focused widget, its ancestors, the screen and the app; a dialog has its own only."""
    screen = widget.screen
    found: list[str] = []
    node = screen.focused or screen
    for ancestor in node.ancestors_with_self:
        context = getattr(ancestor, "KEY_CONTEXT", "")
        if context:
            found += [part for part in context.split() if part not in found]
    if screen.is_modal:
        found = [context for context in found if context != "app"]
    return tuple(found)


def _width(key: Key) -> int:
    return len(keys.shown(key.keys.split(",")[0])) + len(key.description) + 3
