"""A process that follows a worker's events as its screen does: `python -m tests.benchmarks.follower SOCKET`."""

import asyncio
import sys
from pathlib import Path

from caveman_tui.traffic.control import WorkerClient
from caveman_tui.traffic.feed import Feed


async def _follow(socket: Path) -> None:
    async with WorkerClient(socket) as client:
        await Feed(client, lambda message: None).run()


if __name__ == "__main__":
    asyncio.run(_follow(Path(sys.argv[1])))
