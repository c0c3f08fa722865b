"""A program on a pseudo-terminal, and the person in front of it."""

import asyncio
import contextlib
import fcntl
import os
import re
import struct
import termios
from collections.abc import AsyncIterator, Callable

import pytest

from tests.e2e.agents import LIMIT_SECONDS, Agent

ENTER, ESCAPE = b"\r", b"\x1b"
_ROWS, _COLUMNS = 40, 120
_LOOK_SECONDS = 0.02
_CONTROL = re.compile(rb"\x1b(?:\[[0-9;:?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|.)")
_PROMPT = "❯"


class Terminal:
    """What one program shows, and a keyboard for it."""

    def __init__(self, process: asyncio.subprocess.Process, keyboard: int) -> None:
        self.process = process
        self._keyboard = keyboard
        self._shown = bytearray()

    @property
    def shown(self) -> str:
        """All text that was drawn so far, in that order, without white space: programs draw only what changes."""
        return _squeezed(_CONTROL.sub(b" ", bytes(self._shown)).decode("utf-8", "replace"))

    def shows(self, text: str) -> bool:
        """Whether this was drawn at any time."""
        return _squeezed(text) in self.shown

    def press(self, key: bytes) -> None:
        """One key, or a text at once as pasting does."""
        os.write(self._keyboard, key)

    async def enter(self, text: str) -> None:
        """Type a line, see it drawn, and send it."""
        before = self.shown.count(_squeezed(text))
        self.press(text.encode())
        await self.until(lambda: self.shown.count(_squeezed(text)) > before, f"'{text}' to be drawn")
        self.press(ENTER)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition; where it never comes, fail with what was shown last."""
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while not condition():
                    assert self.process.returncode is None, f"the program ended while waiting for {what}: {self.shown[-2000:]}"
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            pytest.fail(f"waited {LIMIT_SECONDS:.0f} s for {what}; shown last: {self.shown[-2000:]}")

    async def read(self) -> None:
        """Take in what the program draws until it ends."""
        loop = asyncio.get_running_loop()
        ended = loop.create_future()

        def ready() -> None:
            try:
                piece = os.read(self._keyboard, 1 << 16)
            except OSError:
                piece = b""
            self._shown += piece
            if not piece:
                loop.remove_reader(self._keyboard)
                ended.set_result(None)

        loop.add_reader(self._keyboard, ready)
        try:
            await ended
        finally:
            loop.remove_reader(self._keyboard)


@contextlib.asynccontextmanager
async def sitting_before(agent: Agent, *arguments: str) -> AsyncIterator[Terminal]:
    """An agent on a terminal of its own, ready for a prompt; it is told to leave at the end, and has to."""
    keyboard, screen = os.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    try:
        process = await asyncio.create_subprocess_exec(
            agent.program,
            *arguments,
            cwd=agent.project,
            env=agent.environment,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
        )
    finally:
        os.close(screen)
    terminal = Terminal(process, keyboard)
    reading = asyncio.get_running_loop().create_task(terminal.read())
    try:
        await terminal.until(lambda: terminal.shows(_PROMPT), "the prompt")
        yield terminal
        await terminal.enter("/exit")
        async with asyncio.timeout(LIMIT_SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        os.close(keyboard)


def _squeezed(text: str) -> str:
    return "".join(text.split())
