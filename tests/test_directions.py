"""Large slates: directions that are drawn again from a key instead of being held."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from zorank import InvalidInput, Ranking, Run, minimize
from zorank._directions import ARRAY_LIMIT, BLOCK, SeededDirections, draw_directions
from zorank.executors import evaluate
from zorank.optimizers import REGISTRY, ZORankSGD
from zorank.slates import Box, Cloud
from zorank.stores import open_store

LARGE = ARRAY_LIMIT // 10 + 1  # ten directions of this size are beyond what is held at once


def seeded(dim=3 * BLOCK + 7, count=4, dtype="float64", law="normal", **how):
    how = {"streams": tuple(range(count)), "signs": (1,) * count} | how
    return SeededDirections(12345, dim=dim, dtype=dtype, law=law, **how)


def rows_of(directions):
    origin = np.zeros(directions.dim, directions.dtype)
    return np.stack([directions.around(origin, 1.0, i) for i in range(len(directions))])


def test_a_small_slate_is_drawn_as_it_always_was():
    xi = draw_directions("normal", 50, np.float64, np.random.default_rng(3), 4)
    assert np.array_equal(xi, np.random.default_rng(3).standard_normal((4, 50)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("law", ["normal", "rademacher"])
def test_directions_follow_their_law(law, dtype):
    rows = rows_of(seeded(dtype=dtype, law=law))
    assert rows.dtype == dtype
    n = rows.shape[1]
    assert np.abs(rows.mean(axis=1)).max() < 5 / np.sqrt(n)
    assert np.abs(rows.var(axis=1) - 1).max() < 8 / np.sqrt(n)
    if law == "rademacher":
        assert set(np.unique(rows)) == {-1.0, 1.0}
    correlations = np.corrcoef(rows)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(n)
    blocks = np.corrcoef(rows[0, : 3 * BLOCK].reshape(3, BLOCK))[np.triu_indices(3, 1)]
    assert np.abs(blocks).max() < 5 / np.sqrt(BLOCK)


def test_a_sum_is_that_of_the_rows_held_or_drawn_by_any_number_of_threads(monkeypatch):
    weights = np.array([3.0, 0.0, -1.0, -2.0])
    rows = rows_of(seeded())
    found = []
    for megabytes, threads in (("512", "1"), ("0", "1"), ("0", "3")):
        monkeypatch.setenv("ZORANK_HELD_MB", megabytes)
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        directions = seeded()
        assert np.array_equal(rows_of(directions), rows)
        found.append(directions.combine(weights))
    assert np.allclose(found[0], weights @ rows)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_mirrored_directions_and_the_centre_itself():
    rng = np.random.default_rng
    pairs = draw_directions("normal", LARGE, np.float64, rng(1), 10, mirrored=True)
    assert isinstance(pairs, SeededDirections)
    assert len(pairs) == 20
    centre = np.ones(LARGE)
    assert np.allclose(pairs.around(centre, 0.1, 3) + pairs.around(centre, 0.1, 13), 2.0)
    first = draw_directions("normal", LARGE, np.float64, rng(1), 11, with_zero=True)
    assert isinstance(first, SeededDirections)
    assert np.array_equal(first.around(centre, 0.1, 0), centre)
    assert not np.array_equal(first.around(centre, 0.1, 1), centre)


def test_only_a_key_is_sent_to_workers():
    directions = seeded(dim=10**6)
    directions.around(np.zeros(10**6), 1.0, 2)  # holds a stream by now
    sent = pickle.dumps(directions)
    assert len(sent) < 500
    again = pickle.loads(sent)
    assert np.array_equal(
        again.around(np.zeros(10**6), 1.0, 2), directions.around(np.zeros(10**6), 1.0, 2)
    )


def test_in_a_box_the_clipped_displacements_count():
    directions = seeded(count=2)
    box = Box(np.full(directions.dim, -0.05), np.full(directions.dim, 0.05))
    cloud = Cloud(np.zeros(directions.dim), 0.1, directions, box)
    moved = np.stack([cloud.row(0), cloud.row(1)])
    assert np.abs(moved).max() == 0.05
    assert np.allclose(cloud.combine(np.array([1.0, -1.0])), (moved[0] - moved[1]) / 0.1)


@pytest.mark.parametrize(
    "name", ["zo-ranksgd", "zo-ranksgd-memory", "rank-ars", "scobo", "zo-sgd"]
)
def test_a_large_run_is_the_same_whatever_is_held(name, monkeypatch):
    ends = []
    for megabytes in ("512", "0"):
        monkeypatch.setenv("ZORANK_HELD_MB", megabytes)
        dim = ARRAY_LIMIT // 5 + 1
        run = Run(REGISTRY[name](m=10, step=0.05, mu=0.01), np.ones(dim))
        for _ in range(2):
            slate = run.ask()
            run.tell(slate.answer_from(np.array([float(x @ x) for x in slate])))
        ends.append(run.best())
    assert np.array_equal(ends[0], ends[1])
    assert float(ends[0] @ ends[0]) < dim or name != "zo-ranksgd"


def test_float32_stays_float32_and_needs_three_vectors(monkeypatch):
    monkeypatch.setenv("ZORANK_HELD_MB", "0")
    dim = ARRAY_LIMIT + BLOCK
    tracemalloc.start()
    x0 = np.ones(dim, np.float32)
    run = Run(ZORankSGD(m=10, line_search=0, step=0.05, mu=0.01), x0)
    for _ in range(2):
        slate = run.ask()
        values = evaluate(lambda x: float(x[:1000] @ x[:1000]), slate)
        run.tell(slate.answer_from(values))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.best().dtype == np.float32
    scratch = 8e6  # blocks for each thread, and what checks a start for NaN
    assert peak < 3 * 4 * dim + scratch
    with pytest.raises(ValueError, match="read-only"):  # taken over, not copied
        x0[0] = 2.0


def test_a_small_start_is_still_copied():
    x0 = np.ones(5, np.float32)
    run = Run(ZORankSGD(), x0)
    x0[0] = 7.0
    assert run.record.x0[0] == 1.0
    assert Run("auto", x0).best().dtype == np.float64  # only descents work in float32


def test_a_float32_run_resumes_exactly(tmp_path):
    def answered(run, rounds):
        for _ in range(rounds):
            slate = run.ask()
            run.tell(slate.answer_from(np.array([float(x @ x) for x in slate])))
        return run

    x0 = np.linspace(-1, 1, 7, dtype=np.float32)
    optimizer = ZORankSGD(m=6, law="rademacher", step=0.1, mu=0.01)
    whole = answered(Run(optimizer, x0), 6)
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    answered(Run(optimizer, x0, store=store, name="half"), 3)
    resumed = answered(Run.open(open_store(f"sqlite:///{tmp_path}/runs.db"), "half"), 3)
    assert resumed.best().dtype == np.float32
    assert np.array_equal(resumed.best(), whole.best())


def test_a_run_that_is_older_than_a_setting_goes_on(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    young = Run(ZORankSGD(m=4), np.ones(3)).record
    options = {key: value for key, value in young.options.items() if key != "law"}
    store.create(replace(young, name="old", options=options))
    run = Run.open(store, "old")
    run.ask()
    run.tell([1, 0])
    assert len(run.history) == 1


def test_a_wrong_limit_or_law_is_named(monkeypatch):
    monkeypatch.setenv("ZORANK_HELD_MB", "plenty")
    with pytest.raises(InvalidInput, match="ZORANK_HELD_MB must be a number of megabytes"):
        seeded().around(np.zeros(3 * BLOCK + 7), 1.0, 0)
    with pytest.raises(InvalidInput, match="law must be 'normal' or 'rademacher'"):
        ZORankSGD(law="cauchy")


@pytest.mark.parametrize("threads", ["", "abc", "4,2", "2.0", "-3", "0"])
def test_invalid_thread_counts_are_ignored(threads, monkeypatch):
    rows = rows_of(seeded())
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert np.array_equal(rows_of(seeded()), rows)


@pytest.mark.parametrize(
    "name", ["zo-ranksgd", "zo-ranksgd-memory", "rank-ars", "scobo", "zo-sgd"]
)
def test_float32_stays_within_bounds(name):
    seen = []

    def edge(x):
        seen.extend(x.astype(float).tolist())
        return float(-np.sum(x))

    bounds = [(0.01, 0.1)] * 5  # neither is a number of float32
    start = np.full(5, 0.05, np.float32)
    options = {"step": 0.1, "mu": 0.1}
    result = minimize(edge, start, 100, name, bounds=bounds, options=options)
    assert result.x.dtype == np.float32
    seen += result.x.astype(float).tolist()
    assert min(seen) >= 0.01
    assert max(seen) <= 0.1


def test_values_that_are_missing_are_not_spoken_of():
    run = Run(ZORankSGD(m=5, line_search=0), np.zeros(3))
    slate = run.ask()
    answer = slate.answer_from(np.array([3.0, np.nan, 1.0, 2.0, np.nan]))
    assert answer == Ranking(((2,), (3,), (0,)), among=(0, 2, 3))
    run.tell(answer)
