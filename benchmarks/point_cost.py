"""Measures the cost of a point without its evaluation: auto, pycma and cmaes in turns.

    python benchmarks/point_cost.py               # d = 2, 10, 40, 100 and 400
    python benchmarks/point_cost.py 2 1000 10000  # other dimensions; from 1,000 on cmaes's SepCMA
    python benchmarks/point_cost.py ridge 2 5 10  # of a ridge instead of random numbers

µs of CPU time a point, everything included: the set-up, ask, tell and, with zorank, the log and
the history. The objective looks up a random number, which takes less than .2 µs; with it no
method converges or restarts. To `auto` random numbers are a noisy judge, for which it soon fits no
model; on the ridge 100 (x_2² + … + x_d²) − x_1 it fits one in nearly every round. The methods run
in turns; a row has the median of the repeats, and the median of the ratio to the faster peer of
the same repeat. One thread: OMP_NUM_THREADS=1.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from statistics import median
from time import process_time

import numpy as np

from zorank import minimize
from zorank.experiments.peers import load_cmaes
from zorank.optimizers.cma_es import load_pycma
from zorank.types import Vector

RIDGE = "ridge" in sys.argv[1:]
DIMS = (2, 10, 40, 100, 400)
FULL = 1000
"""From this dimension on, the peers have a diagonal covariance."""
VALUES = np.random.default_rng(0).standard_normal(100_000).tolist()


def objective() -> Callable[[Vector], float]:
    """Return a function of the next random number, or the ridge."""
    if RIDGE:
        return lambda x: 100.0 * float(x[1:] @ x[1:]) - float(x[0])
    values: Iterator[float] = cycle(VALUES)
    return lambda x: next(values)


def auto(d: int, points: int) -> int:
    """Minimise with zorank; return the number of points."""
    return minimize(objective(), np.ones(d), points=points).points


def pycma(d: int, points: int) -> int:
    """Minimise with pycma."""
    f, told = objective(), 0
    options = {"verbose": -9, "verb_log": 0, "seed": 1, "CMA_diagonal": d >= FULL}
    strategy = load_pycma().CMAEvolutionStrategy(np.ones(d), 1.0, options)
    while told < points:
        candidates = strategy.ask()
        strategy.tell(candidates, [f(x) for x in candidates])
        told += len(candidates)
    return told


def cmaes(d: int, points: int) -> int:
    """Minimise with cmaes."""
    f, told, package = objective(), 0, load_cmaes()
    strategy = (package.SepCMA if d >= FULL else package.CMA)(mean=np.ones(d), sigma=1.0, seed=1)
    while told < points:
        candidates = [strategy.ask() for _ in range(strategy.population_size)]
        strategy.tell([(x, f(x)) for x in candidates])
        told += len(candidates)
    return told


METHODS = (auto, pycma, cmaes)


def measure(d: int, points: int, repeats: int) -> dict[str, list[float]]:
    """Return the µs of CPU time a point of every repeat, by method; a first run is not counted."""
    found: dict[str, list[float]] = {method.__name__: [] for method in METHODS}
    for repeat in range(repeats + 1):
        for method in METHODS:
            began = process_time()
            told = method(d, points if repeat else 30)
            spent = 1e6 * (process_time() - began) / told
            if repeat:
                found[method.__name__].append(spent)
    return found


def ratios(dims: tuple[int, ...] = DIMS) -> None:
    """Print a row for each dimension."""
    print(f"{'d':>6}" + "".join(f"{method.__name__:>10}" for method in METHODS) + "     ratio")
    for d in dims:
        points, repeats = (1500, 15) if d <= 40 else (600, 9) if d <= 100 else (210, 5)
        found = measure(d, points, repeats)
        ours, *peers = found.values()
        ratio = median(a / min(theirs) for a, *theirs in zip(ours, *peers, strict=True))
        row = "".join(f"{median(spent):>10.1f}" for spent in found.values())
        print(f"{d:>6}{row}{ratio:>10.2f}", flush=True)


if __name__ == "__main__":
    ratios(tuple(int(d) for d in sys.argv[1:] if d != "ridge") or DIMS)
