"""What every optimizer promises (`zorank.testing`).

A registered one joins by itself, with its default settings; a line in CASES gives it others.
"""

import numpy as np
import pytest

from zorank import InvalidInput, Run, optimizers, rng
from zorank.optimizers.rank_looks import optimizer as rank_looks
from zorank.protocols import uses_looks
from zorank.testing import LookingOptimizerContract, OptimizerContract

# (name, settings that make it move on a small problem)
CASES = [
    ("auto", {}),
    ("auto", {"m": 2, "bounds": (-2.0, 2.0)}),
    ("auto", {"m": 12, "k": 3, "sigma0": 0.5, "space": "gaussian"}),
    ("zo-ranksgd", {"m": 6, "step": 1.0, "mu": 0.1}),
    ("zo-ranksgd", {"m": 6, "step": 0.1, "mu": 0.1, "line_search": 0, "step_decay": 0.99}),
    ("zo-ranksgd", {"m": 6, "k": 2, "step": 1.0, "mu": 0.1, "bounds": (-2.0, 2.0)}),
    ("zo-ranksgd", {"m": 6, "step": 2.0, "mu": 0.2, "space": "gaussian"}),
    ("zo-ranksgd-memory", {"m": 6}),
    ("zo-ranksgd-memory", {"m": 4, "k": 1, "space": "gaussian"}),
    ("zo-ranksgd-memory", {"m": 5, "bounds": (-2.0, 2.0)}),
    ("rank-process", {}),
    ("rank-process", {"m": 4, "k": 2, "space": "gaussian", "pick": True, "pairs": True}),
    ("rank-process", {"m": 2, "sigma0": 0.5, "bounds": (-2.0, 2.0)}),
    ("rank-looks", {"m": 4, "k": 2, "space": "gaussian", "pick": True, "pool": 9}),
    ("rank-looks", {"m": 3, "sigma0": 0.5, "bounds": (-2.0, 2.0)}),
    ("pick-start", {"options": {"m": 5, "space": "gaussian", "mu": 0.3}}),
    ("rank-items", {"items": 9, "m": 4}),
    ("rank-items", {"items": 3, "m": 6, "k": 1}),
    ("rank-ars", {"m": 6, "mu": 0.1, "step": 0.1}),
    ("rank-ars", {"m": 8, "top": 2, "mu": 0.3, "step": 0.3, "space": "gaussian"}),
    ("rank-ars", {"m": 8, "k": 2, "mu": 0.3, "step": 0.3, "weigh": "winners"}),
    ("zo-sgd", {"m": 6, "mu": 0.1}),
    ("zo-sgd", {"m": 6, "mu": 0.1, "baseline": "mean", "space": "gaussian"}),
    ("scobo", {"m": 6, "mu": 0.1}),
    ("scobo", {"m": 6, "mu": 0.1, "sparsity": 3, "bounds": (-2.0, 2.0)}),
    ("gld-fast", {"m": 8, "radius": 1.0}),
    ("gld-fast", {"m": 5, "radius": 1.0, "condition": 2, "space": "gaussian"}),
    ("cma-es", {"m": 8}),
    ("cma-es", {"m": 6, "k": 3, "diagonal": True, "bounds": (-2.0, 2.0)}),
]
CASES += [(name, {}) for name in optimizers.REGISTRY if name not in dict(CASES)]
MADE = [optimizers.make(name, options) for name, options in CASES]
FIRST = {name: optimizers.make(name, options) for name, options in reversed(CASES)}
"""The first case of each optimizer; `make quick` leaves the others out, and preference models."""


def is_model(optimizer):
    return optimizer.name in ("rank-process", "rank-looks")


def is_finite(optimizer):
    """Whether candidates are indices of items, vectors of one number."""
    return optimizer.name == "rank-items"


def is_quick(optimizer):
    return not is_model(optimizer) and optimizer == FIRST[optimizer.name]


def rows(chosen):
    """The cases as parameters of a test."""
    return [
        pytest.param(
            optimizer,
            marks=[] if is_quick(optimizer) else pytest.mark.slow,
            id=str(optimizer),
        )
        for optimizer in MADE
        if chosen(optimizer)
    ]


PLAIN = rows(lambda optimizer: not is_model(optimizer) and not is_finite(optimizer))
FINITE = rows(is_finite)
MODELS = rows(lambda optimizer: is_model(optimizer) and not uses_looks(optimizer))
LOOKING = rows(uses_looks)


