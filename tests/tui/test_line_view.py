"""A document's view by itself."""

from textual.app import App, ComposeResult

from caveman_tui.traffic.lines import BuiltDocument, Line, line
from caveman_tui.tui.widgets.line_view import LineView


class Asked(App[None]):
    """One view over a document that notes the widths it is wrapped for."""

    def __init__(self) -> None:
        super().__init__()
        self.widths: list[int] = []
        self.view = LineView(BuiltDocument(self._lines))

    def compose(self) -> ComposeResult:
        yield self.view

    def _lines(self, width: int) -> list[Line]:
        self.widths.append(width)
        return [line("x")] * 3


async def test_a_document_is_not_wrapped_for_a_view_that_has_no_place_yet() -> None:
    app = Asked()
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        app.view.display = False
        app.view.show(BuiltDocument(app._lines))
        await pilot.pause()
        app.view.display = True
        await pilot.pause()
        assert app.view.virtual_size.height == 3
    assert app.widths and set(app.widths) == {58}
