"""The session behind the demo's screen, as a process: says where the worker is, plays, and stays until its standard input ends."""

import asyncio
import sys
from pathlib import Path

import click
import msgspec

from caveman_tui.core.policy import Level
from caveman_tui.demo.session import Session, own_home
from caveman_tui.demo.worker_process import WorkerNotStarted

_LONGEST_PAUSE_SECONDS = 3.0
_SHARE_OF_SIMULATED_TIME = 0.08
_BETWEEN_WRITES_SECONDS = 0.02


@click.command()
@click.option("--speed", type=float, default=1.0)
@click.option("--level", type=click.Choice([level.value for level in Level]), default=Level.STANDARD.value)
@click.option("--store", type=click.Path(path_type=Path))
def main(speed: float, level: str, store: Path | None) -> None:
    """One line of JSON (the worker's record) on standard output, or an error and exit code 1."""
    try:
        asyncio.run(_play(speed, Level(level), store))
    except WorkerNotStarted as problem:
        raise click.ClickException(str(problem)) from problem


async def _play(speed: float, level: Level, store: Path | None) -> None:
    async def pause(seconds: float) -> None:
        """A part of the simulated time, so that a person can follow, and never long."""
        await asyncio.sleep(min(seconds * _SHARE_OF_SIMULATED_TIME, _LONGEST_PAUSE_SECONDS) / speed)

    async with own_home(store) as home, Session.started(home, level=level, pace_seconds=_BETWEEN_WRITES_SECONDS / speed) as session:
        print(msgspec.json.encode(session.record).decode(), flush=True)
        playing = asyncio.create_task(session.play(pause))
        try:
            await asyncio.to_thread(sys.stdin.buffer.read)
        finally:
            playing.cancel()
            (result,) = await asyncio.gather(playing, return_exceptions=True)
            for problem in (*session.problems, *([repr(result)] if isinstance(result, Exception) else [])):
                print(problem, file=sys.stderr)


if __name__ == "__main__":
    main()
