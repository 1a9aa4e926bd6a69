"""Seeds of the rounds of a run, many at a time.

The generator of round n is seeded by `SeedSequence(seed, spawn_key=(n,))`. Computing this
seed takes longer than drawing a small slate. The seeds of neighbouring rounds differ only in the
last word that is hashed, so this module computes those of BLOCK rounds at once, with the hash that
NumPy documents for SeedSequence: the words are the same.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence, SeedSequence

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 64
"""The number of rounds whose seeds are computed at once."""
BLOCKS = 64
"""The number of blocks that are kept in memory."""
WORDS = 3
"""The 64-bit words that SFC64 takes from its seed."""

POOL = 4  # the words of 32 bits in a SeedSequence's pool
MIX = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
HALF = np.uint32(16)


class RoundSeed(ISpawnableSeedSequence):
    """Stands for `SeedSequence(seed, spawn_key=(index,))`, with its words for SFC64 at hand."""

    def __init__(self, seed: int, index: int) -> None:
        self.seed = seed
        self.index = index
        self._sequence: SeedSequence | None = None

    @property
    def entropy(self) -> int:
        """The seed, as a SeedSequence has it: recipes of candidates name it."""
        return self.seed

    @property
    def spawn_key(self) -> tuple[int, ...]:
        """The round, as a SeedSequence has it."""
        return (self.index,)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """Return the same words as the SeedSequence."""
        if n_words == WORDS and dtype is np.uint64 and self.index < 2**32:
            words: NDArray[Any] = seeds(self.seed, self.index // BLOCK)[self.index % BLOCK]
            return words
        return self.sequence.generate_state(n_words, dtype)

    def spawn(self, n_children: int) -> list[SeedSequence]:  # type: ignore[override]  # not Self
        """Return the next children of the SeedSequence."""
        return self.sequence.spawn(n_children)

    @property
    def sequence(self) -> SeedSequence:
        """The SeedSequence, which counts its children."""
        if self._sequence is None:
            self._sequence = SeedSequence(self.seed, spawn_key=(self.index,))
        return self._sequence


@lru_cache(BLOCKS)
def seeds(seed: int, block: int) -> NDArray[np.uint64]:
    """Return the words of BLOCK rounds, (BLOCK, WORDS)."""
    index = np.arange(block * BLOCK, (block + 1) * BLOCK).astype(np.uint32)
    pool = []
    of_seed = SeedSequence(seed).pool[:, None]  # arrays, because overflowing scalars warn
    for word, (before, after) in zip(of_seed, AFTER_SEED, strict=True):
        hashed = _shift((index ^ before) * after)
        pool.append(_shift(MIX[0] * word - MIX[1] * hashed))
    words = [_shift((pool[i % POOL] ^ c) * after) for i, (c, after) in enumerate(OUTPUT)]
    found = np.stack(words, axis=1).astype("<u4").view("<u8").astype(np.uint64)
    found.setflags(write=False)
    return found


def _shift(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return words ^ (words >> HALF)


def _constants(first: int, factor: int, skip: int, count: int) -> list[tuple[np.uint32, ...]]:
    """Return pairs of successive constants of a hash, after `skip` uses of it."""
    used = range(skip, skip + count + 1)
    return list(pairwise(np.uint32(first * pow(factor, n, 2**32) % 2**32) for n in used))


AFTER_SEED = _constants(0x43B0D7E5, 0x931E8875, POOL * POOL, POOL)
"""Of the hash of the word after the seed's, which fill the pool and are mixed with each other."""
OUTPUT = _constants(0x8B51F9DD, 0x58F38DED, 0, 2 * WORDS)
"""Of the hash that makes words of 32 bits from the pool."""
