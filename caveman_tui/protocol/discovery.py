"""Records of running workers: small 0600 files by which a screen finds the control API, one a port."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec

from caveman_tui.protocol.control import Upstream
from caveman_tui.protocol.events import Settings

_CONNECT_SECONDS = 1.0


class WorkerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Where a worker can be reached."""

    pid: int
    instance: str
    version: str
    host: str
    port: int
    """Of the proxy."""
    started_at: float
    """Seconds since the epoch."""
    socket: str = ""
    """Path of the control socket; empty where there are no Unix sockets, and the next two count."""
    control_port: int = 0
    token: str = ""
    """Bearer token of the control API on loopback TCP."""
    settings: Settings = Settings()
    """As they are now: what a successor starts with when this worker dies."""
    upstreams: tuple[Upstream, ...] = ()

    @property
    def url(self) -> str:
        """Base URL for clients that speak to a provider."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def record_path(directory: Path, port: int) -> Path:
    """The record of the worker on `port`; `directory` is the state directory."""
    return directory / f"worker-{port}.json"


def write_record(directory: Path, record: WorkerRecord) -> None:
    """Write a record, replacing an older one of the same port. Raises OSError."""
    path = record_path(directory, record.port)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
    scratch.replace(path)


def read_record(directory: Path, port: int) -> WorkerRecord | None:
    """The record of `port`, whether or not its worker lives; None where there is none that can be read."""
    return _read(record_path(directory, port))


def remove_record(directory: Path, port: int, instance: str) -> None:
    """Remove the record of a worker that ends, unless another instance has taken its place."""
    record = read_record(directory, port)
    if record is not None and record.instance == instance:
        record_path(directory, port).unlink(missing_ok=True)


def records(directory: Path) -> Iterator[WorkerRecord]:
    """All records, of living workers and of dead ones, by port."""
    found = (_read(path) for path in directory.glob("worker-*.json"))
    yield from sorted((record for record in found if record is not None), key=lambda record: record.port)


def live_workers(directory: Path) -> list[WorkerRecord]:
    """The workers that answer, the one started last first. Records and sockets of dead ones are removed."""
    alive = []
    for record in records(directory):
        if is_alive(record):
            alive.append(record)
        else:
            clear(directory, record)
    return sorted(alive, key=lambda record: -record.started_at)


def clear(directory: Path, record: WorkerRecord) -> None:
    """Remove what a dead worker left behind: its record and its socket."""
    with contextlib.suppress(OSError):
        remove_record(directory, record.port, record.instance)
    if record.socket and not _accepts(record):
        with contextlib.suppress(OSError):
            Path(record.socket).unlink()


def is_alive(record: WorkerRecord) -> bool:
    """Whether the worker's process exists and its control API accepts a connection.

    Both are asked: a process id may have been given to another program, and a socket may belong to a successor.
    """
    return process_exists(record.pid) and _accepts(record)


def process_exists(pid: int) -> bool:
    """Whether there is a process of this id, of whatever user."""
    if pid <= 0:
        return False
    if os.name == "nt":
        # There `os.kill` with signal 0 would end the process; the connection that is tried next decides.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _accepts(record: WorkerRecord) -> bool:
    family = getattr(socket, "AF_UNIX", None) if record.socket else socket.AF_INET
    if family is None:
        return False
    address = record.socket or ("127.0.0.1", record.control_port)
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        return accepts(probe, address)


def accepts(probe: socket.socket, address: str | tuple[str, int]) -> bool:
    """Whether something listens at `address`, asked with a new socket of its family.

    One whose queue is full listens, too: so does a process that hangs or was suspended, once enough have asked whether it is there.
    """
    probe.settimeout(_CONNECT_SECONDS)
    try:
        probe.connect(address)
    except (BlockingIOError, TimeoutError):
        return True
    except OSError:
        return False
    return True


def _read(path: Path) -> WorkerRecord | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=WorkerRecord)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
