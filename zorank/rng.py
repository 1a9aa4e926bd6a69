"""Random generators as functions of a seed and a purpose; none is stored.

Round n always draws from the generator of (seed, n), whatever happened before. So a run can be
undone, branched and resumed exactly. SFC64 is NumPy's fastest bit generator for normals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zorank.errors import InvalidInput, short


def for_round(seed: int, index: int) -> np.random.Generator:
    """Return the generator of round `index` of a run with this seed.

    It is that of `SeedSequence(seed, spawn_key=(index,))`.
    """
    from zorank._round_seeds import RoundSeed  # imports numpy.random, which `import zorank` spares

    words: Any = RoundSeed(seed, index)
    return np.random.Generator(np.random.SFC64(words))


def for_content(seed: int, *content: bytes) -> np.random.Generator:
    """Return a generator that depends on a seed and some bytes: equal slates get equal noise."""
    from hashlib import blake2b  # imported here to keep imports fast

    digest = blake2b(digest_size=16)
    for part in content:
        digest.update(part)
    key = int.from_bytes(digest.digest(), "little")
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, key))))


def check_seed(seed: Any) -> int:
    """Return a seed as a plain int; raise InvalidInput unless it is from 0 to 2^128 − 1."""
    is_integer = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_integer or not 0 <= int(seed) < 2**128:
        raise InvalidInput(
            f"a seed must be a non-negative whole number below 2^128, found {short(seed)}"
        )
    return int(seed)
