import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_tui.protocol.exchanges import Exchange
from caveman_tui.traffic.exports import FormatName
from tests.traffic.exported import ALL, EDITED, PROBE, REFUSED, RUNNING, URL, Remembers, document
from tests.traffic.har_schema import Invalid, validate


async def archive(*exchanges: Exchange, source: Remembers | None = None, **options: bool) -> Any:
    data, _ = await document(FormatName.HAR, exchanges, source, **options)
    loaded = json.loads(data)
    validate(loaded)
    return loaded["log"]


@pytest.mark.parametrize("with_bodies", [True, False])
async def test_it_keeps_to_the_specification(with_bodies: bool) -> None:
    log = await archive(*ALL, with_bodies=with_bodies)
    assert log["version"] == "1.2"
    assert [entry["_exchange"]["id"] for entry in log["entries"]] == ["a-1", "a-2", "a-4"]
    assert [(page["id"], page["title"]) for page in log["pages"]] == [
        ("5d1c-conversation", "claude-cli/2.1.197, conversation 5d1c-conversation"),
        ("none", "Outside conversations"),
    ]
    assert all(entry["pageref"] in {page["id"] for page in log["pages"]} for entry in log["entries"])


async def test_of_nothing_it_is_a_valid_archive_too() -> None:
    assert (await archive())["entries"] == []


async def test_an_entry_says_what_happened() -> None:
    (entry,) = (await archive(EDITED, with_bodies=True))["entries"]
    assert entry["startedDateTime"] == "2025-06-15T15:06:40.250+00:00"
    assert (entry["time"], entry["timings"]["wait"], entry["timings"]["receive"]) == (1500.0, 120.5, 1379.5)
    request, response = entry["request"], entry["response"]
    assert (request["url"], request["bodySize"], request["postData"]["mimeType"]) == (URL, 40, "application/json")
    assert request["queryString"] == [{"name": "beta", "value": "true"}]
    assert (response["status"], response["statusText"], response["bodySize"]) == (200, "OK", 31)
    assert response["content"]["text"] == '{"content":[{"type":"text","text":"漢"}]}'
    assert response["content"]["size"] == len(response["content"]["text"].encode())
    assert entry["_exchange"]["marker_edits"][0]["reason"] == "loop-shortened"
    assert entry["_headerEdits"] == ["content-length was set to 38"]


async def test_as_forwarded() -> None:
    (entry,) = (await archive(EDITED, with_bodies=True, forwarded=True))["entries"]
    assert "mässages" in entry["request"]["postData"]["text"]
    assert entry["request"]["bodySize"] == 38


async def test_bytes_that_are_no_text_are_coded() -> None:
    source = Remembers()
    source.bodies["a-2", "response"] = b"\xff\xfe"
    (entry,) = (await archive(REFUSED, source=source, with_bodies=True))["entries"]
    assert (entry["response"]["content"]["text"], entry["response"]["content"]["encoding"]) == ("//4=", "base64")
    assert entry["request"]["postData"]["_encoding"] == "base64"
    assert entry["response"]["comment"].startswith("pipes |")


async def test_what_still_runs_is_left_out_and_said() -> None:
    data, export = await document(FormatName.HAR, (RUNNING,))
    validate(json.loads(data))
    assert export.entries == 0
    assert export.remarks == ["1 exchange left out: not ended yet, for which HAR has no form."]


async def test_without_an_answer_all_of_the_time_was_waiting() -> None:
    failed = msgspec.structs.replace(PROBE, status=None, ttfb_ms=None, state="failed", duration_ms=7.0)
    (entry,) = (await archive(failed))["entries"]
    assert (entry["response"]["status"], entry["response"]["statusText"]) == (0, "")
    assert (entry["timings"]["wait"], entry["timings"]["receive"]) == (7.0, 0)
    assert entry["request"]["bodySize"] == entry["response"]["content"]["size"] == -1


@given(
    st.sampled_from([None, 100, 200, 299, 404, 529, 999]),
    st.none() | st.floats(0, 1e9),
    st.none() | st.floats(0, 1e9),
    st.text(max_size=9).map(lambda text: text.encode("utf-8", "replace").decode()),
)
def test_any_exchange_gives_a_valid_archive(status: int | None, ttfb: float | None, duration: float | None, text: str) -> None:
    import asyncio

    exchange = msgspec.structs.replace(
        EDITED,
        status=status,
        ttfb_ms=ttfb,
        duration_ms=duration,
        note=text,
        path=f"/{text}",
        conversation=text,
        client=text,
        request_bytes=None,
    )
    source = Remembers()
    del source.urls["a-1"]
    asyncio.run(archive(exchange, REFUSED, source=source, with_bodies=True))


async def test_the_schema_finds_faults() -> None:
    log = {"log": await archive(EDITED, with_bodies=True)}
    for path, value in (
        (("version",), 1.2),
        (("entries", 0, "timings", "wait"), -1),
        (("entries", 0, "startedDateTime"), "2025-06-15 15:06:40"),
        (("entries", 0, "request", "bodySize"), None),
        (("entries", 0, "request", "unknownMember"), 1),
        (("entries", 0, "response", "content"), {"size": 1}),
        (("entries", 0, "cache"), []),
    ):
        broken = copy.deepcopy(log)
        place: Any = broken["log"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        with pytest.raises(Invalid):
            validate(broken)
