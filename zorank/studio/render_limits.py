"""Bounds of rendering, and numbers about it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from zorank.errors import InvalidInput


@dataclass(frozen=True)
class RenderLimits:
    """Bounds of the memory that rendering takes.

    Attributes:
        cache: size of the cache of exhibits in bytes; the latest exhibit is always kept. The
            folder that several server processes share has the same bound.
        queued_per_run: largest number of exhibits of one run that wait to be rendered.
        queued: largest number of exhibits of all runs that wait to be rendered.
    """

    cache: int = 256 * 2**20
    queued_per_run: int = 256
    queued: int = 2048

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) < 1:
                raise InvalidInput(f"the limit {limit.name} must be at least 1")


@dataclass(frozen=True)
class RenderStats:
    """Numbers about a pool: totals since it was made, and its current state.

    Attributes:
        done: exhibits rendered.
        failed: exhibits whose rendering failed.
        refused: requests refused or dropped because a queue was full.
        seconds: time spent rendering, added up over the threads.
        queued: exhibits that wait to be rendered.
        rendering: exhibits that are being rendered.
        cached_bytes: size of the cached exhibits.
        shared: exhibits that another process rendered.
    """

    done: int
    failed: int
    refused: int
    seconds: float
    queued: int
    rendering: int
    cached_bytes: int
    shared: int = 0
