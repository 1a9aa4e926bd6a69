"""Measures the cost of a round of rank-process without rendering, at d = 16,384.

    python benchmarks/rank_process.py

A judge who ranks six by a hidden direction answers until 1,000 pictures have been seen. Printed:
the median time of ask + tell around 50, 100, 200, 400 and 1,000 pictures, and its ratio to one
inversion of the comparisons' covariance (at most 320 of them), the physical bound of the method.
"""

import statistics
import time

import numpy as np
from bounds import inversion_seconds

from zorank import Ranking, rng
from zorank.optimizers import RankProcess

DIM, SHOWN, MARKS = 16384, 6, (50, 100, 200, 400, 1000)


def main() -> None:
    """Print a row for each mark."""
    optimizer = RankProcess(m=SHOWN, space="gaussian", pick=True)
    hidden = np.random.default_rng(0).standard_normal(DIM)
    state = optimizer.init(np.random.default_rng(1).standard_normal(DIM))
    took: dict[int, float] = {}
    seen = index = 0
    while seen < max(MARKS) + 5 * SHOWN:
        begun = time.perf_counter()
        slate = optimizer.ask(state, rng.for_round(0, index))
        asked = time.perf_counter() - begun
        answer = Ranking.from_values(-(np.asarray(slate) @ hidden))
        begun = time.perf_counter()
        state = optimizer.tell(state, slate, answer)
        seen, index = seen + len(slate), index + 1
        took[seen] = asked + time.perf_counter() - begun
    print("pictures seen   comparisons   ms a round   ratio to one inversion")
    for mark in MARKS:
        near = [seconds for count, seconds in took.items() if abs(count - mark) <= 5 * SHOWN]
        size = min(mark * 5 // 6, len(state.comparisons))
        bound = inversion_seconds(size)
        middle = statistics.median(near)
        print(f"{mark:13d} {size:13d} {1e3 * middle:12.1f} {middle / bound:24.1f}")


if __name__ == "__main__":
    main()
