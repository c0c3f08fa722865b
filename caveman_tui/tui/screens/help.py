"""Help: one page to scroll and search."""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.binding import BindingType

from caveman_tui.traffic import status_line
from caveman_tui.traffic.lines import BuiltDocument, Role, Span
from caveman_tui.traffic.status_line import Part
from caveman_tui.tui import keys
from caveman_tui.tui.help_text import help_lines
from caveman_tui.tui.screens.base import BaseScreen
from caveman_tui.tui.widgets.info_line import InfoLine
from caveman_tui.tui.widgets.line_view import LineView


class HelpScreen(BaseScreen):
    """What it does, where data lies, how to connect, every key."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings("help")]
    KEY_CONTEXT = "help"

    def __init__(self, here: Sequence[str] = ()) -> None:
        """`here` are the contexts of what had the focus."""
        super().__init__()
        self._here = tuple(context for context in here if context not in ("app", "tabs", "list", "text"))

    def content(self) -> list[Any]:
        """Title and text."""
        return [InfoLine(id="help-title"), LineView(id="help-text")]

    def on_mount(self) -> None:
        """Fill in what is known now."""
        log = self.caveman.traffic_log
        settings = log.settings
        policies = (
            f"Loop TTL: {settings.loop_ttl.value}. Tool shrinking: {settings.shrink.value}, level {settings.level.value}. "
            "Changes hold for new conversations; running ones keep what they began with, so that their cached prefix stays valid."
        )
        url, places, table, here = status_line.base_url(log), self.caveman.places(), self.caveman.key_table, self._here
        self.query_one("#help-title", InfoLine).show([Part(0, (Span("caveman-tui", Role.STRONG), Span("  help", Role.MUTED)))])
        text = self.query_one("#help-text", LineView)
        text.show(BuiltDocument(lambda width: help_lines(width, url=url, places=places, policies=policies, table=table, here=here)))
        text.focus()
