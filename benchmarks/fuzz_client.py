"""Sends raw requests over connections of its own, for `studio_fuzz.py`."""

import asyncio
import time
from contextlib import suppress

from fuzz_forge import Forge
from fuzz_log import Findings
from fuzz_model import Answer, Sent, World

CONNECTIONS = 32
DEADLINE = 60.0
"""Seconds after which a connection counts as hanging; the studio waits for a body for 30 s."""
PATIENCE = 0.1
"""Seconds for which an incomplete request waits for a response before the client gives up."""
WAITING = 64
"""How many connections wait at the same time for the server to give up."""


class Connection:
    """A connection that is opened when it is needed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def exchange(self, sent: Sent) -> list[Answer]:
        """Send a request and return the responses, or what came instead."""
        begin, reused = time.perf_counter(), self._streams is not None
        try:
            async with asyncio.timeout(DEADLINE):
                found = await self._exchange(sent)
                if reused and found[0].outcome == "closed" and sent.end != "abort":
                    found = await self._exchange(sent)  # the server had closed an idle connection
        except TimeoutError:
            found = [Answer(0, "hung", seconds=time.perf_counter() - begin)]
            self.close()
        return found

    async def _exchange(self, sent: Sent) -> list[Answer]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._world.port)
        reader, writer = self._streams
        found: list[Answer] = []
        try:
            writer.write(sent.data)
            if sent.end == "abort":
                raise ConnectionError
            while len(found) < sent.responses:
                response = asyncio.ensure_future(read_response(reader, sent.method == "HEAD"))
                if sent.end == "eof":
                    await asyncio.wait([response], timeout=PATIENCE)
                    with suppress(OSError, RuntimeError):  # the server has closed it
                        writer.write_eof()
                found.append(await response)
                if found[-1].headers.get("connection") == "close":
                    break
        except (OSError, EOFError, ValueError):
            self.close()
        if sent.end != "keep" or (found and found[-1].headers.get("connection") == "close"):
            self.close()
        return found or [Answer(0, "closed")]

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def read_response(reader: asyncio.StreamReader, is_head: bool) -> Answer:
    """Read one response; of a stream of events only the beginning."""
    begin = time.perf_counter()
    head = b"HTTP/1.1 100 "
    while head[9:10] == b"1":
        head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    status = int(first.split(" ", 2)[1])
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = b""
    if is_head or status in (204, 304):
        pass
    elif headers.get("content-type", "").startswith("text/event-stream"):
        body = await read_chunk(reader)
        headers["connection"] = "close"
    elif "chunked" in headers.get("transfer-encoding", ""):
        body = await read_chunks(reader)
    elif "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    return Answer(status, "answered", headers, body, time.perf_counter() - begin)


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    """Read a body in chunks."""
    body = b""
    while chunk := await read_chunk(reader):
        body += chunk
    return body


async def read_chunk(reader: asyncio.StreamReader) -> bytes:
    """Read one chunk of a body; it is empty at the end."""
    size = int(await reader.readuntil(b"\r\n"), 16)
    return (await reader.readexactly(size + 2))[:-2]


async def send_all(forge: Forge, findings: Findings) -> None:
    """Send a part over several connections; requests that wait have connections of their own."""
    world, left = forge.world, findings.count
    places = asyncio.Semaphore(WAITING)

    async def wait(sent: Sent) -> None:
        connection = Connection(world)
        findings.add(sent, await connection.exchange(sent))
        connection.close()
        places.release()

    async def work() -> None:
        nonlocal left
        connection = Connection(world)
        while left > 0:
            sent = forge.next()
            left -= sent.responses
            if sent.end == "wait":
                await places.acquire()
                group.create_task(wait(sent))
            else:
                with suppress(ConnectionRefusedError):
                    findings.add(sent, await connection.exchange(sent))
        connection.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(work())
