"""Questions: a few lines and a key for each answer."""

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from caveman_tui.core.policy import ShrinkMode
from caveman_tui.traffic.lines import BuiltDocument, Line, Role, Span, line, wrap
from caveman_tui.tui import keys, roles
from caveman_tui.tui.widgets.line_view import LineView

if TYPE_CHECKING:
    from caveman_tui.tui.app import CavemanApp

Answer = TypeVar("Answer")
_SHORT_BELOW = 60
"""Columns below which answers are two words instead of a sentence."""


class Dialog(ModalScreen[Answer | None], Generic[Answer]):
    """Base of the dialogs. `enter` gives the default answer, which is marked."""

    AUTO_FOCUS = None
    COMPONENT_CLASSES = roles.COMPONENT_CLASSES
    KEY_CONTEXT = ""

    def __init__(self, title: str, text: tuple[str, ...], default: str) -> None:
        """`default` is the id of the key whose answer `enter` gives, empty where it gives none."""
        super().__init__()
        self._title = title
        self._text = text
        self._default = default

    EXTRA_LINES = 3
    """Lines of the box beside its text: the border, and what stands under the text."""

    def compose(self) -> ComposeResult:
        """The box."""
        view = LineView(BuiltDocument(self._lines), id="dialog-text")
        view.can_focus = False
        yield Vertical(view, Static("", id="dialog-end"), id="dialog")

    def on_resize(self) -> None:
        """As high as its text."""
        whole = self.app.size.width
        width = whole if whole < _SHORT_BELOW else min(70, whole - 4)
        box = self.query_one("#dialog")
        box.styles.width = width
        box.styles.height = min(len(self._lines(width - 9)) + self.EXTRA_LINES, self.app.size.height)

    async def action_default(self) -> None:
        """Give the default answer."""
        for key in keys.keys_of(cast("CavemanApp", self.app).key_table, self.KEY_CONTEXT):
            if key.id == self._default:
                await self.run_action(key.action)

    def action_cancel(self) -> None:
        """No answer."""
        self.dismiss(None)

    def _lines(self, width: int) -> list[Line]:
        """Title, text, answers. On low screens the text goes, from its end, before an answer does."""
        answers = self._answers(width)
        room = self.app.size.height - self.EXTRA_LINES - len(answers)
        lines: list[Line] = [line(self._title, Role.STRONG), *([()] if room > 1 else [])]
        for paragraph in self._text:
            more = [*(line(part) for part in wrap(paragraph, width)), ()]
            if len(lines) + len(more) > room:
                break
            lines += more
        return lines + answers

    def _answers(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for key in keys.keys_of(cast("CavemanApp", self.app).key_table, self.KEY_CONTEXT):
            if key.action == "default":
                continue
            is_default = key.id == self._default
            name = keys.shown(key.keys.split(",")[0])
            names = f"{name} enter" if is_default else name
            mark = Span("▌" if is_default else " ", Role.ACCENT)
            says = key.description if self.app.size.width < _SHORT_BELOW else key.tooltip
            parts = wrap(says, max(10, width - 13))
            lines.append((mark, Span(f"{names:<11}", Role.ACCENT), Span(parts[0], Role.STRONG if is_default else Role.TEXT)))
            lines += [line(" " * 12 + part) for part in parts[1:]]
        return lines


class QuitDialog(Dialog[str]):
    """Whether the worker stays. The answer is `keep` or `stop`."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("quit")]
    KEY_CONTEXT = "quit"

    def action_keep(self) -> None:
        """The worker stays."""
        self.dismiss("keep")

    def action_stop(self) -> None:
        """The worker ends."""
        self.dismiss("stop")


class ForceDialog(Dialog[ShrinkMode]):
    """Whether to switch a running conversation now, and to what."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("force")]
    KEY_CONTEXT = "force"

    def action_choose(self, mode: str) -> None:
        """Do it."""
        self.dismiss(ShrinkMode(mode))


class DeleteDialog(Dialog[bool]):
    """Whether to delete an original for good. The word has to be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("delete")]
    KEY_CONTEXT = "delete"
    EXTRA_LINES = 5
    WORD = "delete"

    def __init__(self, title: str, text: tuple[str, ...]) -> None:
        super().__init__(title, (*text, f"Type '{self.WORD}' and press enter."), "")

    def compose(self) -> ComposeResult:
        """The text, and where the word is typed."""
        view = LineView(BuiltDocument(self._lines), id="dialog-text")
        view.can_focus = False
        yield Vertical(view, Input(compact=True, id="dialog-input", placeholder=self.WORD), id="dialog")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter was pressed."""
        event.stop()
        self.action_confirm()

    def action_confirm(self) -> None:
        """Delete it, if the word stands there."""
        if self.query_one(Input).value.strip().lower() == self.WORD:
            self.dismiss(True)
        else:
            self.notify(f"Nothing was deleted: type '{self.WORD}', or press esc.", timeout=4, markup=False)
