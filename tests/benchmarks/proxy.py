"""Times the worker beside going direct, nginx and mitmproxy, in interleaved rounds: `python -m tests.benchmarks.proxy`.

Both transforms are on and the events are followed. Numbers of one run compare with each other only; the machine's other work is in
all of them alike.
"""

import argparse
import contextlib
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import servers
from tests.benchmarks.load import event_lags, latencies, received_bytes, requests_per_second
from tests.benchmarks.provider import STREAM_FIELD
from tests.benchmarks.requests import TimedRequest, first_requests, timed_requests
from tests.benchmarks.servers import Cores, Server

CLIENTS = 16
STREAMS = 16
_EVENTS = 100
_TRIES = 10
_TARGETS = (
    "1 KB at 16 clients: at least 3 times mitmproxy's requests/s",
    "300 KB and 2 MB, edited: no slower than mitmproxy's pass-through",
    "streamed events, lag p99 at 16 streams: no more than mitmproxy's",
)


@dataclass
class Measured:
    """What one server did, a value for each round."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    """Median at one client, by request."""
    rates: dict[str, list[float]] = field(default_factory=dict)
    """Requests per second at 16 clients, by request."""
    cpu: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds of CPU for each request at 16 clients, by request; empty where that can't be told."""
    lags: list[float] = field(default_factory=list)
    """99th percentile of the lag of streamed events, milliseconds."""

    def latency(self, request: str) -> float:
        return statistics.median(self.milliseconds[request])

    def rate(self, request: str) -> float:
        return statistics.median(self.rates[request])

    @property
    def lag(self) -> float:
        return statistics.median(self.lags)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.proxy", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each server is measured (5)")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long 16 clients send each request (1.5)")
    parser.add_argument("--mitmdump", metavar="PATH", default=shutil.which("mitmdump"), help="the mitmdump to compare with")
    parser.add_argument("--nginx", metavar="PATH", default=shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin"))
    options = parser.parse_args(arguments)
    cores, timed = Cores.choose(), timed_requests()
    with tempfile.TemporaryDirectory() as scratch, _running(options, cores, Path(scratch)) as compared, servers.pinned(cores.load):
        _check_edits(compared, timed)
        measured = {server.name: Measured() for server in compared}
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
            for server in compared:
                _measure(server, timed, options.seconds, measured[server.name])
    where = "proxies on one core, load, provider and follower on another" if cores.proxy else "not pinned to cores"
    print(
        f"\nMedians of {options.rounds} rounds, {where}. Milliseconds at 1 client and requests/s at {CLIENTS}; in brackets: times direct."
        "\nEach client is an agent in a loop: its requests begin like the one before and end with a new step.\n"
    )
    print(_table(measured, timed))
    print("\nRequests that begin like none before: the first of each conversation, read whole. 1 client, in brackets: times direct.\n")
    print(_first_table(measured))
    print(
        f"\nCPU milliseconds of the proxy's own processes for a request, {CLIENTS} clients: other work on the machine changes them least.\n"
    )
    print(_cpu_table(measured, timed))
    if "mitmproxy" in measured:
        print()
        print("\n".join(_verdicts(measured["this worker"], measured["mitmproxy"], timed)))
    return 0


@contextlib.contextmanager
def _running(options: argparse.Namespace, cores: Cores, scratch: Path) -> Iterator[list[Server]]:
    """All servers, each in a folder of its own."""
    with contextlib.ExitStack() as started:

        def folder(name: str) -> Path:
            (made := scratch / name).mkdir()
            return made

        provider = started.enter_context(servers.provider(cores))
        running = [provider, started.enter_context(servers.worker(provider, cores, folder("worker")))]
        for name, program, start in (("nginx", options.nginx, servers.nginx), ("mitmproxy", options.mitmdump, servers.mitmproxy)):
            if program:
                running.append(started.enter_context(start(program, provider, cores, folder(name))))
            else:
                print(f"{name} is not installed, so there is nothing to compare with", file=sys.stderr)
        yield running


def _check_edits(compared: list[Server], timed: tuple[TimedRequest, ...]) -> None:
    """Only the worker changes bodies, and it does change those that are timed as edited."""
    for server in compared:
        for request in timed:
            # A store that is opened on a busy machine may be late for the first requests, which then go out unshrunk.
            sent = len(request.bodies[0])
            wire = next(request.wires(server.port, "checked"))
            tries = (received_bytes(server.port, wire) for _ in range(_TRIES))
            received = next((size for size in tries if (size != sent) == request.edited), sent)
            if (received != sent) != (request.edited and server.name == "this worker"):
                raise SystemExit(f"{server.name}: of {sent} bytes ({request.name}) the provider received {received}")


def _measure(server: Server, timed: tuple[TimedRequest, ...], seconds: float, into: Measured) -> None:
    for request in (*timed, *first_requests()):
        count = max(20, min(300, 30_000_000 // len(request.bodies[0])))
        taken = latencies(server.port, request.wires(server.port, f"one-{request.name[:6].strip()}"), count)
        into.milliseconds.setdefault(request.name, []).append(statistics.median(taken))
    for request in timed:
        wires = [request.wires(server.port, f"{request.name[:6].strip()}-{number}") for number in range(CLIENTS)]
        requests_per_second(server.port, wires, 0)
        before = server.cpu_seconds()
        rate = requests_per_second(server.port, wires, seconds)
        after = server.cpu_seconds()
        into.rates.setdefault(request.name, []).append(rate)
        if before is not None and after is not None:
            into.cpu.setdefault(request.name, []).append((after - before) / (rate * seconds + CLIENTS) * 1000)
    wire = next(timed[0].wires(server.port, "streams", f"{STREAM_FIELD}: {_EVENTS}"))
    lags = event_lags(server.port, wire, STREAMS)
    if len(lags) != STREAMS * _EVENTS:
        raise SystemExit(f"{server.name}: {len(lags)} of {STREAMS * _EVENTS} streamed events arrived")
    into.lags.append(statistics.quantiles(lags, n=100)[-1])


def _table(measured: dict[str, Measured], timed: tuple[TimedRequest, ...]) -> str:
    titles = [title for request in timed for title in (f"{request.name}, ms", f"{request.name}, {CLIENTS} clients, requests/s")]
    lines = ["| | " + " | ".join([*titles, f"streamed events, lag p99 at {STREAMS} streams, ms"]) + " |", "|---" * (len(titles) + 2) + "|"]
    base = measured["direct"]
    for name, one in measured.items():
        cells = []
        for request in timed:
            latency, rate = one.latency(request.name), one.rate(request.name)
            cells.append(f"{latency:.2f} ({latency / base.latency(request.name):.1f})")
            cells.append(f"{rate:,.0f} ({rate / base.rate(request.name):.2f})")
        lines.append(f"| {name} | " + " | ".join([*cells, f"{one.lag:.2f}"]) + " |")
    return "\n".join(lines)


def _first_table(measured: dict[str, Measured]) -> str:
    names = [request.name for request in first_requests()]
    lines = ["| | " + " | ".join(f"{name}, ms" for name in names) + " |", "|---" * (len(names) + 1) + "|"]
    base = measured["direct"]
    for name, one in measured.items():
        cells = [f"{one.latency(request):.2f} ({one.latency(request) / base.latency(request):.1f})" for request in names]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cpu_table(measured: dict[str, Measured], timed: tuple[TimedRequest, ...]) -> str:
    lines = ["| | " + " | ".join(request.name for request in timed) + " |", "|---" * (len(timed) + 1) + "|"]
    for name, one in measured.items():
        if one.cpu:
            lines.append(f"| {name} | " + " | ".join(f"{statistics.median(one.cpu[request.name]):.2f}" for request in timed) + " |")
    return "\n".join(lines)


def _verdicts(ours: Measured, theirs: Measured, timed: tuple[TimedRequest, ...]) -> list[str]:
    """A line for each target, with the ratios to mitmproxy."""
    small, *edited = [request.name for request in timed]
    factor = ours.rate(small) / theirs.rate(small)
    slowness = {name: (ours.latency(name) / theirs.latency(name), theirs.rate(name) / ours.rate(name)) for name in edited}
    lag = ours.lag / theirs.lag
    said = "; ".join(f"{name}: {one:.2f} of its time at 1 client, {many:.2f} at {CLIENTS}" for name, (one, many) in slowness.items())
    results = (
        (factor >= 3, f"{factor:.1f} times"),
        (all(ratio <= 1 for pair in slowness.values() for ratio in pair), said),
        (lag <= 1, f"{lag:.2f} of its lag"),
    )
    return [f"* {'met' if met else 'MISSED'}: {target} ({what})" for target, (met, what) in zip(_TARGETS, results, strict=True)]


if __name__ == "__main__":
    raise SystemExit(main())
