"""Ports that stay free until a test uses them, however many tests run at once."""

import contextlib
import itertools
import os
import socket

_FIRST, _COUNT = 20_000, 12_000
"""Below the ports that systems give to outgoing connections and to whoever asks for any: nobody else takes one between two uses."""
_APART = 97
"""Ports between the beginnings of two processes with neighbouring ids."""
_offsets = itertools.count(os.getpid() * _APART)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on; each call gives another one."""
    for offset in itertools.islice(_offsets, _COUNT):
        port = _FIRST + offset % _COUNT
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")
