"""Deterministic samplers: they integrate the probability-flow ODE from noise to a picture.

At time t a grid is (1 − t)·noise + t·picture, and `guess(x, t)` predicts the clean picture. Both
samplers use the same times from t = 0 to t = 1. No noise is added on the way, so the picture is
a continuous function of the initial noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Grid: TypeAlias = NDArray[np.float32]
Guess: TypeAlias = Callable[[Grid, float], Grid]

SHIFT = 4.0
"""The ratio of the last to the first step: large shapes need short first steps."""


def times(steps: int) -> list[float]:
    """Return the time before each step and after the last."""
    even = [i / steps for i in range(steps + 1)]
    return [t / (t + SHIFT * (1 - t)) for t in even]


def ddim(guess: Guess, noise: Grid, steps: int) -> Grid:
    """DDIM without noise (Song et al., 2021): the prediction is constant during a step."""
    x = noise
    for now, then in _pairs(times(steps)):
        clean = guess(x, now)
        x = _towards(x, clean, now, then)
    return x


def dpm_solver(guess: Guess, noise: Grid, steps: int) -> Grid:
    """DPM-Solver++(2M) (Lu et al., 2022): predictions are extrapolated linearly in log-SNR.

    The first and the last step are those of DDIM: log-SNR is infinite at t = 0 and t = 1.
    """
    x, before, stride = noise, None, 0.0
    for now, then in _pairs(times(steps)):
        clean = guess(x, now)
        ahead = clean
        if now > 0 and then < 1:
            stretch = _log_snr(then) - _log_snr(now)
            if before is not None and stride > 0:
                ahead = clean + np.float32(0.5 * stretch / stride) * (clean - before)
            stride, before = stretch, clean
        x = _towards(x, ahead, now, then)
    return x


SAMPLERS: dict[str, Callable[[Guess, Grid, int], Grid]] = {"dpm++": dpm_solver, "ddim": ddim}
"""The samplers by name."""


def _towards(x: Grid, clean: Grid, now: float, then: float) -> Grid:
    """Return the grid at time `then` on the straight line from x at `now` to the prediction."""
    left = (1 - then) / (1 - now)
    return np.float32(left) * x + np.float32(then - left * now) * clean


def _log_snr(t: float) -> float:
    return math.log(t / (1 - t))


def _pairs(values: list[float]) -> list[tuple[float, float]]:
    return list(pairwise(values))
