"""Limits on what clients can occupy: runs in memory, event streams, connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from zorank.errors import InvalidInput, unknown_name


@dataclass(frozen=True)
class Limits:
    """Bounds of one server process.

    Attributes:
        runs: loaded runs; the least recently used one is dropped, and loaded again when it is
            needed. Runs with open pages and runs in use are never dropped.
        streams: event streams, one for each open page, of all clients.
        streams_per_client: event streams of one rater's link from one address.
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
            value = getattr(self, limit.name)
            number = (int, float) if limit.name == "head_seconds" else int
            if not isinstance(value, number) or isinstance(value, bool) or not value >= 1:
                kind = "an integer" if number is int else "a number"
                raise InvalidInput(
                    f"the limit {limit.name} must be {kind}, at least 1; found {value!r}"
                )


def read_limits(given: Mapping[str, Any]) -> Limits:
    """Return limits, some of which are given by name."""
    known = [limit.name for limit in fields(Limits)]
    for name in given:
        if name not in known:
            raise unknown_name("limit", name, known)
    return Limits(**given)
