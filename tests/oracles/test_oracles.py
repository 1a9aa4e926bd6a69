import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Run, Slate, Values, minimize
from zorank.oracles import (
    ComparisonOracle,
    FunctionOracle,
    GaussianNoise,
    JustNoticeable,
    PlackettLuce,
    RandomSwaps,
)
from zorank.problems import sphere
from zorank.slates import Points


def line(*values, question="rank", k=None):
    """A slate of one-dimensional candidates at these values."""
    return Slate(Points(np.array(values, dtype=float)[:, None]), question, k)


def at(x):
    return x[0]


def test_a_function_ranks_to_the_depth_that_is_asked_or_allowed():
    assert FunctionOracle(at).answer(line(3, 1, 2)) == Ranking.of([1, 2, 0])
    assert FunctionOracle(at).answer(line(3, 1, 2, k=2)) == Ranking.of([1, 2])
    assert FunctionOracle(at, k=1).answer(line(3, 1, 2, k=2)) == Ranking.of([1])
    assert FunctionOracle(at).answer(line(3, 1, 2, question="best")) == Ranking.of([1])
    assert FunctionOracle(at).answer(line(3, 1, question="values")) == Values((3.0, 1.0))
    vectorized = FunctionOracle(lambda x: x[:, 0], vectorized=True)
    assert vectorized.answer(line(3, 1, 2)) == Ranking.of([1, 2, 0])


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: float("nan"), "found nan for candidate 0"),
        (lambda x: np.inf if x[0] > 1 else 0.0, "found inf for candidate 1"),
        (lambda x: None, "must return a number, found None"),
        (lambda x: "3", "must return a number"),
        (lambda x: np.ones(2), "must return a number"),
        (lambda x: [1, [2, 3]], "must return a number"),
    ],
)
def test_a_function_that_returns_no_finite_number_is_named(f, words):
    with pytest.raises(InvalidInput, match=words):
        FunctionOracle(f).answer(line(0, 2))


def test_a_vectorized_function_must_return_one_value_each():
    with pytest.raises(InvalidInput, match="2 values for 2 candidates, found 3"):
        FunctionOracle(lambda x: np.zeros(3), vectorized=True).answer(line(0, 1))


def test_comparisons_sort_a_slate_with_ties():
    calls = []

    def compare(a, b):
        calls.append(1)
        return round(a[0]) - round(b[0])

    oracle = ComparisonOracle(compare)
    assert oracle.answer(line(3, 1.1, 2, 0.9)) == Ranking.of([[1, 3], 2, 0])
    assert oracle.answer(line(3, 1.1, 2, 0.9, k=1)) == Ranking.of([[1, 3]])
    calls.clear()
    assert oracle.answer(line(3, 1, 2, 5, question="best")) == Ranking.of([1])
    assert len(calls) == 3
    with pytest.raises(InvalidInput, match="no values"):
        oracle.answer(line(1, 2, question="values"))


def number(f):
    return lambda a, b: f(a) - f(b)


def truth(f):
    return lambda a, b: f(a) < f(b)


@pytest.mark.parametrize("method", ["auto", "zo-ranksgd", "scobo", "gld-fast"])
@pytest.mark.parametrize("compare", [number, truth])
def test_a_comparison_is_a_number_or_whether_the_first_is_better(method, compare):
    run, oracle = Run(method, np.full(3, 3.0)), ComparisonOracle(compare(sphere))
    for _ in range(120):
        run.tell(oracle.answer(run.ask()))
    assert sphere(run.best()) < 0.1


@pytest.mark.parametrize("of", [bool, np.bool_, np.array, lambda truth: np.array([truth])])
def test_a_bool_comparison_ranks_like_a_number(of):
    oracle = ComparisonOracle(lambda a, b: of(round(a[0]) < round(b[0])))
    assert oracle.answer(line(3, 1.1, 2, 0.9)) == Ranking.of([[1, 3], 2, 0])
    assert oracle.answer(line(3, 1.1, 2, 0.9, question="best")) == Ranking.of([1])
    compared = oracle.answer(line(2, 1, 3, question="compare"))
    assert compared == Ranking.of([1, 0, 2])


