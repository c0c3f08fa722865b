"""As what to export, and whether with bodies."""

from typing import ClassVar

from textual.binding import BindingType

from caveman_tui.traffic.exports import FormatName
from caveman_tui.traffic.lines import BuiltDocument
from caveman_tui.tui import keys
from caveman_tui.tui.screens.dialog import Dialog
from caveman_tui.tui.widgets.line_view import LineView


class ExportDialog(Dialog[tuple[FormatName, bool]]):
    """The answer is the format, and whether bodies go into it."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("export")]
    KEY_CONTEXT = "export"

    def __init__(self, what: str) -> None:
        """`what` is to be exported, in words."""
        self._what = what
        self._with_bodies = False
        super().__init__("Export as what?", self._says(), "")

    def action_format(self, name: str) -> None:
        """Give the answer."""
        self.dismiss((FormatName(name), self._with_bodies))

    def action_bodies(self) -> None:
        """With bodies, or without."""
        self._with_bodies = not self._with_bodies
        self._text = self._says()
        self.query_one("#dialog-text", LineView).show(BuiltDocument(self._lines))

    def _says(self) -> tuple[str, ...]:
        bodies = "requests and responses too" if self._with_bodies else "without requests and responses"
        return (
            f"{self._what}, {bodies} (a curl command has its request anyway).",
            "Credentials are taken out. Prompts and code stay what they are: look before you share it.",
        )
