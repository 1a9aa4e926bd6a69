"""Test functions, smaller is better; each takes one candidate (d,) or many (m, d)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sphere(x: NDArray[np.float64]) -> Any:
    """The paper's quadratic: |x|²; minimum 0 at 0."""
    return np.einsum("...i,...i->...", x, x)


def rosenbrock(x: NDArray[np.float64]) -> Any:
    """Σ (1 − x_i)² + 100 (x_{i+1} − x_i²)²; minimum 0 at (1, …, 1)."""
    a, b = x[..., :-1], x[..., 1:]
    return ((1 - a) ** 2 + 100 * (b - a * a) ** 2).sum(axis=-1)
