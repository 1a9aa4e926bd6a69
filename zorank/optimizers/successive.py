"""Directions of a round that continue those of earlier rounds.

In more dimensions than candidates, the directions of a round span only a part of the space. The
next ones are the last step and directions orthogonal to it and to those of the last rounds, as far
as their number allows. Together, successive rounds then explore the whole space, and the rank of
the last step among the others says directly whether to continue along it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

Directions: TypeAlias = "NDArray[np.float64]"


def next_directions(m: int, past: Directions, rng: np.random.Generator) -> Directions:
    """Return m orthogonal directions of length √d, the last step among them, (m, d).

    Args:
        m: the number of directions.
        past: orthonormal rows, the first of which is the last step; at most d − m + 1.
        rng: draws the others, orthogonal to all of `past`.
    """
    d = past.shape[1]
    drawn = rng.standard_normal((m - 1, d))
    for _ in range(2):  # errors of one pass would grow from round to round
        drawn -= (drawn @ past.T) @ past
    q, r = np.linalg.qr(drawn.T)
    q *= np.sign(r.diagonal())
    return np.concatenate([past[:1], q.T])[rng.permutation(m)] * math.sqrt(d)


def past_directions(z: Directions, w: Vector, past: Directions | None) -> Directions:
    """Return the rows to give to the next `next_directions`.

    Args:
        z: the orthogonal directions of this round, of length √d.
        w: the step as a combination of them, of length 1.
        past: what was given to this round.
    """
    m, d = z.shape
    v = w.copy()
    v[0] += math.copysign(1.0, w[0])  # Householder: the first of these rows is the step
    rows = z - np.outer(v * (2 / float(v @ v)), v @ z)
    rows[0] = w @ z
    rows /= math.sqrt(d)
    if past is not None:
        rows = np.concatenate([rows, past[1:]])
    return rows[: d - m + 1]
