"""The comparison of mixed spaces, on small studies."""

import numpy as np
import pytest

from zorank import InvalidInput
from zorank.experiments.mixed import PROBLEMS, Study, report
from zorank.experiments.mixed.findings import win_rate
from zorank.experiments.mixed.peers import PEERS
from zorank.experiments.mixed.study import Trial
from zorank.spaces import SearchSpace


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_deterministic_and_differ_by_seed(name):
    parameters, make = PROBLEMS[name]
    space = SearchSpace(parameters)
    points = np.random.default_rng(0).uniform(size=(20, space.dim))
    first, again, other = ([make(seed)(space.decode(x)) for x in points] for seed in (3, 3, 4))
    assert first == again != other
    assert min(first) >= 0


@pytest.mark.parametrize("peer", ["auto", "random", "CMAwM", "CatCMA", "CatCMAwM"])
@pytest.mark.parametrize("problem", ["onemax-sphere", "network-table", "training"])
def test_peers_stay_in_the_space(peer, problem):
    parameters, make = PROBLEMS[problem]
    space, f = SearchSpace(parameters), make(0)
    search = PEERS[peer](space, 0, 100)
    for _ in range(3):
        asked = search.ask()
        for params in asked:
            space.encode(params)  # raises outside of the space
        search.tell([f(params) for params in asked])


def test_a_win_is_a_smaller_value_and_near_values_tie():
    assert win_rate(1.0, 2.0) == 1
    assert win_rate(2.0, 1.0) == 0
    assert win_rate(0.0, 1e-9) == 0.5


def test_unknown_names_are_refused():
    with pytest.raises(InvalidInput, match="no peer named 'CatCM'"):
        Study(seeds=(0,), peers=("CatCM",))
    with pytest.raises(InvalidInput, match="no problem named"):
        Study(seeds=(0,), problems=("sphere",))


def test_claims_follow_from_win_rates():
    study = Study(seeds=(0, 1), peers=("auto", "CatCMA"), problems=("training",))
    values = {"auto": 1.0, "CatCMA": 2.0}
    rows = {
        trial: {"values": dict.fromkeys(("100", "300", "1000"), values[trial.peer]), "seconds": 1}
        for trial in study.trials()
    }
    assert len(rows) == 4
    assert all(isinstance(trial, Trial) for trial in rows)
    claims = report(study, rows).claims
    assert [(claim.name, claim.where, claim.holds) for claim in claims] == [
        ("ahead of CatCMA", "300 points", True),
        ("ahead of CatCMA", "1,000 points", True),
    ]
