"""Where candidates are evaluated changes nothing but the time it takes."""

import functools
import itertools
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import objectives
from zorank import EvaluationError, InvalidInput, Ranking, _machine, minimize
from zorank.executors import Cluster, Processes, dispatch, evaluate, shared_memory
from zorank.executors.shared_memory import SHARED_MEMORY
from zorank.optimizers import ZORankSGD
from zorank.rng import for_round

SETTINGS = {
    "method": "zo-ranksgd",
    "m": 10,
    "options": {"line_search": 3, "step": 0.1, "mu": 0.05},
    "points": 26,
}
SIZES = (10, 20_000, 450_000)  # sent whole, sent as a file, and as a key


@pytest.fixture(scope="module")
def pool():
    with Processes(2) as executor:
        yield executor


class Immediate(Executor):
    """An executor that zorank knows nothing of."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Returns(Executor):
    """An executor that returns the same thing for each task."""

    def __init__(self, found):
        self.found = found

    def submit(self, fn, /, *args, **kwargs):
        return self.found


@pytest.mark.parametrize("found", [3, None, Future()])
def test_an_executor_returns_a_future_for_each_task(found):
    words = r"must return a new concurrent\.futures\.Future for each task"
    with pytest.raises(InvalidInput, match=words):
        minimize(objectives.squares, np.ones(3), executor=Returns(found), **SETTINGS)


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(1), lambda: Processes(1)])
def test_an_executor_that_was_shut_down(make):
    with make() as executor:
        pass
    with pytest.raises(EvaluationError, match=r"takes no tasks .* pass one that is open"):
        minimize(objectives.squares, np.ones(3), executor=executor, **SETTINGS)


def test_processes_change_nothing(pool):
    for d in SIZES:
        alone = minimize(objectives.squares, np.ones(d), **SETTINGS)
        helped = minimize(objectives.squares, np.ones(d), executor=pool, **SETTINGS)
        assert np.array_equal(alone.x, helped.x)
        assert alone.points == helped.points > 20
    assert not list(SHARED_MEMORY.glob(f"zorank-{os.getpid()}-*"))


@pytest.mark.parametrize("kind", ["threads", "standard processes", "unknown"])
def test_any_executor_will_do(kind):
    make = {
        "threads": lambda: ThreadPoolExecutor(3),
        "standard processes": lambda: ProcessPoolExecutor(2, get_context("spawn")),
        "unknown": Immediate,
    }[kind]
    with make() as executor:
        for d in SIZES:
            alone = minimize(objectives.squares, np.ones(d), **SETTINGS)
            helped = minimize(objectives.squares, np.ones(d), executor=executor, **SETTINGS)
            assert np.array_equal(alone.x, helped.x)


def test_a_lost_worker_costs_only_its_candidates(tmp_path):
    once = objectives.DiesOnce(tmp_path / "died")
    with Processes(2) as executor:
        helped = minimize(once, np.ones(10), executor=executor, **SETTINGS)
    assert (tmp_path / "died").exists()
    assert np.array_equal(helped.x, minimize(objectives.squares, np.ones(10), **SETTINGS).x)


def test_an_objective_that_always_kills_is_given_up_and_the_run_goes_on(tmp_path):
    where = {"store": f"sqlite:///{tmp_path}/runs.db", "name": "deadly", **SETTINGS}
    with Processes(2) as executor:
        with pytest.raises(EvaluationError, match=r"workers were lost.*can be resumed"):
            minimize(objectives.dies, np.ones(4), executor=executor, **where)
        again = minimize(lambda x: objectives.squares(x), np.ones(4), **where)
    assert np.array_equal(again.x, minimize(objectives.squares, np.ones(4), **SETTINGS).x)


def test_a_standard_pool_that_lost_a_worker_is_named():
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        for _ in range(2):  # also when it was broken before
            with pytest.raises(EvaluationError, match="workers were lost"):
                minimize(objectives.dies, np.ones(4), executor=executor, **SETTINGS)


def test_errors_of_the_objective_name_the_candidate(pool):
    with pytest.raises(KeyError, match="no such thing") as caught:
        minimize(objectives.raises, np.ones(4), executor=pool, **SETTINGS)
    assert any("candidate" in note for note in caught.value.__notes__)


def test_an_objective_that_cannot_be_sent_is_named(pool):
    with pytest.raises(InvalidInput, match="cannot be sent to other processes"):
        minimize(lambda x: 0.0, np.ones(4), executor=pool, **SETTINGS)
    with pytest.raises(InvalidInput, match="workers must be a whole number from 1"):
        Processes(0)


@pytest.fixture
def patient(monkeypatch):
    """On a busy machine workers take long to start, so nobody gives up before they have."""
    monkeypatch.setattr(dispatch, "GRACE_FACTOR", 10_000)


@pytest.fixture
def released():
    """An event that late evaluations wait for; it is set when the test has ended."""
    event = threading.Event()
    yield event
    event.set()


def test_late_candidates_stay_unranked(released):
    def late_on_one_side(x):
        if x[0] > 0:
            released.wait()
        return objectives.squares(x)

    slate = ZORankSGD(m=8).ask(ZORankSGD(m=8).init(np.zeros(3)), for_round(1, 0))
    quick = [i for i, x in enumerate(slate) if x[0] <= 0]
    assert 2 <= len(quick) < 8
    executor = ThreadPoolExecutor(8)
    values = evaluate(late_on_one_side, slate, executor=executor, deadline=1.0)
    executor.shutdown(wait=False, cancel_futures=True)
    assert np.flatnonzero(~np.isnan(values)).tolist() == quick
    answer = slate.answer_from(values)
    assert isinstance(answer, Ranking)
    assert answer.among == tuple(quick)


def test_a_deadline_waits_for_what_an_answer_needs(released, patient):
    calls = itertools.count(1)

    def slower_than_the_deadline(x):
        if next(calls) > 2:
            released.wait()
        time.sleep(0.1)
        return objectives.squares(x)

    slate = ZORankSGD(m=4).ask(ZORankSGD(m=4).init(np.zeros(3)), for_round(1, 0))
    executor = ThreadPoolExecutor(1)
    values = evaluate(slower_than_the_deadline, slate, executor=executor, deadline=0.05)
    executor.shutdown(wait=False, cancel_futures=True)
    assert np.sum(~np.isnan(values)) == 2


@pytest.mark.parametrize("method", ["auto", "zo-ranksgd", "scobo", "zo-sgd", "rank-process"])
def test_every_method_lives_with_late_candidates(method, patient):
    def sometimes(x):
        if x[0] > 0.3:
            time.sleep(0.05)
        return objectives.squares(x)

    with ThreadPoolExecutor(4) as executor:
        result = minimize(sometimes, np.ones(3), 60, method, executor=executor, deadline=0.02)
    assert result.points > 40
    assert np.isfinite(result.fun)


def test_the_command_line_has_workers(zorank, tmp_path):
    (tmp_path / "mine.py").write_text("def f(x):\n    return float(x @ x)\n")
    told = []
    for more in ([], ["--workers", 2]):
        line = ("minimize", "mine:f", "--dim", 4, "--quiet", "--points", 60)
        code, out, err = zorank(*line, *more)
        assert code == 0, err
        told.append(out)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--workers", 2, "--cluster", "tcp://127.0.0.1:9"), "exclude each other"),
        (("--deadline", 1), "--deadline requires --workers or --cluster"),
    ],
)
def test_the_command_line_refuses_what_makes_no_sense(refused, more, words):
    line = ("minimize", "tests.helpers.objectives:squares", "--dim", 4, "--quiet")
    assert words in refused(*line, *more)


class Forgetful(Executor):
    """Cancels what it was given, as a cluster does whose scheduler is gone."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_tasks_cancelled_by_the_executor_are_lost_not_late():
    with pytest.raises(EvaluationError, match="workers were lost"):
        minimize(objectives.squares, np.ones(4), executor=Forgetful(), **SETTINGS)


