"""The contract of an optimizer.

class TestMyOptimizer(OptimizerContract):
    @pytest.fixture(params=[MyOptimizer(), MyOptimizer(m=4)], ids=str)
    def optimizer(self, request):
        return request.param
"""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from zorank import rng
from zorank._run_slates import ask_optimizer, with_looks
from zorank.optimizers import configuration
from zorank.optimizers.settings import make_space
from zorank.problems import rosenbrock, sphere
from zorank.protocols import AnyOptimizer, Looks, uses_looks
from zorank.run import Run
from zorank.slates import Slate, Space
from zorank.types import Answer, Ballot, Poll, Ranking, Values, Vector

Objective = Callable[[Vector], Any]

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "affine": lambda v: 1e-9 * v - 4,
    "exp": lambda v: np.exp(v / 1e3),
    "cube": lambda v: v**3,
    "log": lambda v: np.sign(v) * np.log1p(np.abs(v)),
}
"""Increasing functions of an objective's value."""


class OptimizerContract:
    """The tests that every optimizer must pass. Define a fixture `optimizer`.

    Class variables:
        dim: the number of coordinates of a candidate.
        rounds_to_halve: within how many rounds it must halve the squared distance to the optimum.
        rounds_to_compare: the length of the runs that must be equal or stay within bounds.
    """

    dim: ClassVar[int] = 7
    rounds_to_halve: ClassVar[int] = 80
    rounds_to_compare: ClassVar[int] = 40

    @pytest.fixture
    def optimizer(self) -> Any:
        """Return the optimizer that is tested."""
        raise NotImplementedError("define a fixture `optimizer` that returns your optimizer")

    def start(self) -> Vector:
        """Return the starting point."""
        return np.random.default_rng(0).standard_normal(self.dim)

    def test_it_is_a_frozen_dataclass_of_plain_json(self, optimizer: Any) -> None:
        """A store keeps the fields as JSON, and the optimizer is made again from them."""
        kind: Any = type(optimizer)
        assert dataclasses.is_dataclass(type(optimizer))
        assert kind.__dataclass_params__.frozen
        settings = json.loads(json.dumps(configuration(optimizer)))
        assert kind(**settings) == optimizer
        assert isinstance(optimizer.name, str)
        assert isinstance(optimizer.revision, int)

    def test_it_makes_progress(self, optimizer: AnyOptimizer) -> None:
        """It approaches the minimum of a sphere."""
        # In "gaussian" space only the direction is free, so the target is a point on the shell.
        target = np.sqrt(self.dim) * np.eye(self.dim)[0]
        run = Run(optimizer, self.start(), seed=1)
        drive(run, lambda x: sphere(x - target), self.rounds_to_halve)
        assert sphere(run.best() - target) < 0.5 * sphere(self.start() - target)

    def test_increasing_transforms_of_f_leave_the_run_identical(
        self, optimizer: AnyOptimizer
    ) -> None:
        """A rank-only optimizer sees no more than the order: runs are equal bit for bit."""
        if optimizer.ask(optimizer.init(self.start()), rng.for_round(2, 0)).question == "values":
            pytest.skip("this optimizer asks for values, not for rankings")

        def driven(transform: Callable[[Any], Any]) -> Run:
            run = Run(optimizer, self.start(), seed=2)
            return drive(run, lambda x: transform(rosenbrock(x)), self.rounds_to_compare)

        plain = driven(lambda value: value)
        for name, transform in TRANSFORMS.items():
            changed = driven(transform)
            assert bits(changed) == bits(plain), name
            assert [r.answer for r in changed.rounds()] == [r.answer for r in plain.rounds()]

    def test_ask_and_tell_are_pure(self, optimizer: AnyOptimizer) -> None:
        """The same state and generator give the same slate; neither call changes the state."""
        state = optimizer.init(self.start())
        for index in range(self.rounds_to_compare):
            before = pickle.dumps(state)
            slate = optimizer.ask(state, rng.for_round(5, index))
            again = optimizer.ask(state, rng.for_round(5, index))
            np.testing.assert_array_equal(np.asarray(slate), np.asarray(again))
            answer = slate.answer_from(np.array([sphere(x) for x in slate]))
            first, second = (optimizer.tell(state, slate, answer) for _ in range(2))
            assert optimizer.best(first).tobytes() == optimizer.best(second).tobytes()
            assert optimizer.report(first) == optimizer.report(second)
            assert pickle.dumps(state) == before
            state = first

    def test_undo_and_branch_are_exact(self, optimizer: AnyOptimizer) -> None:
        """A run that goes back is the earlier run, bit for bit."""
        run = Run(optimizer, self.start(), seed=3)
        marks = []
        for _ in range(12):
            marks.append(bits(run))
            drive(run, sphere, 1)
        for index in (9, 4):
            assert bits(run.branch(index)) == marks[index]
        run.undo(5)
        assert bits(run) == marks[7]
        run.undo()
        assert bits(run) == marks[6]

    @pytest.mark.parametrize("seed", range(5))
    def test_it_takes_any_answer(self, optimizer: AnyOptimizer, seed: int) -> None:
        """Partial rankings, ties, the worst, no difference, polls: everything stays finite."""
        run = Run(optimizer, self.start(), seed=4)
        take_any_answer(run, np.random.default_rng(seed), 8)

    def test_no_difference_moves_nothing(self, optimizer: AnyOptimizer) -> None:
        """The best point stays if no candidate is better than another."""
        run = Run(optimizer, self.start(), seed=5)
        before = run.best()
        for _ in range(20):
            values = run.ask().question == "values"
            run.tell(Values((7.0,) * len(run.ask())) if values else Ranking.no_difference())
        np.testing.assert_array_equal(run.best(), before)

    def test_every_candidate_lies_where_it_may(self, optimizer: AnyOptimizer) -> None:
        """Settings named `bounds` and `space` hold for every candidate."""
        space = space_of(optimizer, self.dim)
        run = Run(optimizer, self.start(), seed=6)
        for _ in range(self.rounds_to_compare):
            drive(run, lambda x: x.sum(), 1)
            for x in run.ask():
                np.testing.assert_allclose(x, space.place(x.copy()), rtol=1e-9)

    def test_one_dimension_is_enough(self, optimizer: AnyOptimizer) -> None:
        """Candidates may have a single coordinate."""
        run = drive(Run(optimizer, [1.5], seed=7), sphere, 20)
        assert np.isfinite(run.best()).all()


