"""A run with looks: everything that follows from its log follows from it bit for bit."""

import json
import logging

import numpy as np
import pytest

from zorank import Ballot, InvalidInput, Poll, Ranking, Run, StaleAnswer
from zorank.errors import LookError
from zorank.looks import LookPlan, RunLooks
from zorank.optimizers import RankLooks
from zorank.stores import MemoryStore, open_store

DIM = 8
MIXER = 4 * np.random.default_rng(1).standard_normal((DIM, 5)) / np.sqrt(DIM)
OPTIMIZER = RankLooks(space="gaussian", pick=True, pool=8, m=4)
X0 = np.random.default_rng(0).standard_normal(DIM)
EARLY, LATE = LookPlan(8, 24, 0), LookPlan(8, 24, 3)


class Camera:
    """A look that can be told to fail."""

    def __init__(self):
        self.fails, self.shots = False, 0

    def __call__(self, candidates):
        if self.fails:
            raise OSError("out of film")
        self.shots += len(candidates)
        return np.sin(candidates @ MIXER)


def looks(plan=EARLY, camera=None):
    return RunLooks(camera or Camera(), DIM, "gaussian", 7, plan)


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    opened = MemoryStore() if request.param == "memory" else open_store(str(tmp_path / "runs.db"))
    yield opened
    if request.param == "sqlite":
        opened.close()


def new(store, plan=EARLY, name="a", **more):
    return Run(OPTIMIZER, X0, 7, store, name, looks=looks(plan), **more)


def answer(run):
    slate = run.ask()
    return Ranking.from_values([-float(np.sin(x @ MIXER).sum()) for x in slate])


def drive(run, rounds):
    for _ in range(rounds):
        run.tell(answer(run))
    return run


def bits(run):
    """The waiting slate, the best, and the report of the state."""
    shown = np.asarray(run.ask()).tobytes()
    return shown, run.best().tobytes(), run.optimizer.report(run.state)


def slates(run):
    """What the log says was shown and seen."""
    return [json.dumps(line.slate, sort_keys=True) for line in run.rounds()]


@pytest.mark.parametrize("plan", [EARLY, LATE], ids=["early", "late"])
def test_resuming_at_every_round_gives_the_same_run(store, plan):
    straight = new(store, plan, "straight")
    new(store, plan, "resumed")
    for _ in range(6):
        drive(straight, 1)
        resumed = Run.open(store, "resumed", looks=looks(plan))
        assert bits(drive(resumed, 1)) == bits(straight)
    assert slates(resumed) == slates(straight)
    assert all(line.slate.get("looks") for line in resumed.rounds()[plan.begin : -1])


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("plan", [EARLY, LATE], ids=["early", "late"])
def test_undo_and_branch_are_exact(store, plan, trace):
    run, marks = new(store, plan, trace=trace), []
    for _ in range(6):
        marks.append(bits(run))
        drive(run, 1)
    end = bits(run)
    whole = slates(run)
    for round in (0, 2, 3, 5):
        branch = run.branch(round)
        assert bits(branch) == marks[round]
        assert bits(drive(branch, 6 - round)) == end
        assert slates(branch) == whole
    run.undo(2)
    assert bits(run) == marks[4]
    run.undo(2)
    assert bits(run) == marks[2]
    assert bits(Run.open(store, "a", looks=looks(plan))) == marks[2]
    assert bits(drive(run, 4)) == end
    assert slates(run) == whole


@pytest.mark.parametrize("plan", [EARLY, LATE], ids=["early", "late"])
def test_a_preview_is_what_follows(store, plan):
    run, plain = new(store, plan), new(store, plan, "plain")
    for _ in range(5):
        run.preview([3])
        run.refresh()
        expected = run.preview(answer(run))
        run.refresh()
        drive(run, 1)
        drive(plain, 1)
        assert np.asarray(run.ask()).tobytes() == np.asarray(expected).tobytes()
        assert bits(run) == bits(plain)
    assert slates(run) == slates(plain)


