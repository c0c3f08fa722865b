"""Descriptions that were marked by hand: how much of what a caller needs each level keeps."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.catalog import shrink_catalog


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


@pytest.mark.parametrize(
    ("level", "hard", "soft", "size"), [(Level.CAREFUL, 1.0, 1.0, 0.92), (Level.STANDARD, 0.99, 0.97, 0.84), (Level.TERSE, 0.53, 0.0, 0.74)]
)
def test_what_a_caller_needs_is_kept(shared_data: Path, level: Level, hard: float, soft: float, size: float) -> None:
    count = scored(shared_data, level)
    assert count["hard"] and count["soft"]
    assert count["hard-kept"] >= hard * count["hard"]
    assert count["soft-kept"] >= soft * count["soft"]
    assert count["after"] <= size * count["before"]
