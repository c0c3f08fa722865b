"""The listening socket of the control API: private before it listens, and never taken from a live worker."""

import errno
import os
import socket
import stat
from pathlib import Path

from caveman_tui.places import private_dir
from caveman_tui.protocol.discovery import accepts


def has_unix_sockets() -> bool:
    """Whether this system has them."""
    return hasattr(socket, "AF_UNIX") and os.name != "nt"


def open_control_socket(path: Path | None) -> socket.socket:
    """A bound stream socket at `path`, mode 0600, in a directory of mode 0700; with None one on loopback TCP.

    What a dead worker left at `path` is replaced. Raises OSError, EADDRINUSE where a live one listens there.
    """
    if path is None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", 0))
        return listener
    private_dir(path.parent)
    _remove_dead(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # The mode has to be right when the file appears, and connections are refused until it listens.
        previous = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(previous)
        path.chmod(0o600)
    except BaseException:
        listener.close()
        raise
    return listener


def remove_control_socket(path: Path) -> None:
    """Remove the socket after its worker stopped listening, unless a successor listens there already."""
    if not _listens(path):
        path.unlink(missing_ok=True)


def _remove_dead(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError(errno.EEXIST, "what stands where the control socket belongs is no socket", str(path))
    if _listens(path):
        raise OSError(errno.EADDRINUSE, "another worker listens on this control socket", str(path))
    path.unlink(missing_ok=True)


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return accepts(probe, str(path))