@pytest.fixture(autouse=True, scope="module")
def small_pools():
    """rank-looks draws fewer candidates where they need no look: no promise depends on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_looks, "FAR_DRAWS", 40)
        patch.setattr(rank_looks, "NEAR_DRAWS", 40)
        yield


class TestOptimizers(OptimizerContract):
    @pytest.fixture(params=PLAIN)
    def optimizer(self, request):
        return request.param


class TestFiniteSets(OptimizerContract):
    dim = 1
    optimizer = pytest.fixture(params=FINITE)(lambda self, request: request.param)


class TestPreferenceModels(OptimizerContract):
    """Their rounds cost more and teach more, so fewer are enough."""

    rounds_to_halve = 30
    rounds_to_compare = 12

    @pytest.fixture(params=MODELS)
    def optimizer(self, request):
        return request.param


class TestLookingOptimizers(LookingOptimizerContract):
    rounds_to_halve = 30

    @pytest.fixture(params=LOOKING)
    def optimizer(self, request):
        return request.param

    def test_there_are_as_many_prospects_as_the_pool_holds(self, optimizer):
        for index, state, slate, _ in self.rounds(optimizer, 5):
            ahead = optimizer.prospects(state, slate, rng.for_round(3, index + 1))
            assert len(ahead) == optimizer.pool


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("zo-ranksg", {}, "did you mean zo-ranksgd"),
        ("zo-ranksgd", {"stepp": 1}, "did you mean step"),
        ("zo-ranksgd", {"m": 1}, "m must be a whole number from 2 to 100000, found 1"),
        ("zo-ranksgd", {"m": 5, "k": 6}, "k must be a whole number from 1 to 5, found 6"),
        ("zo-ranksgd", {"m": 2.5}, "m must be a whole number"),
        ("zo-ranksgd", {"step": 0}, "step must be a finite number above 0"),
        ("zo-ranksgd", {"mu": float("nan")}, "mu must be a finite number"),
        ("zo-ranksgd", {"mu": "1"}, "mu must be a finite number"),
        ("zo-ranksgd", {"gamma": 1}, "below 1"),
        ("zo-ranksgd", {"step_decay": 1.1}, "at most 1"),
        ("zo-ranksgd", {"line_search": 1}, "line_search counts the current point"),
        ("zo-ranksgd", {"space": "sphere"}, "'euclidean' or 'gaussian'"),
        ("zo-ranksgd", {"bounds": (1, 0)}, "below its upper bound"),
        ("zo-ranksgd", {"bounds": 3}, r"\(lower, upper\)"),
        ("zo-ranksgd", {"bounds": (0, 1), "space": "gaussian"}, "use either"),
        ("zo-ranksgd-memory", {"m": 2}, "m must be a whole number from 3"),
        ("rank-process", {"pick": 1}, "pick must be True or False"),
        ("rank-process", {"sigma0": 0}, "sigma0 must be a finite number above 0"),
        ("rank-looks", {"pool": -1}, "pool must be a whole number from 0 to 4096, found -1"),
        ("rank-looks", {"pool": 1.5}, "pool must be a whole number"),
        ("rank-looks", {"m": 1}, "m must be a whole number from 2 to 2000, found 1"),
        ("rank-looks", {"space": "sphere"}, "'euclidean' or 'gaussian'"),
        ("rank-items", {"items": 1}, "items must be a whole number from 2 to 1000000, found 1"),
        ("rank-items", {"m": 65}, "m must be a whole number from 2 to 64, found 65"),
        ("rank-ars", {"m": 5}, "m must be even"),
        ("rank-ars", {"m": 6, "top": 4}, "has 3 directions"),
        ("rank-ars", {"weigh": "losers"}, "'pairs' or 'winners', found 'losers'"),
        ("zo-sgd", {"baseline": "median"}, "'point' or 'mean'"),
        ("zo-sgd", {"scale": "unit"}, "'radius' or 'spread'"),
        ("scobo", {"sparsity": 0}, "sparsity must be a whole number from 1"),
        ("gld-fast", {"condition": 0.5}, "condition must be a finite number at least 1"),
        ("cma-es", {"m": 2}, "m must be a whole number from 3"),
        ("cma-es", {"diagonal": 1}, "diagonal must be True or False"),
        ("pick-start", {"method": "zo-rank"}, "did you mean zo-ranksgd"),
        ("pick-start", {"options": {"stepp": 1}}, "has no such setting"),
        ("pick-start", {"options": {"m": 2}}, "m must be a whole number from 3"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(name, options, words):
    with pytest.raises(InvalidInput, match=words):
        optimizers.make(name, options)


def test_bounds_must_fit_the_dimension():
    optimizer = optimizers.make("zo-ranksgd", {"bounds": ([0, 0], [1, 1])})
    with pytest.raises(InvalidInput, match="for 2 coordinates, but candidates have 3"):
        Run(optimizer, np.zeros(3))
