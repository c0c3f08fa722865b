"""A document's view by itself."""

from textual.app import App, ComposeResult
from textual.screen import Screen

from caveman_tui.traffic.lines import BuiltDocument, Line, line
from caveman_tui.tui import roles
from caveman_tui.tui.widgets.line_view import LineView


class Asked(Screen[None]):
    """One view over a document that notes the widths it is wrapped for."""

    COMPONENT_CLASSES = roles.COMPONENT_CLASSES

    def __init__(self) -> None:
        super().__init__()
        self.widths: list[int] = []
        self.view = LineView(BuiltDocument(self.lines))

    def compose(self) -> ComposeResult:
        yield self.view

    def lines(self, width: int) -> list[Line]:
        self.widths.append(width)
        return [line("x")] * 3


async def test_a_document_is_not_wrapped_for_a_view_that_has_no_place_yet() -> None:
    asked = Asked()
    async with App[None]().run_test(size=(60, 10)) as pilot:
        await pilot.app.push_screen(asked)
        asked.view.display = False
        asked.view.show(BuiltDocument(asked.lines))
        await pilot.pause()
        asked.view.display = True
        await pilot.pause()
        assert asked.view.virtual_size.height == 3
    assert asked.widths and set(asked.widths) == {58}
