"""Measures the time of dream's pictures relative to the arithmetic that they require.

    python benchmarks/dream.py

It times six pictures of 512² with two threads, as in the studio, and one picture on one thread.
The bound is the time of a matrix product in NumPy on one thread with as many multiplications as
the networks need for one picture. Times are medians of five.
"""

import os
import statistics
from collections.abc import Callable
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from zorank.renderers import Dream

MULTIPLICATIONS = 0.292e9 * 2 * 12 + 0.7e9  # denoiser, with and without words, 12 steps; upscaler
REPEATS = 5


def median_time(work: Callable[[], object]) -> float:
    """Return the median seconds of a call."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print the times and their ratios."""
    dream = Dream(prompt="snowy night, large moon, lake")
    draws = np.random.default_rng(0)
    noises = [draws.standard_normal(dream.dim) for _ in range(6)]
    dream.render(noises[:1])
    one = median_time(lambda: dream.render(noises[:1]))
    six = median_time(lambda: dream.render(noises))
    side = 1024
    a, b = draws.standard_normal((2, side, side)).astype(np.float32)
    bound = median_time(lambda: a @ b) * MULTIPLICATIONS / side**3
    print(f"one picture    {one:6.3f} s   {one / bound:4.1f} × the bound of {bound:.3f} s")
    print(f"six pictures   {six:6.3f} s   {six / one:4.1f} × one picture")


if __name__ == "__main__":
    main()
