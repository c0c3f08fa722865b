"""Real coding agents, where they are installed, in homes of their own."""

import asyncio
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

LIMIT_SECONDS = 120.0


@dataclass
class Agent:
    """An installed coding agent, run in a scratch home against a base URL."""

    program: str
    home: Path
    environment: dict[str, str] = field(default_factory=dict)

    async def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Exit code and standard output."""
        folder = self.home / "project"
        folder.mkdir(parents=True, exist_ok=True)
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            cwd=folder,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color"} | self.environment | environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
            pytest.fail(f"the agent did not end in {LIMIT_SECONDS} s\n{out.decode()}\n{err.decode()}")
        return process.returncode or 0, out.decode() if not process.returncode else out.decode() + err.decode()

    def files(self) -> dict[str, bytes]:
        """What it left in its project folder."""
        return {str(path.relative_to(self.home)): path.read_bytes() for path in (self.home / "project").rglob("*") if path.is_file()}


def _program(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


@pytest.fixture
def claude_program() -> str:
    return _program("claude")


@pytest.fixture
def codex_program() -> str:
    return _program("codex")


def claude(program: str, home: Path, url: str, *, hour_markers: bool = True) -> Agent:
    """Claude Code with a dummy key, talking to `url`."""
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    if hour_markers:
        environment["ENABLE_PROMPT_CACHING_1H"] = "1"
    return Agent(program, home, environment)


def codex(program: str, home: Path) -> Agent:
    """Codex with a dummy key; its base URL is an argument of its own."""
    return Agent(program, home, {"OPENAI_API_KEY": "sk-dummy", "CODEX_HOME": str(home / ".codex")})
