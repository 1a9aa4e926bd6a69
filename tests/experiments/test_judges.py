"""Experiments: hidden tastes, simulated judges, and cells that survive being stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Slate, Values, rng
from zorank.experiments import sweep
from zorank.experiments.baselines import BestOfRandom, Neighbours, SeparableCMA
from zorank.experiments.judges import findings
from zorank.experiments.judges import study as judges
from zorank.experiments.measured import Gained, Measured, advise, compare, packaged
from zorank.experiments.simulated_raters import SimulatedRater as Rater
from zorank.experiments.simulated_raters import make_taste, run_session
from zorank.experiments.studies import Sessions
from zorank.problems import HiddenDirections, SineFeatures
from zorank.slates import Points

# hidden tastes


@pytest.mark.parametrize("kind", [HiddenDirections, SineFeatures])
def test_a_taste_is_a_function_of_its_seed_and_takes_one_candidate_or_many(kind):
    x = np.random.default_rng(0).standard_normal((5, 12))
    f = kind(12, 7)
    assert f(x).shape == (5,)
    assert [f(row) for row in x] == pytest.approx(f(x))
    assert kind(12, 7)(x) == pytest.approx(f(x), rel=0, abs=0)
    assert not np.allclose(kind(12, 8)(x), f(x))
    with pytest.raises(InvalidInput, match="at least 1"):
        kind(0, 1)


def test_hidden_directions_are_a_distance_along_unit_directions():
    f = HiddenDirections(400, 3, directions=5, reach=1.5)
    w, target = f._hidden
    assert np.linalg.norm(w, axis=0) == pytest.approx(np.ones(5))
    x = np.random.default_rng(1).standard_normal(400)
    assert f(x) == pytest.approx(sum((x @ w[:, j] - target[j]) ** 2 for j in range(5)))
    there = np.linalg.lstsq(w.T, target)[0]
    assert f(there) == pytest.approx(0, abs=1e-20)
    many = HiddenDirections(2, 3, directions=20_000)._hidden[1]
    assert many.std() == pytest.approx(1.5, rel=0.03)


def test_sine_features_are_a_sum_of_waves():
    f = SineFeatures(50, 3, features=4, frequency=2.0)
    w, a, b = f._hidden
    x = np.random.default_rng(1).standard_normal(50)
    expected = -sum(a[j] * np.sin(2.0 * (x @ w[:, j]) + b[j]) for j in range(4))
    assert f(x) == pytest.approx(expected)
    assert SineFeatures(5000, 3)._hidden[0].std() == pytest.approx(5000**-0.5, rel=0.02)


def test_utility_is_measured_on_the_scale_of_random_pictures():
    liking = make_taste("sine", 64, 5)
    x = np.random.default_rng(9).standard_normal((4000, 64))
    x *= 8 / np.linalg.norm(x, axis=1, keepdims=True)
    assert liking(x).mean() == pytest.approx(0, abs=0.15)
    assert liking(x).std() == pytest.approx(1, abs=0.1)
    with pytest.raises(InvalidInput, match="no utility"):
        make_taste("sin", 64, 5)


# judges


def slate_of(m, question="rank"):
    return Slate(Points(np.zeros((m, 1))), question=question)


def answers(judge, values, n=0, question="rank", times=400):
    slate, values = slate_of(len(values), question), np.array(values, dtype=float)
    return [judge.answer(slate, values, rng.for_round(s, n), n) for s in range(times)]


def test_a_simulated_rater_is_exact_by_default_and_ranks_k():
    assert answers(Rater(), [3, 1, 2], times=1) == [Ranking.of([1, 2, 0])]
    assert answers(Rater(k=2), [3, 1, 2, 0], times=1) == [Ranking.of([3, 1])]
    assert answers(Rater(k=2), [3, 1, 2, 0], question="start", times=1) == [Ranking.of([3])]
    assert answers(Rater(), [3, 1], question="values", times=1) == [Values((3.0, 1.0))]


def test_a_just_noticeable_difference_ties():
    (answer,) = answers(Rater(jnd=0.2), [0.0, 0.15, 0.3, 1.0], times=1)
    assert answer == Ranking.of([[0, 1], 2, 3])
    (answer,) = answers(Rater(jnd=0.2), [0.0, 0.1, 0.2], times=1)
    assert answer == Ranking.no_difference()


def wrong(found):
    return np.mean([answer.best[0] != (0,) for answer in found])


def test_noise_misleads_as_often_as_it_should_and_fatigue_adds_to_it():
    # P(N(0, 2σ²) > 1) for σ = 1 is .24; tired by 10 answers of a tenth each, σ = 2, it is .36
    assert wrong(answers(Rater(1.0), [0, 1], n=10)) == pytest.approx(0.24, abs=0.06)
    assert wrong(answers(Rater(1.0, fatigue=0.1), [0, 1], n=10)) == pytest.approx(0.36, abs=0.06)
    fresh, tiring = (
        answers(Rater(1.0), [0, 1]),
        answers(Rater(1.0, fatigue=0.1), [0, 1]),
    )
    assert fresh == tiring


def test_a_lapse_is_a_random_order():
    found = answers(Rater(lapse=0.3), [0, 1, 2, 3])
    assert wrong(found) == pytest.approx(0.3 * 3 / 4, abs=0.06)
    assert wrong(answers(Rater(lapse=1.0), [0, 1, 2, 3])) == pytest.approx(3 / 4, abs=0.06)
    with pytest.raises(InvalidInput, match="lapse must be from 0 to 1"):
        Rater(lapse=1.1)


# sessions


METHODS = [BestOfRandom(), Neighbours(mu=0.3), SeparableCMA(sigma=0.5)]


@pytest.mark.parametrize("optimizer", METHODS, ids=lambda o: o.name)
def test_a_baseline_gains_stays_on_the_shell_and_can_be_repeated(optimizer):
    liking = make_taste("hidden", 30, 4)
    first, second = (run_session(optimizer, liking, 30, Rater(), 12, 4) for _ in range(2))
    assert first.gains == second.gains
    assert first.gains[-1] >= first.gains[0] > 0
    state = optimizer.init(np.ones(30))
    for n in range(3):
        slate = optimizer.ask(state, rng.for_round(1, n))
        assert np.linalg.norm(np.asarray(slate), axis=1) == pytest.approx([30**0.5] * 6)
        state = optimizer.tell(
            state, slate, Rater().answer(slate, np.arange(6.0), rng.for_round(2, n), n)
        )
        assert np.linalg.norm(optimizer.best(state)) == pytest.approx(30**0.5)


def test_all_methods_begin_with_the_same_slate_and_favourite():
    study = judges.Study(rounds=1)
    first = {
        judges.run_trial(judges.Trial(study.condition("sine", 40, Rater(0.3), name, s), 11, 1))[
            "gains"
        ][0]
        for name in judges.METHODS
        for s in study.grid(name)[:1]
    }
    assert len(first) == 1


# cells


@dataclass(frozen=True)
class Square:
    number: int
    folder: str


def squared(cell):
    with (Path(cell.folder) / "computed").open("a") as log:
        log.write(f"{cell.number}\n")
    threads = os.environ["OPENBLAS_NUM_THREADS"]
    return {"square": cell.number**2, "threads": threads}


def refuse(cell):
    raise ValueError(f"no square of {cell.number}")


def test_finished_cells_are_not_computed_again_and_a_torn_line_is(tmp_path):
    file, computed = tmp_path / "out" / "squares.cells.jsonl", tmp_path / "computed"
    squares = sweep.Sweep("squares", squared, "1")
    some = [Square(n, str(tmp_path)) for n in range(4)]
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    rows = squares.run(some, file.parent, workers=2)
    assert [row["square"] for row in rows.values()] == [0, 1, 4, 9]
    assert {row["threads"] for row in rows.values()} == {"1"}
    assert os.environ.get("OPENBLAS_NUM_THREADS") == before
    assert sorted(computed.read_text().split()) == ["0", "1", "2", "3"]

    lines = file.read_text().splitlines()
    torn = json.loads(lines[-1])["cell"]["number"]
    file.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][: len(lines[-1]) // 2])
    computed.unlink()
    more = [*some, Square(9, str(tmp_path)), some[0]]
    for _ in range(2):
        rows = squares.run(more, file.parent, workers=1)
        assert [row["square"] for row in rows.values()] == [0, 1, 4, 9, 81]
    assert sorted(computed.read_text().split()) == [str(torn), "9"]

    computed.unlink()
    sweep.Sweep("squares", squared, lambda: "2").run(some[:1], file.parent, workers=1)
    assert computed.read_text().split() == ["0"]


def test_a_cell_that_fails_says_so_and_leaves_the_others(tmp_path):
    done = [Square(1, str(tmp_path))]
    squares = sweep.Sweep("squares", squared, "1")
    squares.run(done, tmp_path, workers=1)
    with pytest.raises(ValueError, match="no square of 2"):
        sweep.Sweep("squares", refuse, "1").run([*done, Square(2, "")], tmp_path, workers=1)
    assert len(sweep.finished(tmp_path / "squares.cells.jsonl")) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be"):
        squares.run(done, tmp_path / "file")


SLOW = """
import sys, time
from dataclasses import dataclass
from pathlib import Path
from zorank.experiments.sweep import Sweep

