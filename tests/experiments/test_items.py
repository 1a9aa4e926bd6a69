"""The rankers of `zorank bench items`: without noise, each finds the whole order."""

import sys

import numpy as np
import pytest

from zorank.errors import MissingExtra
from zorank.experiments.item_rankers import RANKERS, MergeSort
from zorank.experiments.items import kendalls_tau

OWN = [name for name in RANKERS if "TrueSkill" not in name]


@pytest.mark.parametrize("name", OWN)
def test_without_noise_the_order_is_found(name):
    make, m = RANKERS[name]
    truth = np.random.default_rng(0).permutation(12)
    ranker = make(12, m, 0)
    assert sorted(ranker.order()) == list(range(12))
    for _ in range(200):
        asked = ranker.ask()
        if asked is None:
            break
        assert len(set(asked)) == m
        ranker.tell(sorted(asked, key=lambda i: -truth[i]))
        assert sorted(ranker.order()) == list(range(12))
    assert kendalls_tau(truth[ranker.order()].astype(float)) > 0.93


def test_merge_sort_ends_with_a_sorted_list():
    ranker, asked = MergeSort(60, 2, 1), 0
    while (pair := ranker.ask()) is not None:
        ranker.tell(sorted(pair))
        asked += 1
    assert ranker.order() == list(range(60))
    assert asked < 60 * 6


def test_trueskill_learns_if_it_is_installed():
    pytest.importorskip("trueskill")
    ranker = RANKERS["TrueSkill, six"][0](10, 6, 0)
    for _ in range(30):
        ranker.tell(sorted(ranker.ask()))
    assert kendalls_tau(-np.array(ranker.order(), dtype=float)) > 0.9


def test_without_trueskill_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "trueskill", None)
    with pytest.raises(MissingExtra, match="peers"):
        RANKERS["TrueSkill, pairs"][0](4, 2, 0)


def test_tau_counts_pairs():
    assert kendalls_tau(np.array([3.0, 2.0, 1.0])) == 1
    assert kendalls_tau(np.array([1.0, 2.0, 3.0])) == -1
    assert kendalls_tau(np.array([3.0, 1.0, 2.0])) == pytest.approx(1 / 3)
