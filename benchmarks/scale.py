"""Measures the cost of a round from d = 100 to 100 million, the speed-up by workers, and traffic.

    python benchmarks/scale.py all --out docs/results/scale.json --picture docs/images/scale.png

cost     one round (ask, evaluate every candidate, tell) in a fresh process for each size: its time
         relative to drawing m·d normals, and its peak memory relative to one vector of d. Peers:
         pycma with a diagonal covariance, cmaes' SepCMA, EvoTorch's SNES where they are installed,
         and a plain evolution strategy in ten lines of NumPy.
workers  the speed-up by two workers on a compute-bound objective, and the bytes sent in a round.

Each is a ratio to a bound or a peer in the same run. m = 10; float32 from a million on.
"""

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from zorank.executors.shared_memory import SharedDesign, shared_design
from zorank.executors.workers import WorkerExecutor
from zorank.slates import Design

M = 10
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LARGEST = {"pycma": 100_000, "cmaes": 1_000_000, "evotorch": 10_000_000, "numpy": 10_000_000}
"""The largest d of each peer; beyond, a round takes minutes or too much memory."""


def kind(d: int) -> str:
    """Return the dtype used at this size."""
    return "float32" if d >= 1_000_000 else "float64"


# Each runs in a fresh process, because a process cannot reset its peak memory.


def draws(d: int) -> float:
    """Return the seconds to draw m·d normals on one thread, into one array of d."""
    generator = np.random.Generator(np.random.SFC64(0))
    xi = np.ones(d, kind(d))  # ones, so that all pages are mapped before the measurement
    begin = time.perf_counter()
    for _ in range(M):
        generator.standard_normal(out=xi, dtype=xi.dtype.type)
    return time.perf_counter() - begin


def zorank_round(d: int) -> Callable[[], None]:
    """Ask, evaluate every candidate, tell."""
    from zorank import Run
    from zorank.executors import evaluate
    from zorank.optimizers import ZORankSGD

    run = Run(ZORankSGD(m=M, line_search=0, step=0.1, mu=0.01), np.ones(d, kind(d)))

    def step() -> None:
        slate = run.ask()
        run.tell(slate.answer_from(evaluate(first_numbers, slate)))

    return step


def zorank_unseen(d: int) -> Callable[[], None]:
    """Ask and tell only; the candidates are made elsewhere."""
    from zorank import Run
    from zorank.optimizers import ZORankSGD

    run = Run(ZORankSGD(m=M, line_search=0, step=0.1, mu=0.01), np.ones(d, kind(d)))

    def step() -> None:
        run.ask()
        run.tell(list(range(M)))

    return step


def pycma_round(d: int) -> Callable[[], None]:
    """A generation of pycma with a diagonal covariance."""
    import cma

    options = {"CMA_diagonal": True, "popsize": M, "verbose": -9, "seed": 1}
    search = cma.CMAEvolutionStrategy(np.ones(d), 0.01, options)

    def step() -> None:
        candidates = search.ask()
        search.tell(candidates, [first_numbers(x) for x in candidates])

    return step


def cmaes_round(d: int) -> Callable[[], None]:
    """A generation of cmaes' SepCMA."""
    from cmaes import SepCMA

    search = SepCMA(mean=np.ones(d), sigma=0.01, population_size=M, seed=1)

    def step() -> None:
        candidates = [search.ask() for _ in range(M)]
        search.tell([(x, first_numbers(x)) for x in candidates])

    return step


def evotorch_round(d: int) -> Callable[[], None]:
    """A generation of EvoTorch's SNES, vectorised, on the CPU."""
    import logging

    logging.disable()
    import torch
    from evotorch import Problem
    from evotorch.algorithms import SNES

    problem: Any = Problem(
        "min",
        lambda x: (x[:, :1000] ** 2).sum(dim=-1),
        solution_length=d,
        initial_bounds=(1.0, 1.0),
        vectorized=True,
        dtype=getattr(torch, kind(d)),
    )
    search: Any = SNES(problem, popsize=M, stdev_init=0.01)

    def step() -> None:
        search.step()

    return step


def numpy_round(d: int) -> Callable[[], None]:
    """A plain evolution strategy: all directions held, centred ranks as weights."""
    x = np.ones(d, kind(d))
    generator = np.random.default_rng(1)

    def step() -> None:
        xi = generator.standard_normal((M, d), dtype=x.dtype.type)
        values = [first_numbers(x + 0.01 * row) for row in xi]
        ranks = np.argsort(np.argsort(values)) - (M - 1) / 2
        x[:] -= (0.1 / M) * (ranks.astype(x.dtype) @ xi)

    return step


def first_numbers(x: Any) -> float:
    """An objective of negligible cost."""
    part = x[:1000]
    return float(part @ part)


ROUNDS = {
    "zorank": zorank_round,
    "ask and tell": zorank_unseen,
    "pycma": pycma_round,
    "cmaes": cmaes_round,
    "evotorch": evotorch_round,
    "numpy": numpy_round,
}


