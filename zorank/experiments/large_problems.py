"""Problems in many dimensions: functions of bbob-largescale, and single functions for any d.

The single functions have their minimum at 0. Most are rotated by R = cosine transform · random
signs · random permutation, a dense orthogonal matrix that takes O(d ln d) time and O(d) memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from zorank import rng
from zorank.errors import required_by, unknown_name
from zorank.experiments.bbob import bbob
from zorank.problems import ellipsoid, rosenbrock, sphere
from zorank.problems.functions import CONDITION
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Batch: TypeAlias = "Callable[[NDArray[np.float64]], Any]"
"""The values of candidates (n, d), (n,)."""


def cigar(x: NDArray[np.float64]) -> Any:
    """x_1² + 10⁶ Σ x_i²: one long axis."""
    return CONDITION * sphere(x) - (CONDITION - 1) * x[..., 0] ** 2


def discus(x: NDArray[np.float64]) -> Any:
    """10⁶ x_1² + Σ x_i²: one short axis."""
    return sphere(x) + (CONDITION - 1) * x[..., 0] ** 2


def different_powers(x: NDArray[np.float64]) -> Any:
    """√Σ |x_i|^(2 + 4i/(d−1)), as in BBOB f14."""
    return np.sqrt((np.abs(x) ** np.linspace(2, 6, x.shape[-1])).sum(axis=-1))


@dataclass(frozen=True)
class Rotated:
    """A function of R x; the seed determines R."""

    function: Batch
    dim: int
    seed: int

    @cached_property
    def _mixing(self) -> tuple[NDArray[np.intp], Vector]:
        draws = rng.for_content(self.seed, b"mixing")
        return draws.permutation(self.dim), draws.choice((-1.0, 1.0), self.dim)

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the values of candidates (n, d)."""
        with required_by("rotated functions", "scipy", "experiments"):
            from scipy.fft import dct
        order, signs = self._mixing
        return self.function(dct(x[..., order] * signs, norm="ortho", axis=-1))


SINGLE: dict[str, Callable[[int, int], Batch]] = {
    "sphere": lambda d, seed: sphere,
    "ellipsoid": lambda d, seed: ellipsoid,
    "rotated ellipsoid": lambda d, seed: Rotated(ellipsoid, d, seed),
    "rotated cigar": lambda d, seed: Rotated(cigar, d, seed),
    "rotated discus": lambda d, seed: Rotated(discus, d, seed),
    "Rosenbrock": lambda d, seed: rosenbrock,
    "different powers": lambda d, seed: different_powers,
    "rotated different powers": lambda d, seed: Rotated(different_powers, d, seed),
}
"""Makes a function of dimension d, by name."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A function, a start, and the targets of a trial."""

    f: Batch
    optimum: float
    x0: Vector
    sigma0: float
    targets: Vector


LOWEST_TARGET = -4
"""The last target above the minimum, as a power of ten."""


def problem(name: str, instance: int, dim: int) -> Problem:
    """Return a problem: f1 … f24 of bbob-largescale, or a single function.

    Functions of the suite start at x0 ~ U[−4, 4]^d with σ0 = 2, single functions at x0 ~ N(0, I)
    with σ0 = 1. The 51 targets go from .63 of f(x0) to 10⁻⁴ above the minimum, at equal factors.
    """
    draws = rng.for_content(0, b"start", f"{name} {instance} {dim}".encode())
    if name in SINGLE:
        f, x0 = SINGLE[name](dim, instance), draws.standard_normal(dim)
        return Problem(f, 0.0, x0, 1.0, targets(float(f(x0))))
    if name not in SUITE:
        raise unknown_name("problem", name, (*SUITE, *SINGLE))
    g, optimum = bbob(int(name[1:]), instance, dim, "bbob-largescale")
    x0 = draws.uniform(-4, 4, dim)

    def batch(x: NDArray[np.float64]) -> Vector:
        return np.array([g(row) for row in x])

    return Problem(batch, optimum, x0, 2.0, targets(g(x0) - optimum))


def targets(first: float) -> Vector:
    """Return the targets of a problem by the excess of f(x0) over the minimum."""
    return np.asarray(10.0 ** np.linspace(np.log10(first) - 0.2, LOWEST_TARGET, 51))


SUITE = tuple(f"f{i}" for i in range(1, 25))
"""Names of the functions of bbob-largescale."""
