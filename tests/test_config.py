import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from caveman_tui import places
from caveman_tui.config import ANTHROPIC, CHATGPT, OPENAI, Config, ConfigError, Flags, WorkerConfig, load_config, worker_config
from caveman_tui.core.policy import ClientOverride, Level, LoopTtlMode, ShrinkMode
from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings

FULL = """
port = 9000
loop_ttl = "off"
shrink = "apply"
level = "careful"
excluded_tools = ["Bash", "mcp__db__query"]
headless = "no"
idle_stop_minutes = 0
body_memory_mib = 64
theme = "light"

[[upstreams]]
name = "openrouter"
base_url = "https://openrouter.example/api/v1"
dialect = "openai"
path_prefix = "/openrouter"

[[upstreams]]
name = "gateway"
base_url = "https://gateway.example"
dialect = "anthropic"

[keys]
"traffic.filter" = "slash,f"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_no_file_is_all_defaults(file: Path) -> None:
    assert load_config(file) == Config()
    assert worker_config(Config()) == WorkerConfig()


def test_every_key_reaches_what_it_is_for(file: Path) -> None:
    file.write_text(FULL)
    config = load_config(file)
    assert (config.theme, config.keys) == ("light", {"traffic.filter": "slash,f"})
    worker = worker_config(config)
    assert worker.settings == Settings(
        loop_ttl=LoopTtlMode.OFF, shrink=ShrinkMode.APPLY, level=Level.CAREFUL, excluded_tools=("Bash", "mcp__db__query"), headless="no"
    )
    assert (worker.port, worker.idle_stop_seconds, worker.body_budget_bytes) == (9000, 0, 64 * 1024 * 1024)
    openrouter, gateway, openai, chatgpt = worker.upstreams
    assert (openrouter.path_prefix, gateway.base_url, openai, chatgpt) == ("/openrouter", "https://gateway.example", OPENAI, CHATGPT)


def test_the_example_of_the_readme_is_a_config_file(file: Path) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    file.write_text(example)
    config = worker_config(load_config(file))
    assert config.upstreams[0].path_prefix == "/openrouter"
    assert config.settings.clients == (ClientOverride(product="my-agent", headless="yes"),)


def test_flags_go_over_the_file(file: Path) -> None:
    file.write_text(FULL)
    flags = Flags(
        port=0,
        upstream_anthropic="http://127.0.0.1:1",
        upstream_openai="http://127.0.0.1:2/v1",
        loop_ttl=LoopTtlMode.APPLY,
        shrink=ShrinkMode.OFF,
        level=Level.TERSE,
    )
    worker = worker_config(load_config(file), flags)
    assert (worker.port, worker.settings.loop_ttl, worker.settings.shrink, worker.settings.level) == (
        0,
        LoopTtlMode.APPLY,
        ShrinkMode.OFF,
        Level.TERSE,
    )
    defaults = {
        dialect: next(up for up in worker.upstreams if up.dialect == dialect and not up.path_prefix) for dialect in ("anthropic", "openai")
    }
    assert (defaults["anthropic"].base_url, defaults["openai"].base_url) == ("http://127.0.0.1:1", "http://127.0.0.1:2/v1")
    assert any(upstream.path_prefix == "/openrouter" for upstream in worker.upstreams)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('shrnk = "apply"', ["'shrnk'", "Did you mean 'shrink'?"]),
        ("zzz = 1", ["'zzz'", "There are: port,"]),
        ('shrink = "aply"', ["shrink is 'aply'", "Did you mean 'apply'?"]),
        ("shrink = 7", ["shrink is 7", "off, measure, apply"]),
        ('headless = "maybe"', ["headless is 'maybe'", "auto, yes, no"]),
        ('[clients]\nclaude-cli = "maybe"', ["clients is", "maybe"]),
        ('level = "standart"', ["Did you mean 'standard'?"]),
        ('port = "8788"', ["port is '8788'"]),
        ("port = 70000", ["port is 70000", "0 (a free one) to 65535"]),
        ("port = true", ["port is True"]),
        ("idle_stop_minutes = -1", ["idle_stop_minutes is -1"]),
        ('excluded_tools = "Bash"', ["excluded_tools is 'Bash'"]),
        ("x = 1\nport = \n", ["no valid TOML", "line 2"]),
        ('upstreams = "x"', ["[[upstreams]]"]),
        ("upstreams = [1]", ["[[upstreams]]"]),
        ('[[upstreams]]\nname = "a"', ["entry 1", "base_url"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "http://h"\ndialect = "openai"\nprefix = "/a"', ["'prefix'", "'path_prefix'"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "h"\ndialect = "openai"', ["'a'", "http:// or https://"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "http://h:x"\ndialect = "openai"', ["'a'", "no URL"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "http://h?x=1"\ndialect = "openai"', ["'?'"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "http://h"\ndialect = "gemini"', ["'gemini'"]),
        ('[[upstreams]]\nname = "a"\nbase_url = "http://h"\ndialect = "openai"\npath_prefix = "a"', ["path_prefix is 'a'"]),
        ('theme = "lite"', ["Did you mean 'light'?"]),
        ("[keys]\nquit = 7", ["keys is"]),
    ],
)
def test_a_mistake_is_named_with_its_file_key_and_value(file: Path, text: str, parts: list[str]) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    message = str(raised.value)
    assert str(file) in message
    for part in parts:
        assert part in message


def test_a_file_that_cannot_be_read_is_an_error_of_its_own(file: Path) -> None:
    file.mkdir()
    with pytest.raises(ConfigError, match="can't be read"):
        load_config(file)
    binary = file / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="can't be read"):
        load_config(binary)


@pytest.mark.parametrize("url", ["https://me:s3cret@h", "https://s3cret@h"])
def test_credentials_in_a_url_are_refused_without_being_shown(file: Path, url: str) -> None:
    file.write_text(f'[[upstreams]]\nname = "a"\nbase_url = "{url}"\ndialect = "openai"')
    with pytest.raises(ConfigError) as from_file:
        load_config(file)
    with pytest.raises(ConfigError) as from_flag:
        worker_config(Config(), Flags(upstream_anthropic=url))
    for raised in (from_file, from_flag):
        assert "credentials" in str(raised.value) and "s3cret" not in str(raised.value)


def test_a_default_upstream_of_the_file_takes_the_place_of_ours() -> None:
    mine = Upstream(name="mine", base_url="https://h", dialect="openai")
    assert worker_config(Config(upstreams=(mine,))).upstreams == (mine, ANTHROPIC, CHATGPT)


def test_an_upstream_of_the_file_for_the_path_of_chatgpt_takes_the_place_of_ours() -> None:
    mine = Upstream(name="mine", base_url="https://h", dialect="openai", path_prefix="/backend-api")
    assert worker_config(Config(upstreams=(mine,))).upstreams == (mine, ANTHROPIC, OPENAI)


def test_what_is_said_of_single_clients_goes_with_the_file_and_a_flag_counts_for_all(file: Path) -> None:
    file.write_text('headless = "yes"\n[clients]\nclaude-cli = "no"\nmy-agent = "auto"\n')
    config = load_config(file)
    settings = worker_config(config).settings
    assert settings.headless == "yes"
    assert settings.clients == (ClientOverride(product="claude-cli", headless="no"), ClientOverride(product="my-agent", headless="auto"))
    settings = worker_config(config, Flags(headless="auto")).settings
    assert (settings.headless, settings.clients) == ("auto", ())


def test_the_file_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CAVEMAN_TUI_CONFIG", str(tmp_path / "mine.toml"))
    assert places.config_file() == tmp_path / "mine.toml"
    monkeypatch.delenv("CAVEMAN_TUI_CONFIG")
    assert places.config_file().name == "config.toml"


def test_private_directories_are_private_and_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_one = tmp_path / "open"
    open_one.mkdir(mode=0o755)
    monkeypatch.setenv("CAVEMAN_TUI_RUNTIME", str(open_one))
    assert places.runtime_dir().stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("CAVEMAN_TUI_RUNTIME", str(tmp_path / ("long" * 40)))
    assert len(str(places.runtime_dir())) < 60
    monkeypatch.setattr("os.getuid", lambda: 12345)
    with pytest.raises(PermissionError, match="belongs to another user"):
        places.private_dir(open_one)


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="these have a runtime directory of their own kind")
def test_without_a_runtime_directory_of_the_system_a_private_temporary_one_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAVEMAN_TUI_RUNTIME")
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "absent"))
    assert places.runtime_dir() == Path(f"/tmp/caveman-tui-{os.getuid()}")
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        assert places.runtime_dir() == Path(short) / "caveman-tui"
