"""Each case direct and through the worker; and the committed table says what they showed."""

import pytest

from tests.conformance import table
from tests.conformance.cases import Case
from tests.conformance.disks import DiskCase
from tests.conformance.outcome import DIFFERENCES
from tests.conformance.run import Result
from tests.conformance.suite import GROUPS, run_one

ALL = [case for _, cases in GROUPS for case in cases]
_results: dict[Case | DiskCase, Result] = {}
"""Of the tests that have run, for the table's."""


def _name(value: object) -> str:
    return getattr(value, "name", "").replace(" ", "-")


@pytest.mark.parametrize("case", ALL, ids=_name)
async def test_the_client_sees_the_provider_or_an_error_of_ours(case: Case | DiskCase) -> None:
    _results[case] = await run_one(case)


async def test_the_table_says_what_the_runs_showed() -> None:
    groups = [(title, [_results.get(case) or await run_one(case) for case in cases]) for title, cases in GROUPS]
    assert table.PATH.read_text(encoding="utf-8") == table.document(groups), f"write it anew with: {table.COMMAND}"


def test_every_difference_is_shown_by_a_case() -> None:
    named = {name for case in ALL if isinstance(case, Case) for name in case.differences}
    assert named == DIFFERENCES.keys()
