"""What a person takes out of the screen: to the clipboard, or into a new private file."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from textual import work

from caveman_tui import places
from caveman_tui.ccr import StoreError
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import Export, FormatName
from caveman_tui.traffic.exports.saving import NothingExported, save
from caveman_tui.traffic.private_file import write_private
from caveman_tui.traffic.recovering import recover_into
from caveman_tui.traffic.source import SourceError
from caveman_tui.tui.failures import sentence
from caveman_tui.tui.following import FollowingApp
from caveman_tui.tui.screens.export_dialog import ExportDialog

_CLIPBOARD_CHARACTERS = 64_000
"""Terminals and tmux cut, or drop, longer clipboard sequences."""


class HandoverApp(FollowingApp):
    """Copies, exports and recovers."""

    def store_path(self) -> Path | None:
        """The worker's store, None (the shared default) before that is known."""
        return Path(self.traffic_log.store.path) if self.traffic_log.store.path else None

    def action_copy_selection(self) -> None:
        """Copy what is selected, or say how to select."""
        selected = self.screen.get_selected_text()
        if selected:
            self.send_to_clipboard(selected)
        else:
            self.notify(
                "Nothing is selected: drag with the mouse over text, or press M and select with the terminal. ctrl+q leaves.", markup=False
            )

    def send_to_clipboard(self, text: str) -> None:
        """Send `text` to the terminal's clipboard, or write it to a file where it is too large for that."""
        if len(text) <= _CLIPBOARD_CHARACTERS:
            self.copy_to_clipboard(text)
            shown = text if len(text) <= 80 else f"{len(text):,} characters"
            self.notify(shown, title="Sent to the clipboard", timeout=4, markup=False)
            return
        try:
            path = write_private(places.recovered_dir(), "selection.txt", text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            self.notify(f"{error}", title="Too large for the clipboard, and no file could be written", severity="error", markup=False)
            return
        self.notify(f"{path}", title="Too large for the clipboard: written to a file", timeout=10, markup=False)

    @work(group="recover", exit_on_error=False)
    async def recover(self, handle: str, done: Callable[[Path], object] | None = None) -> None:
        """Write the original under `handle` to a new file of 0600, its hash checked, and say where it lies."""
        try:
            path = await asyncio.to_thread(recover_into, places.recovered_dir(), self.store_path(), handle)
        except StoreError as error:
            self.notify(sentence(error), title="Not recovered", severity="error", timeout=10, markup=False)
            return
        except OSError as error:
            self.notify(f"The file could not be written: {error}", title="Not recovered", severity="error", timeout=10, markup=False)
            return
        self.notify(f"{path}", title="Recovered, hash checked", timeout=10, markup=False)
        if done is not None:
            done(path)

    def ask_export(self, exchanges: Sequence[Exchange], what: str) -> None:
        """Ask as what to export `exchanges`, oldest first, and do it. `what` names them."""
        if not exchanges:
            self.notify("There is nothing to export.", timeout=3, markup=False)
            return

        def answered(answer: tuple[FormatName, bool] | None) -> None:
            if answer is not None:
                self._export(exchanges, *answer)

        self.push_screen(ExportDialog(what), answered)

    # Without a description Textual writes one of all that is given, which takes seconds for a long list.
    @work(group="export", exit_on_error=False, description="export")
    async def _export(self, exchanges: Sequence[Exchange], name: FormatName, with_bodies: bool) -> None:
        export = Export(name, with_bodies=with_bodies)
        try:
            path = await save(export, self.source, exchanges, places.exports_dir(), at=self._clock())
        except (NothingExported, SourceError, OSError) as error:
            self.notify(f"{error}", title="Not exported", severity="error", timeout=10, markup=False)
            return
        self.notify(" ".join((f"{path}", *export.remarks)), title=f"Exported as {name.value}, to a file", timeout=12, markup=False)

    @work(group="export", exit_on_error=False)
    async def copy_curl(self, exchange: Exchange) -> None:
        """Send the request as a curl command to the clipboard, or write it to a file where it is too large for that."""
        export = Export(FormatName.CURL)
        try:
            command = b"".join([piece async for piece in export.pieces(self.source, [exchange])])
        except SourceError as error:
            self.notify(f"{error}", title="Not copied", severity="error", timeout=10, markup=False)
            return
        if not export.entries:
            self.notify(" ".join(export.remarks), title="Not copied", severity="error", timeout=10, markup=False)
            return
        text = command.decode("utf-8", "surrogateescape")
        if len(text) > _CLIPBOARD_CHARACTERS:
            self._export([exchange], FormatName.CURL, False)
            return
        if export.remarks:
            self.notify(" ".join(export.remarks), title="curl", timeout=8, markup=False)
        self.send_to_clipboard(text)
