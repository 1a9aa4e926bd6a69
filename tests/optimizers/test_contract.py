"""What every optimizer promises. A new one joins by a line in CASES."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.strategies import polls, rankings
from zorank import InvalidInput, Ranking, Run, optimizers, rng
from zorank._run_slates import ask_optimizer, with_looks
from zorank.optimizers.rank_looks import optimizer as rank_looks
from zorank.optimizers.settings import make_space
from zorank.problems import rosenbrock, sphere
from zorank.protocols import uses_looks
from zorank.types import Values

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
SEES_VALUES = {"zo-sgd"}
LOOKING = [optimizers.make(name, options) for name, options in CASES if name == "rank-looks"]
DIM = 7
MADE = [optimizers.make(name, options) for name, options in CASES]
every_optimizer = pytest.mark.parametrize("optimizer", MADE, ids=str)
every_rank_optimizer = pytest.mark.parametrize(
    "optimizer", [made for made in MADE if made.name not in SEES_VALUES], ids=str
)


@pytest.fixture(autouse=True, scope="module")
def small_pools():
    """rank-looks draws fewer candidates where they need no look: no promise depends on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_looks, "FAR_DRAWS", 40)
        patch.setattr(rank_looks, "NEAR_DRAWS", 40)
        yield


def start(seed=0):
    return np.random.default_rng(seed).standard_normal(DIM)


def drive(run, f, rounds):
    for _ in range(rounds):
        slate = run.ask()
        run.tell(slate.answer_from(np.array([f(x) for x in slate])))
    return run


def answers(slate):
    """Any answer to the slate's question."""
    m = len(slate)
    if slate.question == "values":
        values = st.lists(st.floats(-1e6, 1e6), min_size=m, max_size=m)
        return values.map(lambda v: Values(tuple(v)))
    return rankings(m) | polls(m)


def bits(run):
    return [x.tobytes() for x in run.ask()], run.best().tobytes()


def test_every_registered_optimizer_has_a_case():
    assert {name for name, _ in CASES} == set(optimizers.REGISTRY)


@every_optimizer
def test_it_is_a_frozen_dataclass_of_plain_json(optimizer):
    assert dataclasses.is_dataclass(optimizer)
    with pytest.raises(dataclasses.FrozenInstanceError):
        optimizer.m = 3
    settings = json.loads(json.dumps(optimizers.configuration(optimizer)))
    assert optimizers.make(optimizer.name, settings) == optimizer


@every_optimizer
def test_it_makes_progress(optimizer):
    # In "gaussian" space only the direction is free, so the target is a point on the shell.
    target = np.sqrt(DIM) * np.eye(DIM)[0]
    run = drive(Run(optimizer, start(), seed=1), lambda x: sphere(x - target), 80)
    assert sphere(run.best() - target) < 0.5 * sphere(start() - target)


@every_rank_optimizer
@pytest.mark.parametrize(
    "transform",
    [
        lambda v: 1e-9 * v - 4,
        lambda v: np.exp(v / 1e3),
        lambda v: v**3,
        lambda v: np.sign(v) * np.log1p(np.abs(v)),
    ],
    ids=["affine", "exp", "cube", "log"],
)
def test_an_increasing_transform_of_f_leaves_the_run_identical(optimizer, transform):
    f = rosenbrock
    plain = drive(Run(optimizer, start(), seed=2), f, 40)
    changed = drive(Run(optimizer, start(), seed=2), lambda x: transform(f(x)), 40)
    assert bits(changed) == bits(plain)
    assert [r.answer for r in changed.rounds()] == [r.answer for r in plain.rounds()]


@every_optimizer
def test_ask_and_tell_are_pure(optimizer):
    state = optimizer.init(start())
    for index in range(30):
        before = pickle.dumps(state)
        slate = optimizer.ask(state, rng.for_round(5, index))
        again = optimizer.ask(state, rng.for_round(5, index))
        np.testing.assert_array_equal(np.asarray(slate), np.asarray(again))
        answer = slate.answer_from(np.array([sphere(x) for x in slate]))
        first, second = (optimizer.tell(state, slate, answer) for _ in range(2))
        assert optimizer.best(first).tobytes() == optimizer.best(second).tobytes()
        assert pickle.dumps(state) == before
        state = first


@every_optimizer
def test_undo_and_branch_are_exact(optimizer):
    run = Run(optimizer, start(), seed=3)
    marks = []
    for _ in range(12):
        marks.append(bits(run))
        drive(run, sphere, 1)
    for round in (9, 4):
        branch = run.branch(round)
        assert bits(branch) == marks[round]
    run.undo(5)
    assert bits(run) == marks[7]
    run.undo()
    assert bits(run) == marks[6]


@every_optimizer
@settings(max_examples=25)
@given(data=st.data())
def test_it_takes_any_answer(optimizer, data):
    run = Run(optimizer, start(), seed=4)
    for _ in range(8):
        run.tell(data.draw(answers(run.ask())))
        assert np.isfinite(run.best()).all()
        assert np.isfinite(np.asarray(run.ask())).all()


