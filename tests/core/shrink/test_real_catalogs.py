"""Whole catalogs of published servers, at every level."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from caveman_tui.core.policy import Level
from caveman_tui.core.selection_profile import selection_profile
from caveman_tui.core.shrink import shrink_catalog

_DIGEST = """
import hashlib, pathlib, sys
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
digest = hashlib.sha256()
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))[::6]:
    for level in Level:
        digest.update(shrink_catalog(path.read_bytes(), level=level).after)
print(digest.hexdigest())
"""


@pytest.mark.parametrize("level", Level)
def test_valid_same_profile_idempotent(shared_data: Path, level: Level) -> None:
    for path in sorted(shared_data.glob("*/*.json")):
        data = path.read_bytes()
        shrunk = shrink_catalog(data, level=level)
        json.loads(shrunk.after)
        assert not selection_profile(data).differences(selection_profile(shrunk.after)), path.name
        assert shrink_catalog(shrunk.after, level=level).after == shrunk.after, path.name
        assert len(shrunk.after) <= len(data), path.name


def test_a_request_changes_in_its_tools_only(shared_data: Path) -> None:
    catalog = (shared_data / "catalogs" / "live-biomcp.json").read_bytes()
    tools = json.dumps(json.loads(catalog)["tools"]).encode()
    body = (
        b'{"model": "m", "messages": [{"role": "user", "content": '
        + json.dumps(catalog.decode()).encode()
        + b'}], "tools": '
        + tools
        + b"}"
    )
    shrunk = shrink_catalog(body)
    assert shrunk.changed
    assert shrunk.after == body.replace(tools, shrink_catalog(tools).after)


def test_the_same_bytes_in_every_process(shared_data: Path) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST, str(shared_data / "catalogs")],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(digests) == 1
