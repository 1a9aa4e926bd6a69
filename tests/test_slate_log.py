"""What was shown is in the log, exact to the last bit, and is all that replaying needs."""

import copy
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given

from tests.helpers.strategies import slates
from tests.optimizers.test_contract import MADE
from zorank import InvalidInput, Ranking, ReplayError, Run, Slate, StaleAnswer, StoreError, rng
from zorank._recipe_json import digest
from zorank._recipes import (
    DerivedPoints,
    DerivedVector,
    GeneratorSeed,
    GradientStep,
    LoggedVector,
    StoredVector,
    random_points,
    round_large,
)
from zorank._run_slates import ask_optimizer
from zorank._slate_json import RECIPE_SIZE, decode, encode
from zorank._slate_log import ShownCandidates, record
from zorank.optimizers import Auto, RankItems, RankProcess, ZORankSGD
from zorank.problems import sphere
from zorank.slates import Box, Cloud, Free, Points, Shell
from zorank.stores import MemoryStore, open_store

LARGE = 16_384


def nothing(name):
    raise KeyError(name)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


def candidates(slate):
    try:
        return [(x.dtype, x.tobytes()) for x in slate]
    except InvalidInput:  # the zero vector has no place on the shell
        return None


def drive(run, rounds, f=sphere):
    shown = []
    for _ in range(rounds):
        slate = run.ask()
        shown.append(np.asarray(slate).tobytes())
        run.tell(slate.answer_from(np.array([f(x) for x in slate])))
    return shown


@given(slates())
def test_every_design_comes_back_to_the_last_bit(slate):
    data = encode(slate)
    again = decode(through_json(data), nothing)
    assert type(again.design) is type(slate.design)
    assert (again.question, again.k) == (slate.question, slate.k)
    with np.errstate(all="ignore"):
        assert candidates(again) == candidates(slate)
    if slate.looks is None:
        assert again.looks is None
    else:
        assert again.looks.tobytes() == slate.looks.tobytes()
    assert encode(again) == data


@dataclass(frozen=True, eq=False)
class Own(Points):
    """A design of a user's own."""

    secret: object = None


class Ring:
    def place(self, x):
        return x


def test_an_unknown_design_is_kept_as_its_candidates():
    cloud = Cloud(np.zeros(2), 1.0, np.eye(2), Ring())
    for design in (Own(np.eye(3)), cloud):
        data = encode(Slate(design, k=2))
        assert data["design"]["kind"] == "rows"
        again = decode(data, nothing)
        assert type(again.design) is Points
        assert candidates(again) == candidates(Slate(design))


def test_equal_numbers_are_written_once():
    box = Box(np.full(1000, -1.0), np.full(1000, 2.0))
    data = encode(Slate(Cloud(np.zeros(1000), 1.0, np.ones((2, 1000)), box)))
    assert len(json.dumps(data)) < 600
    assert decode(data, nothing).design.space.upper.tolist() == [2.0] * 1000


# Recipes


def derived(space, m=5, d=RECIPE_SIZE, seed=1):
    start = np.random.default_rng(seed).standard_normal(d)
    known = [space.place(np.random.default_rng(i).standard_normal(d)) for i in range(3)]
    climb = GradientStep(
        tuple(known), 1, np.array([0.5, -0.25, 0.125]), 0.375, 0.1, 2.0, 0.75, 0.5
    )
    peak = DerivedVector(climb.end(climb.gradient()), climb)
    old = DerivedVector(known[2], LoggedVector(known[2]))
    fresh = random_points(rng.for_round(seed, 7), m, d, 0.3, space, peak)
    further = random_points(rng.for_round(seed, 8), 2, d, 0.1, space, fresh[0])
    shown = ShownCandidates(start)
    shown.add(0, Slate(Points(np.array(known))))
    return Slate(DerivedPoints.of([old, peak, *fresh[1:], further[1]])), shown


BOX = Box(np.full(RECIPE_SIZE, -0.5), np.full(RECIPE_SIZE, 0.9))


