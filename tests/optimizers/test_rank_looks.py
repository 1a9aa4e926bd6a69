"""rank-looks: a taste in what candidates look like is found, whatever their numbers say."""

import json

import numpy as np
import pytest

from zorank import Ballot, InvalidInput, Poll, Ranking, Run, rng
from zorank._recipes import ROUNDED_DIM
from zorank.optimizers import RankLooks, RankProcess
from zorank.optimizers.rank_process import state as process_state
from zorank.problems import rosenbrock
from zorank.slates import Points, Shell, Slate
from zorank.stores import MemoryStore

DIM, WAVES = 24, 6
MIXER = 30 * np.random.default_rng(5).standard_normal((DIM, WAVES)) / np.sqrt(DIM)


class Waves:
    """Looks that wave: candidates whose numbers differ a little look quite different."""

    def __init__(self, dim=DIM, begin=0, reference=60):
        self.begin, self.seen = begin, []
        drawn = np.random.default_rng(2).standard_normal((reference, dim))
        self._reference = np.array([Shell().place(x) for x in drawn])
        self._mixer = MIXER if dim == DIM else np.ones((dim, WAVES)) / np.sqrt(dim)

    def __call__(self, candidates):
        self.seen.append(np.array(candidates))
        return self._waves(candidates)

    def _waves(self, candidates):
        at = np.asarray(candidates) @ self._mixer
        return np.concatenate([np.sin(at), np.cos(at)], axis=1) / np.sqrt(WAVES)

    def reference(self):
        return self._reference, self._waves(self._reference)


def taste(x):
    """What somebody likes who only looks, from −1 to 1."""
    return float(np.sin(x @ MIXER).mean())


def honest(slate):
    return Ranking.from_values([-taste(x) for x in slate])


def session(rater=honest, rounds=8, looks=None, seed=3, **options):
    options = {"space": "gaussian", "pick": True, "pool": 16, **options}
    run = Run(RankLooks(**options), np.ones(DIM), seed=seed, looks=looks)
    for _ in range(rounds):
        run.tell(rater(run.ask()))
    return run


def bits(slate):
    return np.asarray(slate).tobytes()


def test_a_taste_in_looks_is_found_with_looks():
    looking = [session(rounds=7, looks=Waves(reference=96), seed=s, pool=24) for s in range(4)]
    blind = [session(rounds=7, seed=s) for s in range(4)]
    found, found_blind = (np.mean([taste(r.best()) for r in runs]) for runs in (looking, blind))
    assert found > 0.7 > 0.5 > found_blind
    assert all(run.history[-1]["looks"] > 0.9 for run in looking)
    assert not any("looks" in run.history[-1] for run in blind)


def test_a_slate_carries_the_looks_of_its_candidates_and_a_promise():
    run = session(looks=Waves())
    steps = run.steps
    shown = {x.tobytes() for step in steps for x in step.slate}
    for step in steps[1:]:
        assert step.slate.looks.shape == (6, 2 * WAVES)
        np.testing.assert_allclose(step.slate.looks, Waves()(np.asarray(step.slate)), atol=1e-9)
        assert 0 <= step.slate.promise["chance"] <= 1
        assert step.slate.promise["gain"] >= 0
        assert step.slate[0].tobytes() in shown


def test_a_report_says_how_far_looks_matter_and_how_sure_it_is():
    rows = session(looks=Waves()).history
    assert all(0 <= row["looks"] <= 1 and 0.3 < row["sure"] <= 1 for row in rows)
    assert all(row["noise"] > 0 and row["length"] > 0 for row in rows)


@pytest.mark.parametrize("transform", [np.exp, lambda v: v**3, lambda v: 1e-9 * v - 4])
def test_an_increasing_transform_of_f_leaves_the_run_identical(transform):
    def drive(f):
        run = Run(RankLooks(space="gaussian", pool=12), np.ones(DIM), seed=1, looks=Waves())
        for _ in range(6):
            run.tell(Ranking.from_values([f(rosenbrock(x) / 1e4) for x in run.ask()]))
        return run

    plain, changed = drive(lambda v: v), drive(transform)
    assert bits(changed.ask()) == bits(plain.ask())
    assert changed.ask().looks.tobytes() == plain.ask().looks.tobytes()
    assert changed.best().tobytes() == plain.best().tobytes()


