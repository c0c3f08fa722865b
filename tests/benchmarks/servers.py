"""What stands between load and provider: nothing, our worker, nginx, mitmproxy; each a process on a core of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_START_SECONDS = 30.0
_NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
  access_log off; client_max_body_size 0; client_body_buffer_size 4m; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream provider {{ server 127.0.0.1:{provider}; keepalive 64; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Cores:
    """Where processes run: proxies on one core, load and provider on another. Empty where the system can't say or has one only."""

    proxy: frozenset[int]
    load: frozenset[int]

    @classmethod
    def choose(cls) -> "Cores":
        available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if len(available) < 2:
            return cls(frozenset(), frozenset())
        return cls(frozenset({available[0]}), frozenset({available[1]}))


@dataclass(frozen=True, slots=True)
class Server:
    """A running server under test."""

    name: str
    port: int
    session: int = 0
    """Of its processes, 0 where there are none."""

    def cpu_seconds(self) -> float | None:
        """What its processes have used so far, of user and system time; None where the system doesn't say."""
        if not self.session or not Path("/proc/self/stat").exists():
            return None
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.session:
                    ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def child(
    command: Sequence[str], core: frozenset[int], *, output: int = subprocess.DEVNULL, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process on `core`, killed at the end."""
    with pinned(core):
        process = subprocess.Popen(
            command,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@contextlib.contextmanager
def pinned(core: frozenset[int]) -> Iterator[None]:
    """This process, and what it starts meanwhile, on `core`."""
    if not core:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def provider(cores: Cores) -> Iterator[Server]:
    """The provider stand-in, on the load's core."""
    with child([sys.executable, "-m", "tests.benchmarks.provider"], cores.load, output=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server("direct", int(process.stdout.readline()))


@contextlib.contextmanager
def worker(provider: Server, cores: Cores, folder: Path) -> Iterator[Server]:
    """Our worker with both transforms on, and a follower of its events on the load's core."""
    port, url = _free_port(), f"http://127.0.0.1:{provider.port}"
    command = [
        sys.executable,
        "-m",
        "caveman_tui",
        "serve",
        "--port",
        str(port),
        "--upstream-anthropic",
        url,
        "--ttl",
        "apply",
        "--shrink",
        "apply",
    ]
    places = {
        "CAVEMAN_CCR_DB": str(folder / "ccr.db"),
        "CAVEMAN_TUI_STATE": str(folder / "state"),
        "CAVEMAN_TUI_RUNTIME": str(folder / "run"),
        "CAVEMAN_TUI_CONFIG": str(folder / "config.toml"),
    }
    with child(command, cores.proxy, **places) as process:
        control = folder / "run" / f"worker-{port}.sock"
        _wait_for(port, process, control)
        with child([sys.executable, "-m", "tests.benchmarks.follower", str(control)], cores.load):
            yield Server("this worker", port, process.pid)


@contextlib.contextmanager
def nginx(program: str, provider: Server, cores: Cores, folder: Path) -> Iterator[Server]:
    """nginx with one worker process and nothing buffered: the floor."""
    port = _free_port()
    config = folder / "nginx.conf"
    config.write_text(_NGINX.format(folder=folder, provider=provider.port, port=port))
    with child([program, "-p", str(folder), "-c", str(config)], cores.proxy) as process:
        _wait_for(port, process)
        yield Server("nginx", port, process.pid)


@contextlib.contextmanager
def mitmproxy(program: str, provider: Server, cores: Cores, folder: Path) -> Iterator[Server]:
    """mitmproxy as a reverse proxy that streams bodies through and prints nothing."""
    port = _free_port()
    command = [program, "--quiet", "--mode", f"reverse:http://127.0.0.1:{provider.port}", "--listen-host", "127.0.0.1"]
    command += ["--listen-port", str(port), "--set", "stream_large_bodies=1", "--set", "flow_detail=0", "--set", f"confdir={folder}"]
    with child(command, cores.proxy) as process:
        _wait_for(port, process)
        yield Server("mitmproxy", port, process.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes], control: Path | None = None) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if (control is None or control.exists()) and probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args} does not listen on port {port}")
