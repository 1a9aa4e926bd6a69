"""Counts wrong tokens for each client address, over all server processes of a studio.

Each process writes its own counts into memory that all of them read, so no process waits for
another, and the counts of one that died still count. The memory has no addresses, only keyed
digests of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from zorank.studio.shared_place import SharedPlace, SharedRows

LIMIT = 20
"""How many wrong tokens of one address in one period get the ordinary refusal."""
PERIOD = 60.0
"""Seconds."""
ADDRESSES = 1024
"""How many addresses a process remembers."""
TOGETHER = 8
"""Addresses with the same end of the digest; of more, the one that began first is forgotten."""
KIND = np.dtype([("address", "u8"), ("began", "f8"), ("count", "i8")])


class WrongTokens:
    """The wrong tokens of the last minute, by client address; of bounded size.

    Args:
        secret: the key of the digests; the same one in all processes.
        place: the place of this process among the workers; None if it is alone.
        now: returns the time in seconds; the same clock in all processes.
    """

    def __init__(
        self,
        secret: str,
        place: SharedPlace | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key = blake2b(secret.encode()).digest()
        self._now = now
        self._rows = SharedRows.of(place, "guesses", KIND, ADDRESSES)

    def add(self, address: str) -> bool:
        """Count one wrong token, and return whether this address has sent too many."""
        digest = blake2b(address.encode(), digest_size=8, key=self._key).digest()
        number, now = int.from_bytes(digest), self._now()
        first = number % (ADDRESSES // TOGETHER) * TOGETHER
        near = slice(first, first + TOGETHER)
        everywhere = self._rows.all[:, near]
        recent = (everywhere["address"] == number) & (now - everywhere["began"] < PERIOD)
        before = int(everywhere["count"][recent].sum())
        own = self._rows.own[near]
        mine = np.flatnonzero((own["address"] == number) & (own["count"] > 0))
        row = mine[0] if mine.size else np.where(own["count"] > 0, own["began"], -np.inf).argmin()
        if not mine.size or now - own["began"][row] >= PERIOD:
            own[row] = number, now, 0
        own["count"][row] += 1
        return before >= LIMIT

    @property
    def remembered(self) -> int:
        """The number of addresses that this process remembers."""
        return int(np.count_nonzero(self._rows.own["count"]))
