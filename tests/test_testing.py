"""The contract suites find implementations that break a promise, and need no more than pytest."""

import inspect
import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

import zorank.testing
from tests.helpers.processes import python
from tests.test_bare import message_without
from zorank import Ranking, optimizers
from zorank.oracles import FunctionOracle
from zorank.problems import sphere
from zorank.renderers.interface import resolve
from zorank.slates import Cloud, Slate
from zorank.stores import MemoryStore
from zorank.testing import (
    JudgeContract,
    OptimizerContract,
    OracleContract,
    RendererContract,
    StoreContract,
)
from zorank.types import Exhibit, Values

pytest_plugins = ["pytester"]


@dataclass(frozen=True)
class Walk:
    """A correct optimizer: it moves to the best of m neighbours."""

    name = "walk"
    revision = 1
    m: int = 6
    radius: float = 0.3

    def init(self, x0):
        return [x0]

    def ask(self, state, rng):
        directions = rng.standard_normal((self.m, state[-1].size))
        directions[0] = 0
        return Slate(Cloud(state[-1], self.radius, directions), "best")

    def tell(self, state, slate, answer):
        position = answer.named[0] if isinstance(answer, Ranking) and answer.best else 0
        return [slate[position]]

    def best(self, state):
        return state[-1]

    def report(self, state):
        return {}


class DrawsItsOwnNumbers(Walk):
    def ask(self, state, rng):
        return super().ask(state, np.random.default_rng())


class ChangesItsState(Walk):
    def tell(self, state, slate, answer):
        state.append(state[-1] + 1)
        return list(state)


class ReadsValues(Walk):
    """It claims to ask for the best, and keeps the values that it hears of."""

    def ask(self, state, rng):
        slate = super().ask(state, rng)
        return LeakingSlate(slate.design, slate.question)

    def tell(self, state, slate, answer):
        return [slate[0] + np.tanh(getattr(slate, "leaked", [0.0])[0])]


class LeakingSlate(Slate):
    def answer_from(self, values, k=None):
        object.__setattr__(self, "leaked", values)
        return super().answer_from(values, k)


class Forgetful(Walk):
    def __init__(self, m=6, radius=0.3):
        object.__setattr__(self, "m", 6)
        object.__setattr__(self, "radius", radius / 2)


class Inexact(MemoryStore):
    def create(self, record, rounds=()):
        super().create(replace(record, x0=record.x0.astype(np.float32)), rounds)


class AcceptsEveryAnswer(MemoryStore):
    def answer(self, name, answered, ballots=None):
        waiting = self.last(name)
        key = waiting.key if waiting else answered.key
        super().answer(name, replace(answered, key=key), ballots)


class Texts:
    """A correct renderer."""

    dim = 2
    media_type = "text/plain"

    def render(self, candidates):
        return [Exhibit("text/plain", str(list(x)).encode()) for x in candidates]


class NeverTheSame(Texts):
    numbers = itertools.count()

    def render(self, candidates):
        return [Exhibit("text/plain", str(next(self.numbers)).encode()) for x in candidates]


class OneTooFew(Texts):
    def render(self, candidates):
        return super().render(candidates)[:-1]


class AnotherType(Texts):
    media_type = "image/png"


class ChangesCandidates(Texts):
    def render(self, candidates):
        several = list(candidates)
        for x in several:
            x *= 2
        return super().render(several)


class NeverTheSameAnswer:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def answer(self, slate):
        return Ranking.from_values(self.rng.standard_normal(len(slate)))


class OutsideTheSlate:
    def answer(self, slate):
        return Ranking.of([len(slate)])


class AlwaysValues:
    def answer(self, slate):
        return Values((0.0,) * len(slate))


class ComparesWithinABatch:
    def score(self, pictures):
        means = np.array([np.asarray(picture).mean() for picture in pictures])
        return means - means.mean()


class ConstantScore:
    renderers = "landscape"

    def score(self, pictures):
        return [1.0] * len(pictures)


def call(suite, test, implementation):
    """Run one test of a suite; the other fixtures come from the suite itself."""
    tests, fixtures = suite(), {FIXTURES[suite]: implementation, "question": "rank", "k": 1}
    if isinstance(tests, RendererContract):
        fixtures["resolved"] = resolve(implementation)
        draws = np.random.default_rng(0).standard_normal((tests.count, fixtures["resolved"].dim))
        fixtures["candidates"] = draws
    if isinstance(tests, StoreContract):
        fixtures["record"] = inspect.unwrap(StoreContract.record)(tests)
    if isinstance(tests, JudgeContract):
        fixtures["pictures"] = inspect.unwrap(JudgeContract.pictures)(tests)
    method = getattr(tests, test)
    needed = inspect.signature(method).parameters
    method(**{name: value for name, value in fixtures.items() if name in needed})


