"""How the studio listens, and that it starts from nothing."""

import asyncio
import socket
import subprocess
import sys

import pytest

from tests.helpers.studio_server import TOKEN
from zorank.studio.server import listen


def test_small_responses_are_sent_at_once():
    """Without TCP_NODELAY each waits 40 ms; asyncio sets it if the socket says that it is TCP."""

    async def without_delay():
        found = asyncio.get_running_loop().create_future()

        def connected(_, writer):
            option = (socket.IPPROTO_TCP, socket.TCP_NODELAY)
            found.set_result(writer.get_extra_info("socket").getsockopt(*option))
            writer.close()

        server = await asyncio.start_server(connected, sock=listen("127.0.0.1", 0))
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.close()
            return await found

    assert asyncio.run(without_delay())


@pytest.mark.server
def test_it_starts_in_a_new_process(tmp_path):
    """All other tests start it in a process that has imported it already."""
    command = [sys.executable, "-m", "zorank", "studio", "--no-browser", "--token", TOKEN]
    store = ["--store", str(tmp_path / "runs.db"), "--port", "0"]
    with subprocess.Popen([*command, *store], stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout.readline().startswith("Studio at http://127.0.0.1:")
        studio.kill()
