"""rank-ars: what its two ways of weighing make of an answer."""

import numpy as np
import pytest

from zorank import Ranking, Run, optimizers
from zorank.types import Ballot, Poll

LOG_SHARES = np.log(2.5) - np.log([1, 2])
LOG_SHARES /= LOG_SHARES.sum()


def winners(**more):
    settings = {"m": 8, "top": 2, "mu": 0.5, "step": 0.5, "weigh": "winners", **more}
    return Run(optimizers.make("rank-ars", settings), np.arange(5.0), seed=3)


def test_candidates_come_in_pairs():
    slate = np.asarray(winners().ask())
    assert slate[:4] + slate[4:] == pytest.approx(2 * np.tile(np.arange(5.0), (4, 1)))


def test_the_winners_weighted_mean_is_next():
    run = winners()
    slate = np.asarray(run.ask())
    run.tell([6, 1, 0, 2, 3, 4, 5, 7])
    assert run.best() == pytest.approx(LOG_SHARES @ slate[[6, 1]])


def test_ranking_the_winners_suffices():
    everyone, two = winners(), winners()
    for run, said in ((everyone, [6, 1, 0, 2, 3, 4, 5, 7]), (two, [6, 1])):
        run.ask()
        run.tell(said)
    assert everyone.best().tolist() == two.best().tolist()


def test_winners_that_tie_share_alike():
    run = winners()
    slate = np.asarray(run.ask())
    run.tell([[6, 1]])
    assert run.best() == pytest.approx(slate[[6, 1]].mean(axis=0))


@pytest.mark.parametrize("weigh", ["pairs", "winners"])
def test_pairs_that_tie_say_nothing(weigh):
    run = winners(weigh=weigh)
    run.ask()
    run.tell(Ranking.of([[2, 6], [1, 5], [0, 4], [3, 7]]))
    assert run.best().tolist() == np.arange(5.0).tolist()


@pytest.mark.parametrize("weigh", ["pairs", "winners"])
def test_raters_who_contradict_each_other_say_nothing(weigh):
    forth = Ranking.of(list(range(8)))
    back = Ranking.of(list(range(7, -1, -1)))
    ballots = [Ballot("a", forth, 0.1), Ballot("b", forth, 0.2), Ballot("c", back, 0.3)]
    run = winners(weigh=weigh)
    run.ask()
    run.tell(Poll(ballots))
    assert run.best().tolist() == np.arange(5.0).tolist()


def test_pairs_are_weighed_by_the_difference_of_their_places():
    run = winners(weigh="pairs", top=1)
    slate = np.asarray(run.ask())
    run.tell([6, 1, 0, 2, 3, 4, 5, 7])  # the best pair is 2 and 6: places 4 and 1
    ahead = slate[6] - slate[2]
    moved = run.best() - np.arange(5.0)
    # |Δ place| is 6 in units of two, its spread 3, so η · (6 / 3) · ξ along the winner.
    assert moved == pytest.approx(0.5 * 2 * ahead / (2 * 0.5))
