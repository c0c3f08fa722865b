"""The programs of real coding agents, where they are installed."""

import shutil

import pytest

pytest.register_assert_rewrite("tests.e2e.comparison")


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
