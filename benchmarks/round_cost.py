"""Measures a round beyond its random numbers, its memory, and the time of an import.

    python benchmarks/round_cost.py

Each line is a ratio against a bound measured in the same run: the time to draw the m·d normals of
a slate (the same generator, into a fresh array), the size of one m × d float64 array, and the time
of `import numpy`. One ask + tell of ZO-RankSGD with a full ranking, through `Run` and its log.
"""

import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from zorank import Run, rng
from zorank.optimizers import ZORankSGD

M = 10


def seconds(action: Callable[[], object]) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def round_against_draws(d: int, repeats: int) -> tuple[float, float]:
    """Median seconds of the draws alone and of ask + tell, measured in turns."""
    run = Run(ZORankSGD(m=M, line_search=0), np.ones(d))
    order = list(range(M))
    draws: list[float] = []
    rounds: list[float] = []

    def one_round() -> None:
        run.ask()
        run.tell(order)

    def draw() -> None:
        rng.for_round(0, len(draws)).standard_normal((M, d))

    for _ in range(repeats):
        draws.append(seconds(draw))
        rounds.append(seconds(one_round))
    return statistics.median(draws), statistics.median(rounds)


def peak_memory(d: int) -> float:
    """Bytes beyond a run's start that one ask + tell needs, candidates looked at one by one."""
    run = Run(ZORankSGD(m=M, line_search=0), np.ones(d))
    tracemalloc.start()
    slate = run.ask()
    for i in range(M):
        slate[i].sum()
    run.tell(list(range(M)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)


def import_seconds(module: str) -> float:
    """The time of an import in a fresh process."""
    program = (
        f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    )
    fresh = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return float(fresh.stdout)


def main() -> None:
    """Print the three tables."""
    print(f"{'d':>9} {'draws ms':>10} {'round ms':>10} {'ratio':>7} {'memory/(m·d)':>13}")
    for d, repeats in ((100, 2000), (10_000, 300), (1_000_000, 15)):
        draws, rounds = round_against_draws(d, repeats)
        memory = peak_memory(d) / (8 * M * d)
        times = f"{1e3 * draws:>10.3f} {1e3 * rounds:>10.3f} {rounds / draws:>7.2f}"
        print(f"{d:>9} {times} {memory:>13.2f}")
    imports = [(import_seconds("numpy"), import_seconds("zorank")) for _ in range(15)]
    base, ours = (statistics.median(times) for times in zip(*imports, strict=True))
    print(
        f"import numpy {1e3 * base:.0f} ms, import zorank {1e3 * ours:.0f} ms: {ours / base:.2f}×"
    )


if __name__ == "__main__":
    main()
