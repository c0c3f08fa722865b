"""A body: indented, folded or as it came, wrapped or cut; a response as the text that it says, or as its events."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.worker import Worker

from caveman_tui.traffic.body_text import BodyDocument, indented
from caveman_tui.traffic.lines import BuiltDocument, Document, message
from caveman_tui.traffic.reply import reply_blocks, reply_lines
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
        self._is_reply = False
        self._as_text = True
        self._depth: int | None = None
        """Levels of JSON that are shown; None shows all."""

    def show_body(self, data: bytes, *, reply: bool = False) -> None:
        """Show these bytes; with `reply` they are a response, which can be read as text."""
        self._data, self._is_reply, self._depth = data, reply, None
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

    def action_text(self) -> None:
        """A response as text, or as its events."""
        if self._is_reply:
            self._as_text = not self._as_text
            self._show()
        else:
            self.app.notify("Only a response is text and events.", timeout=3, markup=False)

    def action_fold(self, step: int) -> None:
        """Show one level of JSON less, or more."""
        document = self._foldable()
        if document is not None:
            deepest = document.depth
            shown = deepest if self._depth is None else self._depth
            shown = min(max(0, shown + step), deepest)
            self._depth = None if shown == deepest else shown
            self._refold(document, lambda: document.unfold() if self._depth is None else document.fold_to(shown))

    def action_toggle_fold(self) -> None:
        """Fold what begins on the current row, or unfold it."""
        self._toggle(self.current_row)

    def on_click(self, event: events.Click) -> None:
        """A click on a line that opens something folds it."""
        if not self.text_selection:
            self._toggle(event.y + self.scroll_offset.y)

    def _toggle(self, row: int) -> None:
        document = self._foldable()
        if document is not None and row < self.virtual_size.height:
            self._refold(document, lambda: document.toggle_fold(row))

    def _foldable(self) -> BodyDocument | None:
        is_json = self._indented and (self._data or b"")[:1] in (b"{", b"[")
        return self.document if is_json and isinstance(self.document, BodyDocument) else None

    def _refold(self, document: BodyDocument, change: Callable[[], object]) -> None:
        top = document.line_of(self.scroll_offset.y)
        change()
        self.rearrange()
        self.scroll_to(y=document.row_of_line(top), animate=False, immediate=True)

    def _show(self) -> None:
        if self._data is None:
            return
        if not self._data:
            self.show(message("Empty body."))
            return
        if len(self._data) <= _AT_ONCE_BYTES:
            self.show(_document(self._data, *self._how))
        else:
            self._show_large()

    @property
    def _how(self) -> tuple[bool, bool, bool]:
        """Whether it is indented, wrapped, and shown as the text of a response."""
        return self._indented, self._wrapped, self._is_reply and self._as_text

    @work(group="body", exclusive=True, exit_on_error=False)
    async def _show_large(self) -> None:
        data, how = self._data, self._how
        if data is not None:
            document = await asyncio.to_thread(_laid_out, self.text_width, data, *how)
            if data is self._data and how == self._how:
                self.show(document)


def _laid_out(width: int, data: bytes, pretty: bool, wrapped: bool, as_text: bool) -> Document:
    document = _document(data, pretty, wrapped, as_text)
    document.lay_out(width)
    return document


def _document(data: bytes, pretty: bool, wrapped: bool, as_text: bool) -> Document:
    blocks = reply_blocks(data) if as_text else []
    if blocks:
        return BuiltDocument(lambda width: reply_lines(blocks, width))
    text = indented(data) if pretty else None
    return BodyDocument(data if text is None else text, wrapped=wrapped)