@pytest.mark.parametrize("verdict", [None, "a", np.ones(2), 1j, []])
def test_a_comparison_that_is_neither_number_nor_bool_is_refused(verdict):
    with pytest.raises(InvalidInput, match="True if its first argument is better; found"):
        ComparisonOracle(lambda a, b: verdict).answer(line(1, 2))


def test_noise_is_a_function_of_seed_and_slate():
    slate, other = line(1.0, 1.01, 1.02, 1.03, 1.04), line(1.0, 1.01, 1.02, 1.03, 1.05)
    for make in (
        lambda seed: GaussianNoise(at, 1.0, seed),
        lambda seed: PlackettLuce(at, 1.0, seed),
        lambda seed: RandomSwaps(FunctionOracle(at), 0.5, seed),
    ):
        assert make(0).answer(slate) == make(0).answer(slate)
        answers = {make(seed).answer(slate) for seed in range(20)}
        assert len(answers) > 5
        assert any(make(seed).answer(slate) != make(seed).answer(other) for seed in range(20))


def test_gaussian_noise_errs_as_often_as_it_should():
    # P(N(0,1) noise flips a gap of 1) = Φ(−1/√2) = .2398
    n = 4000
    flips = sum(GaussianNoise(at, 1.0, s).answer(line(0, 1)).best[0] == (1,) for s in range(n))
    assert abs(flips / n - 0.2398) < 4 * np.sqrt(0.24 * 0.76 / n)


def test_plackett_luce_chooses_in_proportion():
    # weights exp(−v/T): 1 : e^-1 : e^-2 at T = 1
    n = 4000
    first = [PlackettLuce(at, 1.0, s, k=1).answer(line(0, 1, 2)).best[0][0] for s in range(n)]
    expected = np.exp([0, -1, -2]) / np.exp([0, -1, -2]).sum()
    found = np.bincount(first, minlength=3) / n
    assert np.all(np.abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / n))


def test_swaps_keep_the_depth_and_swap_as_often_as_they_should():
    n, slate = 3000, line(0, 1, 2, 3, k=1)
    answers = [RandomSwaps(FunctionOracle(at), 0.3, s).answer(slate) for s in range(n)]
    assert all(len(a.named) == 1 for a in answers)
    wrong = np.mean([a.best[0] != (0,) for a in answers])
    assert abs(wrong - 0.3) < 4 * np.sqrt(0.21 / n)
    assert RandomSwaps(FunctionOracle(at), 0.0).answer(line(2, 1)) == Ranking.of([1, 0])


def test_what_is_too_close_to_call_ties():
    judge = JustNoticeable(at, 0.5)
    assert judge.answer(line(0.0, 0.4, 0.2)) == Ranking.no_difference()
    assert JustNoticeable(at, np.inf).answer(line(0.0, 9.0)) == Ranking.no_difference()
    assert judge.answer(line(0.0, 0.4, 1.0, 2.0)) == Ranking.of([[0, 1], 2, 3])
    assert judge.answer(line(0.0, 0.4, 1.0, question="best")) == Ranking.of([[0, 1]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: GaussianNoise(at, -1.0),
        lambda: PlackettLuce(at, 0.0),
        lambda: RandomSwaps(FunctionOracle(at), 1.5),
        lambda: JustNoticeable(at, -0.1),
    ],
)
def test_impossible_noise_is_refused(make):
    with pytest.raises(InvalidInput, match="found"):
        make()


def test_descent_makes_progress_under_every_kind_of_noise():
    x0 = np.random.default_rng(0).standard_normal(10)
    for judge in (
        GaussianNoise(sphere, 0.3),
        PlackettLuce(sphere, 0.3),
        RandomSwaps(FunctionOracle(sphere), 0.2),
        JustNoticeable(sphere, 0.05),
        ComparisonOracle(lambda a, b: sphere(a) - sphere(b)),
    ):
        run = Run("zo-ranksgd-memory", x0, seed=1)
        for _ in range(80):
            run.tell(judge.answer(run.ask()))
        assert sphere(run.best()) < 0.3 * sphere(x0)


def test_a_judge_that_ranks_only_k_is_enough_for_minimize():
    result = minimize(sphere, np.ones(5), points=600, k=1)
    assert all(len(r.answer.named) == 1 for r in result.run.rounds() if r.answer)
    assert result.fun < 0.1
