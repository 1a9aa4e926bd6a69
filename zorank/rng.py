"""Randomness without stored generators: every draw is a function of a seed and of what it is for.

A run can be undone, branched or resumed because round n always draws from the generator of
(seed, n), whatever happened in between. SFC64 draws normals fastest of NumPy's bit generators.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zorank.errors import InvalidInput


def for_round(seed: int, index: int) -> np.random.Generator:
    """The generator of round `index` of the run with this seed."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(index,))))


def for_content(seed: int, *content: bytes) -> np.random.Generator:
    """A generator that depends on a seed and on some bytes: the same question, the same noise."""
    from hashlib import blake2b  # only noisy judges need it: imports stay fast

    digest = blake2b(digest_size=16)
    for part in content:
        digest.update(part)
    key = int.from_bytes(digest.digest(), "little")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, key))))


def check_seed(seed: Any) -> int:
    """A seed as a plain non-negative int, or an error that says what was found."""
    is_whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_whole or not 0 <= int(seed) < 2**128:
        raise InvalidInput(
            f"a seed is a non-negative whole number below 2^128, found {seed!r:.60}"
        )
    return int(seed)
