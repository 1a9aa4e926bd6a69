"""Test functions with minimum 0; each takes one candidate (d,) or many (m, d)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import rng
from zorank.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONDITION = 1e6
"""The condition number of the ill-conditioned functions."""


def sphere(x: NDArray[np.float64]) -> Any:
    """Return |x|², the paper's quadratic; minimum at 0."""
    return np.einsum("...i,...i->...", x, x)


def rosenbrock(x: NDArray[np.float64]) -> Any:
    """Σ (1 − x_i)² + 100 (x_{i+1} − x_i²)²; minimum at (1, …, 1)."""
    a, b = x[..., :-1], x[..., 1:]
    return ((1 - a) ** 2 + 100 * (b - a * a) ** 2).sum(axis=-1)


def ellipsoid(x: NDArray[np.float64]) -> Any:
    """Σ 10^(6i/(d−1)) x_i²: curvatures from 1 to 10⁶ along the axes; minimum at 0."""
    return np.einsum("...i,...i,i->...", x, x, _powers(CONDITION, x.shape[-1]))


def rastrigin(x: NDArray[np.float64]) -> Any:
    """Σ x_i² + 10 (1 − cos 2πx_i), with many local minima; minimum at 0."""
    return (x * x + 10 * (1 - np.cos(2 * np.pi * x))).sum(axis=-1)


@dataclass(frozen=True)
class _Rotated:
    """A function of randomly rotated coordinates.

    Attributes:
        dim: the number of coordinates of a candidate.
        seed: the same seed gives the same rotation.
    """

    dim: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise InvalidInput(f"dim must be at least 1, found {self.dim}")

    @cached_property
    def rotation(self) -> NDArray[np.float64]:
        """A uniformly distributed orthogonal matrix (d, d), too large for very large d."""
        draws = rng.for_content(self.seed, b"rotation").standard_normal((self.dim, self.dim))
        q, r = np.linalg.qr(draws)
        return np.asarray(q * np.sign(np.diagonal(r)))


class RotatedEllipsoid(_Rotated):
    """The ellipsoid in rotated coordinates, which is not separable."""

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the value of one candidate (d,), or of many (m, d)."""
        return ellipsoid(x @ self.rotation)


class BentCigar(_Rotated):
    """z_1² + 10⁶ Σ z_i² after an asymmetric transform of rotated coordinates (BBOB f12)."""

    def __call__(self, x: NDArray[np.float64]) -> Any:
        """Return the value of one candidate (d,), or of many (m, d)."""
        z = x @ self.rotation
        asymmetry = 0.5 * np.linspace(0, 1, self.dim) * np.sqrt(np.maximum(z, 0))
        z = np.where(z > 0, np.maximum(z, 0) ** (1 + asymmetry), z) @ self.rotation.T
        return z[..., 0] ** 2 + CONDITION * (z[..., 1:] ** 2).sum(axis=-1)


def _powers(top: float, d: int) -> NDArray[np.float64]:
    return np.asarray(top ** np.linspace(0, 1, d))
