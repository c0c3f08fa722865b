"""Ending a server of asyncio's without losing a connection."""

import asyncio

_TURNS = 5
"""Of the event loop, from accepting a connection to its handler's first step."""


async def close_server(server: asyncio.Server) -> None:
    """Accept no more connections. Those that were accepted have begun, so that whoever ends their handlers ends all.

    asyncio loses a connection, and leaves it open, where the server is closed between the two.
    """
    for listening in server.sockets:
        asyncio.get_running_loop().remove_reader(listening.fileno())
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    server.close()
