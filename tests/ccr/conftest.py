"""Stores in a directory of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from caveman_tui.ccr import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ccr.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened
