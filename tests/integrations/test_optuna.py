"""RankSampler: Optuna's own test cases for samplers, and what is particular to it."""

import pickle
import threading

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)
from optuna.trial import TrialState

from zorank import InvalidInput
from zorank.integrations._optuna_rounds import KEY
from zorank.integrations._optuna_space import Coordinates
from zorank.integrations.optuna import RankSampler

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestRankSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return RankSampler


def bowl(trial):
    return sum((trial.suggest_float(f"x{i}", -5, 5) - 1.3) ** 2 for i in range(4))


def mixed(trial):
    rate = trial.suggest_float("rate", 1e-6, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 64, log=True)
    dropout = trial.suggest_float("dropout", 0, 2, step=0.25)
    units = trial.suggest_int("units", 0, 40, step=10)
    kind = trial.suggest_categorical("kind", ["a", "b", "c"])
    wrong = {"a": 1, "b": 0, "c": 2}[kind]
    return abs(np.log10(rate) + 3) + abs(np.log2(layers) - 4) + abs(dropout - 1.5) + wrong + units


def solve(objective=bowl, trials=120, n_jobs=1, direction="minimize", catch=(), **options):
    sampler = RankSampler(**{"seed": 0, **options})
    study = optuna.create_study(sampler=sampler, direction=direction)
    study.optimize(objective, n_trials=trials, n_jobs=n_jobs, catch=catch)
    return study


def params(study):
    return [trial.params for trial in study.trials]


def places(study):
    return [trial.system_attrs.get(KEY) for trial in study.trials]


@pytest.mark.parametrize(("objective", "goal"), [(bowl, 0.05), (mixed, 0.5)])
def test_it_finds_the_minimum(objective, goal):
    assert solve(objective, 200).best_value < goal


def test_the_direction_and_only_the_order_count():
    plain = solve()
    assert params(plain) == params(solve(lambda t: -bowl(t), direction="maximize"))
    assert params(plain) == params(solve(lambda t: np.log(bowl(t))))
    assert params(plain) == params(solve())
    assert params(plain) != params(solve(seed=1))


@pytest.mark.parametrize("method", ["zo-ranksgd", "rank-process"])
def test_other_methods(method):
    assert solve(trials=60, method=method).best_value < solve(trials=1).best_value


def test_batches_of_m_asked_trials():
    study = optuna.create_study(sampler=RankSampler(seed=0, m=6))
    space = {"x": FloatDistribution(-5, 5), "y": FloatDistribution(-5, 5)}
    study.tell(study.ask(space), 50.0)
    for _ in range(25):
        batch = [study.ask(space) for _ in range(6)]
        for trial in reversed(batch):
            study.tell(trial, (trial.params["x"] - 2) ** 2 + (trial.params["y"] + 1) ** 2)
    assert study.best_value < 1e-2
    # auto shows two candidates again after the first step and in every tenth round.
    assert sum(place["position"] is None for place in places(study)[1:]) <= 4 * 4


def test_threads_evaluate_a_round_together():
    together = threading.Barrier(3)

    def objective(trial):
        value = bowl(trial)
        together.wait()
        return value

    study = solve(objective, 120, n_jobs=3, m=9)
    assert study.best_value < 1.0
    ranked = [
        (p["round"], p["position"]) for p in places(study) if p and p["position"] is not None
    ]
    assert len(ranked) == len(set(ranked)) > 80


def test_a_trial_that_never_ends_does_not_stop_the_search():
    study = optuna.create_study(sampler=RankSampler(seed=0, m=6))
    space = {"x": FloatDistribution(-5, 5), "y": FloatDistribution(-5, 5)}
    study.tell(study.ask(space), 50.0)
    lost = study.ask(space)
    for _ in range(90):
        trial = study.ask(space)
        study.tell(trial, trial.params["x"] ** 2 + trial.params["y"] ** 2)
    found = places(study)
    assert found[lost.number]["position"] == 0
    assert next(p["late"] for p in found if p and p["round"] == 1) == [0]
    assert sum(p["position"] is None for p in found if p and p["round"] == 0) == 6
    assert max(p["round"] for p in found if p) > 8
    assert study.best_value < 0.1
    study.tell(lost, 0.0)  # too late: it changes nothing
    again = optuna.create_study(sampler=RankSampler(seed=5, m=6))
    again.add_trials(study.trials)
    assert again.ask(space).params == study.ask(space).params


def test_pruned_and_failed_trials_are_last():
    def objective(trial):
        value = bowl(trial)
        if trial.params["x0"] < 0:
            raise optuna.TrialPruned
        if trial.params["x1"] < 0:
            raise ArithmeticError
        return float("nan") if trial.params["x2"] < 0 else value

    study = solve(objective, 300, catch=(ArithmeticError,))
    states = [trial.state for trial in study.trials]
    assert TrialState.PRUNED in states
    assert TrialState.FAIL in states
    assert study.best_value < 0.1


def test_a_study_is_continued_by_another_sampler_exactly(tmp_path):
    path = str(tmp_path / "journal.log")
    for seed in (3, 99):  # the second is not used: trials store the seed of the search
        file = optuna.storages.journal.JournalFileBackend(path)
        study = optuna.create_study(
            sampler=RankSampler(seed=seed),
            storage=optuna.storages.JournalStorage(file),
            study_name="a",
            load_if_exists=True,
        )
        study.optimize(bowl, n_trials=25)
    assert params(study)[1:] == params(solve(trials=50, seed=3))[1:]


def test_a_database_stores_the_place_of_each_trial():
    storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    study = optuna.create_study(sampler=RankSampler(seed=3), storage=storage)
    study.optimize(bowl, n_trials=11)
    assert [place["position"] for place in places(study)[1:]] == [*range(9), 0]
    assert params(study) == params(solve(trials=11, seed=3))
    storage.engine.dispose()  # Optuna leaves it open


def test_parameters_that_only_some_trials_have_are_sampled_independently():
    def objective(trial):
        x = trial.suggest_float("x", -5, 5)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return x**2 + trial.suggest_float("y", 0, 1)
        return x**2 + 1 + trial.suggest_int("z", 0, 3)

    study = solve(objective, 120)
    assert study.best_value < 1
    space = study.sampler.infer_relative_search_space(study, study.trials[-1])
    assert set(space) == {"x", "kind"}


def test_the_independent_sampler_is_used_and_named_once(caplog):
    optuna.logging.enable_propagation()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        tpe = optuna.samplers.TPESampler(seed=1)
        solve(
            lambda t: t.suggest_float("x", 0, 1) + t.suggest_float("y", 0, t.number + 1),
            9,
            independent_sampler=tpe,
        )
        solve(trials=9)
    finally:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        optuna.logging.disable_propagation()
    (said,) = {r.getMessage() for r in caplog.records if r.name == "optuna.zorank"}
    assert "parameter 'y' of trial 2 is sampled by TPESampler" in said


def test_enqueued_trials_are_evaluated_but_not_ranked():
    study = solve(trials=5)
    study.enqueue_trial({"x0": 1.3, "x1": 1.3})
    study.optimize(bowl, n_trials=80)
    assert study.trials[5].params["x0"] == 1.3
    assert places(study)[5] is None
    assert study.best_value < 1


def test_the_start_is_x0():
    space = {"x": FloatDistribution(0, 10), "n": IntDistribution(1, 9)}
    sampler = RankSampler(seed=0, x0={"x": 9.0, "n": 2}, sigma0=0.01, n_startup_trials=0)
    study = optuna.create_study(sampler=sampler)
    study.tell(study.ask(space), 1.0)
    near = study.ask(space).params
    assert abs(near["x"] - 9) < 1
    assert near["n"] in (1, 2, 3)


def test_reseeding_keeps_the_search_and_pickling_keeps_the_sampler():
    study = solve(trials=30)
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    study.sampler.reseed_rng()
    study.optimize(bowl, n_trials=30)
    assert params(study)[1:] == params(solve(trials=60))[1:]


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=RankSampler())
    with pytest.raises(InvalidInput, match="one objective, but this study has 2"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), 0), n_trials=1)


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"seed": "x"},
        {"m": 1},
        {"sigma0": 0},
        {"method": "no-such"},
        {"method": None},
        {"options": {"no_such": 1}},
        {"options": [1]},
        {"n_startup_trials": -1},
        {"x0": [1, 2]},
        {"independent_sampler": "random"},
    ],
)
def test_bad_settings_are_refused(options):
    with pytest.raises(InvalidInput):
        RankSampler(**options)


@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(-3, 7),
        FloatDistribution(1e-5, 10, log=True),
        FloatDistribution(-1, 1.3, step=0.1),
        IntDistribution(-4, 9),
        IntDistribution(1, 200, log=True),
        IntDistribution(3, 9, step=2),
        CategoricalDistribution(["a", None, 3, True, 2.5]),
    ],
    ids=str,
)
def test_parameters_and_coordinates(distribution):
    coordinates = Coordinates({"p": distribution})
    draws = np.random.default_rng(0).random((400, coordinates.dim))
    corners = [np.zeros(coordinates.dim), np.ones(coordinates.dim), *draws]
    values = [coordinates.decode(x)["p"] for x in corners]
    for value in values:
        assert distribution._contains(distribution.to_internal_repr(value))
        back = coordinates.encode({"p": value})
        assert coordinates.is_at(back, {"p": value})
        assert 0 <= back.min() <= back.max() <= 1
    if isinstance(distribution, CategoricalDistribution):
        assert set(map(repr, values)) == set(map(repr, distribution.choices))
    else:
        assert (min(values), max(values)) == pytest.approx((distribution.low, distribution.high))
