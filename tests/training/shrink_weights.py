"""Learns the weights that sentences are scored by: `python -m tests.training.shrink_weights LABELS CATALOGS [LABELS CATALOGS ...]`.

LABELS is a file of lines as the retention benchmark reads them, CATALOGS the folder of the catalogs that they are about. What the
package holds was learned from 279 descriptions of 38 catalogs that were marked by hand, and from the sentences of other descriptions of
these catalogs that `sentence_levels.json` gives a level by the hash of their text. Writes `weights.json` of the package.

Two things are done against learning one catalog by heart: a word counts only where several catalogs have it, and what the curve that is
printed says of a sentence was learned without its catalog. The threshold is the one of the curve that lets most go while as much is kept
as `--hard` and `--soft` ask for. Pure Python, and the same on every machine: nothing is drawn at random.
"""

import argparse
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from caveman_tui.core.catalog import find_tools
from caveman_tui.core.json_spans import JsonDocument
from caveman_tui.core.shrink import score
from caveman_tui.core.shrink.bearing import Bearing
from caveman_tui.core.shrink.blocks import Block
from caveman_tui.core.shrink.description import _is_short, _source_offsets
from caveman_tui.core.shrink.judge import Judge
from caveman_tui.core.shrink.layout import tidy
from caveman_tui.core.shrink.model import ToolContext
from caveman_tui.core.shrink.pieces import Piece, take_apart
from caveman_tui.core.shrink.schema import Survey
from caveman_tui.core.shrink.tool import _pointers
from caveman_tui.core.shrink.tool_text import ToolText
from caveman_tui.core.shrink.words import words_of
from tests.training.word_families import FAMILIES

_WEIGHTS = Path(score.__file__).with_name("weights.json")
_LEVELS = Path(__file__).with_name("sentence_levels.json")
_FOLDS = 10
_LEAST_CATALOGS = 4
"""Catalogs that must have a word or a sign before it gets a weight."""
_COST = {"hard": 3.0, "soft": 3.0, "": 1.0}
"""How much worse it is to take a sentence of this level for one without any bearing, than the other way round."""
_COST_OF_A_GLANCE = {"hard": 1.0, "soft": 0.3, "": 1.0}
"""Factor for a sentence whose level was seen without its description."""
_PENALTY = 10.0
"""Of the square of a weight, half of it, in units of the mean cost of a sentence."""
_SWEEPS = 60


@dataclass(slots=True)
class Example:
    """A sentence that may go, with what it is weighed by."""

    catalog: str
    unit: tuple[str, str, int]
    """What goes together: catalog, pointer, and the number of the list, or of the piece below zero."""
    weighs: bool
    """Whether its score counts in its list's."""
    size: int
    features: dict[str, float]
    level: str | None
    """`hard`, `soft`, empty for neither, None where nobody looked."""
    at_a_glance: bool
    spans: set[tuple[str, str, int, str]] = field(default_factory=set)


@dataclass(slots=True)
class Marked:
    """All that is learned from and measured on."""

    examples: list[Example] = field(default_factory=list)
    spans: Counter[str] = field(default_factory=Counter)
    """Marked stretches, by level."""


def descriptions(catalog: Path) -> Iterator[tuple[str, str, ToolContext]]:
    """Yield pointer, text and context of every description of a catalog."""
    data = catalog.read_bytes()
    for tool in find_tools(JsonDocument(data)):
        text = ToolText(data[tool.start : tool.end])
        survey, pointers = Survey(text.tree, tool.name), _pointers(text.tree)
        for holder, parameter in survey.described:
            yield f"{tool.pointer}{pointers[id(holder)]}/description", holder["description"], survey.context(parameter)


def features_of(bearing: Bearing, piece: Piece, block: Block) -> dict[str, float]:
    """Return what a piece is weighed by: words, families with the number of their words, words of the heading, signs."""
    words = set(piece.sentence.words)
    features: dict[str, float] = {f"word {word}": 1.0 for word in words}
    for name, family in FAMILIES.items():
        if common := len(family & words):
            features[f"family {name}"] = float(common)
    for word in words_of(bearing.heading(block).lower()):
        features[f"heading {word}"] = 1.0
    for sign in score.own_signs(piece.text) + bearing.signs(piece, block):
        features[f"sign {sign}"] = 1.0
    return features