def measure(name: str, d: int) -> dict[str, float]:
    """Measure in this process the time of a round relative to its draws, and peak memory."""
    repeats = max(1, min(200, 2_000_000 // d))
    draws(100)
    ROUNDS[name](100)()  # imports do not count
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    step = ROUNDS[name](d)
    step()  # warm-up
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    drawn = float(np.median([draws(d) for _ in range(min(repeats, 20))]))
    return {
        "seconds": float(np.median(times)),
        "draws": drawn,
        "ratio": float(np.median(times)) / drawn,
        "vectors": (peak - resident) / (np.dtype(kind(d)).itemsize * d),
    }


def cost(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Measure every method at every size up to its largest."""
    rows = []
    for name in ROUNDS:
        for d in sizes:
            if d > LARGEST.get(name, d):
                continue
            for threads in ("1", "") if d >= 10_000_000 and name == "zorank" else ("1",):
                row = measure_in_process(name, d, threads)
                if row is None:
                    break
                rows.append(row)
                told = f"{name:13} d = {d:<12,} {row['threads']} threads"
                told += f" {1e3 * row['seconds']:11.3f} ms {row['ratio']:7.2f} × draws"
                print(f"{told} {row['vectors']:8.2f} vectors", flush=True)
    return rows


def measure_in_process(name: str, d: int, threads: str) -> dict[str, Any] | None:
    """Call `measure` in a fresh process; print the error and return None if it fails."""
    variables = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    if threads:
        variables["OMP_NUM_THREADS"] = threads
    done = subprocess.run(
        [sys.executable, __file__, "one", "--name", name, "--size", str(d)],
        capture_output=True,
        text=True,
        env=variables,
    )
    if done.returncode:
        print(f"{name:13} d = {d:,}: {done.stderr.strip().splitlines()[-1]:.90}", flush=True)
        return None
    many = int(threads or os.cpu_count() or 1)
    return {"name": name, "d": d, "threads": many, **json.loads(done.stdout)}


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
    program = f"import scale\nfor _ in range({many // 2}): scale.compute([1.0])"
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


def draw_picture(found: dict[str, Any], path: Path) -> None:
    """Plot time and memory against d, and speed against workers."""
    from matplotlib.figure import Figure

    rows = found["cost"]
    styles = {
        "zorank": ("zorank", "#1f4e9c", 2.4),
        "numpy": ("plain NumPy ES", "#888888", 1.2),
        "evotorch": ("EvoTorch SNES", "#d1691f", 1.2),
        "pycma": ("pycma, diagonal", "#3a8a4d", 1.2),
        "cmaes": ("cmaes SepCMA", "#a03060", 1.2),
    }
    figure = Figure(figsize=(9.6, 3.3), layout="constrained")
    times, memory, speed = figure.subplots(1, 3, width_ratios=(3, 2.4, 1.6))
    for name, (label, colour, width) in styles.items():
        mine = [r for r in rows if r["name"] == name and r["threads"] == 1]
        style: dict[str, Any] = {"color": colour, "lw": width, "marker": "o", "ms": 3}
        sizes = [r["d"] for r in mine]
        times.loglog(sizes, [r["seconds"] for r in mine], label=label, **style)
        large = [r for r in mine if r["d"] >= 1_000_000]
        memory.loglog([r["d"] for r in large], [r["vectors"] for r in large], **style)
    ours = [r for r in rows if r["name"] == "zorank" and r["threads"] == 1]
    drawn = [r["draws"] for r in ours]
    times.loglog([r["d"] for r in ours], drawn, "k:", lw=1, label="m·d normals alone")
    memory.axhline(3, color="#888888", lw=0.8, ls="--")
    workers = found["workers"]
    gains = {n: workers["alone"] / workers[f"processes {n}"] for n in (1, 2, 4)}
    speed.plot(list(gains), list(gains.values()), "o-", color="#1f4e9c", lw=2.4, ms=3)
    speed.plot([2], [workers["alone"] / workers["dask 2"]], "s", color="#d1691f", ms=4)
    speed.annotate("Dask", (2, workers["alone"] / workers["dask 2"]), (2.2, 1.6), fontsize=7.5)
    times.set_ylabel("seconds a round, m = 10, one thread")
    memory.set_ylabel("peak memory, vectors of d")
    speed.set_ylabel(f"speed, {workers['cores']} cores")
    speed.set_xlabel("worker processes")
    speed.set_ylim(0, 2.2)
    for axes in (times, memory):
        axes.set_xlabel("d")
    for axes in (times, memory, speed):
        axes.grid(True, color="#e6e6e6", lw=0.6)
    figure.legend(loc="outside upper center", ncols=6, frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("all", "cost", "workers", "one"))
    parser.add_argument("--name", choices=ROUNDS)
    parser.add_argument("--size", type=int)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    if args.what == "one":
        print(json.dumps(measure(args.name, args.size)))
        return
    found: dict[str, Any] = (
        json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    )
    if args.what in ("all", "cost"):
        found["cost"] = cost(tuple(d for d in SIZES if d <= args.largest))
    if args.what in ("all", "workers"):
        found["workers"] = workers()
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    if args.picture:
        draw_picture(found, args.picture)


if __name__ == "__main__":
    main()
