"""How much of what a caller needs each level keeps, on descriptions marked by hand: `python -m tests.benchmarks.retention FOLDER`.

FOLDER holds `catalogs/NAME.json` and `labels.jsonl`; a line of that is `{"catalog": NAME, "pointer": JSON pointer of a description,
"spans": [{"start", "end", "level": "hard" | "soft", "kind"}]}`. Hard is text without which a plausible call is invalid, rejected, wrong
or harmful, soft is what choosing the tool needs. A stretch counts as kept where it still stands at its pointer, white space folded;
bytes are of the whole catalogs, minified on both sides.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink import shrink_catalog


def folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def resolved(document: object, pointer: str) -> str:
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        document = document[int(token)] if isinstance(document, list) else document[token]  # type: ignore[index]
    assert isinstance(document, str)
    return document


def minified(document: object) -> int:
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def scored(data: Path, level: Level) -> Counter[str]:
    """Count the marked stretches of all catalogs, those still there, and the bytes."""
    count: Counter[str] = Counter()
    records: dict[str, list[dict[str, object]]] = {}
    for line in (data / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        records.setdefault(record["catalog"], []).append(record)
    for name, marked in records.items():
        raw = (data / "catalogs" / f"{name}.json").read_bytes()
        before, after = json.loads(raw), json.loads(shrink_catalog(raw, level=level).after)
        count["before"] += minified(before)
        count["after"] += minified(after)
        for record in marked:
            pointer, spans = str(record["pointer"]), record["spans"]
            text, left = resolved(before, pointer), folded(resolved(after, pointer))
            assert isinstance(spans, list)
            wanted = Counter((span["level"], span["kind"], folded(text[span["start"] : span["end"]])) for span in spans)
            for (weight, _, stretch), times in wanted.items():
                count[weight] += times
                count[f"{weight}-kept"] += min(times, left.count(stretch))
    return count


def main() -> None:
    """Print the table."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "labels.jsonl").is_file():
        sys.exit("usage: python -m tests.benchmarks.retention FOLDER, a folder with labels.jsonl and catalogs/")
    print("| level | hard kept | soft kept | bytes left |\n|---|---|---|---|")
    for level in Level:
        count = scored(Path(sys.argv[1]), level)
        shares = [
            f"{count[f'{weight}-kept']}/{count[weight]} ({count[f'{weight}-kept'] / count[weight]:.3f})" for weight in ("hard", "soft")
        ]
        print(f"| {level} | {shares[0]} | {shares[1]} | {count['after'] / count['before']:.3f} |")


if __name__ == "__main__":
    main()