def test_prospects_begin_what_the_next_question_looks_at():
    looks = Waves()
    run = session(rounds=3, looks=looks)
    for answer in ([0], [5, 2], [[1, 3], 4]):
        ahead = run.prospects()
        assert ahead.shape == (16, DIM)
        expected = run.optimizer.prospects(run.state, run.ask(), rng.for_round(3, len(run.steps)))
        assert ahead.tobytes() != expected.tobytes()  # the generator is that of the next round
        assert run.prospects().tobytes() == ahead.tobytes()
        run.tell(answer)
        looks.seen.clear()
        run.ask()
        assert looks.seen[0][: len(ahead)].tobytes() == ahead.tobytes()


def test_no_difference_at_the_start_asks_for_others_and_keeps_the_state():
    run = session(lambda _: Ranking.no_difference(), rounds=1, looks=Waves())
    state = run.state
    assert run.ask().question == "start"
    run.tell(Ranking.no_difference())
    assert run.state.process is state.process
    assert not run.state.looks
    assert run.ask().question == "start"


@pytest.mark.parametrize(
    "rater",
    [
        lambda _: Ranking.no_difference(),
        lambda _: Ranking.of([0]),
        lambda s: Ranking.of([[0, 1], [2, 3]]),
        lambda s: Ranking.of([list(range(len(s)))]),
        lambda s: Ranking(best=((1,),), worst=((4,),)),
        lambda s: Ranking(best=((1, 2),), worst=((4, 5),), among=(1, 2, 4, 5)),
        lambda s: Ranking(best=((1,),), among=(1,)),
    ],
    ids=["no difference", "first", "ties", "all alike", "best and worst", "among", "one alone"],
)
@pytest.mark.parametrize("pick", [True, False])
def test_any_rater_breaks_nothing(rater, pick):
    run = session(rater, rounds=5, looks=Waves(), pick=pick)
    assert np.isfinite(run.best()).all()
    assert np.isfinite(np.asarray(run.ask())).all()
    assert all(np.isfinite(v) for v in run.history[-1].values() if isinstance(v, float))


def test_several_raters_each_have_a_noise_of_their_own():
    eye = np.random.default_rng(0)

    def poll(slate):
        careless = Ranking.from_values(eye.standard_normal(len(slate)))
        return Poll((Ballot("careful", honest(slate)), Ballot("careless", careless)))

    run = session(poll, rounds=8, looks=Waves())
    careful, careless = run.state.process.hyperparameters.rater_factors
    assert careless > careful
    assert {
        component.hyperparameters.rater_factors for component in run.state.mixture.components
    } == {(careful, careless)}


@pytest.mark.parametrize("options", [{}, {"pick": True}, {"m": 3, "k": 1, "sigma0": 1.0}])
def test_without_looks_it_asks_what_rank_process_asks(options):
    x0 = np.random.default_rng(0).standard_normal(DIM)
    looking = Run(RankLooks(space="gaussian", **options), x0, seed=9)
    process = Run(RankProcess(space="gaussian", **options), x0, seed=9)
    for _ in range(8):
        assert bits(looking.ask()) == bits(process.ask())
        for run in (looking, process):
            run.tell(honest(run.ask()))
    assert looking.best().tobytes() == process.best().tobytes()
    assert looking.history[-1].keys() == process.history[-1].keys()