PURE = "test_ask_and_tell_are_pure"
LAW = "test_increasing_transforms_of_f_leave_the_run_identical"
SAME = "test_the_same_candidate_gives_the_same_exhibit"
ONE_EACH = "test_one_exhibit_of_the_declared_type_for_each"
FITS = "test_the_answer_fits_the_slate"
BROKEN = [
    (OptimizerContract, DrawsItsOwnNumbers(), PURE),
    (OptimizerContract, ChangesItsState(), PURE),
    (OptimizerContract, ReadsValues(), LAW),
    (OptimizerContract, Forgetful(), "test_it_is_a_frozen_dataclass_of_plain_json"),
    (StoreContract, Inexact(), "test_a_record_is_read_back_exactly"),
    (StoreContract, AcceptsEveryAnswer(), "test_only_the_waiting_round_can_be_answered"),
    (RendererContract, NeverTheSame(), SAME),
    (RendererContract, OneTooFew(), ONE_EACH),
    (RendererContract, AnotherType(), ONE_EACH),
    (RendererContract, ChangesCandidates(), "test_it_does_not_change_the_candidates"),
    (OracleContract, NeverTheSameAnswer(), "test_the_same_slate_gets_the_same_answer"),
    (OracleContract, OutsideTheSlate(), FITS),
    (OracleContract, AlwaysValues(), FITS),
    (OracleContract, NeverTheSameAnswer(), "test_it_ranks_no_deeper_than_asked"),
    (JudgeContract, ComparesWithinABatch(), "test_a_score_does_not_depend_on_the_others"),
    (JudgeContract, ConstantScore(), "test_it_tells_pictures_apart"),
    (JudgeContract, ConstantScore(), "test_it_declares_what_it_needs_and_fits"),
]
FIXTURES = {
    OptimizerContract: "optimizer",
    StoreContract: "store",
    RendererContract: "renderer",
    OracleContract: "oracle",
    JudgeContract: "judge",
}
CORRECT = {
    OptimizerContract: Walk,
    StoreContract: MemoryStore,
    RendererContract: Texts,
    OracleContract: lambda: FunctionOracle(sphere),
}


@pytest.mark.parametrize(
    ("suite", "broken", "test"), BROKEN, ids=[type(broken).__name__ for _, broken, _ in BROKEN]
)
def test_a_broken_implementation_fails(suite, broken, test):
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        call(suite, test, broken)
    if suite in CORRECT:
        call(suite, test, CORRECT[suite]())


THIRD_PARTY = """
import pytest
from zorank.testing import OptimizerContract, OracleContract
from zorank.optimizers import ZORankSGD
from zorank.oracles import FunctionOracle

class TestMine(OptimizerContract):
    rounds_to_halve = 120

    @pytest.fixture(params=[ZORankSGD(m=6, step=1.0, mu=0.1)], ids=str)
    def optimizer(self, request):
        return request.param

class TestForgotten(OracleContract):
    pass
"""


def test_a_third_partys_pytest_runs_a_suite(pytester):
    pytester.makepyfile(THIRD_PARTY)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-k", "progress or of_one")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*define a fixture `oracle` that returns your oracle*"])


@pytest.mark.parametrize("name", zorank.testing.__all__)
def test_every_suite_is_documented_with_the_lines_that_use_it(name):
    suite = getattr(zorank.testing, name)
    assert name in zorank.testing.__doc__
    assert "fixture" in suite.__doc__
    module = inspect.getmodule(suite).__doc__
    assert f"({name})" in module or f"({name.removeprefix('Looking')})" in module


def test_zorank_does_not_import_pytest():
    assert "pytest" not in python("import sys, zorank, zorank.run; print(*sys.modules)").split()


def test_without_pytest_the_message_says_what_to_install():
    said = message_without(["pytest", "_pytest"], "import zorank.testing")
    assert "zorank.testing needs pytest" in said
    assert "pip install pytest" in said


def test_the_walk_is_an_optimizer():
    assert optimizers.configuration(Walk()) == {"m": 6, "radius": 0.3}
