import json

from caveman_tui.core.catalog_diff import diff_catalogs
from caveman_tui.traffic.diff_lines import diff_lines
from caveman_tui.traffic.lines import plain


def catalog(*tools: tuple[str, str, dict[str, object]]) -> bytes:
    return json.dumps([{"name": name, "description": text, "input_schema": schema} for name, text, schema in tools]).encode()


def test_what_breaks_a_caller_comes_first_and_sentences_stand_on_their_side() -> None:
    page: dict[str, object] = {"type": "object", "properties": {"page": {"type": "integer"}}}
    before = catalog(("list", "Lists all. " + "It is loved by everyone on earth. ", page), ("gone", "Goes.", {}), ("same", "Stays.", {}))
    after = catalog(("list", "Lists all.", {**page, "required": ["page"]}), ("same", "Stays.", {}), ("new", "Comes.", {}))
    rows = [plain(line) for line in diff_lines(diff_catalogs(before, after), 30)]
    assert rows[0].startswith("4 tools: 1 added, 1 removed, 1 changed, 1 same") and "! 2 may break a caller" in rows[0]
    heads = [row for row in rows[1:] if row[:2] in ("~ ", "+ ", "- ")]
    assert heads == ["~ list  ! may break a caller", "- gone  removed  ! may break a caller", "+ new  added"]
    assert "  ! page  newly required" in rows
    sentence = rows.index("  - It is loved by everyone on")
    assert rows[sentence + 1] == "    earth."