@every_optimizer
def test_no_difference_moves_nothing(optimizer):
    run = Run(optimizer, start(), seed=5)
    before = run.best()
    for _ in range(20):
        values = run.ask().question == "values"
        run.tell(Values((7.0,) * len(run.ask())) if values else Ranking.no_difference())
    np.testing.assert_array_equal(run.best(), before)


@every_optimizer
def test_every_candidate_lies_where_it_may(optimizer):
    run = Run(optimizer, start(), seed=6)
    for _ in range(30):
        drive(run, lambda x: x.sum(), 1)
        for x in run.ask():
            settings = optimizers.configuration(optimizer)
            settings |= settings.get("options", {})
            if settings.get("bounds") is not None:
                assert (np.abs(x) <= 2.0).all()
            if settings.get("space") == "gaussian":
                assert np.linalg.norm(x) == pytest.approx(np.sqrt(DIM))


@every_optimizer
def test_one_dimension_is_enough(optimizer):
    run = drive(Run(optimizer, [1.5], seed=7), sphere, 20)
    assert np.isfinite(run.best()).all()


class Bowls:
    """Looks of candidates that no linear function of their numbers gives."""

    begin = 0

    def __init__(self, optimizer, seed=0):
        drawn = np.random.default_rng(seed).standard_normal((30, DIM))
        space = make_space(optimizer.space, optimizer.bounds, DIM)
        self._reference = np.array([space.place(x) for x in drawn])

    def __call__(self, candidates):
        x = np.asarray(candidates)
        return np.stack([np.tanh(row[:4] * row[1:5]) / 2 for row in x]).reshape(len(x), 4)

    def reference(self):
        return self._reference, self(self._reference)


every_looking_optimizer = pytest.mark.parametrize("optimizer", LOOKING, ids=str)


def test_every_optimizer_that_looks_is_tested_with_looks():
    assert [made for made in MADE if uses_looks(made)] == LOOKING


def seen_rounds(optimizer, rounds, f=sphere):
    """A run with looks by its pure functions: each state, its slate, answer and generator."""
    looks, state = Bowls(optimizer), optimizer.init(start())
    for index in range(rounds):
        asked = ask_optimizer(optimizer, state, rng.for_round(3, index), looks)
        slate = with_looks(optimizer, state, asked, index, looks)
        answer = slate.answer_from(np.array([f(x) for x in slate]))
        yield index, state, slate, answer
        state = optimizer.tell(state, slate, answer)


@every_looking_optimizer
def test_with_looks_ask_and_tell_are_pure(optimizer):
    looks = Bowls(optimizer)
    for index, state, slate, answer in seen_rounds(optimizer, 8):
        before = pickle.dumps(state)
        again = ask_optimizer(optimizer, state, rng.for_round(3, index), looks)
        assert np.asarray(again).tobytes() == np.asarray(slate).tobytes()
        first, second = (optimizer.tell(state, slate, answer) for _ in range(2))
        assert optimizer.best(first).tobytes() == optimizer.best(second).tobytes()
        assert optimizer.report(first) == optimizer.report(second)
        assert pickle.dumps(state) == before


@every_looking_optimizer
def test_every_slate_brings_the_looks_of_its_candidates_and_none_is_missing(optimizer):
    for _, state, slate, _ in seen_rounds(optimizer, 8):
        assert slate.looks.shape == (len(slate), 4)
        np.testing.assert_allclose(slate.looks, Bowls(optimizer)(np.asarray(slate)), atol=1e-12)
        assert len(optimizer.unlooked(state)) == 0


@every_looking_optimizer
def test_prospects_are_looked_at_by_the_next_question_whatever_the_answer(optimizer):
    class Noting(Bowls):
        def __call__(self, candidates):
            seen.update(x.tobytes() for x in candidates)
            return super().__call__(candidates)

    for index, state, slate, answer in seen_rounds(optimizer, 5):
        ahead = optimizer.prospects(state, slate, rng.for_round(3, index + 1))
        for told in (answer, Ranking.of([0]), Ranking.of([len(slate) - 1])):
            seen = set()
            after = optimizer.tell(state, slate, told)
            ask_optimizer(optimizer, after, rng.for_round(3, index + 1), Noting(optimizer))
            assert len(ahead) == optimizer.pool
            assert {x.tobytes() for x in ahead} <= seen


@every_looking_optimizer
@settings(max_examples=8)
@given(data=st.data())
def test_with_looks_it_takes_any_answer(optimizer, data):
    run = Run(optimizer, start(), seed=4, looks=Bowls(optimizer))
    for _ in range(5):
        run.tell(data.draw(answers(run.ask())))
        assert np.isfinite(run.best()).all()
        assert np.isfinite(np.asarray(run.ask())).all()
        assert run.looks_problem == ""


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("zo-ranksg", {}, "did you mean zo-ranksgd"),
        ("zo-ranksgd", {"stepp": 1}, "did you mean step"),
        ("zo-ranksgd", {"m": 1}, "m must be a whole number from 2, found 1"),
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
        ("rank-looks", {"m": 1}, "m must be a whole number from 2, found 1"),
        ("rank-looks", {"space": "sphere"}, "'euclidean' or 'gaussian'"),
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