def test_an_exception_that_cannot_travel_is_told(pool):
    with pytest.raises(EvaluationError, match="the objective raised Peculiar: 1 2"):
        minimize(objectives.peculiar, np.ones(4), executor=pool, **SETTINGS)


def test_workers_that_hang_are_replaced(tmp_path, patient):
    hanging = objectives.HangsTwice(tmp_path)
    with Processes(2) as executor:
        minimize(objectives.squares, np.ones(3), executor=executor, **SETTINGS)  # they run
        result = minimize(hanging, np.ones(3), executor=executor, deadline=1, **SETTINGS)
    assert result.points > 20
    assert len(result.run.rounds()[0].answer.among) < 10


def test_a_deadline_that_nobody_meets_is_given_up(released):
    executor = ThreadPoolExecutor(2)
    with pytest.raises(EvaluationError, match="too few for an answer"):
        minimize(
            lambda x: released.wait(), np.ones(3), executor=executor, deadline=0.05, **SETTINGS
        )
    executor.shutdown(wait=False, cancel_futures=True)


def test_workers_that_cannot_start_are_explained(tmp_path):
    program = (
        "import numpy as np, zorank\n"
        "from zorank.executors import Processes\n"
        "zorank.minimize(abs, np.ones(2), 20, 'zo-ranksgd', executor=Processes(1))\n"
    )
    (tmp_path / "unguarded.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "unguarded.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "worker processes could not start" in done.stderr


def test_nothing_outlives_a_process_that_is_killed(tmp_path):
    program = (
        "import os, numpy as np, zorank\n"
        "from zorank.executors import Processes\n"
        "from tests.helpers.objectives import hangs\n"
        "if __name__ == '__main__':\n"
        "    with Processes(1) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        zorank.minimize(hangs, np.ones(20_000), 20, 'zo-ranksgd', executor=pool)\n"
    )
    (tmp_path / "killed.py").write_text(program)
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "killed.py"], cwd=tmp_path, stdout=subprocess.PIPE, env=variables
    ) as parent:
        worker = int(parent.stdout.readline())
        left = SHARED_MEMORY.glob(f"zorank-{parent.pid}-*")
        while not list(left):
            time.sleep(0.05)
            left = SHARED_MEMORY.glob(f"zorank-{parent.pid}-*")
        parent.kill()
    while _machine.is_running(worker):
        time.sleep(0.05)
    shared_memory._remove_stale_files.cache_clear()
    shared_memory._remove_stale_files()
    assert not list(SHARED_MEMORY.glob(f"zorank-{parent.pid}-*"))


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), float("inf"), "2", True])
def test_a_deadline_is_seconds(deadline):
    with pytest.raises(InvalidInput, match="deadline must be a number of seconds"):
        minimize(objectives.squares, np.ones(2), executor=Immediate(), deadline=deadline)