@dataclass(frozen=True)
class Nap:
    number: int

def nap(cell):
    time.sleep(0.15)
    with open("done.txt", "a") as done:
        print(cell.number, file=done)
    return {}

if __name__ == "__main__":
    try:
        Sweep("naps", nap, "1").run([Nap(n) for n in range(5000)], Path(), workers=2)
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_what_stops_a_run_leaves_finished_cells_and_no_processes(tmp_path, by):
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "slow.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    file = tmp_path / "naps.cells.jsonl"
    while not (file.exists() and file.read_text().count("\n") >= 2):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(by)
    out, err = process.communicate()  # ends once no worker holds the pipes
    assert out.strip() == ("stopped" if by == signal.SIGINT else "")
    assert "Traceback" not in err
    kept = len(sweep.finished(file))
    assert 2 <= kept < 5000
    if by == signal.SIGINT:  # what was computed while it stopped is kept too
        assert kept == (tmp_path / "done.txt").read_text().count("\n")


# the study


TINY = replace(
    judges.QUICK,
    dims=(16,),
    claimed=(16,),
    judged_dim=16,
    seeds=2,
    rounds=2,
    shown=(2, 6),
    ranked=(1,),
    mus=(0.1, 0.5),
)


def test_every_condition_is_measured_once_and_shared_by_the_parts():
    conditions = TINY.conditions()
    assert len(set(conditions)) == len(conditions)
    alone = {p: set(replace(TINY, parts=(p,)).conditions()) for p in judges.PARTS}
    assert set(conditions) == set.union(*alone.values())
    assert alone["people"] & alone["judges"] & alone["mk"]
    assert judges.Study().mk()[:4] == [(2, None), (3, 1), (3, None), (4, 1)]
    assert all(c.m * (c.rounds + 1) <= 126 for c in judges.Study().conditions())
    assert len({c.dim for c in judges.Study().conditions()}) == 3
    with pytest.raises(InvalidInput, match="people, judges, mk"):
        judges.Study(parts=("all",))


