"""Counts wrong tokens for each client address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

LIMIT = 20
"""How many wrong tokens of one address in one period get the ordinary refusal."""
PERIOD = 60.0
"""Seconds."""
ADDRESSES = 1024
"""How many addresses are remembered; the one that began first is forgotten for a new one."""


class WrongTokens:
    """The wrong tokens of the last minute, by client address; in memory, of bounded size."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def add(self, address: str) -> bool:
        """Count one wrong token, and return whether this address has sent too many."""
        began, count = self._counts.get(address, (self._now(), 0))
        if self._now() - began >= PERIOD:
            del self._counts[address]
            began, count = self._now(), 0
        self._counts[address] = began, count + 1
        if len(self._counts) > ADDRESSES:
            self._counts.popitem(last=False)
        return count >= LIMIT
