"""Exports as new files."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import Export
from caveman_tui.traffic.private_file import free_paths, new_private
from caveman_tui.traffic.source import TrafficSource


class NothingExported(Exception):
    """The format has no form for any of the exchanges; the text says why. No file is left."""


async def save(export: Export, source: TrafficSource, exchanges: Sequence[Exchange], directory: Path, *, at: float) -> Path:
    """Write `exchanges`, oldest first, to a new file of mode 0600 in `directory`; its path.

    One exchange gives it its name, several the local time `at`, in seconds since the epoch. Raises what `save_as` raises.
    """
    stem = exchanges[0].id if len(exchanges) == 1 else time.strftime("traffic-%Y%m%d-%H%M%S", time.localtime(at))
    return await save_as(export, source, exchanges, free_paths(directory, stem + export.suffix))


async def save_as(export: Export, source: TrafficSource, exchanges: Sequence[Exchange], paths: Iterable[Path]) -> Path:
    """Write `exchanges`, oldest first, to a new file of mode 0600 at the first of `paths` where nothing is; that path.

    Raises FileExistsError where something is at all of them, other OSErrors where it can't be written, WorkerGone, and NothingExported;
    no part of a file is left behind then.
    """
    tried: Path | None = None
    for path in paths:
        try:
            with new_private(path) as file:
                async for piece in export.pieces(source, exchanges):
                    await asyncio.to_thread(file.write, piece)
                if not export.entries:
                    raise NothingExported(" ".join(export.remarks) or "There is nothing to export.")
        except FileExistsError:
            tried = path
            continue
        return path
    raise FileExistsError(f"{tried} exists and was not touched. Name a file that does not.")
