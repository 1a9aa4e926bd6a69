import pickle

import numpy as np
import pytest

from zorank import rng
from zorank._round_seeds import RoundSeed


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**64 + 3, 2**100 + 5, 2**128 - 1])
@pytest.mark.parametrize("index", [0, 63, 64, 12_345, 2**32 - 1, 2**32, 2**40])
def test_the_words_are_those_of_the_seed_sequence(seed, index):
    expected = np.random.SeedSequence(seed, spawn_key=(index,))
    found = RoundSeed(seed, index)
    for words, dtype in ((3, np.uint64), (3, np.uint32), (5, np.uint64)):
        np.testing.assert_array_equal(
            found.generate_state(words, dtype), expected.generate_state(words, dtype)
        )


def test_a_generator_of_a_round_spawns_and_pickles_like_that_of_the_seed_sequence():
    ours = rng.for_round(5, 70)
    theirs = np.random.Generator(np.random.SFC64(np.random.SeedSequence(5, spawn_key=(70,))))
    assert pickle.loads(pickle.dumps(ours)).integers(2**60) == ours.integers(2**60)
    theirs.integers(2**60)
    for a, b in zip(ours.spawn(2) + ours.spawn(1), theirs.spawn(3), strict=True):
        assert a.standard_normal() == b.standard_normal()


def test_seeds_cannot_be_changed_by_accident():
    words = RoundSeed(1, 2).generate_state(3, np.uint64)
    with pytest.raises(ValueError, match="read-only"):
        words += 1
