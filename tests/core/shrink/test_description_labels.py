"""Descriptions that were marked by hand: how much of what a caller needs each level keeps."""

from pathlib import Path

import pytest

from caveman_tui.core.policy import Level
from tests.benchmarks.retention import scored


@pytest.mark.parametrize(
    ("level", "hard", "soft", "size"), [(Level.CAREFUL, 1.0, 1.0, 0.92), (Level.STANDARD, 0.99, 0.97, 0.84), (Level.TERSE, 0.53, 0.0, 0.74)]
)
def test_what_a_caller_needs_is_kept(shared_data: Path, level: Level, hard: float, soft: float, size: float) -> None:
    count = scored(shared_data, level)
    assert count["hard"] and count["soft"]
    assert count["hard-kept"] >= hard * count["hard"]
    assert count["soft-kept"] >= soft * count["soft"]
    assert count["after"] <= size * count["before"]
