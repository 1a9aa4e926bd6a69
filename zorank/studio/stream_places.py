"""Limits of event streams: every open page has one, for as long as it is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from fastapi import HTTPException

from zorank.errors import TooManyRequests
from zorank.studio.limits import Limits

RETRY_AFTER = {"Retry-After": "10"}


class StreamPlaces:
    """Counts the event streams of each client. Only the event loop's thread uses it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken: Counter[Hashable] = Counter()
        self.total = 0

    @contextmanager
    def taken(self, client: Hashable) -> Iterator[None]:
        """Take a place for a stream of this client; None is the owner, who has no own limit.

        Raises:
            TooManyRequests: if this client has too many.
            HTTPException: with 503, if all clients together have too many.
        """
        if client is not None and self._taken[client] >= self._limits.streams_per_client:
            raise TooManyRequests(
                f"this link has {self._taken[client]} open pages at your address, which is the "
                "limit; close some of them"
            )
        if self.total >= self._limits.streams:
            problem = "too many pages of this studio are open; wait a moment and try again"
            raise HTTPException(503, problem, RETRY_AFTER)
        self._taken[client] += 1
        self.total += 1
        try:
            yield
        finally:
            self.total -= 1
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]
