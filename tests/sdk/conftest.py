"""Every case of every SDK, run once and compared by many tests."""

import asyncio
from dataclasses import dataclass

import pytest

from tests.sdk.runs import Home, Run, run_straight, run_through_served, run_through_started


@dataclass(frozen=True, repr=False)
class Runs:
    """SDK -> its run."""

    straight: dict[str, Run]
    """Without us."""
    untouched: dict[str, Run]
    """Through a worker with both transforms off."""
    edited: dict[str, Run]
    """Through a worker with both transforms on."""


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    def home(name: str) -> Home:
        return Home(tmp_path_factory.mktemp(name))

    async def all_of_them() -> Runs:
        return Runs(
            *await asyncio.gather(
                run_straight(home("straight")),
                run_through_served(home("untouched"), "--shrink", "off", "--ttl", "off"),
                run_through_started(home("edited"), "--shrink", "apply"),
            )
        )

    return asyncio.run(all_of_them())