def read(labels: Path, catalogs: Path, levels: dict[str, str], marked: Marked) -> None:
    """Add what one file of labels marks, and the other sentences of its catalogs."""
    records: dict[str, dict[str, list[dict[str, object]]]] = defaultdict(dict)
    for line in labels.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        records[record["catalog"]][record["pointer"]] = record["spans"]
    for catalog, by_pointer in records.items():
        for pointer, text, context in descriptions(catalogs / f"{catalog}.json"):
            spans = by_pointer.get(pointer)
            marked.spans.update(str(span["level"]) for span in spans or ())
            _read_description(catalog, pointer, text, context, spans, levels, marked)


def _read_description(
    catalog: str,
    pointer: str,
    text: str,
    context: ToolContext,
    spans: list[dict[str, object]] | None,
    levels: dict[str, str],
    marked: Marked,
) -> None:
    tidied = tidy(text)
    if not tidied or _is_short(tidied):
        return
    made = take_apart(tidied)
    judge = Judge(made, context, weigh=False)
    judge.judge()
    bearing = judge.bearing
    start = 0
    found: dict[tuple[str, str, int], list[Example] | None] = {}
    for index, (piece, end) in enumerate(zip(made.pieces, _source_offsets(text, made), strict=True)):
        block = made.blocks[piece.block]
        within = {
            (catalog, pointer, number, str(span["level"]))
            for number, span in enumerate(spans or ())
            if _says_anything(text[max(start, int(str(span["start"]))) : min(end, int(str(span["end"])))])
        }
        start = end
        if not piece.kept:
            continue
        unit = (catalog, pointer, block.group if block.group >= 0 else -1 - index)
        noted = found.setdefault(unit, [])
        if noted is None or not bearing.may_go(piece, block):
            found[unit] = None
            continue
        mark = levels.get(hash_of(catalog, piece.text)) if spans is None else ""
        for *_, level in within:
            mark = "hard" if "hard" in (mark, level) else "soft"
        weighs = block.group < 0 or piece.start == block.start
        size = len(piece.text.encode()) + 1
        noted.append(Example(catalog, unit, weighs, size, features_of(bearing, piece, block), mark, spans is None, within))
    marked.examples += [example for examples in found.values() for example in examples or ()]


def _says_anything(text: str) -> bool:
    return re.search(r"\w", text) is not None


def hash_of(catalog: str, sentence: str) -> str:
    """Return what `sentence_levels.json` knows a sentence by."""
    return hashlib.sha256(f"{catalog}\n{sentence}".encode()).hexdigest()[:16]


