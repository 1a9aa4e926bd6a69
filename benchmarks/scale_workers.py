"""The speed-up by workers, and the bytes sent to them; the part `workers` of scale.py."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from scale_cost import M, first_numbers, kind

from zorank.executors.shared_memory import SharedDesign, shared_design
from zorank.executors.workers import WorkerExecutor
from zorank.slates import Design


def compute(x: Any) -> float:
    """A compute-bound objective of constant cost."""
    total, state = 0.0, float(abs(x[0]))
    for _ in range(4_000_000):
        state = (state * 1.000001 + 0.1) % 7.0
        total += state
    return total


def workers() -> dict[str, Any]:
    """Measure the speed-up of processes and of a Dask cluster, and the bytes sent."""
    from zorank import minimize
    from zorank.executors import Cluster, Processes

    settings: dict[str, Any] = {
        "method": "zo-ranksgd",
        "m": M,
        "points": 2 * M,
        "options": {"line_search": 0, "step": 0.1, "mu": 0.01},
    }

    def seconds(executor: Executor | None) -> float:
        minimize(first_numbers, np.ones(10), executor=executor, **settings)  # workers start
        begin = time.perf_counter()
        minimize(compute, np.ones(10), executor=executor, **settings)
        return time.perf_counter() - begin

    alone = seconds(None)
    found: dict[str, Any] = {"alone": alone, "cores": os.cpu_count(), "bare 2": two_bare(2 * M)}
    for many in (1, 2, 4):
        with Processes(many) as processes:
            found[f"processes {many}"] = seconds(processes)
    import distributed

    made: Any = distributed.LocalCluster
    with (
        made(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local,
        Cluster(local.scheduler_address) as cluster,
    ):
        found["dask 2"] = seconds(cluster)
    for name in ("bare 2", "processes 1", "processes 2", "processes 4", "dask 2"):
        print(f"{name:12} {alone / found[name]:.2f} × one process alone", flush=True)
    found["sent"] = {str(d): sent(d) for d in (1_000, 100_000, 10_000_000)}
    for d, parts in found["sent"].items():
        print(f"d = {int(d):,}: {parts}", flush=True)
    return found


def two_bare(many: int) -> float:
    """Return the seconds of two plain processes that share the same work, as a bound."""
    program = f"import scale_workers\nfor _ in range({many // 2}): scale_workers.compute([1.0])"
    begin = time.perf_counter()
    both = [
        subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parent)
        for _ in range(2)
    ]
    for process in both:
        process.wait()
    return time.perf_counter() - begin


class CountingExecutor(WorkerExecutor):
    """Evaluates in this process, and counts the bytes it would send: a pickle for each task."""

    def __init__(self) -> None:
        self.sent = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Count the bytes of a call, and make it."""
        self.sent += len(pickle.dumps((fn, args)))
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    def share(self, design: Design) -> AbstractContextManager[SharedDesign]:
        """Write the design to a file, as `Processes` does."""
        return shared_design(design)

    def renew(self) -> None:
        """Do nothing: there are no workers."""

    def abandon(self, late: Iterable[Future[Any]]) -> None:
        """Do nothing: no task is late."""


def sent(d: int) -> dict[str, int]:
    """Return the bytes of a round: tasks, the design, and m candidates for comparison."""
    from zorank.executors import evaluate
    from zorank.optimizers import ZORankSGD
    from zorank.rng import for_round

    optimizer = ZORankSGD(m=M, line_search=0)
    slate = optimizer.ask(optimizer.init(np.ones(d, kind(d))), for_round(0, 0))
    by_reference = CountingExecutor()
    values = evaluate(first_numbers, slate, executor=by_reference)
    answer = json.dumps(slate.answer_from(values).to_json())
    return {
        "tasks": by_reference.sent,
        "design": len(pickle.dumps(slate.design)),
        "candidates": M * d * np.dtype(kind(d)).itemsize,
        "answer": len(answer),
    }
