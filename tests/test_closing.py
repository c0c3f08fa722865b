import asyncio
import gc
import socket

import pytest

from tests.closing import close_server


@pytest.mark.parametrize("turns", range(8))
async def test_a_connection_that_comes_while_a_server_closes_is_ended_or_never_begun(turns: int) -> None:
    writers: list[asyncio.StreamWriter] = []

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()[:2]):
        for _ in range(turns):
            await asyncio.sleep(0)
        await close_server(server)
        for writer in writers:
            writer.close()
            await writer.wait_closed()
        # A transport that is lost warns when it is collected, and warnings are errors.
        gc.collect()
