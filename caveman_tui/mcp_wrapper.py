"""A stdio MCP server with its tool catalog shrunk: lines are relayed as they are but for the answers to `tools/list`.

MCP over stdio is one JSON-RPC message, or one batch of them, a line (Model Context Protocol, Transports). The wrapper remembers the
ids of the client's `tools/list` requests and looks into no other answer.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, BinaryIO

import msgspec

from caveman_tui.catalogs import StoreChoice, StoreUnavailable, shrink
from caveman_tui.core.edits import Edit, EditKind, apply_edits
from caveman_tui.core.json_spans import JsonDocument, JsonRefused
from caveman_tui.core.json_tree import json_pointer
from caveman_tui.core.policy import Level

LONGEST_LINE_BYTES = 64 * 1024 * 1024
"""A longer message is relayed in pieces, unread."""

_MIRRORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_OUTSTANDING_LIMIT = 1000


class ToolsListShrinker:
    """Rewrites the answers to `tools/list` and hands on everything else. Both directions may call it from threads of their own."""

    def __init__(self, *, level: Level, exclude: tuple[str, ...], store: StoreChoice, tell: Callable[[str], None]) -> None:
        self._level = level
        self._exclude = exclude
        self._store = store
        self._tell = tell
        self._outstanding: dict[bytes, None] = {}
        self._lock = threading.Lock()

    def note_requests(self, line: bytes) -> None:
        """Remember the ids of the `tools/list` requests in a line from the client."""
        if b"tools" not in line and b"\\u" not in line:
            return
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            for message in _messages(msgspec.json.decode(line)):
                if message.get("method") == "tools/list" and "id" in message:
                    with self._lock:
                        self._outstanding[msgspec.json.encode(message["id"])] = None
                        while len(self._outstanding) > _OUTSTANDING_LIMIT:  # a server that never answers
                            del self._outstanding[next(iter(self._outstanding))]

    def rewrite_answers(self, line: bytes) -> bytes:
        """A line from the server, with the tools of awaited answers shrunk and their originals in the store. Never raises."""
        if not self._outstanding or b"result" not in line:
            return line
        try:
            document = JsonDocument(line)
            return apply_edits(line, tuple(self._edits(document)))
        except JsonRefused:
            return line
        except Exception as error:  # whatever fails in here must not cost the client its answer
            self._tell(f"shrinking failed ({type(error).__name__}); the answer was passed on as it came. Please report it.")
            return line

    def _edits(self, document: JsonDocument) -> Iterator[Edit]:
        is_batch = isinstance(document.value, list)
        for index, message in enumerate(_messages(document.value)):
            path: tuple[str | int, ...] = ((index,) if is_batch else ()) + ("result", "tools")
            if not self._awaited(message) or not isinstance(message.get("result"), dict) or "tools" not in message["result"]:
                continue
            place = document.locate(path)
            before = document.body[place.span.start : place.span.end]
            after = before if place.repeats else self._shrunk(before)
            if after != before:
                yield Edit(
                    pointer=json_pointer(path),
                    start=place.span.start,
                    end=place.span.end,
                    kind=EditKind.TOOLS,
                    before=before,
                    after=after,
                    reason="tools-shrunk",
                )

    def _awaited(self, message: dict[str, Any]) -> bool:
        if "id" not in message or "method" in message:
            return False
        with self._lock:
            return self._outstanding.pop(msgspec.json.encode(message["id"]), False) is None

    def _shrunk(self, tools: bytes) -> bytes:
        try:
            result = shrink(tools, level=self._level, store=self._store, exclude=self._exclude)
        except StoreUnavailable as unavailable:
            self._tell(f"the tools were passed on as they came: {unavailable}")
            return tools
        if result.recovery_handle:
            self._tell(
                f"{len(result.catalog.tools)} tools, {result.tokens_before} -> {result.tokens_after} tokens (inferred); "
                f"original: {result.recovery_handle}"
            )
        return result.output


def run_wrapped(command: list[str], shrinker: ToolsListShrinker) -> int:
    """Run `command` as the MCP server behind this process's standard input and output, and return its exit code.

    Signals go on to the server; a server that a signal ended ends this process by the same one. Raises OSError where the command
    can't be started.
    """
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None

    def pass_on(number: int, _: FrameType | None) -> None:
        server.send_signal(number)

    for name in _MIRRORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), pass_on)
    requests = threading.Thread(target=_relay_requests, args=(sys.stdin.buffer, server.stdin, shrinker), daemon=True)
    answers = threading.Thread(target=_relay_answers, args=(server.stdout, sys.stdout.buffer, shrinker))
    requests.start()
    answers.start()
    code = server.wait()
    answers.join()
    if code < 0:
        _end_by(-code)
    return code


def _relay_requests(source: BinaryIO, sink: BinaryIO, shrinker: ToolsListShrinker) -> None:
    with contextlib.suppress(OSError, ValueError):  # the server closed its input, or is gone
        for line, is_whole in _lines(source):
            if is_whole:
                shrinker.note_requests(line)
            sink.write(line)
            sink.flush()
    with contextlib.suppress(OSError):
        sink.close()


def _relay_answers(source: BinaryIO, sink: BinaryIO, shrinker: ToolsListShrinker) -> None:
    is_open = True
    for line, is_whole in _lines(source):
        out = shrinker.rewrite_answers(line) if is_whole else line
        if is_open:
            try:
                sink.write(out)
                sink.flush()
            except (OSError, ValueError):
                is_open = False  # the client is gone; the server is read on, or it would hang on a full pipe instead of ending


def _lines(source: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Lines with their ends, and whether each is a whole one; of a line over the limit the pieces."""
    in_pieces = False
    while piece := source.readline(LONGEST_LINE_BYTES):
        ended = piece.endswith(b"\n") or len(piece) < LONGEST_LINE_BYTES
        yield piece, ended and not in_pieces
        in_pieces = not ended


def _messages(value: Any) -> list[dict[str, Any]]:
    """The messages of a line; what is no object counts as an empty one, so that indexes of a batch hold."""
    if isinstance(value, list):
        return [item if isinstance(item, dict) else {} for item in value]
    return [value] if isinstance(value, dict) else []


def _end_by(number: int) -> None:
    """End this process by the signal that ended the server, without a core dump of its own."""
    sys.stdout.flush()
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        if number != getattr(signal, "SIGKILL", 0):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(128 + number)
