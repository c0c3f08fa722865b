"""How long shrinking takes against reading and writing the same bytes: `python -m tests.benchmarks.shrink [FILE...]`.

Cold is with nothing remembered, not a tool, a line or a word; repeated is every later time. All are processor time and the medians of
the rounds. In each round reading and writing is timed before and after the shrinking, and the two are compared within the round, so
that a machine that changes its speed is as fast for both. Of one array of all tools: of the files given, or of the demo's own catalogs
repeated with other names until there are 400 kB.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog
from caveman_tui.core.shrink import tool as remembered_tools
from caveman_tui.demo import catalogs

_LEAST_BYTES = 400_000
_ROUNDS = 15
_AROUND = 4
"""How often reading and writing is timed before a shrinking, and how often after it."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="catalogs of any shape")
    files = parser.parse_args().files
    data = _joined([file.read_bytes() for file in files]) if files else _repeated([path.read_bytes() for path in _demo_files()])
    print(f"{len(data):,} bytes, {len(find_tools(data)):,} tools\n")
    print("| level | json.loads + json.dumps, ms | cold, ms | times json | repeated, ms | times json |")
    print("|---|---|---|---|---|---|")
    for level in Level:
        rounds = [_round(data, level) for _ in range(_ROUNDS)]
        baseline, cold, repeated = (statistics.median(times) for times in zip(*rounds, strict=True))
        ratio, repeated_ratio = (statistics.median(times[which] / times[0] for times in rounds) for which in (1, 2))
        print(f"| {level} | {baseline * 1e3:.1f} | {cold * 1e3:.0f} | {ratio:.1f} | {repeated * 1e3:.3f} | {repeated_ratio:.4f} |")


def _forget() -> None:
    remembered_tools._remembered.clear()
    for module in list(sys.modules.values()):
        if module.__name__.startswith("caveman_tui.core."):
            for memo in vars(module).values():
                if hasattr(memo, "cache_clear"):
                    memo.cache_clear()


def _round(data: bytes, level: Level) -> tuple[float, float, float]:
    """Seconds of reading and writing `data`, of shrinking it with nothing remembered, and of shrinking it again."""
    _forget()
    before = [_seconds(lambda: json.dumps(json.loads(data))) for _ in range(_AROUND)]
    cold = _seconds(lambda: shrink_catalog(data, level=level))
    after = [_seconds(lambda: json.dumps(json.loads(data))) for _ in range(_AROUND)]
    return statistics.mean(before + after), cold, _seconds(lambda: shrink_catalog(data, level=level))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _demo_files() -> list[Path]:
    return sorted(Path(catalogs.__path__[0]).glob("*.json"))


def _tools(document: bytes) -> list[bytes]:
    return [document[tool.start : tool.end] for tool in find_tools(document)]


def _joined(documents: list[bytes]) -> bytes:
    return b"[" + b",".join(tool for document in documents for tool in _tools(document)) + b"]"


def _repeated(documents: list[bytes]) -> bytes:
    """Tools under other names are other tools: none is remembered from its twin."""
    tools: list[bytes] = []
    copy = 0
    while sum(map(len, tools)) < _LEAST_BYTES:
        for tool in (tool for document in documents for tool in _tools(document)):
            tree = json.loads(tool)
            named = tree["function"] if isinstance(tree.get("function"), dict) else tree
            named["name"] = f"{named['name']}_{copy}"
            tools.append(json.dumps(tree, ensure_ascii=False).encode())
        copy += 1
    return b"[" + b",".join(tools) + b"]"


if __name__ == "__main__":
    main()
