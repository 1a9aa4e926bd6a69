"""zorank reproduce estimates: how much an answer tells, by sampling."""

import numpy as np
import pytest

from zorank.experiments.paper import estimates
from zorank.experiments.paper.estimates import Trial, by_comparisons, by_differences, by_ranking
from zorank.theory import edges


def test_directions_are_those_of_the_optimizers():
    xi = np.random.default_rng(0).standard_normal((5, 3))
    values = xi[:, 0]
    # Equation 5: the sum over pairs of the difference between worse and better, over |E|.
    pairs = [xi[j] - xi[i] for i in range(5) for j in range(5) if values[i] < values[j]]
    assert by_ranking(xi, values) == pytest.approx(np.sum(pairs, axis=0) / edges(5, 5))
    signs = np.sign(values[1:])
    assert by_comparisons(xi, values) == pytest.approx(signs @ xi[1:])
    assert by_differences(xi, values) == pytest.approx((values[1:] - values[0]) @ xi[1:])


def test_a_trial_is_repeatable_and_shares_lie_between_0_and_1():
    row = estimates.run_trial(Trial(5, 0))
    assert row == estimates.run_trial(Trial(5, 0))
    assert all(0 < share < 1 for share in (*row["told"].values(), *row["memory"].values()))
    assert all(0 <= turned <= 2 for turned in row["turned"].values())
    # E|g|² of one pair of standard normal directions is 2d.
    assert row["moment"]["2 2"] == pytest.approx(2 * estimates.DIM, rel=0.3)
