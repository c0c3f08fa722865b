"""Writes the table anew: `python -m tests.conformance`."""

import asyncio
import os
import tempfile
from pathlib import Path

from tests.conformance import table
from tests.conformance.suite import GROUPS, run_one


async def main() -> None:
    groups = [(title, [table.row(await run_one(case)) for case in cases]) for title, cases in GROUPS]
    table.PATH.write_text(table.document(groups), encoding="utf-8")


if __name__ == "__main__":
    # Workers of these runs leave nothing in the places of the person who runs them.
    with tempfile.TemporaryDirectory() as home:
        for name, place in (("HOME", "home"), ("CAVEMAN_HOME", "caveman"), ("CAVEMAN_TUI_CONFIG", "config.toml")):
            os.environ[name] = str(Path(home) / place)
        for name in ("STATE", "DATA", "RUNTIME"):
            os.environ[f"CAVEMAN_TUI_{name}"] = str(Path(home) / name.lower())
        asyncio.run(main())
