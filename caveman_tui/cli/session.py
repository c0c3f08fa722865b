"""Commands about the worker and its screen: `run`, `serve`, `attach`, `stop`."""

import asyncio
import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
from pathlib import Path

import click

from caveman_tui import places
from caveman_tui.cli._guardian import Guardian
from caveman_tui.cli._input import note
from caveman_tui.cli._screen import check_keys, open_screen, require_terminal, screen_options
from caveman_tui.cli._worker_options import WorkerOptions, own_config, worker_options
from caveman_tui.cli._workers import (
    ANSWER_SECONDS,
    PortTaken,
    StartedWorker,
    WorkerProblem,
    ask,
    ask_status,
    find_appearing_worker,
    find_or_start_worker,
    start_worker,
    the_worker,
)
from caveman_tui.config import WorkerConfig
from caveman_tui.protocol.discovery import WorkerRecord, clear, is_alive, read_record
from caveman_tui.traffic.source import SourceError

_STOP_SECONDS = 20.0
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Of glibc's malloc.h."""
_SWITCH_SECONDS = 0.0005


@click.command("run")
@worker_options
@screen_options
def run_command(options: WorkerOptions, ascii_only: bool, no_mouse: bool, light: bool) -> None:
    """Start the worker and open the screen on it; the default.

    The worker is a process of its own and outlives the screen. One that already runs on the port is used as it is.
    """
    require_terminal()
    check_keys(options.config())
    worker = find_or_start_worker(options)
    if isinstance(worker, StartedWorker):
        record, process = worker.record, worker.process
    else:
        record, process = worker, None
        _tell_about_running(record, options)
    with Guardian(record, process, lambda dead: start_worker(_like(dead, options))):
        code = open_screen(record, options.config(), ascii_only=ascii_only, no_mouse=no_mouse, light=light)
    raise SystemExit(code)


@click.command("serve")
@worker_options
def serve_command(options: WorkerOptions) -> None:
    """Run the worker alone, in the foreground.

    Ctrl-C or SIGTERM ends it once running exchanges have ended; a second one ends it at once.
    """
    raise SystemExit(asyncio.run(_serve(options.worker_config())))


@click.command("attach")
@click.argument("socket", required=False, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port of the worker, where several run.")
@screen_options
def attach_command(socket: Path | None, port: int | None, ascii_only: bool, no_mouse: bool, light: bool) -> None:
    """Open a screen on a running worker.

    The worker is found by itself, or by its control SOCKET.
    """
    require_terminal()
    config = own_config()
    check_keys(config)
    where: Path | WorkerRecord
    if socket is None:
        where = the_worker(port, config.port)
        _tell_about_screens(where)
    elif socket.exists():
        where = socket.absolute()
    else:
        raise WorkerProblem(f"There is no socket {socket}. Without a name, 'caveman-tui attach' looks for the worker itself.")
    raise SystemExit(open_screen(where, config, ascii_only=ascii_only, no_mouse=no_mouse, light=light))


@click.command("stop")
@click.option("--port", type=click.IntRange(1, 65535), metavar="PORT", help="Port of the worker, where several run.")
def stop_command(port: int | None) -> None:
    """End the worker, once its exchanges have ended."""
    record = the_worker(port, own_config().port)
    try:
        ask(record, lambda client: client.stop(), seconds=ANSWER_SECONDS)
    except SourceError:
        note(f"caveman-tui stop: the worker does not answer; process {record.pid} gets a signal instead.")
        with contextlib.suppress(ProcessLookupError):
            os.kill(record.pid, signal.SIGTERM)
    if not _wait_until_gone(record):
        raise WorkerProblem(f"The worker on port {record.port} (process {record.pid}) still runs. 'kill -9 {record.pid}' ends it at once.")
    note(f"The worker on port {record.port} has ended.")


def _like(dead: WorkerRecord, options: WorkerOptions) -> WorkerOptions:
    """Options for a worker that takes the place of a dead one: its port, its settings as they were last, its upstreams.

    The screen may have joined a worker that was started with other options than its own.
    """
    default = {upstream.dialect: upstream.base_url for upstream in reversed(dead.upstreams) if not upstream.path_prefix}
    return options.with_flags(
        port=dead.port,
        upstream_anthropic=default.get("anthropic"),
        upstream_openai=default.get("openai"),
        loop_ttl=dead.settings.loop_ttl,
        shrink=dead.settings.shrink,
        level=dead.settings.level,
        # The flag would set the file's table of clients aside, so it is given only where there was none.
        headless=None if dead.settings.clients else dead.settings.headless,
    )


async def _serve(config: WorkerConfig) -> int:
    from caveman_tui.proxy.worker import StartProblem, Worker

    # A thread that shrinks a catalog in Python would otherwise keep the streams waiting for 5 ms at each of their steps.
    sys.setswitchinterval(_SWITCH_SECONDS)
    worker = Worker(config)
    # Before the start: whoever finds the record may send a signal at once.
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        if len(ended_by) > 1:
            _leave_at_once(worker.port, number)
        worker.request_stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())):
        try:
            loop.add_signal_handler(number, end, number)
        except NotImplementedError:
            signal.signal(number, lambda received, _: loop.call_soon_threadsafe(end, received))
    try:
        await worker.start()
    except StartProblem as problem:
        raise WorkerProblem(await asyncio.to_thread(_why_not_started, problem.code, str(problem), config.port)) from problem
    url = f"http://127.0.0.1:{worker.port}"
    note(f"caveman-tui listens on {url} (process {os.getpid()}). Connect a client with:")
    note(f"  export ANTHROPIC_BASE_URL={url} ENABLE_TOOL_SEARCH=true")
    _collect_rarely()
    _give_large_blocks_back()
    await worker.wait()
    await worker.stop()
    return 0


