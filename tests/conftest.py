"""Fixtures for all tests."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import free_port as ports

# How fast the machine is decides no test: no limit on an example's time, nor on that of making examples.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real catalogs, requests and streams that lies beside a developer's checkout."""
    if not _SHARED_DATA.is_dir():
        pytest.skip(f"no real data beside this checkout ({_SHARED_DATA} is absent)")
    return _SHARED_DATA


@pytest.fixture
def free_port() -> int:
    """A port for a worker that has to have the same one again, or that is named before it starts."""
    return ports.free_port()


@pytest.fixture(autouse=True)
def _own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the person's own config, state, store or sockets."""
    base = tmp_path_factory.mktemp("home", numbered=True)
    monkeypatch.setenv("HOME", str(base))
    monkeypatch.setenv("CAVEMAN_HOME", str(base / "caveman"))
    monkeypatch.delenv("CAVEMAN_CCR_DB", raising=False)
    monkeypatch.delenv("CAVEMAN_CCR_MAX_BYTES", raising=False)
    monkeypatch.setenv("CAVEMAN_TUI_CONFIG", str(base / "config.toml"))
    monkeypatch.setenv("CAVEMAN_TUI_STATE", str(base / "state"))
    monkeypatch.setenv("CAVEMAN_TUI_DATA", str(base / "data"))
    monkeypatch.setenv("CAVEMAN_TUI_RUNTIME", str(base / "run"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "NO_COLOR", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