class LookingOptimizerContract(OptimizerContract):
    """Further tests for an optimizer that learns from looks. Define a fixture `optimizer`."""

    rounds_to_compare = 12

    def rounds(self, optimizer: Any, count: int) -> Iterator[tuple[int, Any, Slate, Answer]]:
        """Yield the index, state, slate and answer of rounds with looks, by pure functions."""
        looks, state = ProductLooks(optimizer, self.dim), optimizer.init(self.start())
        for index in range(count):
            asked = ask_optimizer(optimizer, state, rng.for_round(3, index), looks)
            slate = with_looks(optimizer, state, asked, index, looks)
            answer = slate.answer_from(np.array([sphere(x) for x in slate]))
            yield index, state, slate, answer
            state = optimizer.tell(state, slate, answer)

    def test_it_declares_that_it_uses_looks(self, optimizer: Any) -> None:
        """`uses_looks` is a class variable."""
        assert uses_looks(optimizer)

    def test_with_looks_ask_and_tell_are_pure(self, optimizer: Any) -> None:
        """The same state, generator and looks give the same slate."""
        looks = ProductLooks(optimizer, self.dim)
        for index, state, slate, answer in self.rounds(optimizer, 8):
            before = pickle.dumps(state)
            again = ask_optimizer(optimizer, state, rng.for_round(3, index), looks)
            assert np.asarray(again).tobytes() == np.asarray(slate).tobytes()
            first, second = (optimizer.tell(state, slate, answer) for _ in range(2))
            assert optimizer.best(first).tobytes() == optimizer.best(second).tobytes()
            assert optimizer.report(first) == optimizer.report(second)
            assert pickle.dumps(state) == before

    def test_every_slate_has_the_looks_of_its_candidates(self, optimizer: Any) -> None:
        """With looks from the first round on, no candidate is without them."""
        looks = ProductLooks(optimizer, self.dim)
        for _, state, slate, _ in self.rounds(optimizer, 8):
            assert slate.looks is not None
            assert slate.looks.shape == (len(slate), 4)
            np.testing.assert_allclose(slate.looks, looks(np.asarray(slate)), atol=1e-12)
            assert len(optimizer.unlooked(state)) == 0

    def test_the_next_question_looks_at_all_prospects(self, optimizer: Any) -> None:
        """Whatever the answer is, `ask` needs the looks of every prospect."""
        for index, state, slate, answer in self.rounds(optimizer, 5):
            ahead = optimizer.prospects(state, slate, rng.for_round(3, index + 1))
            for told in (answer, Ranking.of([0]), Ranking.of([len(slate) - 1])):
                looks = ProductLooks(optimizer, self.dim)
                after = optimizer.tell(state, slate, told)
                ask_optimizer(optimizer, after, rng.for_round(3, index + 1), looks)
                assert {x.tobytes() for x in ahead} <= looks.seen

    @pytest.mark.parametrize("seed", range(3))
    def test_with_looks_it_takes_any_answer(self, optimizer: Any, seed: int) -> None:
        """Partial rankings, ties, the worst, no difference, polls: everything stays finite."""
        looks = ProductLooks(optimizer, self.dim)
        run = Run(optimizer, self.start(), seed=4, looks=looks)
        take_any_answer(run, np.random.default_rng(seed), 5)
        assert run.looks_problem == ""


