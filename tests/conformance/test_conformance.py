"""Each case direct and through the worker, and the committed table says what it showed."""

import pytest

from tests.conformance import table
from tests.conformance.cases import Case
from tests.conformance.disks import DiskCase
from tests.conformance.outcome import DIFFERENCES
from tests.conformance.suite import GROUPS, run_one

ALL = [(title, case) for title, cases in GROUPS for case in cases]
WRITE_ANEW = f"write it anew with: {table.COMMAND}"


def _name(value: object) -> str:
    return getattr(value, "name", str(value).split(" ")[1]).replace(" ", "-")


def _written() -> str:
    return table.PATH.read_text(encoding="utf-8")


def _row_of(title: str, case: Case | DiskCase) -> str:
    section = _written().partition(f"## {title}\n")[2].partition("\n## ")[0]
    (row,) = [line for line in section.splitlines() if line.startswith(f"| {case.name} |")]
    return row


@pytest.mark.parametrize(("title", "case"), ALL, ids=_name)
async def test_the_client_sees_the_provider_or_an_error_of_ours_and_the_table_says_which(title: str, case: Case | DiskCase) -> None:
    assert table.row(await run_one(case)) == _row_of(title, case), WRITE_ANEW


def test_the_table_has_all_cases_and_nothing_else() -> None:
    assert _written() == table.document((title, [_row_of(title, case) for case in cases]) for title, cases in GROUPS), WRITE_ANEW


def test_every_difference_is_shown_by_a_case() -> None:
    named = {name for _, case in ALL if isinstance(case, Case) for name in case.differences}
    assert named == DIFFERENCES.keys()