@pytest.mark.parametrize("space", [Free(), Shell(), BOX], ids=["free", "shell", "box"])
def test_a_large_slate_is_written_as_its_recipe(space):
    slate, shown = derived(space)
    data, again = record(slate, shown)
    assert data["design"]["kind"] == "derived"
    assert len(json.dumps(data)) < 4000
    for read in (again, decode(through_json(data), shown)):
        assert candidates(read) == candidates(slate)
        assert encode(read) == data


def test_numbers_are_written_with_as_few_bytes_as_hold_them():
    drawn = np.random.default_rng(1).standard_normal((3, RECIPE_SIZE))
    known, exact, long = drawn[0], round_large(drawn[1]), drawn[2]
    parts = [
        DerivedVector(known, LoggedVector(known)),
        DerivedVector(exact, StoredVector(exact)),
        DerivedVector(long, StoredVector(long)),
    ]
    shown = ShownCandidates(known)
    data, again = record(Slate(DerivedPoints.of(parts)), shown)
    sizes = [len(json.dumps(part)) for part in data["design"]["parts"]]
    assert [size // RECIPE_SIZE for size in sizes] == [0, 2, 10]
    for read in (again, decode(through_json(data), shown)):
        assert candidates(read) == candidates(Slate(DerivedPoints.of(parts)))
    assert round_large(exact).tobytes() == exact.tobytes()
    data["design"]["parts"][1]["numbers"]["shape"] = [2, RECIPE_SIZE // 2]
    with pytest.raises(StoreError, match="is damaged"):
        decode(data, shown)


def test_a_recipe_repeats_no_sum_over_coordinates(monkeypatch):
    slate, shown = derived(Shell())
    data = encode(slate)
    monkeypatch.setattr(np.linalg, "norm", None)
    assert candidates(decode(data, shown)) == candidates(slate)


def test_a_recipe_that_cannot_be_followed_is_not_written():
    slate, _ = derived(Free())
    data, again = record(slate, nothing)
    assert data["design"]["kind"] == "points"
    assert candidates(again) == candidates(slate)
    other = np.random.default_rng(1)  # not a generator of a round
    made = random_points(other, 2, RECIPE_SIZE, 1.0, Free())
    assert encode(Slate(DerivedPoints.of(made)))["design"]["kind"] == "points"
    used = rng.for_round(1, 2)
    used.random()
    assert GeneratorSeed.of(used) is None
    assert GeneratorSeed.of(rng.for_round(2**100, 2)) == GeneratorSeed(2**100, (2,))


def test_derived_points_are_sent_to_workers_as_candidates():
    slate, _ = derived(Free())
    sent = copy.copy(slate.design)
    assert type(sent) is Points
    assert sent.rows.tobytes() == slate.design.rows.tobytes()


def test_a_digest_follows_the_numbers():
    x = np.arange(3.0)
    first = digest(x)
    x[0] = 5
    assert digest(x) != first
    frozen = np.arange(3.0)
    frozen.setflags(write=False)
    assert digest(frozen) == digest(frozen) == first


def liking(x):
    return -float(x[:40].sum())


@pytest.mark.parametrize("pick", [True, False])
def test_twenty_rounds_at_a_large_dimension(tmp_path, pick):
    store = open_store(tmp_path / "runs.db")
    optimizer = RankProcess(space="gaussian", pick=pick)
    x0 = np.random.default_rng(1).standard_normal(LARGE)
    plain = Run(optimizer, x0, seed=3)
    run = Run(optimizer, x0, seed=3, store=store, name="a", record_slates=True)
    shown = drive(run, 20, liking)
    assert drive(plain, 20, liking) == shown
    for line in run.rounds():
        assert line.slate["design"]["kind"] == "derived"
        assert len(json.dumps(line.slate)) < 20_000
    again = Run.open(store, "a")
    assert [np.asarray(slate).tobytes() for _, slate, _ in again.replay()] == shown
    assert again.best().tobytes() == run.best().tobytes()
    branch = run.branch(15)
    assert [np.asarray(s.slate).tobytes() for s in branch.steps] == shown[:15]
    assert np.asarray(branch.ask()).tobytes() == shown[15]
    run.undo(4)
    assert np.asarray(run.ask()).tobytes() == shown[16]
    assert np.asarray(Run.open(store, "a").ask()).tobytes() == shown[16]
    assert drive(run, 4, liking) == shown[16:]
    assert run.rounds()[-1].slate["design"]["kind"] == "derived"
    store.close()


# Runs


@pytest.mark.parametrize("optimizer", MADE, ids=str)
def test_a_recorded_run_is_the_run_that_was_not_recorded(optimizer):
    dim = 1 if isinstance(optimizer, RankItems) else 7
    store, x0 = MemoryStore(), np.random.default_rng(0).standard_normal(dim)
    plain = Run(optimizer, x0, seed=4)
    run = Run(optimizer, x0, seed=4, store=store, name="a", record_slates=True, trace=True)
    shown = drive(plain, 12)
    assert drive(run, 12) == shown
    again = Run.open(store, "a")
    assert again.history == run.history
    assert again.best().tobytes() == run.best().tobytes() == plain.best().tobytes()
    assert [np.asarray(step.slate).tobytes() for step in again.steps] == shown
    again.undo(5)
    assert np.asarray(again.ask()).tobytes() == shown[7]
    assert again.rounds()[-1].slate == run.rounds()[7].slate
    assert drive(again.branch(3), 9) == shown[3:]
    json.dumps(again.export(), allow_nan=False)


@pytest.mark.parametrize("trace", [True, False])
def test_a_log_may_begin_without_slates(trace):
    store, x0 = MemoryStore(), np.ones(RECIPE_SIZE)
    optimizer = RankProcess(space="gaussian")
    plain = Run(optimizer, x0, store=store, name="a", trace=trace)
    whole = Run(optimizer, x0)
    shown = drive(whole, 10, liking)
    assert drive(plain, 4, liking) == shown[:4]
    run = Run.open(store, "a", record_slates=True)
    assert drive(run, 4, liking) == shown[4:8]
    assert [line.slate is None for line in run.rounds()] == [True] * 4 + [False] * 4
    assert run.rounds()[-1].slate["design"]["kind"] == "derived"
    plain.refresh()  # has folded the first four without keeping their candidates
    assert plain.best().tobytes() == run.best().tobytes()
    assert drive(plain, 2, liking) == shown[8:]
    assert plain.rounds()[-1].slate is not None  # a log that has slates goes on having them
    plain.undo(7)
    assert np.asarray(plain.ask()).tobytes() == shown[3]


class Other:
    """An `ask` that draws other candidates, by a newer version."""

    @staticmethod
    def install(monkeypatch, kind):
        ask = kind.ask

        def other(self, state, rng):
            rng.random()
            return ask(self, state, rng)

        monkeypatch.setattr(kind, "revision", kind.revision + 1)
        monkeypatch.setattr(kind, "ask", other)


@pytest.mark.parametrize("dim", [5, RECIPE_SIZE])
@pytest.mark.parametrize("name", ["rank-process", "zo-ranksgd"])
def test_a_recorded_run_outlives_a_change_of_its_optimizer(monkeypatch, name, dim):
    store, x0 = MemoryStore(), np.ones(dim)
    run = Run(name, x0, seed=2, store=store, name="a", record_slates=True)
    shown = drive(run, 6, liking)
    waiting = np.asarray(run.ask()).tobytes()
    Other.install(monkeypatch, {"rank-process": RankProcess, "zo-ranksgd": ZORankSGD}[name])
    new = Run.open(store, "a", trace=True)
    assert [np.asarray(step.slate).tobytes() for step in new.steps] == shown
    assert np.asarray(new.ask()).tobytes() == waiting
    assert new.best().tobytes() == run.best().tobytes()
    assert np.asarray(Run(name, x0, seed=2, store=store, name="a").ask()).tobytes() == waiting
    new.undo(2)
    assert np.asarray(new.ask()).tobytes() == shown[4]
    further = drive(new, 4, liking)
    assert further[0] == shown[4]
    again = Run.open(store, "a")
    assert [np.asarray(s.slate).tobytes() for s in again.steps] == [*shown[:4], *further]
    assert np.asarray(again.branch(5).ask()).tobytes() != waiting
    with pytest.raises(ReplayError, match="seed is 2 there and 3 here"):
        Run(name, x0, seed=3, store=store, name="a")


def test_a_run_that_is_not_wholly_recorded_is_refused_as_before(monkeypatch):
    store = MemoryStore()
    drive(Run("zo-ranksgd", np.ones(3), store=store, name="a"), 2)
    drive(Run.open(store, "a", record_slates=True), 2)
    Run("zo-ranksgd", np.ones(3), store=store, name="b").ask()
    drive(Run(Auto(), np.ones(3), store=store, name="own", record_slates=True), 2)
    Other.install(monkeypatch, ZORankSGD)
    Other.install(monkeypatch, Auto)  # needs its own design back, which no record holds
    for name in ("a", "b", "own"):
        with pytest.raises(ReplayError, match="use the code that has revision"):
            Run.open(store, name)


def test_of_two_that_ask_at_once_the_stored_slate_counts(monkeypatch):
    store = MemoryStore()
    first = Run("zo-ranksgd", np.ones(3), store=store, name="a", record_slates=True)
    second = Run.open(store, "a", record_slates=True)
    shown = np.asarray(first.ask()).tobytes()
    Other.install(monkeypatch, ZORankSGD)
    assert np.asarray(second.ask()).tobytes() == shown
    second.tell([3])
    with pytest.raises(StaleAnswer):
        first.tell([1])
    assert np.asarray(first.ask()).tobytes() == np.asarray(second.ask()).tobytes()
    second.preview([2])
    first.tell([2])
    second.refresh()
    assert second.best().tobytes() == first.best().tobytes()


def damage(store, index, change):
    log = store._logs["a"]
    data = through_json(log[index].slate)
    change(data)
    log[index] = replace(log[index], slate=data)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("design"), "'design' is missing"),
        (lambda s: s["design"].update(kind="spiral"), "upgrade zorank"),
        (lambda s: s.update(design=3), "is damaged"),
        (lambda s: s.update(question="why"), "the question 'why'"),
        (lambda s: s.update(k=-1), "k = -1"),
        (lambda s: s.update(looks={"shape": [1, 1], "float64": "AAAAAAAA8D8="}), "1 looks"),
        (lambda s: s["design"]["parts"][0].update(kind="x"), "the recipe 'x' is unknown"),
        (lambda s: s["design"]["parts"][0].update(of="AAAA"), "no earlier round"),
        (lambda s: s["design"]["parts"][0].update(of="%"), "is damaged"),
        (lambda s: s["design"]["parts"][-1].update(row=99), "is damaged"),
        (lambda s: s["design"]["parts"][-1].update(centre=-1), "-1 is not a position"),
        (lambda s: s["design"]["parts"][-1].update(space={"kind": "x"}), "space 'x' is unknown"),
        (lambda s: s["design"].update(dim=7), "another dimension"),
        (lambda s: s["design"].update(rows=[]), "found shape"),
    ],
)
def test_a_damaged_record_is_one_clear_error(change, words):
    store = MemoryStore()
    x0 = np.ones(RECIPE_SIZE)
    drive(Run("rank-process", x0, store=store, name="a", record_slates=True), 2, liking)
    damage(store, 1, change)
    with pytest.raises(StoreError, match=words) as caught:
        Run.open(store, "a")
    assert str(caught.value).startswith("round 1 of run 'a': a recorded slate is")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["directions"].update(shape=[3]),
        lambda d: d["directions"].update(shape=[1, 30]),
        lambda d: d["directions"].update(float64="AAAA"),
        lambda d: d.update(radius="far"),
        lambda d: d["space"].update(kind="box"),
        lambda d: d.update(centre=None),
    ],
)
def test_a_damaged_cloud(change):
    store = MemoryStore()
    drive(Run("zo-ranksgd", np.ones(3), store=store, name="a", record_slates=True), 1)
    damage(store, 0, lambda data: change(data["design"]))
    with pytest.raises(StoreError, match="round 0 of run 'a': a recorded slate is damaged"):
        Run.open(store, "a")


