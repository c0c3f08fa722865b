"""The forms that catalogs were shrunk to, on disk, so that an upgrade of the package changes no running conversation."""

import contextlib
import functools
import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.message_walk import Walk
from caveman_tui.core.policy import ClientKind, Dialect, Level, Policy, ShrinkMode
from caveman_tui.core.rewrite import Rewrite
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.proxy.state_files import remove_lapsed, replace_file

MOST_FILES, MOST_BYTES = 64, 32 * 1024 * 1024
"""What all forms together may take; the ones used last stay."""
_LARGEST = 2 * 1024 * 1024
"""Bytes of the largest catalog whose form is kept."""
_NOTED_AGAIN_SECONDS = 600.0
"""How often a form in use is marked as such; many times in a pin's life."""
_REMEMBERED_USES = 256
_REMEMBERED_FORMS = 8


class ShrunkForms:
    """Rewrites by the version of the shrinker that the policy names, where forms of that version are kept.

    Calls may come from any thread. Nothing in here waits for a disk but the first use of a form that an earlier version made.
    """

    def __init__(
        self,
        directory: Path | None,
        rewrite: Callable[..., Rewrite],
        shrink: Callable[..., ShrunkCatalog],
        *,
        version: str,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rewrite` and `shrink` as in `core`, the latter of this `version`; a form that nobody used for `seconds` is removed.

        Without a directory nothing is kept.
        """
        self._directory = directory
        self._rewrite = rewrite
        self._shrink = shrink
        self._version = version
        self._seconds = seconds
        self._clock = clock
        self._noted: OrderedDict[tuple[str, Level, tuple[str, ...], int, int], float] = OrderedDict()
        self._found: OrderedDict[Path, ShrunkCatalog] = OrderedDict()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="forms")
        self._versions = frozenset(_version_of(path) for path in directory.glob("shrunk-*")) if directory else frozenset()
        if directory is not None:
            self._threads.submit(self._tidy, directory)

    def keeps(self, version: str) -> bool:
        """Whether an earlier worker left forms of this version."""
        return version in self._versions

    def rewrite(
        self, body: bytes | JsonDocument, dialect: Dialect, client: ClientKind, policy: Policy, *, known: Walk | None = None
    ) -> Rewrite:
        """`core.rewrite.rewrite`. What it applies is kept, and what the policy's version of the shrinker made comes from there.

        A catalog without a kept form is shrunk as this version does: it is new to its conversation, whose prefix changes anyway.
        """
        if policy.shrink is not ShrinkMode.APPLY:
            return self._rewrite(body, dialect, client, policy, known=known)
        version = policy.shrinker or self._version
        if version == self._version:
            result = self._rewrite(body, dialect, client, policy, known=known)
        else:
            result = self._rewrite(body, dialect, client, policy, shrink=functools.partial(self._shrink_by, version), known=known)
        for change in result.tools:
            if change.applied:
                self._note(change.catalog, version, policy.excluded_tools)
        return result

    def close(self) -> None:
        """Wait until what is to be kept is."""
        self._threads.shutdown(wait=True)

    def _shrink_by(self, version: str, data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
        path = self._path(version, data, level, exclude)
        if path is None:
            return self._shrink(data, level=level, exclude=exclude)
        form = self._found.get(path) or _read(path)
        if form is None or form.before != data or form.level is not level:
            return self._shrink(data, level=level, exclude=exclude)
        self._found[path] = form
        while len(self._found) > _REMEMBERED_FORMS:
            self._found.popitem(last=False)
        return form

    def _note(self, catalog: ShrunkCatalog, version: str, exclude: tuple[str, ...]) -> None:
        """Keep a form, or mark it as still in use."""
        # The same objects come with every request, and bytes remember their hash.
        key = (version, catalog.level, exclude, hash(catalog.before), hash(catalog.after))
        noted_at, now = self._noted.get(key), self._clock()
        if noted_at is not None and now < noted_at + _NOTED_AGAIN_SECONDS:
            return
        self._noted[key] = now
        while len(self._noted) > _REMEMBERED_USES:
            self._noted.popitem(last=False)
        if (path := self._path(version, catalog.before, catalog.level, exclude)) is not None:
            # A worker that is closing keeps no more of them.
            with contextlib.suppress(RuntimeError):
                self._threads.submit(self._keep, path, catalog)

    def _path(self, version: str, data: bytes, level: Level, exclude: tuple[str, ...]) -> Path | None:
        if self._directory is None or len(data) > _LARGEST:
            return None
        digest = hashlib.sha256(msgspec.json.encode((level, exclude)) + data).hexdigest()
        return self._directory / f"shrunk-{version}-{digest[:32]}"

    def _keep(self, path: Path, catalog: ShrunkCatalog) -> None:
        with contextlib.suppress(OSError):
            try:
                os.utime(path)
            except FileNotFoundError:
                replace_file(path, msgspec.msgpack.encode(catalog))
                self._tidy(path.parent)

    def _tidy(self, directory: Path) -> None:
        remove_lapsed(directory, "shrunk-*", seconds=self._seconds, most_files=MOST_FILES, most_bytes=MOST_BYTES)


def _version_of(path: Path) -> str:
    return path.name.removeprefix("shrunk-").rpartition("-")[0]


def _read(path: Path) -> ShrunkCatalog | None:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=ShrunkCatalog)
    except (OSError, msgspec.MsgspecError):
        return None
