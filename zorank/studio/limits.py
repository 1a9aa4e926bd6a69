"""Bounds of what clients can occupy: runs in memory, event streams, connections."""

from __future__ import annotations

from dataclasses import dataclass, fields

from zorank.errors import InvalidInput


@dataclass(frozen=True)
class Limits:
    """Bounds of one server process.

    Attributes:
        runs: loaded runs; the least recently used one is dropped, and loaded again when it is
            needed. Runs with open pages and runs in use are never dropped.
        streams: event streams, one for each open page, of all clients.
        streams_per_client: event streams of one link from one address.
        connections: connections, idle ones too.
        head_seconds: time in which a connection must send the whole head of a request.
    """

    runs: int = 128
    streams: int = 1000
    streams_per_client: int = 64
    connections: int = 4000
    head_seconds: float = 15.0

    def __post_init__(self) -> None:
        for limit in fields(self):
            least = 0.1 if limit.name == "head_seconds" else 1
            if not getattr(self, limit.name) >= least:
                raise InvalidInput(f"the limit {limit.name} must be at least {least}")
