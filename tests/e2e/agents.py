"""Real coding agents, each in a home of its own."""

import asyncio
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

LIMIT_SECONDS = 60.0
_KEY = "sk-ant-dummy"


@dataclass
class Agent:
    """An installed coding agent in a scratch home, pointed at a base URL."""

    program: str
    home: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True, exist_ok=True)

    @property
    def project(self) -> Path:
        """The folder it works in."""
        return self.home / "project"

    @property
    def environment(self) -> dict[str, str]:
        """All that it sees of the environment."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color"} | self.settings

    async def run(self, *arguments: str) -> str:
        """Run it to its end without a terminal; its standard output."""
        process = await asyncio.create_subprocess_exec(
            self.program,
            *arguments,
            cwd=self.project,
            env=self.environment,
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
            pytest.fail(f"the agent did not end in {LIMIT_SECONDS:.0f} s\n{out.decode()}\n{err.decode()}")
        assert process.returncode == 0, out.decode() + err.decode()
        return out.decode()

    def files(self) -> dict[str, bytes]:
        """What it left in its project."""
        return {str(path.relative_to(self.project)): path.read_bytes() for path in self.project.rglob("*") if path.is_file()}


def claude(program: str, home: Path, url: str, *, hour_markers: bool = True) -> Agent:
    """Claude Code with a dummy key, set up so far that it asks nothing at its start."""
    settings = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    if hour_markers:
        settings["ENABLE_PROMPT_CACHING_1H"] = "1"
    agent = Agent(program, home, settings)
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": {str(agent.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(known))
    return agent


def codex(program: str, home: Path) -> Agent:
    """Codex with a dummy key; its base URL is an argument of its own."""
    (home / ".codex").mkdir(parents=True)
    return Agent(program, home, {"OPENAI_API_KEY": "sk-dummy", "CODEX_HOME": str(home / ".codex")})
