import re

import msgspec
import pytest

from caveman_tui.core.usage import Usage
from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import FormatName
from tests.traffic.exported import ALL, EDITED, PROBE, REFUSED, Remembers, document


async def report(*exchanges: Exchange, source: Remembers | None = None, **options: bool) -> str:
    return (await document(FormatName.MARKDOWN, exchanges, source, **options))[0].decode()


def rows(text: str, heading: str) -> list[list[str]]:
    """Cells of the first table below a heading."""
    lines = text[text.index(f"{heading}\n") :].split("\n")
    start = next(index for index, line in enumerate(lines) if line.startswith("|"))
    table = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return table


async def test_totals_carry_their_labels_and_what_is_missing() -> None:
    unpriced = msgspec.structs.replace(EDITED, id="b-1", model="of-tomorrow", usage=Usage(input_tokens=5, cache_read_tokens=None))
    totals = {row[0]: row[1:] for row in rows(await report(EDITED, REFUSED, PROBE, unpriced), "## Totals")[2:]}
    assert totals["input tokens, all"] == ["1,005", "provider", ""]
    assert totals["of these read from the cache"] == ["900", "provider", "1"]
    assert totals["output tokens"] == ["20", "provider", "1"]
    assert totals["cost in US dollars"][1:] == ["inferred", "1"]
    assert totals["tokens of tools taken out by shrinking"] == ["200", "inferred", ""]
    assert totals["tokens of tools that shrinking would take out"] == ["–", "unknown", ""]
    assert totals["cache markers changed"] == ["2", "counted", ""]
    assert totals["requests edited"] == ["2", "counted", ""]


async def test_what_is_unknown_is_never_zero() -> None:
    totals = {row[0]: row[1:] for row in rows(await report(PROBE), "## Totals")[2:]}
    assert [totals[name][:2] for name in ("input tokens, all", "output tokens", "cost in US dollars")] == [["–", "unknown"]] * 3


async def test_a_change_that_made_it_longer_is_negative() -> None:
    longer = msgspec.structs.replace(EDITED, tools=(msgspec.structs.replace(EDITED.tools[0], tokens_after=260),))
    totals = {row[0]: row[1] for row in rows(await report(longer), "## Totals")}
    assert totals["tokens of tools taken out by shrinking"] == "-10"


async def test_conversations_have_a_row_each() -> None:
    head, _, first, second = rows(await report(*ALL), "## Conversations")
    assert head[4] == "input (provider)" and head[8] == "cost (inferred)"
    assert first[:4] == ["5d1c-conversation", "claude-cli/2.1.197", "claude-sonnet-4-5", "2"]
    assert first[4:6] == ["1,000", "900 (90%)"]
    assert second[0] == "(none)" and second[4] == "–"


async def test_changes_are_explained() -> None:
    text = await report(*ALL)
    changed = rows(text, "## What was changed and why")
    assert [row[:2] for row in changed[2:]] == [["loop-shortened", "1"], ["tools-shrunk", "1"]]
    assert changed[2][2].startswith("Inside an agent loop")
    assert rows(text, "### Tools")[2] == ["dddddddddddd", "standard", "shrunk", "1", "3", "250", "150", "40%", "ccr\\_" + "0" * 32]
    assert [row[0] for row in rows(text, "### What else was found, and why things were left alone")[2:]] == ["anchor-kept"]
    assert '- `/messages/4/content/0/cache_control/ttl`: `"1h"` became `"5m"`. Inside an agent loop' in text
    assert "- Rule broken at `/system/0`, at fault `/tools/0`: A 1h marker stands after a 5m one." in text
    assert "Nothing was changed." in await report(PROBE)


async def test_text_of_requests_is_no_markup() -> None:
    text = await report(*ALL)
    note = rows(text, "## Exchanges")[3][-1]
    assert note == "pipes \\| and \\<b\\>tags\\</b\\> and lines \\`here\\`"
    assert all(len(row) == 10 for row in rows(text, "## Exchanges"))


@pytest.mark.parametrize("body", [b"```\n# no heading\n````", b"\x1b[31mred\x1b[0m\xff", b"plain\nlines\n"])
async def test_bodies_stay_inside_their_fence_and_harmless(body: bytes) -> None:
    source = Remembers()
    source.bodies["a-1", "response"] = body
    text = await report(EDITED, source=source, with_bodies=True)
    section = text[text.index("\nresponse, ") :]
    fence, *inside = section.split("\n")[3:-2]
    assert set(fence) == {"`"} and len(fence) >= 3
    assert not any(line.startswith(fence) for line in inside)
    assert section.rstrip("\n").endswith("\n" + fence)
    assert "\x1b" not in text


async def test_details_only_where_there_is_something_to_tell() -> None:
    text = await report(*ALL)
    assert re.findall(r"### (\S+)\n", text[text.index("## Exchanges in detail") :]) == ["a-1", "a-2"]
    assert "## Exchanges in detail" not in await report(PROBE)
