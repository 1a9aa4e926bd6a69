"""From noise to a picture along an ordinary differential equation: nothing is drawn on the way.

A grid of cleanness t is (1 − t)·noise + t·picture. `guess(x, t)` says which picture a grid may
have been. Both samplers take the same steps from t = 0 to t = 1 and differ in what they make of
the guesses: so neighbouring noise gives neighbouring pictures, and the same noise the same one.
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
"""How much shorter the first steps are than the last: the large shapes are decided there."""


def times(steps: int) -> list[float]:
    """The cleanness before each step, and after the last."""
    even = [i / steps for i in range(steps + 1)]
    return [t / (t + SHIFT * (1 - t)) for t in even]


def ddim(guess: Guess, noise: Grid, steps: int) -> Grid:
    """DDIM without noise (Song et al., 2021): trust each guess until the next."""
    x = noise
    for now, then in _pairs(times(steps)):
        clean = guess(x, now)
        x = _towards(x, clean, now, then)
    return x


def dpm_solver(guess: Guess, noise: Grid, steps: int) -> Grid:
    """DPM-Solver++(2M) (Lu et al., 2022): guesses go on changing as they did in the last step.

    The first step has no past and the last would look into a logarithm of 0: they are DDIM's.
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
"""Every sampler by its name."""


def _towards(x: Grid, clean: Grid, now: float, then: float) -> Grid:
    """The grid of cleanness `then` on the straight line from x to the picture it may be."""
    left = (1 - then) / (1 - now)
    return np.float32(left) * x + np.float32(then - left * now) * clean


def _log_snr(t: float) -> float:
    return math.log(t / (1 - t))


def _pairs(values: list[float]) -> list[tuple[float, float]]:
    return list(pairwise(values))