def _collect_rarely() -> None:
    """Let the garbage collector leave alone what is loaded by now, and come after many objects more.

    Parsing one large request makes as many objects as call for hundreds of collections, some of them full, and each holds every stream
    up. Without this, first requests of 2 MB took 1.16 times the CPU and the slowest 1.5 times as long, those of 300 KB 1.08 and 1.8
    times; memory was the same, for hardly anything that a request leaves behind is a cycle.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _give_large_blocks_back() -> None:
    """Let the C library return the memory of very long bodies at once.

    glibc stops doing so for all blocks shorter than the longest that was ever freed, up to 32 MB, and what then lies between others
    stays taken: four bodies of 35 MB at once took up to 700 MB, with this up to 500. Shorter blocks are kept for the next body, since
    new memory costs a fault for each page. Other systems have no such call, and nothing happens.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        set_option = ctypes.CDLL(None).mallopt
        for option, value in ((_M_MMAP_THRESHOLD, 8 << 20), (_M_TRIM_THRESHOLD, 32 << 20)):
            set_option(option, value)


def _why_not_started(code: str, said: str, port: int) -> str:
    if code == "port-taken" and (record := find_appearing_worker(port)) is not None:
        return (
            f"A worker of yours already runs on port {port} (process {record.pid}). "
            "'caveman-tui attach' opens a screen on it, 'caveman-tui stop' ends it, --port 0 starts another."
        )
    if code == "port-taken":
        return str(PortTaken(port))
    return said


def _leave_at_once(port: int, number: int) -> None:
    """End without waiting for anything, but not so that it looks like a crash: nobody is to start a successor."""
    with contextlib.suppress(OSError):
        directory = places.state_dir()
        record = read_record(directory, port)
        if record is not None and record.pid == os.getpid():
            if record.socket:
                Path(record.socket).unlink(missing_ok=True)
            clear(directory, record)
    os._exit(128 + number)


def _tell_about_running(record: WorkerRecord, options: WorkerOptions) -> None:
    note(f"A worker of yours already runs on port {record.port} (process {record.pid}); this screen joins it.")
    if options.says_something:
        note("It keeps the settings it was started with: change them on the screen, or end it first with 'caveman-tui stop'.")
    _tell_about_screens(record)


def _tell_about_screens(record: WorkerRecord) -> None:
    if followers := ask_status(record).followers:
        note(f"{followers} other screen{'s show' if followers > 1 else ' shows'} it too; both see the same and may change its settings.")


def _wait_until_gone(record: WorkerRecord) -> bool:
    deadline = time.monotonic() + _STOP_SECONDS
    while is_alive(record):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
