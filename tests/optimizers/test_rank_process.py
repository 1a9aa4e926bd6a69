"""rank-process: few answers go far, whatever the rater is like."""

from itertools import pairwise

import numpy as np
import pytest

from zorank import Ballot, InvalidInput, Poll, Ranking, Run
from zorank.optimizers import RankProcess
from zorank.optimizers.rank_process import state as process_state
from zorank.slates import Points, Slate

DIM = 40
HIDDEN = np.random.default_rng(7).standard_normal(DIM)
HIDDEN *= np.sqrt(DIM) / np.linalg.norm(HIDDEN)


def liking(x):
    """Standard deviations above a random candidate."""
    return float(x @ HIDDEN) / np.sqrt(DIM)


def session(rater, rounds=12, **options):
    run = Run(RankProcess(space="gaussian", pick=True, **options), np.ones(DIM), seed=3)
    for _ in range(rounds):
        run.tell(rater(run.ask()))
    return run


def honest(slate):
    return Ranking.from_values([-liking(x) for x in slate])


def test_twelve_answers_beat_as_many_random_candidates():
    run = session(honest)
    lucky = max(liking(x) for x in np.random.default_rng(1).standard_normal((72, DIM)))
    assert liking(run.best()) > lucky + 1.0


@pytest.mark.parametrize("named", [1, 3])
def test_it_learns_from_the_best_alone(named):
    run = session(lambda slate: Ranking.of(honest(slate).named[:named]))
    assert liking(run.best()) > 2.0


def test_a_report_says_what_is_known():
    run = session(honest)
    assert run.history[0].keys() >= {"noise", "consistency", "chance", "gain", "visible"}
    for row in run.history:
        assert 0.5 < row["consistency"] < 1
        assert 0 <= row["chance"] <= 1
        assert row["gain"] >= 0
    assert RankProcess().report(RankProcess().init(np.zeros(3))) == {}


def test_a_noisy_rater_is_known_for_one_and_shown_more():
    eye = np.random.default_rng(0)
    noisy = session(lambda s: Ranking.from_values(eye.standard_normal(len(s))), rounds=15)
    exact = session(honest, rounds=15)
    assert noisy.history[-1]["noise"] > 3 * exact.history[-1]["noise"]
    assert noisy.history[-1]["radius"] > exact.history[-1]["radius"]


def test_no_difference_at_the_start_asks_for_others():
    run = session(lambda _: Ranking.no_difference(), rounds=2)
    assert run.ask().question == "start"
    assert run.history[-1]["question"] == "start"


@pytest.mark.parametrize(
    "rater",
    [
        lambda _: Ranking.no_difference(),
        lambda _: Ranking.of([0]),
        lambda s: Ranking.of(range(len(s))),
        lambda s: Ranking.of([list(range(len(s)))]),
        lambda s: Ranking.of(range(len(s))) if s[0][0] > 0 else Ranking.of(range(len(s))[::-1]),
    ],
    ids=["no difference", "first place", "as shown", "all alike", "contradictory"],
)
@pytest.mark.parametrize("space", ["gaussian", "euclidean"])
def test_a_degenerate_rater_breaks_nothing(rater, space):
    run = Run(RankProcess(space=space), np.ones(5), seed=1)
    for _ in range(30):
        run.tell(rater(run.ask()))
    assert np.isfinite(run.best()).all()
    assert all(np.isfinite(v) for v in run.history[-1].values() if isinstance(v, float))


def test_repeated_no_difference_widens_the_radius():
    run = Run(RankProcess(space="gaussian"), np.ones(30), seed=1)
    for _ in range(10):
        run.ask()
        run.tell(Ranking.no_difference())
    assert run.history[-1]["radius"] > 1.5 * run.history[0]["radius"]


def test_old_answers_are_forgotten_and_the_best_is_not(monkeypatch):
    monkeypatch.setattr(process_state, "MAX_COMPARISONS", 30)
    run = session(honest, rounds=25)
    assert len(run.state.comparisons) <= 30
    assert len(run.state.candidates) <= 40
    assert liking(run.best()) > 2.5
    again = Run(run.optimizer, np.ones(DIM), seed=3)
    for line in run.rounds():
        again.ask()
        again.tell(line.answer)
    assert again.best().tobytes() == run.best().tobytes()


def test_two_close_candidates_are_asked_as_a_pair():
    sizes, eye = [], np.random.default_rng(0)

    def rater(slate):
        sizes.append(len(slate))
        return Ranking.from_values([0.3 * eye.standard_normal() - liking(x) for x in slate])

    session(rater, rounds=15, pairs=True)
    assert {2, 6} == set(sizes)
    assert (2, 2) not in set(pairwise(sizes))


def test_several_raters_each_have_a_noise_of_their_own():
    eye = np.random.default_rng(0)

    def poll(slate):
        careless = Ranking.from_values(eye.standard_normal(len(slate)))
        return Poll((Ballot("careful", honest(slate)), Ballot("careless", careless)))

    run = session(poll)
    careful, careless = run.state.hyperparameters.rater_factors
    assert careless > 1.3 * careful
    assert liking(run.best()) > 1.5


def test_it_minimises_in_free_space_too():
    target = np.linspace(-2, 2, 8)
    run = Run(RankProcess(), np.zeros(8), seed=0)
    for _ in range(40):
        slate = run.ask()
        run.tell(Ranking.from_values([float(((x - target) ** 2).sum()) for x in slate]))
    assert ((run.best() - target) ** 2).sum() < 0.05 * (target**2).sum()


def test_one_ballot_may_be_larger_than_all_that_is_kept(monkeypatch):
    monkeypatch.setattr(process_state, "MAX_COMPARISONS", 5)
    run = session(honest, rounds=3, m=8)
    assert len(run.state.comparisons) == 7


def test_a_start_too_far_to_square_is_refused():
    with pytest.raises(InvalidInput, match="set sigma0 to the rough scale"):
        Run("rank-process", np.full(3, 1e155))


def test_distances_are_exact_however_small_and_who_is_shown_twice_is_one():
    rng = np.random.default_rng(0)
    optimizer, scale = RankProcess(sigma0=3.0), 3.0 * np.sqrt(2 * DIM)
    x, y = 10 * rng.standard_normal((2, DIM))
    close, closest = x + 1e-7 * rng.standard_normal(DIM), x.copy()
    closest[0] = np.nextafter(x[0], np.inf)
    state = optimizer.init(x)
    for rows in ([x, y, x, close], [closest, y, closest, x]):
        slate = Slate(Points(np.array(rows)))
        state = optimizer.tell(state, slate, Ranking.of([1, 3, 0, 2]))
    assert np.array(state.candidates).tolist() == np.array([x, y, close, closest]).tolist()
    steps = np.array(state.candidates)[:, None] - np.array(state.candidates)
    dists = (np.linalg.norm(steps, axis=2) / scale) ** 2
    assert state.half_sq_dists == pytest.approx(dists, rel=1e-7, abs=0)
    assert (state.half_sq_dists == 0).tolist() == np.eye(4, dtype=bool).tolist()
