"""Physical bounds that benchmarks compare with, measured in the same run."""

import statistics
import time

import numpy as np


def inversion_seconds(size: int) -> float:
    """Return the median time to invert a positive definite matrix of this size."""
    draws = np.random.default_rng(0).standard_normal((size, size))
    matrix = draws @ draws.T + size * np.eye(size)
    times = []
    for _ in range(9):
        begun = time.perf_counter()
        np.linalg.inv(matrix)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)