def test_looks_that_begin_late_bring_those_of_earlier_candidates_along():
    looks = Waves(begin=3)
    run = session(rounds=3, looks=looks)
    plain = session(rounds=3)
    assert looks.seen == []
    assert bits(run.ask()) == bits(plain.ask())
    shown = len(run.unlooked())
    assert shown == len(run.state.process.candidates) > 6
    run.tell(honest(run.ask()))
    line = run.steps[3]
    assert len(line.slate.looks) == shown + 6
    assert run.unlooked() == []
    assert len(run.state.looks) == len(run.state.process.candidates)
    assert "looks" in run.history[-1]
    assert "looks" not in run.history[-2]
    assert len(run.ask().looks) == 6


@pytest.mark.parametrize("pick", [False, True])
def test_looks_that_do_not_fit_are_refused(pick):
    optimizer = RankLooks(m=3, pick=pick)
    state = optimizer.init(np.zeros(4))
    slate = Slate(Points(np.eye(4)[:3]), looks=np.zeros((5, 2)))
    with pytest.raises(InvalidInput, match="at most 0 earlier ones; found 5"):
        optimizer.tell(state, slate, Ranking.of([1]))


def test_old_answers_are_forgotten_with_their_looks(monkeypatch):
    monkeypatch.setattr(process_state, "MAX_COMPARISONS", 30)
    run = session(rounds=12, looks=Waves(), pool=8)
    assert len(run.state.process.comparisons) <= 30
    assert len(run.state.looks) == len(run.state.process.candidates) < 60
    assert taste(run.best()) > 0.5
    again = Run.open(run._store, run.name)
    assert again.best().tobytes() == run.best().tobytes()


def test_more_than_all_the_comparisons_that_are_kept():
    run = session(rounds=32, looks=Waves(reference=24), m=12, pool=4)
    assert 300 < len(run.state.process.comparisons) <= process_state.MAX_COMPARISONS
    assert len(run.state.process.candidates) < 32 * 11
    assert taste(run.best()) > 0.6


@pytest.mark.parametrize("m", [2, 12])
def test_small_and_large_slates(m):
    run = session(looks=Waves(), m=m)
    assert len(run.ask()) == m
    assert len({x.tobytes() for x in run.ask()}) == m
    assert run.ask().looks.shape == (m, 2 * WAVES)


@pytest.mark.parametrize("dim", [1, 2, 4096])
@pytest.mark.parametrize("space", ["gaussian", "euclidean"])
def test_small_and_large_dimensions(dim, space):
    looks = Waves(dim, reference=24)
    run = Run(RankLooks(space=space, pool=8), np.ones(dim), seed=2, looks=looks)
    for _ in range(6):
        run.tell(Ranking.from_values([float(np.sin(x.sum())) for x in run.ask()]))
    assert np.isfinite(np.asarray(run.ask())).all()
    assert run.looks_problem == ""
    if space == "gaussian":
        norms = np.linalg.norm(np.asarray(run.ask()), axis=1)
        np.testing.assert_allclose(norms, np.sqrt(dim), rtol=1e-4 if dim > ROUNDED_DIM else 1e-7)


def test_large_candidates_take_little_room_in_the_log():
    looks, store = Waves(4096, reference=24), MemoryStore()
    run = Run(RankLooks(space="gaussian", pool=8), np.ones(4096), 2, store, "a", looks=looks)
    for _ in range(8):
        run.tell(Ranking.from_values([float(np.sin(x.sum())) for x in run.ask()]))
    lines = run.rounds()[1:8]
    assert {line.slate["design"]["kind"] for line in lines} == {"derived"}
    # As plain numbers a slate would take 260,000 characters.
    assert sorted(len(json.dumps(line.slate)) for line in lines)[3] < 70_000
    again = Run.open(store, "a", looks=Waves(4096, reference=24))
    assert [bits(s) for _, s, _ in again.replay()] == [bits(s) for _, s, _ in run.replay()]
    assert bits(again.ask()) == bits(run.ask())
    for step in run.steps[1:]:  # what is shown is what was looked at
        seen = looks._waves(np.asarray(step.slate))
        np.testing.assert_allclose(step.slate.looks, seen, atol=1e-9)