def learned(examples: Iterable[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression with squared penalty, the intercept under the empty name."""
    known = [example for example in examples if example.level is not None]
    by_catalog = Counter(example.catalog for example in known)
    costs = [
        _COST[example.level or ""]
        * (_COST_OF_A_GLANCE[example.level or ""] if example.at_a_glance else 1.0)
        / math.sqrt(by_catalog[example.catalog])
        for example in known
    ]
    mean = math.fsum(costs) / len(costs)
    costs = [cost / mean for cost in costs]
    wanted = [1.0 if example.level else 0.0 for example in known]
    catalogs_of: dict[str, set[str]] = defaultdict(set)
    columns: dict[str, list[tuple[int, float]]] = {"": [(row, 1.0) for row in range(len(known))]}
    for row, example in enumerate(known):
        for name, value in example.features.items():
            catalogs_of[name].add(example.catalog)
            columns.setdefault(name, []).append((row, value))
    names = [name for name in sorted(columns) if not name or len(catalogs_of[name]) >= _LEAST_CATALOGS]
    weights = dict.fromkeys(names, 0.0)
    sums = [0.0] * len(known)
    for _ in range(_SWEEPS):
        largest = 0.0
        for name in names:
            penalty = _PENALTY if name else 0.0
            slope, bend = penalty * weights[name], penalty
            for row, value in columns[name]:
                chance = 1.0 / (1.0 + math.exp(-sums[row]))
                slope += costs[row] * value * (chance - wanted[row])
                bend += costs[row] * value * value * max(chance * (1.0 - chance), 0.01)
            step = -slope / bend
            weights[name] += step
            largest = max(largest, abs(step))
            for row, value in columns[name]:
                sums[row] += step * value
        if largest < 1e-4:
            break
    return weights


def scored(example: Example, weights: dict[str, float]) -> float:
    """Return the score of an example, in logits."""
    return weights[""] + math.fsum(value * weights.get(name, 0.0) for name, value in example.features.items())


def folds(examples: list[Example]) -> list[set[str]]:
    """Return the catalogs in groups of about the same number of examples."""
    sizes = Counter(example.catalog for example in examples)
    groups: list[tuple[int, set[str]]] = [(0, set()) for _ in range(_FOLDS)]
    for catalog, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        index = min(range(_FOLDS), key=lambda at: groups[at][0])
        groups[index] = (groups[index][0] + size, groups[index][1] | {catalog})
    return [catalogs for _, catalogs in groups if catalogs]


@dataclass(frozen=True, slots=True)
class Point:
    """What is kept where everything below a threshold goes."""

    threshold: float
    hard: float
    soft: float
    gone: int
    """Bytes."""


def curve(marked: Marked) -> list[Point]:
    """Return what each threshold keeps, from the strictest on; every score is of weights that were learned without its catalog."""
    scores: dict[int, float] = {}
    for catalogs in folds(marked.examples):
        weights = learned(example for example in marked.examples if example.catalog not in catalogs)
        for index, example in enumerate(marked.examples):
            if example.catalog in catalogs:
                scores[index] = scored(example, weights)
    units: dict[tuple[str, str, int], list[int]] = defaultdict(list)
    for index, example in enumerate(marked.examples):
        units[example.unit].append(index)
    by_score = []
    for indices in units.values():
        weighing = [scores[index] for index in indices if marked.examples[index].weighs]
        if weighing:
            by_score.append((math.fsum(weighing) / len(weighing), indices))
    points = []
    lost: set[tuple[str, str, int, str]] = set()
    gone = 0
    for threshold, indices in sorted(by_score):
        lost.update(span for index in indices for span in marked.examples[index].spans)
        gone += sum(marked.examples[index].size for index in indices)
        hard, soft = (1 - sum(1 for *_, of in lost if of == level) / marked.spans[level] for level in ("hard", "soft"))
        points.append(Point(threshold, hard, soft, gone))
    return points


def as_weights(weights: dict[str, float], threshold: float) -> score.Weights:
    """Return weights as the package holds them; what a family weighs is given to its words."""

    def hundredths(prefix: str) -> dict[str, int]:
        rounded = {name.removeprefix(prefix): round(100 * weight) for name, weight in weights.items() if name.startswith(prefix)}
        return {name: weight for name, weight in sorted(rounded.items()) if weight}

    words = {name.removeprefix("word "): weight for name, weight in weights.items() if name.startswith("word ")}
    for name, family in FAMILIES.items():
        for word in family:
            words[word] = words.get(word, 0.0) + weights.get(f"family {name}", 0.0)
    return score.Weights(
        base=round(100 * (weights[""] - threshold)),
        words={word: round(100 * weight) for word, weight in sorted(words.items()) if round(100 * weight)},
        headings=hundredths("heading "),
        signs=hundredths("sign "),
    )


def main() -> None:
    """Print the curve and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="LABELS CATALOGS, any number of times")
    parser.add_argument("--hard", type=float, default=0.985, help="share of hard stretches to keep")
    parser.add_argument("--soft", type=float, default=0.97, help="share of soft stretches to keep")
    options = parser.parse_args()
    if len(options.files) % 2:
        parser.error("each file of labels needs its folder of catalogs")
    levels: dict[str, str] = json.loads(_LEVELS.read_bytes())
    marked = Marked()
    for labels, catalogs in zip(options.files[::2], options.files[1::2], strict=True):
        read(labels, catalogs, levels, marked)
    points = curve(marked)
    print(f"{len(marked.examples)} sentences that may go, of {len({example.catalog for example in marked.examples})} catalogs\n")
    print("| threshold | hard kept | soft kept | bytes gone |\n|---|---|---|---|")
    for point in points[:: max(1, len(points) // 60)]:
        print(f"| {point.threshold:.2f} | {point.hard:.3f} | {point.soft:.3f} | {point.gone:,} |")
    chosen = [point for point in points if point.hard >= options.hard and point.soft >= options.soft][-1]
    print(f"\nchosen: {chosen.threshold:.2f} with {chosen.hard:.4f} hard, {chosen.soft:.4f} soft, {chosen.gone:,} bytes gone")
    weights = as_weights(learned(marked.examples), chosen.threshold)
    _WEIGHTS.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")


if __name__ == "__main__":
    main()