def test_what_is_no_executor_is_refused():
    with pytest.raises(InvalidInput, match="executor must be a concurrent"):
        minimize(objectives.squares, np.ones(2), executor=4)
    with pytest.raises(InvalidInput, match="cannot use an executor"):
        minimize(objectives.squares, np.ones(2), executor=Immediate(), vectorized=True)
    with pytest.raises(InvalidInput, match="`deadline` requires `executor`"):
        minimize(objectives.squares, np.ones(2), deadline=1.0)


@pytest.fixture(scope="module")
def dask():
    """A cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        silence_logs=50,
    ) as local:
        yield local


def test_a_cluster_changes_nothing(dask):
    with Cluster(dask.scheduler_address) as cluster:
        for d in SIZES:
            alone = minimize(objectives.squares, np.ones(d), **SETTINGS)
            helped = minimize(objectives.squares, np.ones(d), executor=cluster, **SETTINGS)
            assert np.array_equal(alone.x, helped.x)
        whole = minimize(lambda x: float(x @ x), np.ones(10), executor=cluster, **SETTINGS)
        assert np.array_equal(whole.x, minimize(objectives.squares, np.ones(10), **SETTINGS).x)


def test_functions_of_ones_own_module_travel_whole(dask, tmp_path, monkeypatch):
    """Workers were started before the module was written, and look elsewhere."""
    (tmp_path / "mine_alone.py").write_text(
        "SCALE = 2.0\n\ndef f(x):\n    return SCALE * float(x @ x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import mine_alone

    with Cluster(dask.scheduler_address) as cluster:
        for d in (10, 20_000):
            alone = minimize(mine_alone.f, np.ones(d), **SETTINGS)
            helped = minimize(mine_alone.f, np.ones(d), executor=cluster, **SETTINGS)
            assert np.array_equal(alone.x, helped.x)
            partial = functools.partial(mine_alone.f)
            assert np.array_equal(
                minimize(partial, np.ones(d), executor=cluster, **SETTINGS).x, alone.x
            )


def test_a_cluster_that_loses_a_worker_goes_on(dask):
    with Cluster(dask.scheduler_address) as cluster:
        victim = next(iter(cluster.client.run(os.getpid).values()))

        def slow(x):
            time.sleep(0.05)
            return float(x @ x)

        threading.Timer(0.2, os.kill, (victim, 9)).start()
        helped = minimize(slow, np.ones(500_000), executor=cluster, **SETTINGS)
    assert np.array_equal(helped.x, minimize(objectives.squares, np.ones(500_000), **SETTINGS).x)
    assert not Path(f"/proc/{victim}").exists()


def test_what_a_cluster_cannot_do_is_said(dask):
    with (
        Cluster(dask.scheduler_address) as cluster,
        pytest.raises(KeyError, match="no such thing"),
    ):
        minimize(objectives.raises, np.ones(4), executor=cluster, **SETTINGS)
    with pytest.raises(EvaluationError, match="no Dask scheduler answers at"):
        Cluster("tcp://127.0.0.1:9", connect_seconds=1)
    closed = Cluster(dask.scheduler_address)
    closed.shutdown()
    with pytest.raises(EvaluationError, match="no longer answers"):
        Cluster(closed.client)
    with pytest.raises(InvalidInput, match=r"a scheduler's address or a distributed\.Client"):
        Cluster(42)
