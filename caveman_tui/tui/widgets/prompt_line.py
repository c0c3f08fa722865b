"""The line at the bottom in which filters and searches are typed."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from caveman_tui.tui import keys

_BESIDE_FROM = 100

Complete = Callable[[str], str | None]
"""Gives what was typed with more behind it, or None."""


class _Completer(Suggester):
    """Shows what the prompt's owner would add."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.complete: Complete | None = None

    async def get_suggestion(self, value: str) -> str | None:
        """The completion."""
        return self.complete(value) if self.complete else None


class PromptLine(Container):
    """Hidden until it is opened. What is typed travels up as messages; what it means comes back through `says`."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("prompt")]
    KEY_CONTEXT = "prompt"

    class Changed(Message):
        """The text changed."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Accepted(Message):
        """Enter was pressed."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Closed(Message):
        """Escape was pressed; what stood there before is to hold again."""

        def __init__(self, purpose: str, before: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.before = before

    def __init__(self) -> None:
        super().__init__()
        self._purpose = ""
        self._before = ""
        self._completer = _Completer()

    def compose(self) -> ComposeResult:
        """Name, input, explanation."""
        box = Input(compact=True, select_on_focus=False, id="prompt-input", suggester=self._completer)
        yield Horizontal(Static("", id="prompt-name", markup=False), box, id="prompt-entry")
        yield Static("", id="prompt-says", markup=False)

    def on_resize(self) -> None:
        """The explanation stands beside what is typed, or under it where the screen is narrow."""
        self.set_class(self.app.size.width < _BESIDE_FROM, "-narrow")

    @property
    def is_open(self) -> bool:
        """Whether something is being typed."""
        return self.has_class("-open")

    def open(
        self, purpose: str, text: str = "", placeholder: str = "", complete: Complete | None = None, *, replaces: bool = False
    ) -> None:
        """Show the line with `text` in it and take the focus; `complete` adds to what is typed, taken over with the right arrow.

        What is typed goes on where `text` ends or, with `replaces`, takes its place: `text` is selected then, and an arrow keeps it.
        """
        self._purpose, self._before = purpose, text
        self._completer.complete = complete
        self.query_one("#prompt-name", Static).update(purpose)
        box = self.query_one(Input)
        with self.prevent(Input.Changed):
            box.value = text
        box.placeholder = placeholder
        box.selection = Selection(0 if replaces else len(text), len(text))
        self.says("")
        self.add_class("-open")
        self.screen.set_focus(box)

    def says(self, text: str, *, wrong: bool = False) -> None:
        """Explain what was typed, or what is wrong with it."""
        box = self.query_one("#prompt-says", Static)
        box.update(text)
        box.set_class(wrong, "-wrong")

    def action_close(self) -> None:
        """Give up."""
        self.remove_class("-open")
        self.post_message(self.Closed(self._purpose, self._before))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass it on."""
        event.stop()
        if self.is_open:
            self.post_message(self.Changed(self._purpose, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close, and pass it on."""
        event.stop()
        self.remove_class("-open")
        self.post_message(self.Accepted(self._purpose, event.value))
