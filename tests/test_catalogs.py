import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_tui import catalogs
from caveman_tui.catalogs import StoreUnavailable, ToolUnknown, lint, recover, recover_tool, selection_profile, shrink
from caveman_tui.ccr import HandleUnknown, OverBudget, StoreCorrupt, default_path, handle_of, open_store
from caveman_tui.core.policy import Level
from caveman_tui.core.shrink.model import ShrunkCatalog
from caveman_tui.core.tokens import count_json_tokens

LONG = (
    "Looks up the weather of a city. This wonderful and powerful tool is loved by people all over the world for its great ease of use. "
    "The city must be written in English. It was made with a lot of care by a team of people who enjoy what they do every single day. "
    "At most 5 days are returned."
)
CATALOG = json.dumps(
    {
        "tools": [
            {
                "name": "weather",
                "description": LONG,
                "inputSchema": {
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "title": "WeatherArguments",
                    "type": "object",
                    "properties": {"city": {"title": "City", "type": "string"}, "days": {"title": "Days", "type": "integer", "default": 1}},
                    "required": ["city"],
                },
            },
            {
                "name": "time",
                "description": "Tells the time.",
                "inputSchema": {"title": "TimeArguments", "type": "object", "properties": {}},
            },
        ]
    },
    indent=2,
).encode()
NOTHING_TO_GAIN = [
    b"",
    b"not json",
    b"{} {}",
    b'{"tools": []}',
    b'{"tools": [{"name": "t", "description": "Short.", "inputSchema": {"type": "object"}}]}',
    b"\xff\xfe",
    b'\xef\xbb\xbf{"tools": []}',
    b"[" * 100_000,
    b"null",
    b'{"tools": [{"name": "t", "inputSchema": {"title": "x", "a": NaN}}]}',
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ccr.db"


class TestShrink:
    def test_shorter_with_the_same_profile_and_the_report(self, path: Path) -> None:
        result = shrink(CATALOG, store=path)
        assert json.loads(result.output)["tools"][0]["name"] == "weather"
        assert selection_profile(result.output) == selection_profile(CATALOG)
        report = msgspec.to_builtins(result.report)
        assert list(report) == ["tokens_before", "tokens_after", "ratio", "basis", "content_type", "recovery_handle", "note"]
        assert report["tokens_before"] == count_json_tokens(CATALOG)
        assert report["tokens_after"] == count_json_tokens(result.output) < report["tokens_before"]
        assert report["ratio"] == (report["tokens_before"] - report["tokens_after"]) / report["tokens_before"]
        assert (report["basis"], report["content_type"]) == ("inferred", "toolschema")
        assert report["recovery_handle"] == handle_of(CATALOG)

    def test_the_exact_input_is_in_the_store_when_it_returns(self, path: Path) -> None:
        result = shrink(CATALOG, store=path, level=Level.CAREFUL)
        assert result.recovery_handle is not None
        with open_store(path, create=False) as store:
            found = store.get(result.recovery_handle)
        assert found.original == CATALOG
        assert (found.record.content_type, found.record.compressor) == ("toolschema", "caveman-tui")
        assert (found.record.tokens_before, found.record.tokens_after) == (result.tokens_before, result.tokens_after)
        assert json.loads(found.metadata)["level"] == "careful"

    def test_an_open_store_a_path_or_the_shared_one(self, path: Path) -> None:
        with open_store(path) as store:
            handle = shrink(CATALOG, store=store).recovery_handle
            assert handle is not None and recover(handle, store=store) == CATALOG
        assert recover(handle, store=str(path)) == CATALOG
        with pytest.raises(Exception, match="no recovery store"):
            recover(handle)
        assert shrink(CATALOG).recovery_handle == handle
        assert default_path().exists()
        assert recover(f"<<ccr:{handle}>>") == CATALOG

    @pytest.mark.parametrize("data", NOTHING_TO_GAIN, ids=range(len(NOTHING_TO_GAIN)))
    @pytest.mark.parametrize("level", list(Level))
    def test_nothing_to_gain_comes_back_untouched_and_stores_nothing(self, data: bytes, level: Level, path: Path) -> None:
        result = shrink(data, level=level, store=path)
        assert result.output == data
        assert (result.ratio, result.recovery_handle) == (0.0, None)
        assert result.tokens_before == result.tokens_after
        assert result.report.note
        assert not path.exists()

    def test_indentation_is_no_saving(self, path: Path) -> None:
        compact = b'{"tools": [{"name": "t", "description": "Short.", "inputSchema": {"type": "object"}}]}'
        pretty = json.dumps(json.loads(compact), indent=8).encode()
        assert shrink(pretty, store=path).output == pretty
        assert lint(pretty).tokens_before == lint(compact).tokens_before

    def test_excluded_tools_keep_their_bytes(self, path: Path) -> None:
        result = shrink(CATALOG, store=path, exclude=("weather",))
        assert json.loads(result.output)["tools"][0] == json.loads(CATALOG)["tools"][0]
        assert result.ratio > 0
        assert shrink(CATALOG, store=path, exclude=("weather", "time")).output == CATALOG

    def test_twice_is_once(self, path: Path) -> None:
        once = shrink(CATALOG, store=path).output
        again = shrink(once, store=path)
        assert again.output == once and again.recovery_handle is None

    def test_a_result_that_changes_the_profile_is_discarded(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(data: bytes, *, level: Level, exclude: tuple[str, ...]) -> ShrunkCatalog:
            return ShrunkCatalog(before=data, after=data.replace(b'"required"', b'"require"', 1).replace(LONG.encode(), b"x"), level=level)

        monkeypatch.setattr(catalogs, "shrink_catalog", broken)
        result = shrink(CATALOG, store=path)
        assert result.output == CATALOG and "discarded" in result.report.note
        assert lint(CATALOG).ratio == 0
        assert not path.exists()

    @given(st.binary(max_size=200))
    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
    def test_any_bytes_pass(self, path: Path, data: bytes) -> None:
        assert shrink(data, store=path).output == data


class TestStoreUnavailable:
    def test_a_corrupt_store_passes_the_input_through(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700)
        path.write_bytes(b"no database" * 1000)
        with pytest.raises(StoreUnavailable) as caught:
            shrink(CATALOG, store=path)
        assert isinstance(caught.value.cause, StoreCorrupt)
        assert caught.value.result.output == CATALOG
        assert (caught.value.result.ratio, caught.value.result.recovery_handle) == (0.0, None)
        assert str(path) in str(caught.value) and caught.value.todo
        assert path.read_bytes() == b"no database" * 1000

    def test_a_full_store_passes_the_input_through(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", "10")
        with pytest.raises(StoreUnavailable) as caught:
            shrink(CATALOG, store=path)
        assert isinstance(caught.value.cause, OverBudget)
        assert caught.value.result.output == CATALOG

    def test_a_symlinked_store_passes_the_input_through(self, tmp_path: Path) -> None:
        (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
        with pytest.raises(StoreUnavailable):
            shrink(CATALOG, store=tmp_path / "link.db")
        assert not (tmp_path / "real.db").exists()


class TestLint:
    @pytest.mark.parametrize("level", list(Level))
    def test_it_agrees_with_shrink_and_stores_nothing(self, level: Level, path: Path) -> None:
        report = lint(CATALOG, level=level)
        assert not default_path().exists()
        result = shrink(CATALOG, level=level, store=path)
        assert (report.tokens_before, report.tokens_after, report.ratio) == (result.tokens_before, result.tokens_after, result.ratio)

    def test_tools_that_save_most_come_first(self) -> None:
        report = lint(CATALOG)
        assert [tool.name for tool in report.tools] == ["weather", "time"]
        weather = json.dumps(json.loads(CATALOG)["tools"][0], indent=4).encode()
        assert report.tools[0].tokens_before == count_json_tokens(weather)
        saved = [tool.tokens_before - tool.tokens_after for tool in report.tools]
        assert saved == sorted(saved, reverse=True) and saved[-1] > 0

    def test_excluded_tools_are_marked(self) -> None:
        report = lint(CATALOG, exclude=("weather",))
        weather = next(tool for tool in report.tools if tool.name == "weather")
        assert weather.excluded and weather.ratio == 0

    @pytest.mark.parametrize("data", NOTHING_TO_GAIN, ids=range(len(NOTHING_TO_GAIN)))
    def test_nothing_to_gain(self, data: bytes) -> None:
        report = lint(data)
        assert report.ratio == 0 and report.note
        assert all(tool.tokens_before == tool.tokens_after for tool in report.tools)


class TestRecoverTool:
    def test_one_tool_as_it_stood_in_the_original(self, path: Path) -> None:
        handle = shrink(CATALOG, store=path).recovery_handle
        assert handle is not None
        tool = recover_tool(handle, "time", store=path)
        assert tool in CATALOG and json.loads(tool) == json.loads(CATALOG)["tools"][1]

    def test_a_name_that_is_not_there(self, path: Path) -> None:
        handle = shrink(CATALOG, store=path).recovery_handle
        assert handle is not None
        with pytest.raises(ToolUnknown, match="time, weather"):
            recover_tool(handle, "tyme", store=path)
        with pytest.raises(HandleUnknown):
            recover_tool("ccr_" + "0" * 32, "time", store=path)

    def test_a_name_that_two_tools_share(self, path: Path) -> None:
        one, other = ({"name": "t", "description": text, "inputSchema": {"type": "object"}} for text in ("a", "b"))
        with open_store(path) as store:
            twice = store.put(json.dumps([one, other]).encode(), content_type="toolschema", compressor="c", tokens_before=0, tokens_after=0)
            log = store.put(b"a log", content_type="log", compressor="c", tokens_before=0, tokens_after=0)
            with pytest.raises(ToolUnknown, match="2 different tools"):
                recover_tool(twice, "t", store=store)
            with pytest.raises(ToolUnknown, match="none at all"):
                recover_tool(log, "t", store=store)


RECOVER_ALL = """
import sys
from pathlib import Path
from caveman_tui.catalogs import recover
for line in sys.stdin.read().splitlines():
    handle, _, file = line.partition(" ")
    assert recover(handle, store=sys.argv[1]) == Path(file).read_bytes(), file
print("all the same")
"""


def test_every_real_catalog_survives_and_comes_back_in_another_process(shared_data: Path, path: Path) -> None:
    lines = []
    files = sorted((shared_data / "catalogs").glob("*.json"))
    assert len(files) >= 38
    for file in files:
        data = file.read_bytes()
        result = shrink(data, store=path)
        json.loads(result.output)
        assert selection_profile(result.output) == selection_profile(data), file.name
        report = lint(data)
        assert (report.tokens_before, report.tokens_after) == (result.tokens_before, result.tokens_after), file.name
        if result.recovery_handle is None:
            assert result.output == data, file.name
        else:
            assert len(result.output) < len(data), file.name
            lines.append(f"{result.recovery_handle} {file}")
    assert len(lines) > 30
    done = subprocess.run(
        [sys.executable, "-c", RECOVER_ALL, str(path)], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.stdout == "all the same\n", done.stderr
