"""A body: indented or as it came, wrapped or cut."""

from typing import ClassVar

from textual.binding import BindingType

from caveman_tui.traffic.body_text import BodyDocument, indented
from caveman_tui.traffic.lines import message
from caveman_tui.tui import keys
from caveman_tui.tui.widgets.line_view import LineView


class BodyView(LineView):
    """Shows the bytes of a body."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("body")]
    KEY_CONTEXT = "text body"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._data: bytes | None = None
        self._indented = True
        self._wrapped = True

    def show_body(self, data: bytes) -> None:
        """Show these bytes."""
        self._data = data
        self._show()

    def say(self, text: str) -> None:
        """Why there is no body."""
        self._data = None
        self.show(message(text))

    def action_pretty(self) -> None:
        """Indent JSON, or not."""
        self._indented = not self._indented
        self._show()

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self._wrapped = not self._wrapped
        self._show()

    def _show(self) -> None:
        if self._data is None:
            return
        if not self._data:
            self.show(message("Empty body."))
            return
        pretty = indented(self._data) if self._indented else None
        self.show(BodyDocument(self._data if pretty is None else pretty, wrapped=self._wrapped))
