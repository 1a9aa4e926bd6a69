"""The state of `auto` and the design of its slates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zorank.optimizers.covariance import Covariance
from zorank.optimizers.rank_model import RankedPoints, RankModel
from zorank.slates import Space
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Frame:
    """Candidates x + r·M z_i for directions z_i, the minimum of the model, and old candidates."""

    centre: Vector
    radius: float
    z: NDArray[np.float64]
    y: NDArray[np.float64]  # M z
    old: tuple[Vector, ...]
    space: Space
    scale: Vector | None = None  # of the coordinates of y; None is 1
    guess: Vector | None = None  # the minimum of the model

    @property
    def dim(self) -> int:
        """The number of coordinates of a candidate."""
        return self.centre.size

    @property
    def new(self) -> int:
        """The number of new candidates."""
        return len(self.z) + (self.guess is not None)

    def __len__(self) -> int:
        return self.new + len(self.old)

    def row(self, i: int) -> Vector:
        """Return candidate i, first the new ones, then the old."""
        if i >= self.new:
            return self.space.place(self.old[i - self.new].copy())
        if i == len(self.z) and self.guess is not None:
            return self.space.place(self.guess.copy())
        x = np.multiply(self.y[i], self.radius)
        if self.scale is not None:
            x *= self.scale
        x += self.centre
        return self.space.place(x)


@dataclass(frozen=True, eq=False)
class AutoState:
    """The state of the search.

    Attributes:
        x: the centre; outside of the bounds it stands for its mirror image.
        step: η, the length of a step divided by √d.
        width: ρ, the distance of candidates from x divided by the length of a step.
        covariance: of the candidates.
        path: evolution path that adapts the step size.
        long_path: slower evolution path that adapts the covariance.
        x0: the centre of the first search.
        rounds: number of answered rounds.
        old: a good and a bad candidate of an earlier round, to be shown again.
        proven: whether a step has won a comparison with its start.
        before: the centre before the last step, until a step is proven.
        restarts: number of restarts.
        champion: the best centre according to checks, since the first restart.
        agreements: how often the judge confirmed the order of two old candidates, or the ranks
            that the model predicted.
        reversals: how often it reversed it.
        stuck: whether the last check found an old candidate as good as the new ones.
        seen: the last slates of the search, which the model is fitted to.
        model: the quadratic model, if it could be fitted.
        guess: the model's minimum, to be shown next.
        stride: the distance from x to the guess, divided by that of the other candidates.
        credit: how far the model's predictions of ranks were right lately, at most 1.
        past: directions that those of the next round continue (`successive.py`).
    """

    x: Vector
    step: float
    width: float
    covariance: Covariance
    path: Vector
    long_path: Vector
    x0: Vector
    rounds: int = 0
    old: tuple[Vector, ...] = ()
    proven: bool = False
    before: Vector | None = None
    restarts: int = 0
    champion: Vector | None = None
    agreements: int = 0
    reversals: int = 0
    stuck: bool = False
    seen: tuple[RankedPoints, ...] = ()
    model: RankModel | None = None
    guess: Vector | None = None
    stride: float = 0.0
    credit: float = 0.0
    past: NDArray[np.float64] | None = None