class ProductLooks(Looks):
    """Looks that are not a linear function of a candidate's coordinates.

    Attributes:
        seen: the bytes of every candidate that was looked at.
    """

    begin = 0

    def __init__(self, optimizer: AnyOptimizer, dim: int) -> None:
        drawn = np.random.default_rng(0).standard_normal((30, dim))
        space = space_of(optimizer, dim)
        self._reference = np.array([space.place(x) for x in drawn])
        self.seen: set[bytes] = set()

    def __call__(self, candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the looks, (n, 4), of (n, d) candidates."""
        x = np.asarray(candidates)
        self.seen.update(row.tobytes() for row in x)
        return np.stack([np.tanh(row[:4] * row[1:5]) / 2 for row in x]).reshape(len(x), 4)

    def reference(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return 30 random candidates and their looks."""
        return self._reference, self(self._reference)


def drive(run: Run, f: Objective, rounds: int) -> Run:
    """Answer the next rounds of a run by the values of f."""
    for _ in range(rounds):
        slate = run.ask()
        run.tell(slate.answer_from(np.array([f(x) for x in slate])))
    return run


def bits(run: Run) -> tuple[list[bytes], bytes]:
    """Return the exact bits of the waiting slate and of the best point."""
    return [x.tobytes() for x in run.ask()], run.best().tobytes()


def space_of(optimizer: AnyOptimizer, dim: int) -> Space:
    """Return the space that settings named `space` and `bounds` describe."""
    settings = configuration(optimizer)
    settings |= settings.get("options", {})  # those of the optimizer that it wraps
    return make_space(settings.get("space", "euclidean"), settings.get("bounds"), dim)


def take_any_answer(run: Run, draws: np.random.Generator, rounds: int) -> None:
    """Answer at random, and check that the best point and all candidates stay finite."""
    for _ in range(rounds):
        run.tell(random_answer(run.ask(), draws))
        assert np.isfinite(run.best()).all()
        assert np.isfinite(np.asarray(run.ask())).all()


def random_answer(slate: Slate, draws: np.random.Generator) -> Answer:
    """Draw any answer to a slate's question."""
    m = len(slate)
    if slate.question == "values":
        return Values(tuple(draws.uniform(-1e6, 1e6, m).tolist()))
    if draws.random() < 0.5:
        return random_ranking(m, draws)
    raters = int(draws.integers(1, 5))
    weights = draws.choice([0.0, 0.5, 1.0, 10.0], raters).tolist()
    return Poll(
        tuple(Ballot(f"rater {i}", random_ranking(m, draws), w) for i, w in enumerate(weights))
    )


def random_ranking(m: int, draws: np.random.Generator) -> Ranking:
    """Draw a ranking of m: partial, with ties, with the worst, or of some positions only."""
    positions = draws.permutation(m).tolist()
    shown = int(draws.integers(1, m + 1)) if draws.random() < 0.5 else m
    named = positions[: int(draws.integers(0, shown + 1))]
    groups: list[tuple[int, ...]] = []
    for position in named:
        if groups and draws.random() < 0.3:
            groups[-1] = (*groups[-1], position)
        else:
            groups.append((position,))
    cut = int(draws.integers(0, len(groups) + 1))
    among = None if shown == m else tuple(positions[:shown])
    return Ranking(tuple(groups[:cut]), tuple(groups[cut:]), among)
