"""Where files live. Only `ccr.db` lies in the home that is shared with other Caveman tools."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import platformdirs

_APP = "caveman-tui"
_SOCKET_PATH_LIMIT = 100


def config_file() -> Path:
    """`config.toml`; `CAVEMAN_TUI_CONFIG` overrides it."""
    if given := os.environ.get("CAVEMAN_TUI_CONFIG"):
        return Path(given)
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def state_dir() -> Path:
    """Pins, latches, forms of shrunk catalogs and the record of the running worker; `CAVEMAN_TUI_STATE` overrides it. Made 0700."""
    given = os.environ.get("CAVEMAN_TUI_STATE")
    return private_dir(Path(given) if given else Path(platformdirs.user_state_dir(_APP, appauthor=False)))


def recovered_dir() -> Path:
    """Where recovered originals are written, never the current directory. Made 0700."""
    return private_dir(_data_dir() / "recovered")


def exports_dir() -> Path:
    """Where exported exchanges are written unless a person names a place. Made 0700."""
    return private_dir(_data_dir() / "exports")


def _data_dir() -> Path:
    given = os.environ.get("CAVEMAN_TUI_DATA")
    return private_dir(Path(given) if given else Path(platformdirs.user_data_dir(_APP, appauthor=False)))


def runtime_dir() -> Path:
    """The control socket's directory, 0700; `CAVEMAN_TUI_RUNTIME` overrides it.

    Unix socket paths end at about 100 bytes, so a longer one falls back to a short directory of this user under the temporary one;
    so does a system that gives its users no runtime directory.
    """
    given = os.environ.get("CAVEMAN_TUI_RUNTIME")
    directory = Path(given) if given else _system_runtime_dir()
    if directory is None or len(os.fsencode(directory / "worker-65535.sock")) > _SOCKET_PATH_LIMIT:
        directory = Path(tempfile.gettempdir()) / f"{_APP}-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    return private_dir(directory)


def _system_runtime_dir() -> Path | None:
    if sys.platform in {"darwin", "win32"}:
        return Path(platformdirs.user_runtime_dir(_APP, appauthor=False))
    # platformdirs would warn and take a directory in the temporary one whose owner nobody checks.
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    return base / _APP if base.is_dir() and os.access(base, os.W_OK) else None


def private_dir(directory: Path) -> Path:
    """Make `directory` and what is missing above it, itself 0700 and owned by this user. Raises OSError where it can't be."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = directory.lstat()
    if hasattr(os, "getuid") and info.st_uid != os.getuid():
        raise PermissionError(f"{directory} belongs to another user; remove it or set CAVEMAN_TUI_RUNTIME to a directory of yours")
    if info.st_mode & 0o077:
        with contextlib.suppress(OSError):
            directory.chmod(0o700)
    return directory
