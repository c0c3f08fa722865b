"""A body: indented or as it came, wrapped or cut."""

import asyncio
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.worker import Worker

from caveman_tui.traffic.body_text import BodyDocument, indented
from caveman_tui.traffic.lines import message
from caveman_tui.tui import failures, keys
from caveman_tui.tui.widgets.line_view import LineView

_AT_ONCE_BYTES = 500_000


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

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what failed."""
        failures.tell(self.app, event)

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
        if len(self._data) <= _AT_ONCE_BYTES:
            self.show(_document(self._data, self._indented, self._wrapped))
        else:
            self._show_large(self._data, self._indented, self._wrapped)

    @work(group="body", exclusive=True, exit_on_error=False)
    async def _show_large(self, data: bytes, pretty: bool, wrapped: bool) -> None:
        document = await asyncio.to_thread(_document, data, pretty, wrapped)
        if data is self._data and (pretty, wrapped) == (self._indented, self._wrapped):
            self.show(document)


def _document(data: bytes, pretty: bool, wrapped: bool) -> BodyDocument:
    text = indented(data) if pretty else None
    return BodyDocument(data if text is None else text, wrapped=wrapped)