def test_the_grid_of_algorithm_3_has_two_steps_and_contains_the_papers_setting():
    study = judges.Study()
    tried = [
        judges.METHODS[method](study.condition("sine", 20, Rater(), method, mu))
        for method in judges.STEPS
        for mu in study.grid(method)
    ]
    paper = judges.METHODS[judges.PAPER](study.condition("sine", 20, Rater(), judges.PAPER))
    assert paper in tried
    assert {(o.options["step"], o.options["mu"]) for o in tried} == {
        (step, mu) for step in (1.0, 2.0) for mu in study.mus
    }


def lead(found, name):
    return next(claim for claim in found if claim["name"].startswith(name))


def test_claims_are_paired_by_seed_and_take_the_best_in_hindsight():
    study = replace(TINY, parts=("people",), rounds=16, noises=(0.1,), utilities=("sine",))
    rng_ = np.random.default_rng(0)
    luck = rng_.standard_normal((2, 1))  # shared by all conditions of a seed

    def sessions(c):
        level = {
            judges.PROCESS: 5.0,
            judges.ALGORITHM_3: 3.0 + (c.setting or 0),
            judges.SHORTER: 4.0 + (c.setting or 0),
        }.get(c.method, 2.0)
        gains = np.repeat(luck + level, study.rounds + 1, axis=1)
        seconds = np.array([0.1, 0.3])
        return Sessions(c.setting, gains, seconds, seconds, noise=np.array([0.05, 0.2]))

    results = {c: sessions(c) for c in study.conditions()}
    found = findings.summary(study, results)
    best = lead(found["claims"], "minus algorithm 3")
    assert best["measured"] == pytest.approx(0.5)
    assert best["standard_error"] == pytest.approx(0, abs=1e-12)
    assert best["holds"]
    assert lead(found["claims"], "minus best of 102 random")["measured"] == pytest.approx(3)
    assert lead(found["claims"], "estimates the noise 0.1")["measured"] == pytest.approx(1)
    assert lead(found["claims"], "after 10 rounds")["measured"] == pytest.approx(0.5)
    (case,) = found["cases"]
    assert case["methods"][findings.BEST]["setting"] == 0.5
    assert case["methods"][findings.WORST]["setting"] == 0.1
    assert case["methods"][findings.WORST]["gain"] == pytest.approx(3.1 + luck.mean())
    assert case["best_step"] == 1.0
    assert found["grids"]["step"] == [1.0, 2.0]
    assert found["slowest_round_of_rank_process_seconds"] == 0.3
    json.dumps(found, allow_nan=False)


# what was measured


def test_measurements_are_compared_at_equal_time_and_survive_their_file():
    quick = Gained(6, 1, 0.1, (1.0, 2.0), None)
    slow = Gained(6, None, 0.1, (1.0, 2.02, 3.0), 0.1)
    assert (slow.pictures, slow.comparisons, quick.comparisons) == (18, 27, 10)
    assert slow.minutes() == pytest.approx((12.5 + 2 * 16.7) / 60)
    assert slow.gain_within(0) == 0
    assert slow.gain_within(12.5 / 60) == pytest.approx(1)
    minutes, offers = compare([slow, quick])
    assert minutes == pytest.approx(25 / 60)
    assert offers[0].rows == (quick,)
    assert advise(offers).rows == (quick,)
    assert slow.ranks(5)
    assert not quick.ranks(5)
    whole = Measured(576, 18, 3, 1000, False, 1, (quick, slow))
    assert Measured.from_json(whole.to_json()) == whole


def test_the_package_carries_measurements():
    found = packaged()
    assert found is not None
    assert not found.quick
    assert {(row.m, row.k) for row in found.rows} == set(judges.Study().mk())
