"""All cases, in the order and under the titles of the table."""

import tempfile
from pathlib import Path

from tests.conformance.cases import CLIENT, PROVIDER, Case
from tests.conformance.disks import DISKS, DiskCase
from tests.conformance.run import Result, run, run_disk

GROUPS: tuple[tuple[str, tuple[Case, ...] | tuple[DiskCase, ...]], ...] = (
    ("The provider …", PROVIDER),
    ("The client …", CLIENT),
    ("A request has tools to shrink, and the disk is …", DISKS),
)


async def run_one(case: Case | DiskCase) -> Result:
    """Run one case. Raises run.Unexplained."""
    if isinstance(case, Case):
        return await run(case)
    with tempfile.TemporaryDirectory() as directory:
        return await run_disk(case, Path(directory))