def test_an_answer_that_was_refused_once_brings_its_looks_all_the_same(store):
    """Another ballot arrived meanwhile: the round is told again, with looks that were there."""
    run, plain = new(store, record_slates=True), new(store, name="plain")
    said = answer(run)
    store.cast("a", 0, Ballot("ann", said))
    store.cast("a", 0, Ballot("bob", said))
    with pytest.raises(StaleAnswer):
        run.tell(Poll((Ballot("ann", said),)), ballots=1)
    poll = Poll((Ballot("ann", said), Ballot("bob", said)))
    run.ask()
    run.tell(poll, ballots=2)
    plain.ask()
    plain.tell(poll)
    assert bits(run) == bits(plain)
    assert slates(run) == slates(plain)
    assert bits(Run.open(store, "a", looks=looks())) == bits(run)


def test_replay_needs_nothing_that_looks(store):
    run = drive(new(store), 4)
    run.ask()
    again = Run.open(store, "a")
    assert bits(again) == bits(run)
    assert [s.best.tobytes() for s in again.steps] == [s.best.tobytes() for s in run.steps]
    drive(again, 1)  # the waiting slate has its looks from the log
    assert "looks" in again.history[-1]
    drive(again, 2)
    assert len(again.unlooked()) > 0
    assert "looks" not in again.history[-1]
    assert again.looks_problem == ""
    assert bits(Run.open(store, "a")) == bits(again)


def test_unlooked_candidates_get_looks_later(store):
    drive(new(store), 2)
    drive(Run.open(store, "a"), 2)
    run = Run.open(store, "a", looks=looks())
    assert len(run.unlooked()) > 0
    drive(run, 2)
    assert run.unlooked() == []
    assert "looks" in run.history[-1]
    assert bits(Run.open(store, "a")) == bits(run)


@pytest.mark.parametrize("where", ["before it is told", "before it is asked", "in a preview"])
def test_a_look_that_fails_in_the_middle_is_dropped_and_nothing_is_lost(store, caplog, where):
    camera = Camera()
    run = Run(OPTIMIZER, X0, 7, store, "a", looks=looks(EARLY, camera))
    drive(run, 3)
    best = run.best().tobytes()
    log = slates(run)
    if where != "before it is asked":
        run.ask()
        run._slate_with_looks()
    camera.fails = True
    with caplog.at_level(logging.WARNING, "zorank"):
        if where == "in a preview":
            run.preview(answer(run))
        elif where == "before it is told":
            run.tell(answer(run))
            run.ask()
        else:
            run.ask()
        assert run.best().tobytes() == best or where == "before it is told"
        drive(run, 3)
    assert run.looks is None
    assert run.looks_problem == "the look function fails with OSError: out of film"
    (record,) = caplog.records
    assert record.getMessage() == f"run a uses no looks: {run.looks_problem}"
    assert slates(run)[:3] == log[:3]
    assert [line.index for line in run.rounds()] == list(range(len(run.rounds())))
    assert bits(Run.open(store, "a")) == bits(run)


def test_a_look_that_always_fails_leaves_a_run_of_numbers(store, caplog):
    def fail(_):
        raise LookError("there is nothing to see")

    run = Run(OPTIMIZER, X0, 7, store, "a", looks=RunLooks(fail, DIM, "gaussian", 7, EARLY))
    plain = Run(OPTIMIZER, X0, 7, store, "plain")
    assert bits(drive(run, 3)) == bits(drive(plain, 3))
    assert "there is nothing to see" in run.looks_problem
    assert len(caplog.records) == 1


def test_a_look_is_asked_for_once_in_a_run(store):
    camera = Camera()
    run = drive(Run(OPTIMIZER, X0, 7, store, "a", looks=looks(EARLY, camera)), 3)
    run.ask()
    shots = camera.shots
    run.undo(2)
    drive(run, 2)
    run.ask()
    drive(run.branch(1), 2).ask()
    assert camera.shots == shots


def test_no_looks_before_they_begin(store):
    camera = Camera()
    run = Run(OPTIMIZER, X0, 7, store, "a", looks=looks(LATE, camera))
    drive(run, 3)
    run.ask()
    assert camera.shots == 0
    drive(run, 1)
    assert camera.shots > 0


@pytest.mark.parametrize("odd", [5, "looks", False, Camera()])
def test_looks_that_are_none_are_refused_at_once(odd):
    with pytest.raises(InvalidInput, match="for_renderer"):
        Run(OPTIMIZER, X0, looks=odd)
