"""Limits of connections: silent ones are closed, and their number is bounded.

uvicorn closes a connection that is idle after a response, but waits forever for the first request
and for the rest of a request's head. `watched_protocol` adds both limits to its protocol class,
whichever it uses (httptools or h11).
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from zorank.studio.limits import Limits

LONGEST_HEAD = 64 * 1024
"""The largest number of bytes before the end of a request's head."""
OTHER_FILES = 128
"""Files that are left for the database, for modules and for models."""


def watched_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol class with these limits."""
    settings = {"limits": limits, "silent": {}, "most": most_connections(limits)}
    return type("WatchedProtocol", (_Watched, AutoHTTPProtocol), settings)


def most_connections(limits: Limits) -> int:
    """Return how many connections this process can have: the limit, or what the system allows."""
    return max(min(limits.connections, _file_limit() - OTHER_FILES), 1)


def raise_file_limit() -> None:
    """Raise the number of files that this process may open to what the system allows it."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS refuses "unlimited"
        return


def _file_limit() -> int:
    if sys.platform == "win32":
        return 8192
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


class _Watched:
    """A mixin of uvicorn's protocols: waits for a request's head for a limited time.

    Attributes:
        silent: the connections of this process that wait for a head, the oldest first.
        most: the number of connections beyond which a new one replaces the oldest silent one.
    """

    limits: Limits
    silent: dict[_Watched, None]
    most: int
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    connections: set[Any]
    cycle: Any
    _timer: asyncio.TimerHandle | None = None
    _received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]  # of the protocol
        self._wait()
        oldest = next(iter(self.silent))
        if len(self.connections) > self.most and oldest is not self:
            oldest._close()  # if all others are busy, uvicorn responds with 503

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)  # type: ignore[misc]  # of the protocol
        if self.cycle is not before:
            self._stop_waiting()
        elif before is None or before.response_complete:
            self._wait()
            self._received += len(data)
            if self._received > LONGEST_HEAD:
                self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)  # type: ignore[misc]  # of the protocol

    def _wait(self) -> None:
        """Close this connection unless the head of a request arrives in time."""
        if self._timer is None:
            self._timer = self.loop.call_later(self.limits.head_seconds, self._close)
            self.silent[self] = None

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._received = None, 0
        self.silent.pop(self, None)

    def _close(self) -> None:
        self._stop_waiting()
        self.connections.discard(self)  # uvicorn does that only when the system has closed it
        if not self.transport.is_closing():
            self.transport.close()