# Looks


class Squares:
    """Looks that say how often they were asked."""

    begin = 0

    def __init__(self):
        self.calls = 0

    def __call__(self, candidates):
        self.calls += 1
        return np.asarray(candidates) ** 2

    def reference(self):
        return np.zeros((0, 3)), np.zeros((0, 3))


@dataclass(frozen=True, kw_only=True)
class Looking:
    """Walks to the favourite; with looks, it starts elsewhere and steps by what it sees."""

    name: ClassVar[str] = "looking"
    revision: ClassVar[int] = 1
    uses_looks: ClassVar[bool] = True

    def init(self, x0):
        return x0

    def ask(self, state, rng, looks=None):
        rows = state + rng.standard_normal((3, state.size))
        if looks is None:
            return Slate(Points(rows))
        return Slate(Points(rows + looks(rows)), looks=looks(rows))

    def tell(self, state, slate, answer):
        seen = 0.0 if slate.looks is None else 0.01 * slate.looks.sum()
        return slate[answer.best[0][0]] + seen

    def best(self, state):
        return state

    def report(self, state):
        return {}

    def unlooked(self, state):
        return ()

    def prospects(self, state, slate, rng):
        return state + rng.standard_normal((3, state.size))


def test_looks_are_asked_once_and_stay_in_the_log():
    store, looks = MemoryStore(), Squares()
    run = Run(Looking(), np.ones(3), store=store, name="a", looks=looks)
    shown = drive(run, 4)
    run.ask()
    calls = looks.calls
    again = Run.open(store, "a", Looking())  # nothing that could look
    assert [np.asarray(step.slate).tobytes() for step in again.steps] == shown
    assert again.best().tobytes() == run.best().tobytes()
    assert np.asarray(again.ask()).tobytes() == np.asarray(run.ask()).tobytes()
    assert again.ask().looks.tobytes() == run.ask().looks.tobytes()
    assert looks.calls == calls
    preview = np.asarray(run.preview([1])).tobytes()
    run.tell([1])
    assert np.asarray(run.ask()).tobytes() == preview
    assert run.branch().looks is looks


