"""The cost of one round, of zorank and of peers; the part `cost` of scale.py."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

M = 10
"""The number of candidates of a round."""
SCALE = str(Path(__file__).with_name("scale.py"))
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LARGEST = {"pycma": 100_000, "cmaes": 1_000_000, "evotorch": 10_000_000, "numpy": 10_000_000}
"""The largest d of each peer; beyond, a round takes minutes or too much memory."""


def kind(d: int) -> str:
    """Return the dtype used at this size."""
    return "float32" if d >= 1_000_000 else "float64"


def first_numbers(x: Any) -> float:
    """An objective of negligible cost."""
    part = x[:1000]
    return float(part @ part)


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
        [sys.executable, SCALE, "one", "--name", name, "--size", str(d)],
        capture_output=True,
        text=True,
        env=variables,
    )
    if done.returncode:
        print(f"{name:13} d = {d:,}: {done.stderr.strip().splitlines()[-1]:.90}", flush=True)
        return None
    many = int(threads or os.cpu_count() or 1)
    return {"name": name, "d": d, "threads": many, **json.loads(done.stdout)}
