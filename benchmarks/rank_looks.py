"""Measures the cost of a round of rank-looks without rendering.

    python benchmarks/rank_looks.py

A judge who ranks six by a hidden direction answers until 126 pictures have been seen; looks are a
random projection, which costs next to nothing. Printed, for 62 and 4,096 numbers a candidate: the
median and the longest time of ask + tell over the last five rounds, and the ratio of the median to
one inversion of the comparisons' covariance, the physical bound of the method.
"""

import statistics
import time
from dataclasses import replace

import numpy as np
from bounds import inversion_seconds
from numpy.typing import NDArray

from zorank import Ranking, rng
from zorank.looks import RunLooks
from zorank.optimizers import RankLooks

SHOWN, ROUNDS, FEATURES = 6, 21, 48


def main() -> None:
    """Print a row for each dimension."""
    print("numbers   comparisons   ms a round   longest   ratio to one inversion")
    for dim in (62, 4096):
        took = _session(dim)[-5:]
        size = ROUNDS * (SHOWN - 1)
        middle = statistics.median(took)
        ratio = middle / inversion_seconds(size)
        print(f"{dim:7d} {size:13d} {1e3 * middle:12.1f} {1e3 * max(took):9.1f} {ratio:24.1f}")


def _session(dim: int) -> list[float]:
    """The seconds of every round."""
    draws = np.random.default_rng(0)
    hidden = draws.standard_normal(FEATURES)
    projection = draws.standard_normal((dim, FEATURES)) / np.sqrt(dim)

    def look(candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.tanh(candidates @ projection))

    looks = RunLooks(look, dim, "gaussian", seed=0)
    looks.reference()
    optimizer = RankLooks(m=SHOWN, space="gaussian", pick=True)
    state = optimizer.init(draws.standard_normal(dim))
    took = []
    for index in range(ROUNDS):
        begun = time.perf_counter()
        slate = optimizer.ask(state, rng.for_round(0, index), looks)
        if slate.looks is None:
            slate = replace(slate, looks=looks(np.asarray(slate)))
        asked = time.perf_counter() - begun
        answer = Ranking.from_values(-(look(np.asarray(slate)) @ hidden))
        begun = time.perf_counter()
        state = optimizer.tell(state, slate, answer)
        took.append(asked + time.perf_counter() - begun)
    return took


if __name__ == "__main__":
    main()