def test_a_run_goes_on_without_looks_that_fail():
    store = MemoryStore()

    def fail(_):
        raise OSError("nothing to see")

    run = Run(Looking(), np.ones(3), store=store, name="a", looks=Squares())
    drive(run, 1)
    run.looks = fail
    with pytest.raises(OSError, match="nothing to see"):
        run.ask()
    assert len(run.rounds()) == 1
    run.looks = None
    assert run.ask().looks is None
    drive(run, 1)
    assert Run.open(store, "a", Looking()).best().tobytes() == run.best().tobytes()


def test_a_question_that_was_asked_without_looks_stays_as_it_was():
    store = MemoryStore()
    run = Run(Looking(), np.ones(3), store=store, name="a")
    shown = drive(run, 2)
    waiting = np.asarray(run.ask()).tobytes()
    run = Run.open(store, "a", Looking(), looks=Squares())
    assert np.asarray(run.ask()).tobytes() == waiting
    run.undo()
    assert np.asarray(run.ask()).tobytes() == shown[1]
    assert run.rounds()[-1].slate is not None


def test_prospects_are_what_the_next_question_looks_at():
    run = Run(Looking(), np.ones(3), seed=5, looks=Squares())
    run.ask()
    expected = run.state + rng.for_round(5, 1).standard_normal((3, 3))
    assert run.prospects().tobytes() == expected.tobytes()
    assert Run("zo-ranksgd", np.ones(3)).prospects().shape == (0, 3)
    asked = ask_optimizer(ZORankSGD(), ZORankSGD().init(np.ones(3)), rng.for_round(0, 0))
    assert len(asked) == ZORankSGD().m


def test_an_export_has_the_slates():
    run = Run("rank-process", np.ones(3), record_slates=True)
    run.ask()
    run.tell(Ranking.of([2, 0]))
    data = run.export()
    assert data["rounds"][0]["slate"] == run.rounds()[0].slate
    assert decode(through_json(data["rounds"][0]["slate"]), nothing).dim == 3
