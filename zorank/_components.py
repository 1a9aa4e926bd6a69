"""Principal components of a reference sample, half whitened.

A component is divided by the square root of its standard deviation. Full whitening would amplify
components that hardly vary; without whitening only the largest areas of a picture would count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zorank.errors import LookError
from zorank.optimizers.blas import one_thread
from zorank.types import Matrix, Vector

COMPONENTS = 40
"""The largest number of components; at most a third of the sample size is used."""

LARGEST = 1e100
"""Squares of larger numbers could overflow."""


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Half-whitened principal components, scaled to E|z|² = 1 over the sample.

    Attributes:
        mean: of the sample, (p,).
        axes: the scaled components, (p, c).
        sample: the projected sample, (n, c).
    """

    mean: Vector
    axes: Matrix
    sample: Matrix

    @classmethod
    def of(cls, rows: Matrix) -> PrincipalComponents:
        """Compute the components of a sample, (n, p)."""
        if np.abs(rows).max() > LARGEST:
            raise LookError(f"the look function returns numbers beyond {LARGEST:g}")
        mean = rows.mean(axis=0)
        with one_thread():
            _, values, directions = np.linalg.svd(rows - mean, full_matrices=False)
        deviations = values / math.sqrt(len(rows))
        if deviations[0] <= 1e-9 * (np.abs(rows).max() + 1e-12):
            raise LookError("the look function returns the same numbers for all candidates")
        kept = min(COMPONENTS, max(1, len(rows) // 3))
        kept = min(kept, int((deviations > 1e-6 * deviations[0]).sum()))
        axes = directions[:kept].T / np.sqrt(deviations[:kept])
        axes /= math.sqrt(float(deviations[:kept].sum()))  # E|z|² = Σ sd²/sd
        return cls(mean, axes, _project(rows, mean, axes))

    def project(self, rows: Matrix) -> Matrix:
        """Return the components, (n, c), of rows, (n, p)."""
        return _project(rows, self.mean, self.axes)

    @property
    def width(self) -> int:
        """The number of components, c."""
        return int(self.axes.shape[1])


def _project(rows: Matrix, mean: Vector, axes: Matrix) -> Matrix:
    """Return (rows − mean) @ axes, row by row.

    In a product of matrices, the last bits of a row would depend on the number of rows.
    """
    projected = [((row - mean)[:, None] * axes).sum(axis=0) for row in rows]
    return np.array(projected).reshape(len(rows), axes.shape[1])
